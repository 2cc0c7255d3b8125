"""Strength speedup: players whose Elo is known for every budget."""

import numpy as np
import pytest

from distmcts.errors import InputError
from distmcts.match.pairs import PairCounts
from distmcts.match.strength import crossings, isotonic, strength_speedup
from tests.match.players import DRAWISH, matches, pair_chances

RUNS = 300
LEAST_COVERAGE = 0.92  # 0.95 less 2.4 standard errors of 300 runs
SLOPE = 80.0  # Elo per doubling
FACTORS = (0.5, 2.0, 4.0)


def expected_match(elo: float, pairs: int = 10_000) -> PairCounts:
    return PairCounts(tuple(np.rint(pairs * pair_chances(elo, DRAWISH)).astype(int).tolist()))


def long_calibration(slope: float = SLOPE) -> dict[float, PairCounts]:
    return {factor: expected_match(slope * np.log2(factor)) for factor in FACTORS}


def pooled(values: list[float], weights: list[float]) -> list[float]:
    """Pool adjacent violators, as in the textbook."""
    blocks: list[list[float]] = []  # mean, weight, points
    for value, weight in zip(values, weights, strict=True):
        blocks.append([value, weight, 1])
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            (mean, heavy, count), (other, light, more) = blocks[-2], blocks[-1]
            blocks[-2:] = [[(mean * heavy + other * light) / (heavy + light), heavy + light, count + more]]
    return [mean for mean, _, count in blocks for _ in range(int(count))]


def test_isotonic_is_pool_adjacent_violators():
    rng = np.random.default_rng(1)
    for points in range(7):
        values, weights = rng.normal(size=(50, points)), rng.uniform(0.1, 3.0, size=points)
        expected = [pooled(row.tolist(), weights.tolist()) for row in values]
        assert isotonic(values, weights) == pytest.approx(np.array(expected).reshape(50, points))


def test_crossings():
    places = np.array([0.0, 1.0, 2.0, 3.0])
    curve = np.array([0.0, 10.0, 10.0, 30.0])
    levels = np.array([-5.0, 0.0, 5.0, 10.0, 20.0, 30.0, 35.0])
    first, last = crossings(places, np.tile(curve, (len(levels), 1)), levels)
    assert first == pytest.approx([0, 0, 0.5, 1, 2.5, 3, 3])
    assert last == pytest.approx([0, 0, 0.5, 2, 2.5, 3, 3])


def test_crossings_of_a_flat_curve():
    levels = np.array([-1.0, 0.0, 1.0])
    first, last = crossings(np.array([0.0, 1.0, 2.0]), np.zeros((3, 3)), levels)
    assert (first.tolist(), last.tolist()) == ([0, 0, 2], [0, 2, 2])


@pytest.mark.parametrize("truth", [0.6, 1.0, 1.7, 3.0])
@pytest.mark.parametrize("pairs", [60, 200])
def test_interval_holds_the_truth(truth, pairs):
    rng = np.random.default_rng([int(10 * truth), pairs])
    calibrations = [matches(rng, SLOPE * np.log2(factor), DRAWISH, pairs, RUNS) for factor in FACTORS]
    candidates = matches(rng, SLOPE * np.log2(truth), DRAWISH, pairs, RUNS)
    answers = [
        strength_speedup(dict(zip(FACTORS, curve, strict=True)), candidate, rng, resamples=1000)
        for *curve, candidate in zip(*calibrations, candidates, strict=True)
    ]
    assert np.mean([answer.low <= truth <= answer.high for answer in answers]) >= LEAST_COVERAGE
    assert np.median([answer.speedup for answer in answers]) == pytest.approx(truth, rel=0.08)
    if pairs == 200:
        assert np.median([answer.high / answer.low for answer in answers]) < 2.5


@pytest.mark.parametrize("truth", [0.6, 1.0, 1.7, 3.0])
def test_a_long_match_finds_the_factor(truth):
    answer = strength_speedup(long_calibration(), expected_match(SLOPE * np.log2(truth)), np.random.default_rng(1))
    assert answer.speedup == pytest.approx(truth, rel=0.01)
    assert answer.low < truth < answer.high < 1.15 * answer.low
    assert not answer.is_beyond


@pytest.mark.parametrize("truth, expected", [(6.0, 6.0), (30.0, 8.0), (0.3, 0.3), (0.05, 0.25)])
def test_beyond_the_ends(truth, expected):
    answer = strength_speedup(long_calibration(), expected_match(SLOPE * np.log2(truth)), np.random.default_rng(1))
    assert answer.speedup == pytest.approx(expected, rel=0.02)
    assert answer.is_beyond
    assert 0.25 <= answer.low <= answer.speedup <= answer.high <= 8.0


def test_budget_that_does_not_matter():
    """A flat curve: every factor plays as well as the candidate, and the interval says so."""
    answer = strength_speedup(long_calibration(slope=0.0), expected_match(0.0), np.random.default_rng(1))
    assert (answer.low, answer.high) == (0.25, 8.0)


def test_a_curve_that_falls_is_pooled():
    """Measured Elo falls from factor 2 to 4: both count as the mean, and a candidate of that Elo may be either."""
    calibration = {0.5: expected_match(-80.0), 2.0: expected_match(90.0), 4.0: expected_match(70.0)}
    answer = strength_speedup(calibration, expected_match(40.0), np.random.default_rng(1))
    assert 1.3 < answer.speedup < 1.5
    above = strength_speedup(calibration, expected_match(120.0), np.random.default_rng(1))
    assert (above.speedup, above.is_beyond) == (8.0, True)


def test_only_longer_budgets():
    calibration = {2.0: expected_match(80.0), 1.0: PairCounts()}
    answer = strength_speedup(calibration, expected_match(40.0), np.random.default_rng(1))
    assert answer.speedup == pytest.approx(2**0.5, rel=0.01)
    below = strength_speedup(calibration, expected_match(-40.0), np.random.default_rng(1))
    assert (below.speedup, below.is_beyond) == (pytest.approx(2**-0.5, rel=0.01), True)


def test_wins_only():
    answer = strength_speedup(long_calibration(), PairCounts((0, 0, 0, 0, 5)), np.random.default_rng(1))
    assert (answer.speedup, answer.high, answer.is_beyond) == (8.0, 8.0, True)


def test_the_seed_decides():
    one, same, other = (
        strength_speedup(long_calibration(), PairCounts((5, 9, 20, 9, 8)), np.random.default_rng(seed)) for seed in (1, 1, 2)
    )
    assert one == same != other
    assert one.speedup == other.speedup


@pytest.mark.parametrize(
    "calibration, candidate",
    [({}, PairCounts((1, 1, 1, 1, 1))), ({2.0: PairCounts()}, PairCounts((1, 1, 1, 1, 1))), (long_calibration(), PairCounts())],
)
def test_too_few_games_are_refused(calibration, candidate):
    with pytest.raises(InputError):
        strength_speedup(calibration, candidate, np.random.default_rng(1))
