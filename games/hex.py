"""Hex on a rhombus of size by size cells: player 0 joins top and bottom, player 1 joins left and right. No swap rule.

State: three bitboards of game.words words each, then a word for the turn: the player to move, or FINISHED + the winner.
The boards are the stones of player 0, those of player 1, and the stones of both that are joined to the edge where their
player starts (top, left). A stone that touches joined stones of its player joins its group to them, and wins if that
brings it to the far edge; any other move costs a look at six neighbours. The third board ends up empty with the game.

Moves are cells, row * size + column, which is also the number of their bit.
"""

from collections.abc import Iterable
from string import ascii_lowercase

import numpy as np

from distmcts.errors import InputError
from distmcts.game import CompiledGame, Rules, State
from distmcts.kernels.bits import count_ones, lowest_one
from distmcts.kernels.jit import kernel
from distmcts.kernels.rng import random_below, random_word
from distmcts.kernels.rules import OVER

SMALLEST, LARGEST = 2, 19
STEPS = ((0, 1), (0, -1), (1, 0), (-1, 0), (1, -1), (-1, 1))  # to the six neighbours: rows, columns
WORD = 64
FINISHED = 2

_0 = np.uint64(0)
_1 = np.uint64(1)
_64 = np.uint64(WORD)


@kernel
def moved_up(word, lower, step):
    """A word of a board whose bits all move up by `step`; those of the next lower word come in."""
    return (word << step) | (lower >> (_64 - step))


@kernel
def moved_down(word, upper, step):
    return (word >> step) | (upper << (_64 - step))


@kernel
def free_cells(game, state, i):
    return game.cells[i] & ~(state[i] | state[game.words + i])


@kernel
def join_group(game, state, own, joined):
    """Join the stones of board `own` that are linked to joined ones."""
    row = np.uint64(game.size)
    grown = True
    while grown:
        grown = False
        for i in range(game.words):
            here = state[own + i] & state[joined + i]
            lower = state[own + i - 1] & state[joined + i - 1] if i > 0 else _0
            upper = state[own + i + 1] & state[joined + i + 1] if i + 1 < game.words else _0
            around = moved_up(here, lower, row) | moved_down(here, upper, row)
            around |= (moved_up(here, lower, _1) | moved_down(here, upper, row - _1)) & ~game.start_edges[1, i]
            around |= (moved_down(here, upper, _1) | moved_up(here, lower, row - _1)) & ~game.far_edges[1, i]
            new = around & state[own + i] & ~here
            if new != _0:
                state[joined + i] |= new
                grown = True


@kernel
def joins_top_and_bottom(game, state, board):
    """Whether the stones on a board win for player 0 if all other cells are player 1's. Uses the board up.

    Reduction of the game of Y (van Rijswijck 2002): give each cell to whoever has two of these three: the cell, its right
    and its lower neighbour. The winner stays the same, and the board, a triangle, gets one row shorter. Hex is Y on a
    triangle of 2 * size - 1 rows where the cells below the rhombus are player 0's, those right of it player 1's.
    """
    row = np.uint64(game.size)
    for _ in range(2 * game.size - 2):
        for i in range(game.words):
            here = state[board + i]
            upper = state[board + i + 1] if i + 1 < game.words else _0
            right = moved_down(here, upper, _1) & ~game.far_edges[1, i]
            below = moved_down(here, upper, row) | game.far_edges[0, i]
            state[board + i] = (here & right) | (below & (here | right))
    return (state[board] & _1) != _0


@kernel
def take_random(state, board, count, rng):
    """Take one of the `count` stones of a board away."""
    n = random_below(rng, count)
    stones = state[board]
    while n >= count_ones(stones):
        n -= count_ones(stones)
        board += 1
        stones = state[board]
    for _ in range(n):
        stones &= stones - _1
    state[board] &= ~(stones & (~stones + _1))


def initial(game, state):
    for i in range(game.state_words):
        state[i] = _0


