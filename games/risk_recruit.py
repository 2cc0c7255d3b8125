"""Recruitments of Risk as numbers: all ways to put n troops on m territories, without a list of them.

There are C(n + m - 1, n) ways. They are ranked by the combinatorial number system (Lehmer, Knuth 7.2.1.3): in the order of the
map, fewer troops on a territory come first. So a rank is a sum of entries of WAYS, and is taken apart in n + m steps.

A number of ways has to stay below 2^62. Where it does not, a recruitment is split: first as many troops as fit, then the rest.
"""

from collections.abc import Sequence
from math import comb

import numpy as np

from distmcts.kernels.bits import count_ones, lowest_one
from distmcts.kernels.jit import kernel
from games.risk_map import ALL_BONUSES, TERRITORIES

MOST = TERRITORIES // 3 + ALL_BONUSES  # troops recruited in one turn
TOO_MANY = 1 << 62

_0 = np.uint64(0)
_1 = np.uint64(1)


def _ways(m: int, n: int) -> int:
    return comb(n + m - 1, n) if m > 0 else int(n == 0)


# ways to put n troops on m territories, [m, n], no larger than TOO_MANY
WAYS = np.array([[min(_ways(m, n), TOO_MANY) for n in range(MOST + 1)] for m in range(TERRITORIES + 1)], np.int64)
# how many troops can be put on m territories at once
FIT = np.array([max(n for n in range(MOST + 1) if _ways(m, n) < TOO_MANY) for m in range(TERRITORIES + 1)], np.int64)


@kernel
def recruited_at_once(mine, left):
    """How many of the troops that are left are placed by the next recruitment."""
    return min(left, FIT[count_ones(mine)])


@kernel
def recruit_count(mine, left):
    """How many recruitments there are."""
    return WAYS[count_ones(mine), recruited_at_once(mine, left)]


@kernel
def recruit(state, mine, number, rank, placed):
    """Place troops by the rank of a recruitment; the territory that got most of them, the first of equals.

    With `placed` 0 instead of 1 nothing is placed.
    """
    favourite = 0
    most = 0
    others = count_ones(mine)
    while number > 0:
        territory = lowest_one(mine)
        mine &= mine - _1
        others -= 1
        here = 0
        while rank >= WAYS[others, number]:
            rank -= WAYS[others, number]
            number -= 1
            here += 1
        state[territory] += np.uint64(here) * placed
        if here > most:
            most = here
            favourite = territory
    return favourite


@kernel
def rank_of_one_place(mine, territory, number):
    """The rank of the recruitment that puts all troops on one territory."""
    others = count_ones(mine >> np.uint64(territory)) - 1
    rank = 0
    for n in range(1, number + 1):
        rank += WAYS[others, n]
    return rank


def rank_of(numbers: Sequence[int]) -> int:
    """The rank of a recruitment that puts so many troops on each territory, in the order of the map."""
    rank, left = 0, sum(numbers)
    for others, here in zip(reversed(range(len(numbers))), numbers, strict=True):
        rank += sum(int(WAYS[others, n]) for n in range(left - here + 1, left + 1))
        left -= here
    return rank


def numbers_of(territories: int, number: int, rank: int) -> list[int]:
    """How many troops a recruitment puts on each territory."""
    numbers = []
    for others in reversed(range(territories)):
        here = 0
        while rank >= WAYS[others, number]:
            rank -= int(WAYS[others, number])
            number -= 1
            here += 1
        numbers.append(here)
    return numbers
