"""The Royal Game of Ur in plain Python, and its exact values for few pieces.

The rules are obviously right because they are slow: a player's pieces are a sorted tuple of places, 0 in the hand, 1 to 14 on the
squares of the own path, 15 at home; a move takes one piece out of the tuple and puts it back elsewhere. Positions are always seen
by the player whose turn it is: `mine`, `theirs`.

The solver iterates the chance to win before a roll until nothing changes. Its table has a row for every way the pieces of the
player who rolls can lie, a column for every way those of the opponent can; one move with one roll is worked out for a whole row
at a time. test_ur_reference.py compares it with the rules above, position by position.
"""

from functools import cache
from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np

HAND = 0
HOME = 15
ROSETTES = (4, 8, 14)
SAFE = 8
SHARED = range(5, 13)
ROLL_CHANCES = (1 / 16, 4 / 16, 6 / 16, 4 / 16, 1 / 16)  # of 0, 1, 2, 3, 4: four dice that show 0 or 1

Pieces = tuple[int, ...]


# ---- the rules -------------------------------------------------------------------------------------------------------


def start(pieces: int) -> tuple[Pieces, Pieces]:
    return (HAND,) * pieces, (HAND,) * pieces


def legal_moves(mine: Pieces, theirs: Pieces, roll: int) -> list[int]:
    """Where pieces can move from."""
    return [place for place in range(HOME) if place in mine and _can_go(mine, theirs, place + roll)]


def _can_go(mine: Pieces, theirs: Pieces, place: int) -> bool:
    if place > HOME:
        return False
    if place != HOME and place in mine:  # also with a roll of 0: then the piece itself is in the way
        return False
    return not (place == SAFE and SAFE in theirs)


def play(mine: Pieces, theirs: Pieces, roll: int, move: int) -> tuple[Pieces, Pieces, bool]:
    """The mover's pieces, the opponent's, and whether the mover rolls again."""
    if roll == 0 or move not in legal_moves(mine, theirs, roll):
        raise ValueError(f"illegal move from {move} with a roll of {roll}: {mine} {theirs}")
    place = move + roll
    after = list(mine)
    after.remove(move)
    after.append(place)
    captured = [HAND if place in SHARED and piece == place else piece for piece in theirs]
    return tuple(sorted(after)), tuple(sorted(captured)), place in ROSETTES


def has_won(pieces: Pieces) -> bool:
    return all(place == HOME for place in pieces)


def is_possible(mine: Pieces, theirs: Pieces) -> bool:
    """Whether no two pieces stand on one square."""
    return not any(place in SHARED and place in theirs for place in mine)


def lies(pieces: int) -> list[Pieces]:
    """All ways in which the pieces of one player can lie."""
    return [places for places in combinations_with_replacement(range(HOME + 1), pieces) if _no_two_on_a_square(places)]


def _no_two_on_a_square(pieces: Pieces) -> bool:
    return all(pieces.count(place) == 1 for place in pieces if place not in (HAND, HOME))


# ---- exact values ----------------------------------------------------------------------------------------------------


class Solution:
    """Chances to win under perfect play of both, for the player whose turn it is."""

    def __init__(self, pieces: int, precision: float = 1e-13):
        self.lies = sorted(lies(pieces), key=sum, reverse=True)  # what is near the end settles first
        self.number = {lie: i for i, lie in enumerate(self.lies)}
        home = self.number[(HOME,) * pieces]
        # table[i, j]: i are the pieces of the player who rolls, j those of the opponent. No legal move leads to a nan.
        self.table = np.array([[0.5 if is_possible(mine, theirs) else np.nan for theirs in self.lies] for mine in self.lies])
        self.table[home, :] = np.nan  # who has won does not roll
        self.table[:, home] = 0.0  # the opponent has won
        # A move is the same whatever the opponent has, but for what it captures, and for the safe square.
        moves = [[self._moves(mine, roll) for roll in range(5)] for mine in self.lies]
        everyone = np.arange(len(self.lies))
        left = [self._left(place) if place in SHARED else everyone for place in range(HOME + 1)]
        on_safe = np.array([SAFE in theirs for theirs in self.lies])
        change = 1.0
        while change > precision:
            change = 0.0
            for i in range(len(self.lies)):
                if i != home:
                    row = self._row(i, moves[i], left, on_safe)
                    row[home] = 0.0
                    change = max(change, np.nanmax(np.abs(row - self.table[i])))
                    self.table[i] = row

    def _moves(self, mine: Pieces, roll: int) -> list[tuple[int, int]]:
        """Where moves lead: the square, and how the mover's pieces lie then."""
        return [(move + roll, self.number[play(mine, (), roll, move)[0]]) for move in legal_moves(mine, (), roll)]

    def _left(self, place: int) -> np.ndarray:
        """How the opponent's pieces lie after one on this square was captured, for every way they lay before."""
        sent = [tuple(sorted(HAND if piece == place else piece for piece in theirs)) for theirs in self.lies]
        return np.array([self.number[theirs] for theirs in sent])

    def _row(self, i: int, moves: list, left: list[np.ndarray], on_safe: np.ndarray) -> np.ndarray:
        """One step of the iteration: the chances with these pieces, against every way the opponent's can lie."""
        passed = 1 - self.table[:, i]
        chances = np.zeros(len(self.lies))
        for roll, likely in enumerate(ROLL_CHANCES):
            best = np.full(len(self.lies), -np.inf)
            for place, after in moves[roll]:
                value = self.table[after, left[place]] if place in ROSETTES else 1 - self.table[left[place], after]
                if place == SAFE:
                    value[on_safe] = -np.inf
                best = np.maximum(best, value)
            chances += likely * np.where(best == -np.inf, passed, best)
        return chances

    def before_roll(self, mine: Pieces, theirs: Pieces) -> float:
        """The chance to win of the player who is about to roll. Tuples of places are sorted."""
        return float(self.table[self.number[mine], self.number[theirs]])

    def after_roll(self, mine: Pieces, theirs: Pieces, roll: int) -> dict[int, float]:
        """The mover's chance to win after each legal move; empty where the turn passes."""
        values = {}
        for move in legal_moves(mine, theirs, roll):
            mine_then, theirs_then, again = play(mine, theirs, roll, move)
            values[move] = self.before_roll(mine_then, theirs_then) if again else 1 - self.before_roll(theirs_then, mine_then)
        return values


@cache
def solution(pieces: int) -> Solution:
    """Solved once a process; some seconds for 3 pieces, and about ten times as long for each one more."""
    return Solution(pieces)


# ---- positions of the compiled game ----------------------------------------------------------------------------------


class Position(NamedTuple):
    mine: Pieces  # of the player whose turn it is
    theirs: Pieces
    player: int
    roll: int | None  # None before the dice are cast


def read(text: str) -> Position:
    """A position as games/ur.py writes it: "5 4,8 0 / 6 - 1 / 1 2"; after the end, that of the player who lost."""
    *sides, turn = [part.split() for part in text.split("/")]
    both = []
    for hand, on_board, home in sides:
        squares = [] if on_board == "-" else [int(square) for square in on_board.split(",")]
        both.append((*[HAND] * int(hand), *sorted(squares), *[HOME] * int(home)))
    if turn == ["over"]:
        loser = 0 if has_won(both[1]) else 1
        return Position(both[loser], both[1 - loser], loser, None)
    player = int(turn[0])
    return Position(both[player], both[1 - player], player, None if turn[1] == "?" else int(turn[1]))
