"""Othello (Reversi) on 8 by 8 squares: enclose the other's discs in a line to turn them; most discs win.

State: the discs of player 0 (black), those of player 1 (white), the squares that the player to move may choose, and who
that is: 0, 1 or FINISHED. `apply` has to find the choices anyway, to see the end of the game, so they are kept. Bit
row * 8 + column, row 0 on top: a step along a line is a shift by 1, 7, 8 or 9.

Moves are squares, 0 (a1) to 63 (h8), and PASS, which is legal only when nothing else is.
"""

import numpy as np

from distmcts.errors import InputError
from distmcts.game import CompiledGame, Rules, State
from distmcts.kernels.bits import count_ones, lowest_one
from distmcts.kernels.jit import kernel
from distmcts.kernels.rng import random_below
from distmcts.kernels.rules import OVER

SIDE = 8
SQUARES = SIDE * SIDE
PASS = SQUARES
CHOICES, TURN = 2, 3  # words of the state
FINISHED = 2  # in the word TURN

_0 = np.uint64(0)
_1 = np.uint64(1)
_FINISHED = np.uint64(FINISHED)
INNER_COLUMNS = np.uint64(0x7E7E7E7E7E7E7E7E)
CORNERS = np.uint64(0x8100000000000081)
BLACK_START = np.uint64(1 << 28 | 1 << 35)
WHITE_START = np.uint64(1 << 27 | 1 << 36)

LINES = 4
STEPS = np.array([1, 7, 8, 9], np.uint64)
# Discs at the side can be turned along the side only; leaving them out keeps lines from wrapping around the board.
TURNABLE = np.array([INNER_COLUMNS, INNER_COLUMNS, ~_0, INNER_COLUMNS])


@kernel
def discs_next_to(source, discs, step):
    """The discs in unbroken lines from `source`, up and down the board, by doubling (Kogge and Stone 1973)."""
    twice = step + step
    up = (source << step) & discs
    down = (source >> step) & discs
    up |= (up << step) & discs
    down |= (down >> step) & discs
    pairs = discs & (discs << step)
    up |= (up << twice) & pairs
    up |= (up << twice) & pairs
    pairs = discs & (discs >> step)
    down |= (down >> twice) & pairs
    down |= (down >> twice) & pairs
    return up, down


@kernel
def choices(own, other):
    """The squares where the owner of `own` may set a disc."""
    ends = _0
    for line in range(LINES):
        step = STEPS[line]
        up, down = discs_next_to(own, other & TURNABLE[line], step)
        ends |= (up << step) | (down >> step)
    return ends & ~(own | other)


@kernel
def turned(place, own, other):
    """The discs of `other` that a disc set on `place` turns."""
    discs = _0
    for line in range(LINES):
        step = STEPS[line]
        up, down = discs_next_to(place, other & TURNABLE[line], step)
        discs |= up if (up << step) & own else _0
        discs |= down if (down >> step) & own else _0
    return discs


def initial(game, state):
    state[0] = BLACK_START
    state[1] = WHITE_START
    state[CHOICES] = choices(BLACK_START, WHITE_START)
    state[TURN] = _0


def legal_moves(game, state, moves):
    left = state[CHOICES]
    if left == _0:
        moves[0] = PASS
        return 1
    count = 0
    while left != _0:
        moves[count] = lowest_one(left)
        count += 1
        left &= left - _1
    return count


def apply(game, state, move):
    mover = np.int64(state[TURN])
    own = state[mover]
    other = state[1 - mover]
    if move != PASS:
        place = _1 << np.uint64(move)
        discs = turned(place, own, other)
        own |= discs | place
        other ^= discs
        state[mover] = own
        state[1 - mover] = other
    answers = choices(other, own)
    state[CHOICES] = answers
    state[TURN] = np.uint64(1 - mover)
    if answers == _0 and choices(own, other) == _0:
        state[TURN] = _FINISHED


def player(game, state):
    turn = np.int64(state[TURN])
    return OVER if turn == FINISHED else turn


def returns(game, state, rewards):
    lead = count_ones(state[0]) - count_ones(state[1])
    result = 1.0 if lead > 0 else (-1.0 if lead < 0 else 0.0)
    rewards[0] = result
    rewards[1] = -result


def playout(game, state, moves, rng):
    """Uniformly random moves, the board kept in registers."""
    if state[TURN] == _FINISHED:
        return
    mover = np.int64(state[TURN])
    own = state[mover]
    other = state[1 - mover]
    open_squares = state[CHOICES]
    passed = False
    while True:
        if open_squares != _0:
            for _ in range(random_below(rng, count_ones(open_squares))):
                open_squares &= open_squares - _1
            place = open_squares & (~open_squares + _1)
            discs = turned(place, own, other)
            own |= discs | place
            other ^= discs
            passed = False
        elif passed:
            break
        else:
            passed = True
        own, other = other, own
        mover = 1 - mover
        open_squares = choices(own, other)
    state[mover] = own
    state[1 - mover] = other
    state[CHOICES] = _0
    state[TURN] = _FINISHED


