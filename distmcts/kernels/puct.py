"""PUCT (Rosin 2011, in the form of Silver et al. 2017): the game's priors say where to look first.

    score(child) = mean + c * prior * sqrt(N) / (1 + n),        mean = 0 while n = 0

All children of a node are added at once, with their priors, when a simulation passes it for the first time.
"""

import math

import numpy as np

from distmcts.kernels.choose import choose, step
from distmcts.kernels.expand import list_moves
from distmcts.kernels.hooks import bonus
from distmcts.kernels.jit import inner
from distmcts.kernels.layout import BAD_PROBABILITIES, BREACH
from distmcts.kernels.modes import uses
from distmcts.kernels.node import is_complete, status_of
from distmcts.kernels.place import add_family
from distmcts.kernels.rules import OVER, priors

ROUNDING = 1e-6  # by so much the sum of priors may differ from 1


@inner
def add_all_moves(game, mode, tree, worker, shared, node, mover):
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
    add_family(game, mode, tree, worker, shared, node, mover, worker.moves, worker.priors, count, np.int64(0))


@step.when(uses("puct"))
def _step_among_all(game, mode, tree, worker, simulation, shared, node, mover, counts, bits, settings):
    if not is_complete(status_of(tree, node)):
        add_all_moves(game, mode, tree, worker, shared, node, mover)
    child, best = choose(mode, tree, worker, simulation, node, counts, bits, settings)
    return child, False


@bonus.when(uses("puct"))
def _prior_bonus(mode, tree, child, visits, finished, mean, log_root, parent_visits, settings):
    return settings.c * tree.priors[child] * math.sqrt(parent_visits) / (1.0 + visits)
