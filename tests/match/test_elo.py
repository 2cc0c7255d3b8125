"""Elo and its interval: known values, and how often the interval holds the truth."""

import json
import math

import numpy as np
import pytest

from distmcts.match.elo import LIMIT, EloEstimate, Z, elo, expected_score, score_interval
from distmcts.match.pairs import CELL_SCORES, PairCounts
from tests.match.players import STYLES, matches, pair_chances

MATCHES = 2000
# Slack below 0.95: four standard errors of 2,000 matches, 4 * sqrt(0.95 * 0.05 / 2000) = 0.0195.
LEAST_COVERAGE = 0.93


def test_known_values():
    assert elo(0.5) == 0.0
    assert elo(0.64) == pytest.approx(99.95, abs=0.01)
    assert expected_score(400) == pytest.approx(10 / 11)
    assert elo(expected_score(-123.0)) == pytest.approx(-123.0)
    assert (elo(0.0), elo(1.0)) == (-LIMIT, LIMIT)


@pytest.mark.parametrize(
    "cells, difference, error",  # of fastchess, app/tests/elo_test.cpp, which uses the large-sample interval
    [
        ((34, 54, 63, 64, 75), 55.58, 27.65),
        ((332, 433, 498, 333, 334), -8.64, 10.33),
        ((7895, 8757, 5685, 568, 9999), -21.04, 2.95),
    ],
)
def test_long_matches_agree_with_fastchess(cells, difference, error):
    estimate = EloEstimate.from_pairs(PairCounts(cells))
    assert estimate.elo == pytest.approx(difference, abs=0.01)
    assert (estimate.high - estimate.low) / 2 == pytest.approx(error, rel=0.01)


@pytest.mark.parametrize("pairs", [20, 100, 400])
@pytest.mark.parametrize("truth", [0, 60, 250])
@pytest.mark.parametrize("style", STYLES)
def test_interval_holds_the_truth(style, truth, pairs):
    rng = np.random.default_rng([truth, pairs])
    intervals = np.array([score_interval(counts) for counts in matches(rng, truth, STYLES[style], pairs, MATCHES)])
    score = expected_score(truth)
    coverage = np.mean((intervals[:, 0] <= score) & (score <= intervals[:, 1]))
    assert coverage >= LEAST_COVERAGE
    chances = pair_chances(truth, STYLES[style])
    asymptotic = 2 * Z * math.sqrt(chances @ (np.array(CELL_SCORES) - score) ** 2 / pairs)
    assert np.mean(intervals[:, 1] - intervals[:, 0]) <= (1.1 if pairs == 20 else 1.02) * asymptotic
    if pairs >= 100:
        assert coverage <= 0.97


@pytest.mark.parametrize("pairs", [1, 2, 3, 5, 10])
@pytest.mark.parametrize("style", STYLES)
def test_interval_holds_the_truth_in_very_short_matches(style, pairs):
    rng = np.random.default_rng(pairs)
    score = expected_score(60)
    intervals = [score_interval(counts) for counts in matches(rng, 60, STYLES[style], pairs, MATCHES)]
    assert np.mean([low <= score <= high for low, high in intervals]) >= LEAST_COVERAGE


def test_games_taken_singly_would_be_wrong():
    """Openings that one colour nearly always wins: the variance of games is far from that of pairs."""
    counts = PairCounts((2, 5, 386, 5, 2), drawn_pairs=0)
    low, high = score_interval(counts)
    as_games = 2 * Z * math.sqrt(0.25 / counts.games)
    assert high - low < as_games / 3


@pytest.mark.parametrize("cells", [(0, 0, 0, 0, 20), (0, 0, 20, 0, 0), (0, 0, 0, 0, 1), (0, 0, 1, 0, 0), (0, 0, 0, 0, 0)])
def test_edges(cells):
    estimate = EloEstimate.from_pairs(PairCounts(cells))
    assert estimate.low < estimate.elo <= estimate.high
    assert all(math.isfinite(value) for value in estimate)
    assert json.loads(json.dumps(estimate._asdict())) == estimate._asdict()
    assert (estimate.likelihood_of_superiority > 0.975) == (estimate.low > 0)


def test_edges_in_numbers():
    wins = EloEstimate.from_pairs(PairCounts((0, 0, 0, 0, 20)))
    # the worst case is a pair that is all or nothing: 0.025 ** (1 / 20) is the exact bound then
    assert (wins.elo, wins.high) == (LIMIT, LIMIT)
    assert expected_score(wins.low) == pytest.approx(0.025 ** (1 / 20), abs=0.01)
    draws = EloEstimate.from_pairs(PairCounts((0, 0, 20, 0, 0)))
    assert (draws.low, draws.high) == pytest.approx((-33.2, 33.2), abs=0.1)
    assert draws.likelihood_of_superiority == 0.5
    nothing = EloEstimate.from_pairs(PairCounts())
    assert nothing == (0.0, -LIMIT, LIMIT, 0.5)


def test_swapping_sides_mirrors():
    one, other = (EloEstimate.from_pairs(PairCounts(cells)) for cells in ((3, 1, 7, 9, 12), (12, 9, 7, 1, 3)))
    assert (one.elo, one.low, one.high) == pytest.approx((-other.elo, -other.high, -other.low))
    assert one.likelihood_of_superiority == pytest.approx(1 - other.likelihood_of_superiority)
