"""How compiled games play out, in plain Python: move by move on their host side, from the same random numbers.

Games that are not here play uniformly random moves, one number from 0 to the count of legal moves each, as mcts.py does. These
have playouts that draw otherwise, or dice.
"""

from collections.abc import Sequence

import numpy as np

from distmcts.game import CompiledGame, State
from distmcts.kernels.rules import CHANCE
from tests.reference.random_words import RandomWords
from tests.support.dice_race import BOLD, SAFE


def connect_four(game: CompiledGame, state: State, words: RandomWords) -> Sequence[float]:
    """A word has four tries, of 16 bits each, at a column that is not full."""
    while not game.is_over(state):
        open_columns = game.legal_moves(state)
        tries = []
        while not tries:
            word = words.word()
            columns = [(word >> 16 * i & 0xFFFF) * 7 >> 16 for i in range(4)]
            tries = [column for column in columns if column in open_columns]
        state = game.apply(state, tries[0])
    return game.returns(state)


def hex_board(game: CompiledGame, state: State, words: RandomWords) -> Sequence[float]:
    """The free cells are dealt: each by a bit of a word, then one by one from who has too many. For boards of up to 64 cells.

    Of an odd number of cells the player to move gets one more.
    """
    if game.is_over(state):
        return game.returns(state)
    player, free = game.player(state), game.legal_moves(state)
    word = words.word()
    dealt = [[cell for cell in free if word >> cell & 1], [cell for cell in free if not word >> cell & 1]]
    due = [len(free) - len(free) // 2, len(free) // 2]
    rich = 0 if len(dealt[0]) >= due[0] else 1
    while len(dealt[rich]) > due[rich]:
        dealt[1 - rich].append(dealt[rich].pop(words.below(len(dealt[rich]))))
    cells = list(game.format(state).replace("/", ""))
    for owner, theirs in zip((player, 1 - player), dealt, strict=True):
        for cell in theirs:
            cells[cell] = "xo"[owner]
    return [1.0, -1.0] if _joins_top_and_bottom(cells, game.size) else [-1.0, 1.0]


def _joins_top_and_bottom(cells: list[str], size: int) -> bool:
    """Whether a chain of x leads from the first row to the last."""
    reached = {(0, column) for column in range(size) if cells[column] == "x"}
    fresh = list(reached)
    while fresh:
        row, column = fresh.pop()
        for down, right in ((0, 1), (0, -1), (1, 0), (-1, 0), (1, -1), (-1, 1)):
            place = row + down, column + right
            on_board = all(0 <= along < size for along in place)
            if on_board and place not in reached and cells[place[0] * size + place[1]] == "x":
                reached.add(place)
                fresh.append(place)
    return any(row == size - 1 for row, _ in reached)


def ur(game: CompiledGame, state: State, words: RandomWords) -> Sequence[float]:
    """One word for a roll and the move after it: its lowest four bits are the dice, its upper half chooses the move."""
    while not game.is_over(state):
        word = words.word()
        if game.player(state) == CHANCE:
            state = game.apply(state, (word & 15).bit_count())
        if moves := game.legal_moves(state) if game.player(state) != CHANCE else []:  # else the roll cannot be played
            state = game.apply(state, moves[(word >> 32) * len(moves) >> 32])
    return game.returns(state)


def ur_roll(game: CompiledGame, state: State, words: RandomWords) -> int:
    """Four dice that show 0 or 1."""
    return (words.word() & 15).bit_count()


def race_roll(game: CompiledGame, state: State, words: RandomWords) -> int:
    """The safe die shows 1 or 2, the bold one 4 in one of four throws."""
    die = {1: SAFE, 2: BOLD}[int(state[3])]
    if die == SAFE:
        return 1 + words.below(2)
    return 4 if words.below(4) == 0 else 1


def priors(game: CompiledGame, state: State) -> list[float]:
    """What the game's own rule says of the legal moves, uncompiled but for what it calls."""
    moves = game.legal_moves(state)
    found = np.zeros(len(moves))
    game.rules.priors(game, state, np.array(moves), len(moves), found)
    return found.tolist()
