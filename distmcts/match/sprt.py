"""A match that ends as soon as it is decided: the sequential probability ratio test on pairs.

H0: the first side is elo0 stronger. H1: it is elo1 stronger. After every pair the log likelihood ratio

    LLR = max { log L(p) : mean score of p = s1 }  -  max { log L(p) : mean score of p = s0 }

is compared with log(beta / (1 - alpha)) and log((1 - beta) / alpha) (Wald). The distribution p of a pair over its five scores is
not known; it takes whatever value makes the played pairs most likely under each hypothesis (the generalised test of fishtest and
fastchess; Van den Bergh, "A practical introduction to the GSPRT"). With played shares q and scores a,

    p_i = q_i / (1 + theta (a_i - s)),   theta solving   sum q_i (a_i - s) / (1 + theta (a_i - s)) = 0,

the sum falls from +infinity to -infinity between the poles theta = -1 / (1 - s) and 1 / s, so bisection cannot fail.

One pair is added to those played, of the largest variance possible and neutral between H0 and H1 (as elo.py adds one). Without
it the first pairs, when alike, seem to have hardly any variance, and tests end early and wrong about as often as the 5 % asked
for or slightly above (4.4 to 5.5 % simulated, hypotheses 50 to 60 Elo apart); with it 3 to 4.5 %, for 5 to 10 % more pairs. It
also keeps the poles where they are: no count needs to be above 0.
"""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from distmcts.errors import InputError
from distmcts.match.elo import expected_score
from distmcts.match.pairs import CELL_SCORES, PairCounts

HALVINGS = 50  # to the last digits of a double


def tilt(cells: np.ndarray, score: float) -> np.ndarray:
    """1 + theta (a - score) for each cell: shares divided by it have mean `score`. cells: (..., 5), the outer ones above 0."""
    distance = np.array(CELL_SCORES) - score
    low = np.full((*cells.shape[:-1], 1), -1.0 / (1.0 - score))
    high = np.full_like(low, 1.0 / score)
    for _ in range(HALVINGS):
        theta = (low + high) / 2
        with np.errstate(divide="ignore"):
            is_below = (cells * distance / (1.0 + theta * distance)).sum(axis=-1, keepdims=True) > 0
        low, high = np.where(is_below, theta, low), np.where(is_below, high, theta)
    return 1.0 + (low + high) / 2 * distance


def neutral_pair(score0: float, score1: float) -> np.ndarray:
    """One pair, partly won twice and partly lost twice, so that the likelihood ratio of it alone is 1."""
    for_score1, for_score0 = math.log(score1 / score0), math.log((1.0 - score0) / (1.0 - score1))
    won = for_score0 / (for_score0 + for_score1)
    return np.array([1.0 - won, 0.0, 0.0, 0.0, won])


def log_likelihood_ratio(cells: np.ndarray, score0: float, score1: float) -> np.ndarray:
    """Of matches with pair counts `cells`, shape (..., 5); positive speaks for score1."""
    counts = cells + neutral_pair(score0, score1)
    return (counts * np.log(tilt(counts, score0) / tilt(counts, score1))).sum(axis=-1)


@dataclass(frozen=True)
class Sprt:
    """elo0 and elo1 on the logistic scale. alpha: chance of "H1" at elo0, beta: of "H0" at elo1."""

    elo0: float
    elo1: float
    alpha: float = 0.05
    beta: float = 0.05

    def __post_init__(self) -> None:
        if not -1200 <= self.elo0 < self.elo1 <= 1200:
            raise InputError(f"elo0 {self.elo0:g}, elo1 {self.elo1:g}: elo0 must be below elo1, both within -1200 to 1200")
        if not (0 < self.alpha < 0.5 and 0 < self.beta < 0.5):
            raise InputError(f"alpha {self.alpha:g}, beta {self.beta:g}: allowed is above 0 and below 0.5")

    @property
    def bounds(self) -> tuple[float, float]:
        return math.log(self.beta / (1 - self.alpha)), math.log((1 - self.beta) / self.alpha)

    def llr(self, counts: PairCounts) -> float:
        return float(log_likelihood_ratio(np.array(counts.cells), expected_score(self.elo0), expected_score(self.elo1)))

    def decide(self, counts: PairCounts) -> Literal["H0", "H1"] | None:
        """None: play on."""
        lower, upper = self.bounds
        llr = self.llr(counts)
        return "H0" if llr <= lower else "H1" if llr >= upper else None
