"""The compiled rules of Awale (Oware): sow the seeds of a pit, capture two or three from the other side.

Two rule sets:
  oware    as OpenSpiel plays it: a grand slam is legal and captures nothing; an empty row must be fed if possible, otherwise
           the game ends; the first repeat of a position since the last capture ends it; at the end each side takes its row.
  thesis   no feeding, no repeats, a grand slam captures, a capture goes on backward wherever there are two or three seeds,
           and seeds left on the board belong to no one.

State, in uint64 words:
  0, 1   the pits of player 0 and 1, a byte each, pit 0 (the leftmost for its owner) lowest
  2      seeds captured by player 0 (bits 0 to 7) and 1 (8 to 15), player to move (16), game over (17),
         length of the history (from bit 24)
  3, 4   a bit set for each hash in the history, by its highest six bits; one word for each player to move (oware only):
         most positions are new, and this tells at once
  5 ...  history: a hash of each position since the last capture, the present one last (oware only)

A history longer than HISTORY forgets its first half: a repeat is then found when it comes round again.
Moves are pits, 0 to pits - 1, from the mover's left.
"""

import numpy as np

from distmcts.kernels.bits import highest_one
from distmcts.kernels.jit import kernel
from distmcts.kernels.rng import random_below
from distmcts.kernels.rules import OVER

HISTORY = 256
PAST = 5  # where the history starts
MAX_PITS = 8  # a row is one word
MAX_SEEDS = 127  # in all, so that a byte's highest bit stays free

_0 = np.uint64(0)
_1 = np.uint64(1)
_3 = np.uint64(3)
_7 = np.uint64(7)
_8 = np.uint64(8)
_16 = np.uint64(16)
_24 = np.uint64(24)
_56 = np.uint64(56)
_58 = np.uint64(58)
BYTE = np.uint64(0xFF)
ONES = np.uint64(0x0101010101010101)
TWOS = np.uint64(0x0202020202020202)
SEVENS = np.uint64(0x7F7F7F7F7F7F7F7F)
HIGHS = np.uint64(0x8080808080808080)
EVENS = np.uint64(0xFEFEFEFEFEFEFEFE)
GATHER = np.uint64(0x0102040810204080)  # moves the lowest bit of each byte into the highest byte
SCATTER = np.uint64(0x9E3779B97F4A7C15)
MOVER_BIT = np.uint64(1 << 16)
OVER_BIT = np.uint64(1 << 17)
CAPTURES = np.uint64(0xFFFF)


@kernel
def sum_bytes(row):
    return np.int64((row * ONES) >> _56)


@kernel
def filled(row):
    """A bit for each pit that holds seeds."""
    return np.int64((((((row + SEVENS) & HIGHS) >> _7) * GATHER) >> _56) & BYTE)


@kernel
def bytes_below(pit):
    """All bits of the bytes under this pit."""
    return (_1 << (np.uint64(pit) << _3)) - _1 if pit < 8 else ~_0


@kernel
def not_two_or_three(row):
    """The highest bit of each byte whose pit holds neither two nor three seeds."""
    return (((row ^ TWOS) & EVENS) + SEVENS) & HIGHS


@kernel
def chain(row, pit):
    """The bytes of the pits from `pit` backward that hold two or three seeds without a gap."""
    upto = bytes_below(pit + 1)
    others = not_two_or_three(row) & upto
    if others == _0:
        return upto
    return upto & ~bytes_below((highest_one(others) >> 3) + 1)


@kernel
def sow(game, mine, theirs, pit):
    """Both rows after sowing from a pit, and the seeds captured, mover's row first."""
    seeds = np.int64((mine >> (np.uint64(pit) << _3)) & BYTE)
    entry = 2 * (pit * (game.total + 1) + seeds)
    mine = (mine & ~(BYTE << (np.uint64(pit) << _3))) + game.sowings[entry]
    theirs = theirs + game.sowings[entry + 1]
    last = pit + seeds
    if seeds >= 2 * game.pits:
        last += (seeds - 1) // (2 * game.pits - 1)  # the starting pit is passed over
    while last >= 2 * game.pits:
        last -= 2 * game.pits
    captured = 0
    if last >= game.pits:
        caught = chain(theirs, last - game.pits)
        if game.is_oware:
            if theirs & ~caught != _0:  # otherwise a grand slam
                captured = sum_bytes(theirs & caught)
                theirs &= ~caught
        else:
            captured = sum_bytes(theirs & caught)
            theirs &= ~caught
            if caught & BYTE:  # beyond the other side's first pit lies the mover's last one
                caught = chain(mine, game.pits - 1)
                captured += sum_bytes(mine & caught)
                mine &= ~caught
    return mine, theirs, captured


@kernel
def feeding(game, mine):
    """A bit for each pit from which a seed reaches the other side."""
    reaching = 0
    for pit in range(game.pits):
        seeds = np.int64((mine >> (np.uint64(pit) << _3)) & BYTE)
        if seeds > 0 and pit + seeds >= game.pits:
            reaching |= 1 << pit
    return reaching


@kernel
def choices(game, mine, theirs):
    """A bit for each pit that may be sown."""
    if game.is_oware and theirs == _0:
        return feeding(game, mine)
    return filled(mine)


@kernel
def is_decided(game, captured_0, captured_1):
    half = game.total // 2
    return captured_0 > half or captured_1 > half or (captured_0 == half and captured_1 == half)


@kernel
def position_hash(mine, theirs):
    return mine ^ (theirs * SCATTER)


