"""The sequential test: its likelihood ratio against brute force, its error rates against their promise."""

import math

import numpy as np
import pytest

from distmcts.errors import InputError
from distmcts.match.elo import expected_score
from distmcts.match.pairs import CELL_SCORES, PairCounts
from distmcts.match.sprt import Sprt, log_likelihood_ratio, neutral_pair, tilt
from tests.match.players import STYLES, Style, pair_chances

TESTS = 1200
LONGEST = 3000  # pairs


def most_likely(counts: np.ndarray, score: float) -> float:
    """Largest log likelihood of all distributions with that mean score, by a general-purpose optimiser."""
    from scipy import optimize

    scores = np.array(CELL_SCORES)
    conditions = [{"type": "eq", "fun": lambda p: p.sum() - 1}, {"type": "eq", "fun": lambda p: p @ scores - score}]
    answer = optimize.minimize(
        lambda p: -counts @ np.log(p),
        np.full(5, 0.2),
        jac=lambda p: -counts / p,
        bounds=[(1e-9, 1)] * 5,
        constraints=conditions,
        options={"ftol": 1e-13, "maxiter": 1000},
    )
    assert answer.success
    return -answer.fun


@pytest.mark.parametrize("elo0, elo1", [(0, 60), (-30, 10), (0, 300)])
@pytest.mark.parametrize("cells", [(3, 10, 40, 17, 5), (9, 1, 5, 1, 14), (0, 2, 9, 4, 0), (0, 0, 0, 0, 6)])
def test_against_brute_force(cells, elo0, elo1):
    score0, score1 = expected_score(elo0), expected_score(elo1)
    counts = np.array(cells) + neutral_pair(score0, score1)
    expected = most_likely(counts, score1) - most_likely(counts, score0)
    assert Sprt(elo0, elo1).llr(PairCounts(cells)) == pytest.approx(expected, abs=2e-4)


@pytest.mark.parametrize(
    "cells, elo0, elo1, expected",  # of fastchess, app/tests/sprt_test.cpp
    [((223, 9863, 21279, 10037, 246), 0.5, 2.5, -3.07), ((871, 26175, 55983, 26678, 821), 0, 2, -4.98)],
)
def test_long_matches_agree_with_fastchess(cells, elo0, elo1, expected):
    assert Sprt(elo0, elo1).llr(PairCounts(cells)) == pytest.approx(expected, abs=0.006)


@pytest.mark.parametrize("score", [0.001, 0.3, 0.5, 0.9, 0.999])
def test_the_tilted_shares_are_a_distribution_with_that_mean(score):
    counts = np.array([[0.5, 0, 0, 0, 0.5], [0.001, 0, 900, 40, 0.999], [30, 10, 0, 5, 1]])
    shares = counts / counts.sum(axis=1, keepdims=True) / tilt(counts, score)
    assert (shares >= 0).all()
    assert shares.sum(axis=1) == pytest.approx(1.0, abs=1e-8)
    assert shares @ np.array(CELL_SCORES) == pytest.approx(score, abs=1e-8)


def share_of_h1(sprt: Sprt, truth: float, style: Style, seed: int) -> float:
    """TESTS sequential tests side by side, looked at after every pair."""
    rng = np.random.default_rng(seed)
    chances = pair_chances(truth, style)
    lower, upper = sprt.bounds
    cells, accepted = np.zeros((TESTS, 5)), 0
    for _ in range(LONGEST):
        cells += rng.multinomial(1, chances, size=len(cells))
        ratio = log_likelihood_ratio(cells, expected_score(sprt.elo0), expected_score(sprt.elo1))
        accepted += int((ratio >= upper).sum())
        cells = cells[(lower < ratio) & (ratio < upper)]
        if len(cells) == 0:
            return accepted / TESTS
    raise AssertionError(f"{len(cells)} tests of {TESTS} did not end")


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("elo0, elo1, alpha, beta", [(0, 80, 0.05, 0.05), (-30, 70, 0.1, 0.02)])
def test_error_rates(style, elo0, elo1, alpha, beta):
    sprt = Sprt(elo0, elo1, alpha, beta)
    wrongly_h1 = share_of_h1(sprt, elo0, STYLES[style], seed=1)
    wrongly_h0 = 1 - share_of_h1(sprt, elo1, STYLES[style], seed=2)
    assert wrongly_h1 <= alpha + 2 * math.sqrt(alpha * (1 - alpha) / TESTS)
    assert wrongly_h0 <= beta + 2 * math.sqrt(beta * (1 - beta) / TESTS)


def test_between_the_hypotheses_it_ends_too():
    assert 0.3 < share_of_h1(Sprt(0, 100), 50, STYLES["drawish"], seed=3) < 0.7


@pytest.mark.parametrize("cell, verdict", [(0, "H0"), (1, "H0"), (3, "H1"), (4, "H1")])
def test_clear_cases(cell, verdict):
    sprt = Sprt(0, 60)
    matches = [PairCounts(tuple(pairs * (place == cell) for place in range(5))) for pairs in range(200)]
    verdicts = [sprt.decide(counts) for counts in matches]
    decided = verdicts.index(verdict)
    assert 1 < decided < 60
    assert set(verdicts[:decided]) == {None}
    assert set(verdicts[decided:]) == {verdict}


def test_a_better_result_speaks_more_for_h1():
    sprt = Sprt(0, 60)
    base = PairCounts((4, 8, 20, 8, 4))
    ratios = [sprt.llr(base.add(*games)) for games in ((0, 0), (0, 0.5), (0.5, 0.5), (1, 0.5), (1, 1))]
    assert ratios == sorted(ratios)


def test_nothing_played_says_nothing():
    for sprt in (Sprt(0, 60), Sprt(-1200, 1200), Sprt(0, 1200)):
        assert sprt.llr(PairCounts()) == pytest.approx(0.0, abs=1e-9)
        assert sprt.decide(PairCounts()) is None


def test_bounds():
    assert Sprt(0, 10).bounds == pytest.approx((-2.944, 2.944), abs=0.001)


@pytest.mark.parametrize("given", [(10, 0), (0, 0), (0, 2000), (0, 10, 0.0), (0, 10, 0.05, 0.5), (0, float("nan"))])
def test_bad_settings_are_refused(given):
    with pytest.raises(InputError):
        Sprt(*given)
