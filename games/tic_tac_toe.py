"""Tic-tac-toe: three in a line on 3 by 3 cells. Small enough to know everything about it, so a yardstick for tests.

State: two bitboards of nine bits, the marks of player 0 and of player 1. Who moves follows from the count.

Moves are cells, row * 3 + column, row 0 on top.
"""

import numpy as np

from distmcts.errors import InputError
from distmcts.game import CompiledGame, Rules, State
from distmcts.kernels.bits import count_ones, lowest_one
from distmcts.kernels.jit import kernel
from distmcts.kernels.rng import random_below
from distmcts.kernels.rules import OVER

SIDE = 3
CELLS = SIDE * SIDE

_0 = np.uint64(0)
_1 = np.uint64(1)
_2 = np.uint64(2)
_3 = np.uint64(3)
_6 = np.uint64(6)
BOARD = np.uint64(0b111_111_111)
TOP_ROW = np.uint64(0b000_000_111)
LEFT_COLUMN = np.uint64(0b001_001_001)
DIAGONAL = np.uint64(0b100_010_001)
ANTIDIAGONAL = np.uint64(0b001_010_100)


@kernel
def has_line(marks):
    """Whether three of these marks stand in a line."""
    lines = (marks & (marks >> _1) & (marks >> _2) & LEFT_COLUMN) | (marks & (marks >> _3) & (marks >> _6) & TOP_ROW)
    return lines != _0 or (marks & DIAGONAL) == DIAGONAL or (marks & ANTIDIAGONAL) == ANTIDIAGONAL


def initial(game, state):
    state[0] = _0
    state[1] = _0


def legal_moves(game, state, moves):
    free = BOARD & ~(state[0] | state[1])
    count = 0
    while free != _0:
        moves[count] = lowest_one(free)
        count += 1
        free &= free - _1
    return count


def apply(game, state, move):
    mover = count_ones(state[0] | state[1]) & 1
    state[mover] |= _1 << np.uint64(move)


def player(game, state):
    taken = state[0] | state[1]
    mover = count_ones(taken) & 1
    if has_line(state[1 - mover]) or taken == BOARD:
        return OVER
    return mover


def returns(game, state, rewards):
    result = 1.0 if has_line(state[0]) else (-1.0 if has_line(state[1]) else 0.0)
    rewards[0] = result
    rewards[1] = -result


def playout(game, state, moves, rng):
    """Uniformly random moves, the board kept in two registers."""
    left = CELLS - count_ones(state[0] | state[1])
    mover = 1 - (left & 1)
    own = state[mover]
    other = state[1 - mover]
    while left > 0 and not has_line(other):
        free = BOARD & ~(own | other)
        for _ in range(random_below(rng, left)):
            free &= free - _1
        own |= free & (~free + _1)
        own, other = other, own
        mover = 1 - mover
        left -= 1
    state[mover] = own
    state[1 - mover] = other


class TicTacToe(CompiledGame):
    """Tic-tac-toe, 3 by 3."""

    name = "tic_tac_toe"
    rules = Rules(initial, legal_moves, apply, player, returns, playout)
    state_words = 2
    max_moves = CELLS
    move_limit = CELLS
    perft_counts = (9, 72, 504, 3024, 15120, 54720, 148176)

    def __init__(self):
        super().__init__()

    def _rows(self, state: State) -> list[str]:
        """The board as text, top row first."""
        boards = [int(state[0]), int(state[1])]
        marks = "".join("x" if boards[0] >> i & 1 else "o" if boards[1] >> i & 1 else "." for i in range(CELLS))
        return [marks[start : start + SIDE] for start in range(0, CELLS, SIDE)]

    def format(self, state: State) -> str:
        """Rows from the top, separated by '/': x is player 0, o player 1."""
        return "/".join(self._rows(state))

    def parse(self, text: str) -> State:
        """Rows from the top as `format` writes them."""
        text = text.strip().lower()
        rows = text.split("/")
        if len(rows) != SIDE or any(len(row) != SIDE or set(row) - set("xo.") for row in rows):
            raise InputError(f"tic_tac_toe position {text!r}: expected 3 rows of 3 out of x o . separated by /")
        marks = "".join(rows)
        ahead = marks.count("x") - marks.count("o")
        if ahead not in (0, 1):
            raise InputError(f"tic_tac_toe position {text!r}: x must have as many marks as o, or one more")
        lines = [*rows, *(marks[i::SIDE] for i in range(SIDE)), marks[::4], marks[2:7:2]]
        if ("xxx" in lines and ahead == 0) or ("ooo" in lines and ahead == 1):
            raise InputError(f"tic_tac_toe position {text!r}: a move was made after the game was won")
        return self.state([sum(1 << i for i, mark in enumerate(marks) if mark == side) for side in "xo"])

    def draw(self, state: State) -> str:
        rows = [f"{i + 1} {' '.join(row)}" for i, row in enumerate(self._rows(state))]
        return "\n".join(["  a b c", *rows])

    def move_name(self, state: State, move: int) -> str:
        return f"{'abc'[move % SIDE]}{move // SIDE + 1}"

    def svg(self, state: State) -> str:
        shapes = ['<path d="M40 0V120M80 0V120M0 40H120M0 80H120" stroke="#888"/>']
        for i, mark in enumerate("".join(self._rows(state))):
            place = f'transform="translate({40 * (i % SIDE) + 20} {40 * (i // SIDE) + 20})"'
            if mark == "x":
                shapes.append(f'<path d="M-11-11L11 11M-11 11L11-11" {place} stroke="#d33" stroke-width="4"/>')
            elif mark == "o":
                shapes.append(f'<circle r="12" {place} fill="none" stroke="#36c" stroke-width="4"/>')
        return f'<svg xmlns="http://www.w3.org/2000/svg" width="160" viewBox="0 0 120 120">{"".join(shapes)}</svg>'
