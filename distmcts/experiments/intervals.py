"""95 % intervals for means, ratios and shares of small samples."""

import math
from statistics import NormalDist, fmean, stdev
from typing import NamedTuple

Z = NormalDist().inv_cdf(0.975)


class Interval(NamedTuple):
    middle: float
    low: float
    high: float


def mean_interval(values: list[float]) -> Interval:
    """Of a mean, by Student's t; one value alone has no interval, its ends are itself."""
    middle = fmean(values)
    if len(values) < 2:
        return Interval(middle, middle, middle)
    half = student_quantile(len(values) - 1) * stdev(values) / math.sqrt(len(values))
    return Interval(middle, middle - half, middle + half)


def ratio_interval(ratios: list[float]) -> Interval:
    """Of a ratio measured many times: the geometric mean, since half as fast and twice as fast weigh the same."""
    return Interval(*(math.exp(x) for x in mean_interval([math.log(ratio) for ratio in ratios])))


def share_interval(hits: int, tries: int) -> Interval:
    """Of a share, by Wilson."""
    share = hits / tries
    middle = (share + Z * Z / (2 * tries)) / (1 + Z * Z / tries)
    half = Z / (1 + Z * Z / tries) * math.sqrt(share * (1 - share) / tries + Z * Z / (4 * tries * tries))
    return Interval(share, max(0.0, middle - half), min(1.0, middle + half))


_EXACT = (12.7062, 4.3027, 3.1824, 2.7764, 2.5706)  # for 1 to 5 degrees of freedom, where the series below is too coarse


def student_quantile(degrees: int) -> float:
    """97.5 % quantile of Student's t: Abramowitz and Stegun 26.7.5, exact to three digits from 6 degrees of freedom on."""
    if degrees <= len(_EXACT):
        return _EXACT[degrees - 1]
    g1 = (Z**3 + Z) / 4
    g2 = (5 * Z**5 + 16 * Z**3 + 3 * Z) / 96
    g3 = (3 * Z**7 + 19 * Z**5 + 17 * Z**3 - 15 * Z) / 384
    return Z + g1 / degrees + g2 / degrees**2 + g3 / degrees**3
