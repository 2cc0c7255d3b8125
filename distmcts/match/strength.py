"""Strength speedup: how many times longer serial search would have to search to play as well (Chaslot et al., 2008).

Parallel search makes simulations faster but chooses them worse; this is the figure that counts both. Serial search with several
budgets is first calibrated against serial search with the base budget,

    Elo
     |                     x factor 4
     |           x factor 2
   e +- - - - - -/           <- Elo of the candidate against the same opponent
     0 x factor 1:
    x  factor 1/2
     +------------------------ log2 factor

and the factor is read off where the curve has the candidate's Elo. The curve is straight between the measured factors, passes
through 0 at factor 1 by definition, and never falls: where measured Elo falls, neighbours are pooled (isotonic regression).
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from distmcts.errors import InputError
from distmcts.match.elo import elos
from distmcts.match.pairs import CELL_SCORES, PairCounts

PRIOR = 0.2  # pairs added to each of the five counts: a score never seen is still resampled, and no Elo is infinite
BEYOND = 1.0  # how far the last segments are prolonged; log2, so a factor of 2
TAIL = 0.025  # on each side of the interval


class StrengthSpeedup(NamedTuple):
    """An end of the interval that lies a factor of 2 outside the calibrated factors is open: the truth may lie beyond."""

    speedup: float
    low: float
    high: float
    is_beyond: bool  # speedup lies outside the calibrated factors: calibrate further for a better figure


def isotonic(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The closest rows that never fall. values: (rows, points); weights: (points,).

    The result of pooling adjacent violators, in its max-min form: for each point the largest, over starts at or before it, of
    the smallest, over ends at or after it, of the weighted mean between start and end. Without branches, for all rows at once.
    """
    fitted = np.full(values.shape, -np.inf)
    for start in range(values.shape[1]):
        totals = np.cumsum(weights[start:])
        means = np.cumsum(values[:, start:] * weights[start:], axis=1) / totals
        smallest = np.minimum.accumulate(means[:, ::-1], axis=1)[:, ::-1]
        fitted[:, start:] = np.maximum(fitted[:, start:], smallest)
    return fitted


def crossings(places: np.ndarray, curves: np.ndarray, levels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First and last place where each curve has its level; they differ only where the curve is flat there.

    places: (points,), rising; curves: (rows, points), never falling; levels: (rows,). Clamped to the ends.
    """
    column = levels[:, None]
    first = crossing(places, curves, levels, (curves < column).sum(axis=1))
    last = crossing(places, curves, levels, (curves <= column).sum(axis=1))
    return first, last


def crossing(places: np.ndarray, curves: np.ndarray, levels: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Between point right - 1, at or below the level, and point right, at or above it; one of the two is strict."""
    rows = np.arange(len(levels))
    after = np.clip(right, 1, len(places) - 1)
    start, end = curves[rows, after - 1], curves[rows, after]
    rise = np.where(end > start, end - start, 1.0)  # flat only outside the curve, where the share is clamped
    share = np.where(right == 0, 0.0, np.where(right == len(places), 1.0, (levels - start) / rise))
    return places[after - 1] + np.clip(share, 0.0, 1.0) * (places[after] - places[after - 1])


def smoothed_scores(cells: np.ndarray) -> np.ndarray:
    smooth = cells + PRIOR
    return smooth @ np.array(CELL_SCORES) / smooth.sum(axis=-1)


def resampled_elos(counts: PairCounts, resamples: int, rng: np.random.Generator) -> np.ndarray:
    """Of the match as it was played, then of `resamples` matches as they might have been."""
    played = np.array(counts.cells)
    chances = (played + PRIOR) / (played + PRIOR).sum()
    others = rng.multinomial(counts.pairs, chances, size=resamples)
    return elos(smoothed_scores(np.vstack([played, others])))


def elo_weight(counts: PairCounts) -> float:
    """One over the variance of Elo, by its slope at the score; up to a constant."""
    smooth = np.array(counts.cells) + PRIOR
    score = float(smoothed_scores(np.array(counts.cells)))
    variance = float(smooth @ (np.array(CELL_SCORES) - score) ** 2) / smooth.sum() ** 2
    return (score * (1.0 - score)) ** 2 / variance


def calibrated(factors: list[float], measured: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The curve of each row of `measured`, with factor 1 and both prolongations; places are log2 factors."""
    below = sum(factor < 1.0 for factor in factors)
    # factor 1 is exact, which bounds the fits on both sides of it: a bounded isotonic fit is the clipped free one
    left = np.minimum(isotonic(measured[:, :below], weights[:below]), 0.0)
    right = np.maximum(isotonic(measured[:, below:], weights[below:]), 0.0)
    curves = np.hstack([left, np.zeros((len(measured), 1)), right])
    places = np.log2([*factors[:below], 1.0, *factors[below:]])
    start = curves[:, :1] - (curves[:, 1:2] - curves[:, :1]) / (places[1] - places[0]) * BEYOND
    end = curves[:, -1:] + (curves[:, -1:] - curves[:, -2:-1]) / (places[-1] - places[-2]) * BEYOND
    return np.array([places[0] - BEYOND, *places, places[-1] + BEYOND]), np.hstack([start, curves, end])


def strength_speedup(
    calibration: Mapping[float, PairCounts],
    candidate: PairCounts,
    rng: np.random.Generator,
    resamples: int = 2000,
) -> StrengthSpeedup:
    """With an interval of 95 % by parametric bootstrap: calibration and candidate are both played again.

    calibration: budget factor -> serial search with that factor against factor 1. Factor 1 itself is Elo 0 by definition; games
    given for it are not used. candidate: against factor 1. If the curve is flat at the candidate's Elo, any factor there plays as
    well: the figure is the middle, and the interval holds the whole flat part.
    """
    factors = sorted(factor for factor in calibration if factor != 1.0)
    if not factors or factors[0] <= 0.0:
        raise InputError(f"calibration factors {sorted(calibration)}: needed is at least one besides 1, all above 0")
    if candidate.pairs == 0 or any(calibration[factor].pairs == 0 for factor in factors):
        raise InputError("strength speedup: the candidate and every calibration factor need at least one pair of games")
    if resamples < 1000:
        raise InputError(f"resamples {resamples}: at least 1000 are needed for an interval of 95 %")
    measured = np.column_stack([resampled_elos(calibration[factor], resamples, rng) for factor in factors])
    weights = np.array([elo_weight(calibration[factor]) for factor in factors])
    places, curves = calibrated(factors, measured, weights)
    first, last = crossings(places, curves, resampled_elos(candidate, resamples, rng))
    played = (first[0] + last[0]) / 2
    low = min(first[0], np.quantile(first[1:], TAIL))
    high = max(last[0], np.quantile(last[1:], 1.0 - TAIL))
    is_beyond = not places[1] <= played <= places[-2]
    return StrengthSpeedup(float(2.0**played), float(2.0**low), float(2.0**high), is_beyond)
