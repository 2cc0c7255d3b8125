"""Risk's recruitments as ranks: every one exactly once, compiled and as plain Python."""

from itertools import combinations_with_replacement
from math import comb

import numpy as np
import pytest

from distmcts.kernels.jit import kernel
from games.risk_map import TERRITORIES
from games.risk_recruit import FIT, MOST, WAYS, numbers_of, rank_of, rank_of_one_place, recruit

_1 = np.uint64(1)


@kernel
def all_recruitments(mine, number, count, placed):
    """Place the troops of every rank, one row each."""
    for rank in range(count):
        recruit(placed[rank], mine, number, rank, _1)


def test_the_number_of_ways():
    for m in range(1, TERRITORIES + 1):
        for n in range(MOST + 1):
            assert WAYS[m, n] == min(comb(n + m - 1, n), 1 << 62)
        assert comb(FIT[m] + m - 1, int(FIT[m])) < 1 << 62
        assert FIT[m] == MOST or comb(FIT[m] + m, int(FIT[m]) + 1) >= 1 << 62
    assert WAYS[21, 7] == comb(27, 7) == 888_030


def test_all_recruitments_of_seven_troops_on_21_territories():
    """Each rank is another way, in lexicographic order; so the ranks are all ways."""
    mine = sum(1 << territory for territory in range(0, 42, 2))
    placed = np.zeros((888_030, 42), np.uint64)
    all_recruitments(np.uint64(mine), 7, 888_030, placed)
    ways = placed[:, ::2].astype(np.int64)
    assert (placed[:, 1::2] == 0).all()
    assert (ways.sum(axis=1) == 7).all()
    codes = ways @ (1 << (3 * np.arange(21)[::-1]))  # a way as one number, three bits a territory
    assert (np.diff(codes) > 0).all()


@pytest.mark.parametrize("territories, number", [(1, 5), (2, 7), (3, 3), (5, 4), (6, 8), (21, 3)])
def test_back_and_forth(territories, number):
    """The host's way, against a list of all ways."""
    listed = sorted(
        tuple(way.count(place) for place in range(territories))
        for way in combinations_with_replacement(range(territories), number)
    )
    for rank, way in enumerate(listed):
        assert numbers_of(territories, number, rank) == list(way)
        assert rank_of(way) == rank


def test_large_ranks():
    choose = np.random.default_rng(1)
    for _ in range(300):
        territories = int(choose.integers(1, 43))
        number = int(choose.integers(1, FIT[territories] + 1))
        count = comb(number + territories - 1, number)
        for rank in (0, count - 1, int(choose.integers(count))):
            numbers = numbers_of(territories, number, rank)
            assert sum(numbers) == number
            assert rank_of(numbers) == rank
            placed = np.zeros(42, np.uint64)
            favourite = recruit(placed, np.uint64((1 << territories) - 1), number, rank, _1)
            assert placed[:territories].tolist() == numbers
            assert favourite == int(np.argmax(numbers))


def test_all_on_one_territory():
    mine = np.uint64(0b1011_0110)
    for place, territory in enumerate((1, 2, 4, 5, 7)):
        for number in (1, 3, 38):
            expected = rank_of([number if other == place else 0 for other in range(5)])
            assert rank_of_one_place(mine, territory, number) == expected
