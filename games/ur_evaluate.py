"""What positions of the Royal Game of Ur are worth, guessed without playing: two evaluations.

material    a sum of points for pieces at home, on the board, on rosettes and on the last square; the lead in it.
race        who is ahead in steps, measured against the luck that is left in the dice, and who can hit whom.
"""

import math

import numpy as np

from distmcts.kernels.bits import count_ones, lowest_one
from distmcts.kernels.jit import kernel
from games.ur_rules import BOARD, HOME, IN_HAND, LAST, ROLLS, ROSETTES, SAFE, SHARED, roll_of, turned

_0 = np.uint64(0)
_1 = np.uint64(1)
_16 = np.uint64(16)
_31 = np.uint64(31)
_32 = np.uint64(32)


@kernel
def score(game, word):
    """What the low half is worth: 100 for a piece at home, 10 for one on the board, 5 more on a rosette, 50 more on the last."""
    mine = word & BOARD
    on_board = count_ones(mine)
    home = game.pieces - on_board - np.int64((word & IN_HAND) >> _16)
    return 100 * home + 10 * on_board + 5 * count_ones(mine & ROSETTES) + 50 * np.int64((mine >> np.uint64(LAST)) & _1)


def material(game, state, rewards):
    """The lead in score, as a share of the greatest there is: all pieces home against all in hand."""
    mover = np.int64((state[0] >> _31) & _1)
    lead = (score(game, state[0]) - score(game, turned(state[0]))) / (100.0 * game.pieces)
    rewards[mover] = lead
    rewards[1 - mover] = -lead


# The logarithm of the odds of the player about to roll is close to
#
#     (worth of my places - worth of theirs + TEMPO) / sqrt(steps left + SPREAD)
#     + HIT * (steps that I would take from them, times the chance) - HIT_LATER * (steps that they would take from me, likewise)
#
# a fit to the exact solution with three pieces a side, which misses the chance to win by 0.038 (root of the mean square). A place
# is worth some 0.37 a step, more on the middle rosette, and less on the last square, which takes luck to leave.
WORTH = np.array([0.0, 0.74, 1.33, 1.46, 1.4, 2.25, 2.69, 2.86, 3.6, 3.36, 3.67, 4.25, 4.75, 5.45, 4.64, 6.77])
A_STEP = 0.37
TEMPO = 0.81
SPREAD = 4.0
HIT = 0.047
HIT_LATER = 0.02
HITTABLE = SHARED & ~SAFE


@kernel
def at_home(game, word):
    return game.pieces - count_ones(word & BOARD) - np.int64((word & IN_HAND) >> _16)


@kernel
def steps_on(places):
    """The sum of the numbers of these squares."""
    steps = 0
    while places != _0:
        steps += lowest_one(places)
        places &= places - _1
    return steps


@kernel
def worth_of(game, word):
    """What the places of the low half's pieces are worth together."""
    places = word & BOARD
    worth = WORTH[HOME] * at_home(game, word)
    while places != _0:
        worth += WORTH[lowest_one(places)]
        places &= places - _1
    return worth


@kernel
def steps_left(game, word):
    return HOME * (game.pieces - at_home(game, word)) - steps_on(word & BOARD)


@kernel
def steps_in_danger(game, word):
    """How many steps the high half loses to the next roll of the low half, on average, if everything that can be hit is."""
    targets = (word >> _32) & HITTABLE
    steps = 0.0
    for roll in range(1, ROLLS):
        steps += game.roll_chances[roll] * steps_on(targets & ((word & BOARD) << np.uint64(roll)))
    return steps


def race(game, state, rewards):
    """A known roll counts as played: that many steps more, and the other player rolls next."""
    roll = roll_of(state[0])
    word = state[0] if roll == _0 else turned(state[0])  # the low half is about to roll
    roller = np.int64((word >> _31) & _1)
    ahead = worth_of(game, word) - worth_of(game, turned(word)) - A_STEP * np.int64(roll)
    left = steps_left(game, word) + steps_left(game, turned(word)) - np.int64(roll)
    odds = (ahead + TEMPO) / math.sqrt(max(left, 0) + SPREAD)
    odds += HIT * steps_in_danger(game, word) - HIT_LATER * steps_in_danger(game, turned(word))
    worth = math.tanh(0.5 * odds)
    rewards[roller] = worth
    rewards[1 - roller] = -worth