def evaluate(game, state, rewards):
    """Corners count half; the rest is mobility on an empty board, and more and more the discs as it fills."""
    black = count_ones(state[0])
    white = count_ones(state[1])
    filled = (black + white) / SQUARES
    discs = (black - white) / (black + white)
    black_choices = count_ones(choices(state[0], state[1]))
    white_choices = count_ones(choices(state[1], state[0]))
    mobility = (black_choices - white_choices) / (black_choices + white_choices + 1)
    corners = (count_ones(state[0] & CORNERS) - count_ones(state[1] & CORNERS)) / 4
    result = 0.5 * (corners + filled * discs + (1.0 - filled) * mobility)
    rewards[0] = result
    rewards[1] = -result


class Othello(CompiledGame):
    """Othello, 8 by 8."""

    name = "othello"
    rules = Rules(initial, legal_moves, apply, player, returns, playout, evaluate)
    state_words = 4
    max_moves = SQUARES - 4
    move_limit = SQUARES + 1
    perft_counts = (4, 12, 56, 244, 1396, 8200, 55092)

    def __init__(self):
        super().__init__()

    def _rows(self, state: State) -> list[str]:
        """The board as text, top row first: x is player 0 (black), o player 1 (white)."""
        discs = [int(state[0]), int(state[1])]
        marks = "".join("x" if discs[0] >> i & 1 else "o" if discs[1] >> i & 1 else "." for i in range(SQUARES))
        return [marks[start : start + SIDE] for start in range(0, SQUARES, SIDE)]

    def format(self, state: State) -> str:
        """Rows from the top, separated by '/', then who is to move: x is player 0, o player 1, - nobody any more."""
        return f"{'/'.join(self._rows(state))} {'xo-'[int(state[TURN])]}"

    def parse(self, text: str) -> State:
        """Rows from the top and who is to move, as `format` writes them."""
        text = text.strip().lower()
        board, _, turn = text.partition(" ")
        rows = board.split("/")
        if len(rows) != SIDE or any(len(row) != SIDE or set(row) - set("xo.") for row in rows):
            raise InputError(f"othello position {text!r}: expected 8 rows of 8 out of x o . separated by /")
        if turn not in ("x", "o", "-"):
            raise InputError(f"othello position {text!r}: after the rows, say who is to move: x, o, or - if it is over")
        marks = "".join(rows)
        if "." in marks[27:29] + marks[35:37]:
            raise InputError(f"othello position {text!r}: the four squares in the centre are never empty")
        discs = [sum(1 << i for i, mark in enumerate(marks) if mark == side) for side in "xo"]
        waiting = 0 if turn == "o" else 1
        state = self.apply(self.state([*discs, 0, waiting]), PASS)  # a pass finds the choices of the player to move
        if turn == "-" and not self.is_over(state):
            raise InputError(f"othello position {text!r}: the game is not over, so say who is to move: x or o")
        return state

    def draw(self, state: State) -> str:
        rows = [f"{i + 1} {' '.join(row)}" for i, row in enumerate(self._rows(state))]
        turn = ("x to move", "o to move", "game over")[int(state[TURN])]
        return "\n".join(["  a b c d e f g h", *rows, f"{turn}, x {int(state[0]).bit_count()}, o {int(state[1]).bit_count()}"])

    def move_name(self, state: State, move: int) -> str:
        return "pass" if move == PASS else f"{'abcdefgh'[move % SIDE]}{move // SIDE + 1}"

    def svg(self, state: State) -> str:
        """A picture; dots are the squares that may be chosen."""
        grid = "".join(f"M{40 * i} 0V320M0 {40 * i}H320" for i in range(SIDE + 1))
        shapes = [f'<rect width="320" height="320" fill="#2a7f4f"/><path d="{grid}" stroke="#174"/>']
        for board, radius, colour in ((0, 16, "#111"), (1, 16, "#fff"), (CHOICES, 4, "#174")):
            for i in range(SQUARES):
                if int(state[board]) >> i & 1:
                    middle = f'cx="{40 * (i % SIDE) + 20}" cy="{40 * (i // SIDE) + 20}"'
                    shapes.append(f'<circle {middle} r="{radius}" fill="{colour}"/>')
        return f'<svg xmlns="http://www.w3.org/2000/svg" width="320" viewBox="-1 -1 322 322">{"".join(shapes)}</svg>'
