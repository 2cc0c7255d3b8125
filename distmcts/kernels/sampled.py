"""Sampled expansion for large action spaces ("best of K"): look at K untried moves, expand the one with the best evaluation.

K moves are drawn uniformly from the u untried ones; when u / 2 < K, max(u / 2, 1) of them. Each is played on a copy of the
position, and the game's evaluation is asked there, as the player who moves sees it. Where a move leads to a chance event, its
value is the mean over the outcomes. A move that the node has already is never taken again: listed moves are drawn without those;
of ranks (moves too many to list) the best is looked up, and another drawn in the rare case that the node has it.
"""

import numpy as np

from distmcts.kernels.evaluation import value_of_move
from distmcts.kernels.expand import gather_untried, pick_move, untried_rank
from distmcts.kernels.family import child_by_move
from distmcts.kernels.jit import inner
from distmcts.kernels.layout import NONE
from distmcts.kernels.modes import uses
from distmcts.kernels.rng import random_below, random_rank


@pick_move.when(uses("sampled"))
def _sampled_move(game, mode, tree, worker, shared, node, mover, count, legal, settings):
    if not game.has_ranks or legal <= game.max_moves:
        gather_untried(worker, legal)
    return best_of_samples(game, mode, tree, worker, shared, node, mover, legal - count, legal, settings)


@inner
def best_of_samples(game, mode, tree, worker, shared, node, mover, untried, legal, settings):
    """The best of K untried moves; `worker.moves` begins with them unless they are ranks. -1 if none was found."""
    samples = settings.samples if untried // 2 >= settings.samples else max(untried // 2, 1)
    ranked = game.has_ranks and legal > game.max_moves
    best = np.int64(-1)
    best_value = -np.inf
    for i in range(samples):
        if ranked:
            move = random_rank(worker.rng, legal)
        else:
            other = i + random_below(worker.rng, untried - i)  # the next of a shuffled list
            move = worker.moves[other]
            worker.moves[other] = worker.moves[i]
            worker.moves[i] = move
        value = value_of_move(game, mode, worker, shared, mover, move) if samples > 1 else 0.0
        if value > best_value:
            best = move
            best_value = value
    # Ranks are so many that a look at the best one is enough.
    if ranked and child_by_move(game, tree, node, best) != NONE:
        return untried_rank(game, tree, worker, node, legal)
    return best
