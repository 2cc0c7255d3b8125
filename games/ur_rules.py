"""The compiled rules of the Royal Game of Ur, as Irving Finkel reconstructed them: a race with four dice.

Every piece travels the path of its owner from the hand over squares 1 to 14 and home; 5 to 12 are shared with the opponent. A
piece that lands on an opponent's there sends it back to the hand. Rosettes (4, 8, 14) give another roll, and on 8 a piece is
safe. The last step home must be exact. Four dice show 0 or 1 each; a roll that cannot be played passes the turn.

State, one uint64 word: the player whose turn it is in the low half, the opponent in the high half, so that passing the turn is a
rotation by 32 bits. In each half:
  bits 1 to 14    pieces on the squares of its owner's path
  bits 16 to 18   pieces in the hand
  bits 20 to 22   the roll to be played, 0 before the dice are cast (low half only)
  bit 31          the half belongs to player 1
Pieces at home are those that are missing. The game is over when the high half has no piece left: its owner moved last.

Moves are where a piece comes from: 0 is the hand, 1 to 14 a square. Outcomes of the dice are 0 to 4.
"""

import numpy as np

from distmcts.kernels.bits import count_ones, lowest_one
from distmcts.kernels.jit import kernel
from distmcts.kernels.rng import random_word
from distmcts.kernels.rules import CHANCE, OVER

LAST = 14  # square of the path
HOME = 15
ROSETTE_SQUARES = (4, 8, LAST)
SHARED_SQUARES = range(5, 13)
ROLLS = 5  # outcomes of the dice


def squares(*numbers: int) -> np.uint64:
    return np.uint64(sum(1 << number for number in numbers))


_0 = np.uint64(0)
_1 = np.uint64(1)
_16 = np.uint64(16)
_20 = np.uint64(20)
_31 = np.uint64(31)
_32 = np.uint64(32)
_63 = np.uint64(63)
DICE = np.uint64(0b1111)
BOARD = squares(*range(1, 15))
ROSETTES = squares(*ROSETTE_SQUARES)
SAFE = squares(8)
SHARED = squares(*SHARED_SQUARES)
HOMES = squares(HOME)
GOALS = BOARD | HOMES
IN_HAND = np.uint64(7 << 16)
ONE_IN_HAND = np.uint64(1 << 16)
THEIR_HAND = np.uint64(1 << 48)
ROLL = np.uint64(7 << 20)
PIECES = BOARD | IN_HAND
THEIR_PIECES = PIECES << _32
PLAYER_1_WAITS = np.uint64(1 << 63)


@kernel
def turned(word):
    """The position seen by the other player."""
    return (word << _32) | (word >> _32)


@kernel
def goals(word, roll):
    """Where the pieces of the player whose turn it is can go with a roll; none with a roll of 0."""
    mine = word & BOARD
    starts = mine | (_1 if word & IN_HAND else _0)
    return (starts << roll) & GOALS & ~(mine | ((word >> _32) & SAFE))


@kernel
def moved(word, start, goal):
    """The position after a move from one square to another, both as bits: before the next roll, of whoever casts it."""
    word -= ONE_IN_HAND if start == _1 else start
    word += goal & BOARD
    hit = word & ((goal & SHARED) << _32)
    word -= hit
    word += THEIR_HAND if hit else _0
    word &= ~ROLL
    return word if goal & ROSETTES else turned(word)


@kernel
def roll_of(word):
    return (word & ROLL) >> _20


def initial(game, state):
    hand = np.uint64(game.pieces) << _16
    state[0] = hand | (hand << _32) | PLAYER_1_WAITS


def legal_moves(game, state, moves):
    roll = roll_of(state[0])
    starts = goals(state[0], roll) >> roll
    count = 0
    while starts:
        moves[count] = lowest_one(starts)
        starts &= starts - _1
        count += 1
    return count


def apply(game, state, move):
    word = state[0]
    roll = roll_of(word)
    if roll:
        start = _1 << np.uint64(move)
        state[0] = moved(word, start, start << roll)
    elif goals(word, np.uint64(move)):
        state[0] = word | (np.uint64(move) << _20)
    else:
        state[0] = turned(word)


def player(game, state):
    if not state[0] & THEIR_PIECES:
        return OVER
    if not state[0] & ROLL:
        return CHANCE
    return np.int64((state[0] >> _31) & _1)


def returns(game, state, rewards):
    winner = np.int64(state[0] >> _63)
    rewards[winner] = 1.0
    rewards[1 - winner] = -1.0


def chance_outcomes(game, state, moves, probabilities):
    for roll in range(ROLLS):
        moves[roll] = roll
        probabilities[roll] = game.roll_chances[roll]
    return ROLLS


def sample_outcome(game, state, rng):
    return count_ones(random_word(rng) & DICE)


@kernel
def nth_one(bits, n):
    """The n-th lowest 1, counted from 0, as a bit."""
    while n:
        bits &= bits - _1
        n -= _1
    return bits & (~bits + _1)


def playout(game, state, moves, rng):
    """Uniformly random moves, the position kept in a register.

    One random word a roll: bits 0 to 3 are the dice, the upper half chooses the move.
    """
    word = state[0]
    roll = roll_of(word)
    while word & THEIR_PIECES:
        chance = random_word(rng)
        if not roll:
            roll = np.uint64(count_ones(chance & DICE))
        there = goals(word, roll)
        if there:
            goal = nth_one(there, ((chance >> _32) * np.uint64(count_ones(there))) >> _32)
            word = moved(word, goal >> roll, goal)
        else:
            word = turned(word)
        roll = _0
    state[0] = word