@kernel
def filter_bit(key):
    return _1 << (key >> _58)


@kernel
def was_here(state, length, key):
    """Whether a position is in the history with the same player to move: players take turns, so it is every second one."""
    for i in range(length - 2, -1, -2):
        if state[PAST + i] == key:
            return True
    return False


@kernel
def append(state, length, key):
    """Add a position to the history; its new length."""
    if length == HISTORY:
        length = HISTORY // 2
        for i in range(length):
            state[PAST + i] = state[PAST + length + i]
    state[PAST + length] = key
    return length + 1


@kernel
def summary(captured_0, captured_1, mover, is_over, length):
    word = np.uint64(captured_0) | (np.uint64(captured_1) << _8) | (np.uint64(length) << _24)
    if mover == 1:
        word |= MOVER_BIT
    if is_over:
        word |= OVER_BIT
    return word


def initial(game, state):
    for side in range(2):
        for pit in range(game.pits):
            state[side] |= np.uint64(game.seeds) << np.uint64(8 * pit)
    state[2] = summary(0, 0, 0, False, 1 if game.is_oware else 0)
    if game.is_oware:
        state[PAST] = position_hash(state[0], state[1])
        state[3] = filter_bit(state[PAST])


def legal_moves(game, state, moves):
    mover = np.int64((state[2] >> _16) & _1)
    pits = choices(game, state[mover], state[1 - mover])
    count = 0
    for pit in range(game.pits):
        if pits & (1 << pit):
            moves[count] = pit
            count += 1
    return count


def apply(game, state, move):
    mover = np.int64((state[2] >> _16) & _1)
    captured_0 = np.int64(state[2] & BYTE)
    captured_1 = np.int64((state[2] >> _8) & BYTE)
    length = np.int64(state[2] >> _24)
    mine, theirs, captured = sow(game, state[mover], state[1 - mover], move)
    if mover == 0:
        captured_0 += captured
    else:
        captured_1 += captured
    over = is_decided(game, captured_0, captured_1) or choices(game, theirs, mine) == 0
    if game.is_oware and not over:
        key = position_hash(theirs, mine)
        bit = filter_bit(key)
        if captured > 0:
            length = 0
            state[3] = _0
            state[4] = _0
        elif state[4 - mover] & bit:
            over = was_here(state, length, key)
        state[4 - mover] |= bit
        length = append(state, length, key)
    state[mover] = mine
    state[1 - mover] = theirs
    if over and game.is_oware:
        captured_0 += sum_bytes(state[0])
        captured_1 += sum_bytes(state[1])
        state[0] = _0
        state[1] = _0
    state[2] = summary(captured_0, captured_1, 1 - mover, over, length)


def player(game, state):
    if state[2] & OVER_BIT:
        return OVER
    return np.int64((state[2] >> _16) & _1)


def returns(game, state, rewards):
    difference = np.int64(state[2] & BYTE) - np.int64((state[2] >> _8) & BYTE)
    result = 1.0 if difference > 0 else (-1.0 if difference < 0 else 0.0)
    rewards[0] = result
    rewards[1] = -result


def evaluate(game, state, rewards):
    """The lead in captured seeds, as a share of what decides the game."""
    difference = np.int64(state[2] & BYTE) - np.int64((state[2] >> _8) & BYTE)
    value = min(max(2.0 * difference / game.total, -1.0), 1.0)
    rewards[0] = value
    rewards[1] = -value


def playout(game, state, moves, rng):
    """Uniformly random moves, both rows and the captures kept in registers."""
    if state[2] & OVER_BIT:
        return
    mover = np.int64((state[2] >> _16) & _1)
    mine = state[mover]
    theirs = state[1 - mover]
    mine_captured = np.int64((state[2] >> np.uint64(8 * mover)) & BYTE)
    theirs_captured = np.int64((state[2] >> np.uint64(8 * (1 - mover))) & BYTE)
    length = np.int64(state[2] >> _24)
    pits = choices(game, mine, theirs)
    half = game.total // 2
    mine_filter = _0
    theirs_filter = _0
    if game.is_oware:
        mine_filter = state[3 + mover]
        theirs_filter = state[4 - mover]
    while True:
        pick = random_below(rng, game.pit_counts[pits])
        mine, theirs, captured = sow(game, mine, theirs, np.int64(game.nth_pit[pits * 8 + pick]))
        mine_captured += captured
        mine, theirs = theirs, mine
        mine_captured, theirs_captured = theirs_captured, mine_captured
        mine_filter, theirs_filter = theirs_filter, mine_filter
        mover = 1 - mover
        if captured > 0 and (theirs_captured > half or (theirs_captured == half and mine_captured == half)):
            break
        pits = choices(game, mine, theirs)
        if pits == 0:
            break
        if game.is_oware:
            key = position_hash(mine, theirs)
            bit = filter_bit(key)
            if captured > 0:
                length = 0
                mine_filter = _0
                theirs_filter = _0
            elif mine_filter & bit and was_here(state, length, key):
                break
            mine_filter |= bit
            length = append(state, length, key)
    if game.is_oware:
        mine_captured += sum_bytes(mine)
        theirs_captured += sum_bytes(theirs)
        mine = _0
        theirs = _0
    state[mover] = mine
    state[1 - mover] = theirs
    captured_0 = mine_captured if mover == 0 else theirs_captured
    state[2] = summary(captured_0, mine_captured + theirs_captured - captured_0, mover, True, length)