def legal_moves(game, state, moves):
    count = 0
    for i in range(game.words):
        free = free_cells(game, state, i)
        while free != _0:
            moves[count] = i * WORD + lowest_one(free)
            count += 1
            free &= free - _1
    return count


def apply(game, state, move):
    mover = np.int64(state[game.turn])
    own = mover * game.words
    joined = game.joined
    word = move >> 6
    bit = _1 << np.uint64(move & 63)
    state[own + word] |= bit
    state[game.turn] = np.uint64(1 - mover)
    contact = game.start_edges[mover, word] & bit
    for i in range(game.words):
        contact |= game.neighbours[move, i] & state[own + i] & state[joined + i]
    if contact == _0:
        return
    state[joined + word] |= bit
    join_group(game, state, own, joined)
    arrived = _0
    for i in range(game.words):
        arrived |= state[own + i] & state[joined + i] & game.far_edges[mover, i]
    if arrived != _0:
        state[game.turn] = np.uint64(FINISHED + mover)
        for i in range(game.words):
            state[joined + i] = _0


def player(game, state):
    turn = np.int64(state[game.turn])
    return turn if turn < FINISHED else OVER


def returns(game, state, rewards):
    result = 1.0 if np.int64(state[game.turn]) == FINISHED else -1.0
    rewards[0] = result
    rewards[1] = -result


def playout(game, state, moves, rng):
    """Deal all free cells at once. Play that goes on after the winning move ends on a full board with the same winner.

    A coin says who gets each free cell; then cells drawn from the player who has too many go to the other one. Every
    way to deal the right numbers of cells is equally likely, as it is with random moves.
    """
    turn = np.int64(state[game.turn])
    if turn >= FINISHED:
        return
    share = game.joined  # no longer needed, so it serves as scratch space
    free_count = 0
    count = 0
    for i in range(game.words):
        free = free_cells(game, state, i)
        state[share + i] = free & random_word(rng)
        free_count += count_ones(free)
        count += count_ones(state[share + i])
    owner = turn
    due = (free_count + 1) >> 1
    if count < due:
        owner = 1 - turn
        count = free_count - count
        due = free_count - due
        for i in range(game.words):
            state[share + i] ^= free_cells(game, state, i)
    while count > due:
        take_random(state, share, count, rng)
        count -= 1
    for i in range(game.words):
        free = free_cells(game, state, i)
        state[owner * game.words + i] |= state[share + i]
        state[(1 - owner) * game.words + i] |= free & ~state[share + i]
        state[share + i] = state[i]
    winner = 0 if joins_top_and_bottom(game, state, share) else 1
    state[game.turn] = np.uint64(FINISHED + winner)
    for i in range(game.words):
        state[share + i] = _0


