"""Connect four on 7 columns and 6 rows: four stones in a line win.

State: two bitboards, the stones of player 0 and of player 1. Seven bits a column, lowest row first; the seventh bit of each
column stays empty, so that no line runs from one column's top into the next one's bottom. Who moves follows from the count.

Moves are columns, 0 to 6 from the left.
"""

import numpy as np

from distmcts.errors import InputError
from distmcts.game import CompiledGame, Rules, State
from distmcts.kernels.bits import count_ones
from distmcts.kernels.jit import kernel
from distmcts.kernels.rng import random_word
from distmcts.kernels.rules import OVER

COLUMNS = 7
ROWS = 6
HEIGHT = ROWS + 1  # bits a column

_0 = np.uint64(0)
_1 = np.uint64(1)
_2 = np.uint64(2)
_7 = np.uint64(HEIGHT)
_6 = np.uint64(HEIGHT - 1)
_8 = np.uint64(HEIGHT + 1)
_12 = np.uint64(2 * (HEIGHT - 1))
_14 = np.uint64(2 * HEIGHT)
_16 = np.uint64(2 * (HEIGHT + 1))
_SHARE = np.uint64(0xFFFF)
COLUMN = np.uint64((1 << ROWS) - 1)
BOTTOM = np.uint64(sum(1 << (HEIGHT * column) for column in range(COLUMNS)))
BOARD = np.uint64(sum(((1 << ROWS) - 1) << (HEIGHT * column) for column in range(COLUMNS)))


@kernel
def has_line(stones):
    """Whether four of these stones stand in a line."""
    pairs = stones & (stones >> _7)
    lines = pairs & (pairs >> _14)
    pairs = stones & (stones >> _6)
    lines |= pairs & (pairs >> _12)
    pairs = stones & (stones >> _8)
    lines |= pairs & (pairs >> _16)
    pairs = stones & (stones >> _1)
    return (lines | (pairs & (pairs >> _2))) != _0


@kernel
def landing_places(state):
    """The lowest free place of each column that has one."""
    return ((state[0] | state[1]) + BOTTOM) & BOARD


def initial(game, state):
    state[0] = _0
    state[1] = _0


def legal_moves(game, state, moves):
    free = landing_places(state)
    count = 0
    for column in range(COLUMNS):
        moves[count] = column
        count += (free & (COLUMN << np.uint64(column * HEIGHT))) != _0
    return count


def apply(game, state, move):
    mover = count_ones(state[0] | state[1]) & 1
    state[mover] |= landing_places(state) & (COLUMN << np.uint64(move * HEIGHT))


def player(game, state):
    mover = count_ones(state[0] | state[1]) & 1
    if has_line(state[1 - mover]) or landing_places(state) == _0:
        return OVER
    return mover


def returns(game, state, rewards):
    result = 1.0 if has_line(state[0]) else (-1.0 if has_line(state[1]) else 0.0)
    rewards[0] = result
    rewards[1] = -result


def playout(game, state, moves, rng):
    """Uniformly random moves, the board kept in two registers."""
    mover = count_ones(state[0] | state[1]) & 1
    mine = state[mover]
    theirs = state[1 - mover]
    if not has_line(theirs):
        while True:
            free = ((mine | theirs) + BOTTOM) & BOARD
            if free == _0:
                break
            place = _0
            while place == _0:  # four tries a random word; a full column is no choice
                word = random_word(rng)
                for _ in range(4):
                    place = free & (COLUMN << ((((word & _SHARE) * _7) >> _16) * _7))
                    if place != _0:
                        break
                    word >>= _16
            mine |= place
            mover = 1 - mover
            mine, theirs = theirs, mine
            if has_line(theirs):
                break
    state[mover] = mine
    state[1 - mover] = theirs


class ConnectFour(CompiledGame):
    """Connect four, 7 by 6."""

    name = "connect_four"
    rules = Rules(initial, legal_moves, apply, player, returns, playout)
    state_words = 2
    max_moves = COLUMNS
    move_limit = COLUMNS
    perft_counts = (7, 49, 343, 2401, 16807, 117649, 823536)

    def __init__(self):
        super().__init__()

    def _rows(self, state: State) -> list[str]:
        """The board as text, top row first."""
        stones = [int(state[0]), int(state[1])]

        def mark(column, row):
            bit = 1 << (column * HEIGHT + row)
            return "x" if stones[0] & bit else "o" if stones[1] & bit else "."

        return ["".join(mark(column, row) for column in range(COLUMNS)) for row in reversed(range(ROWS))]

    def format(self, state: State) -> str:
        """Rows from the top, separated by '/': x is player 0, o player 1."""
        return "/".join(self._rows(state))

    def parse(self, text: str) -> State:
        """Rows from the top as `format` writes them, or the columns played so far as digits 1 to 7."""
        text = text.strip().lower()
        if text.isdigit():
            return self._replay(text)
        rows = text.split("/")
        if len(rows) != ROWS or any(len(row) != COLUMNS or set(row) - set("xo.") for row in rows):
            raise InputError(f"connect_four position {text!r}: expected 6 rows of 7 out of x o . separated by /")
        stones = [0, 0]
        for column in range(COLUMNS):
            pile = "".join(row[column] for row in reversed(rows))
            if pile.rstrip(".").count("."):
                raise InputError(f"connect_four position {text!r}: a stone floats in column {column + 1}")
            for row, mark in enumerate(pile.rstrip(".")):
                stones["xo".index(mark)] |= 1 << (column * HEIGHT + row)
        if stones[0].bit_count() - stones[1].bit_count() not in (0, 1):
            raise InputError(f"connect_four position {text!r}: x must have as many stones as o, or one more")
        return self.state(stones)

    def _replay(self, columns: str) -> State:
        state = self.initial_state()
        for digit in columns:
            if int(digit) - 1 not in self.legal_moves(state):
                raise InputError(f"connect_four position {columns!r}: column {digit} cannot be played")
            state = self.apply(state, int(digit) - 1)
        return state

    def draw(self, state: State) -> str:
        rows = [" ".join(row) for row in self._rows(state)]
        return "\n".join([*rows, " ".join(str(column + 1) for column in range(COLUMNS))])

    def svg(self, state: State) -> str:
        width, height = 40 * COLUMNS, 40 * ROWS
        shapes = [f'<rect width="{width}" height="{height}" rx="6" fill="#2b5fad"/>']
        for i, mark in enumerate("".join(self._rows(state))):
            colour = {"x": "#e8c23a", "o": "#d1453b", ".": "#fff"}[mark]
            shapes.append(f'<circle cx="{40 * (i % COLUMNS) + 20}" cy="{40 * (i // COLUMNS) + 20}" r="16" fill="{colour}"/>')
        return f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" viewBox="0 0 {width} {height}">{"".join(shapes)}</svg>'

    def move_name(self, state: State, move: int) -> str:
        return str(move + 1)
