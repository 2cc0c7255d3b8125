"""Players of known strength. Openings favour a colour, so that the games of a pair depend on each other.

All chances are computed, not sampled: the true score of a simulated match is known exactly.
"""

from typing import NamedTuple

import numpy as np

from distmcts.match.elo import expected_score
from distmcts.match.pairs import PairCounts


class Style(NamedTuple):
    draw: float  # Elo: a game is drawn if nobody is ahead by more; 0 is a game without draws
    bias: float  # Elo: advantage of the favoured colour; a third of the openings is even


DRAWISH = Style(draw=120.0, bias=100.0)
DECISIVE = Style(draw=0.0, bias=0.0)
ONE_SIDED = Style(draw=20.0, bias=350.0)  # a colour wins nearly always
STYLES = {"drawish": DRAWISH, "decisive": DECISIVE, "one_sided": ONE_SIDED}


def game_chances(advantage: float, draw: float) -> np.ndarray:
    """Lost, drawn, won (the model of BayesElo)."""
    won, lost = expected_score(advantage - draw), expected_score(-advantage - draw)
    return np.array([lost, max(0.0, 1.0 - won - lost), won])


def cells_at(strength: float, style: Style) -> np.ndarray:
    """Chances of the five pair scores. Given the opening, the two games are independent."""
    by_opening = [
        np.convolve(game_chances(strength + bias, style.draw), game_chances(strength - bias, style.draw))
        for bias in (-style.bias, 0.0, style.bias)
    ]
    return np.mean(by_opening, axis=0)


def pair_chances(elo: float, style: Style) -> np.ndarray:
    """The strength is searched for at which the mean score is exactly that of `elo`: draws and openings bend the scale."""
    low, high = -4000.0, 4000.0
    for _ in range(80):
        middle = (low + high) / 2
        if cells_at(middle, style) @ np.linspace(0, 1, 5) < expected_score(elo):
            low = middle
        else:
            high = middle
    return cells_at(low, style)


def matches(rng: np.random.Generator, elo: float, style: Style, pairs: int, count: int) -> list[PairCounts]:
    return [PairCounts(tuple(cells)) for cells in rng.multinomial(pairs, pair_chances(elo, style), size=count).tolist()]
