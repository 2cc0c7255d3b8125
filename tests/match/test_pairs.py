"""Counting pairs: against the raw list of games."""

import math

import numpy as np
import pytest

from distmcts.errors import InputError
from distmcts.match.pairs import PairCounts

GAMES = [(1, 1), (1, 0), (0.5, 0.5), (0, 0.5), (0, 1), (1, 0.5), (0, 0), (0.5, 1), (1, 1)]


def test_against_the_raw_list():
    counts = PairCounts.from_games(GAMES)
    raw = np.array(GAMES)
    assert counts.cells == (1, 1, 3, 2, 2)
    assert (counts.pairs, counts.games) == (9, 18)
    assert counts.score == pytest.approx(raw.mean())
    assert counts.variance == pytest.approx(raw.mean(axis=1).var(ddof=1) / len(raw))
    assert (counts.wins, counts.draws, counts.losses) == ((raw == 1).sum(), (raw == 0.5).sum(), (raw == 0).sum())


def test_one_by_one_is_all_at_once():
    counts = PairCounts()
    for first_game, second_game in GAMES:
        counts = counts.add(first_game, second_game)
    assert counts == PairCounts.from_games(GAMES) == PairCounts.from_games(GAMES[:4]) + PairCounts.from_games(GAMES[4:])


def test_paid_back_wins_have_no_variance():
    """A colour that always wins: 20 games with all the variance of a coin, but every pair says "equal"."""
    assert PairCounts.from_games([(1, 0), (0, 1)] * 5).variance == 0.0


def test_without_pairs():
    assert PairCounts().score == 0.5
    assert PairCounts().variance == PairCounts((0, 0, 0, 0, 1)).variance == math.inf
    assert (PairCounts().wins, PairCounts().draws, PairCounts().losses) == (0, 0, 0)


def test_five_counts_alone_do_not_tell_draws():
    counts = PairCounts((0, 0, 4, 0, 0))
    assert (counts.wins, counts.draws, counts.losses) == (None, None, None)
    assert counts.add(1, 1).draws is None
    assert PairCounts((3, 1, 0, 0, 2)).draws == 1


@pytest.mark.parametrize(
    "make", [lambda: PairCounts().add(1, 0.7), lambda: PairCounts((1, 2, 3)), lambda: PairCounts((-1, 0, 0, 0, 0))]
)
def test_bad_results_are_refused(make):
    with pytest.raises(InputError, match="allowed"):
        make()
