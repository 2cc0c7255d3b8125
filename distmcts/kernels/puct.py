"""PUCT (Rosin 2011, in the form of Silver et al. 2017): the game's priors say where to look first.

    score(child) = mean + c * prior * sqrt(N) / (1 + n),        mean = 0 while n = 0

All children of a node are added at once, with their priors, when a simulation passes it for the first time.
"""

import math

import numpy as np

from distmcts.kernels.expand import list_moves
from distmcts.kernels.family import add_family
from distmcts.kernels.jit import part
from distmcts.kernels.layout import BAD_PROBABILITIES, BREACH
from distmcts.kernels.tags import OVER, priors

ROUNDING = 1e-6  # by so much the sum of priors may differ from 1


@part
def add_all_moves(game, mode, tree, worker, node, mover):
    """Give a node all its children, unless the game is over there."""
    if mover == OVER:
        return
    count = list_moves(game, worker)
    if count == 0 or count > game.max_moves:
        return
    priors(game, worker.state, worker.moves, count, worker.priors)
    total = 0.0
    for i in range(count):
        total += worker.priors[i]
    if not abs(total - 1.0) <= ROUNDING:
        worker.slot[BREACH] = BAD_PROBABILITIES
        return
    add_family(game, mode, tree, worker, node, worker.moves, worker.priors, count, np.int64(0))


def puct_bonus(mode, tree, child, visits, finished, mean, log_root, parent_visits, settings):
    return settings.c * tree.priors[child] * math.sqrt(parent_visits) / (1.0 + visits)
