"""What a search would reach if its tree cost nothing: the rate of bare playouts."""

import time

import numpy as np

from distmcts.game import CompiledGame, State
from distmcts.kernels.layout import MAX_PLAYERS
from distmcts.kernels.referee import bare_playouts
from distmcts.kernels.rng import seeded

TO_THE_END = -1  # no cutoff


def bare_rate(game: CompiledGame, start: State, count: int, seed: int) -> float:
    """Playouts a second from one position, on one core."""
    scratch, moves = start.copy(), np.zeros(game.list_length, np.int64)
    results, totals = np.zeros(MAX_PLAYERS), np.zeros(MAX_PLAYERS)
    rng = seeded(seed, 0)
    bare_playouts(game, start, scratch, moves, results, totals, rng, TO_THE_END, 100)  # compiled, and the caches warm
    begin = time.perf_counter()
    bare_playouts(game, start, scratch, moves, results, totals, rng, TO_THE_END, count)
    return count / (time.perf_counter() - begin)
