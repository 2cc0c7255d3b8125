"""Intervals of small samples: against a library where there is one, and by how often they hold the truth."""

import numpy as np
import pytest

from distmcts.experiments.intervals import mean_interval, ratio_interval, share_interval, student_quantile


@pytest.mark.parametrize("degrees", [1, 2, 3, 5, 6, 7, 10, 30, 200])
def test_student(degrees):
    from scipy import stats

    assert student_quantile(degrees) == pytest.approx(stats.t.ppf(0.975, degrees), rel=1e-3)


def test_share_of_a_library():
    from scipy import stats

    for hits, tries in [(0, 10), (3, 10), (10, 10), (70, 200)]:
        known = stats.binomtest(hits, tries).proportion_ci(method="wilson")
        assert share_interval(hits, tries)[1:] == pytest.approx((known.low, known.high), abs=1e-9)


@pytest.mark.parametrize("size", [3, 10])
def test_means_are_covered(size):
    chooser = np.random.default_rng(1)
    found = [mean_interval(list(chooser.normal(2.0, 1.0, size))) for _ in range(3000)]
    assert 0.935 < np.mean([interval.low <= 2.0 <= interval.high for interval in found]) < 0.965


def test_ratios_are_geometric():
    assert ratio_interval([0.5, 2.0]).middle == pytest.approx(1.0)
    assert mean_interval([7.0]) == (7.0, 7.0, 7.0)
