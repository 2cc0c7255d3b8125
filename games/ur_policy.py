"""Which moves of the Royal Game of Ur look good: priors, and a playout policy that follows them."""

import numpy as np

from distmcts.kernels.bits import count_ones, lowest_one
from distmcts.kernels.jit import kernel
from distmcts.kernels.rng import random_share, random_word
from distmcts.kernels.rules import apply
from games.ur_rules import (
    DICE,
    HOMES,
    ROSETTES,
    SAFE,
    SHARED,
    THEIR_PIECES,
    goals,
    moved,
    roll_of,
    turned,
)

_0 = np.uint64(0)
_1 = np.uint64(1)
_32 = np.uint64(32)

# How much likelier a move with a feature is to be the best than one without: a logistic fit to the exact solution with four
# pieces a side, rounded. Features multiply.
TO_ROSETTE = 16.0
CAPTURES = 32.0
GOES_HOME = 4.0
ENTERS = 3.0
LEAVES_SAFETY = 0.25


@kernel
def weight(word, start, goal):
    """How good a move looks that takes a piece from one square to another, both as bits."""
    good = 1.0
    if goal & ROSETTES:
        good *= TO_ROSETTE
    if goal & SHARED & (word >> _32):
        good *= CAPTURES
    if goal & HOMES:
        good *= GOES_HOME
    if start == _1:
        good *= ENTERS
    if start & SAFE:
        good *= LEAVES_SAFETY
    return good


def priors(game, state, moves, count, priors):
    """In proportion to the weight of each move."""
    roll = roll_of(state[0])
    total = 0.0
    for i in range(count):
        start = _1 << np.uint64(moves[i])
        priors[i] = weight(state[0], start, start << roll)
        total += priors[i]
    for i in range(count):
        priors[i] /= total


@kernel
def good_goal(word, roll, there, rng):
    """One of the goals, as a bit, drawn by the weight of its move: each takes the place of those before with its share so far."""
    total = 0.0
    chosen = _0
    while there:
        goal = there & (~there + _1)
        there ^= goal
        good = weight(word, goal >> roll, goal)
        total += good
        if chosen == _0 or random_share(rng) * total < good:
            chosen = goal
    return chosen


@kernel
def play_one(word, roll, rng):
    """The position after a roll is played by the policy, or the turn passed."""
    there = goals(word, roll)
    if there == _0:
        return turned(word)
    goal = good_goal(word, roll, there, rng)
    return moved(word, goal >> roll, goal)


def policy_playout(game, state, moves, rng):
    """Moves drawn by their weight, to the end."""
    word = state[0]
    roll = roll_of(word)
    while word & THEIR_PIECES:
        if not roll:
            roll = np.uint64(count_ones(random_word(rng) & DICE))
        word = play_one(word, roll, rng)
        roll = _0
    state[0] = word


def policy_step(game, state, moves, rng):
    """One roll of the dice, or one move drawn by its weight."""
    word = state[0]
    roll = roll_of(word)
    if roll == _0:
        move = np.int64(count_ones(random_word(rng) & DICE))
    else:
        move = np.int64(lowest_one(good_goal(word, roll, goals(word, roll), rng) >> roll))
    apply(game, state, move)
    return move