class Hex(CompiledGame):
    """Hex on size by size cells."""

    name = "hex"
    rules = Rules(initial, legal_moves, apply, player, returns, playout)

    def __init__(self, size: int = 11):
        if isinstance(size, bool) or not isinstance(size, int) or not SMALLEST <= size <= LARGEST:
            raise InputError(f"hex: size must be a whole number from {SMALLEST} to {LARGEST}, not {size!r}")
        super().__init__(size=size)
        self.size = size
        self.words = -(-size * size // WORD)
        self.joined = 2 * self.words  # where the third board begins
        self.turn = 3 * self.words
        self.state_words = self.turn + 1
        self.max_moves = self.move_limit = size * size
        self.perft_counts = (size**2, size**2 * (size**2 - 1))
        side = range(size)
        self.cells = self._board((row, column) for row in side for column in side)
        self.start_edges = np.array([self._board((0, i) for i in side), self._board((i, 0) for i in side)])
        self.far_edges = np.array([self._board((size - 1, i) for i in side), self._board((i, size - 1) for i in side)])
        around = [[(row + r, column + c) for r, c in STEPS] for row in side for column in side]
        self.neighbours = np.array([self._board(places) for places in around])

    def _board(self, places: Iterable[tuple[int, int]]) -> np.ndarray:
        """The words of a bitboard with these rows and columns set; places off the board do not count."""
        inside = range(self.size)
        bits = sum(1 << (row * self.size + column) for row, column in places if row in inside and column in inside)
        return np.array([(bits >> (WORD * i)) & (2**WORD - 1) for i in range(self.words)], np.uint64)

    def _rows(self, state: State) -> list[str]:
        """The board as text, top row first."""
        stones = [sum(int(state[p * self.words + i]) << (WORD * i) for i in range(self.words)) for p in range(2)]
        marks = ["x" if stones[0] >> i & 1 else "o" if stones[1] >> i & 1 else "." for i in range(self.max_moves)]
        return ["".join(marks[start : start + self.size]) for start in range(0, self.max_moves, self.size)]

    def format(self, state: State) -> str:
        """Rows from the top, separated by '/': x is player 0, o player 1. Who moves follows from the count."""
        return "/".join(self._rows(state))

    def parse(self, text: str) -> State:
        """Rows from the top as `format` writes them. Stones set after a side has won, as playouts do, are accepted."""
        text = text.strip().lower()
        rows = text.split("/")
        if len(rows) != self.size or any(len(row) != self.size or set(row) - set("xo.") for row in rows):
            raise InputError(f"hex position {text!r}: expected {self.size} rows of {self.size} out of x o . separated by /")
        marks = "".join(rows)
        if marks.count("x") - marks.count("o") not in (0, 1):
            raise InputError(f"hex position {text!r}: x must have as many stones as o, or one more")
        order = [0] * (marks.count("x") + marks.count("o"))
        order[0::2] = [cell for cell, mark in enumerate(marks) if mark == "x"]
        order[1::2] = [cell for cell, mark in enumerate(marks) if mark == "o"]
        state = self.initial_state()
        for cell in order:
            if self.is_over(state):  # the order of play is unknown; the winner does not depend on it
                stones = [self._board(divmod(cell, self.size) for cell in order[side::2]) for side in range(2)]
                return self.state([*stones[0], *stones[1], *[0] * self.words, state[self.turn]])
            state = self.apply(state, cell)
        return state

    def draw(self, state: State) -> str:
        rows = [f"{' ' * i}{i + 1:2} {' '.join(row)}" for i, row in enumerate(self._rows(state))]
        return "\n".join(["   " + " ".join(ascii_lowercase[: self.size]), *rows])

    def move_name(self, state: State, move: int) -> str:
        row, column = divmod(move, self.size)
        return f"{ascii_lowercase[column]}{row + 1}"

    def svg(self, state: State) -> str:
        """A picture: red is player 0, who joins the red edges."""
        colours = {"x": "#d33", "o": "#36c", ".": "#eee"}
        last = self.size - 1
        places = ((row, column) for row in range(self.size) for column in range(self.size))
        x_y = {(row, column): (26 * column + 13 * row + 30, 22.5 * row + 30) for row, column in places}
        shapes = []
        for start, end, mark in (
            ((0, 0), (last, 0), "o"),
            ((0, last), (last, last), "o"),
            ((0, 0), (0, last), "x"),
            ((last, 0), (last, last), "x"),
        ):
            (x1, y1), (x2, y2) = x_y[start], x_y[end]
            line = f'x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"'
            shapes.append(f'<line {line} stroke="{colours[mark]}" stroke-width="44" stroke-linecap="round"/>')
        for (x, y), mark in zip(x_y.values(), "".join(self._rows(state)), strict=True):
            hexagon = f'd="M{x} {y - 15}l13 7.5v15l-13 7.5-13-7.5v-15z"'
            shapes.append(f'<path {hexagon} fill="{colours[mark]}" stroke="#999"/>')
        size = f'width="480" viewBox="0 0 {39 * last + 60} {22.5 * last + 60}"'
        return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{"".join(shapes)}</svg>'
