"""Sampled expansion for large action spaces ("best of K"): look at K untried moves, expand the one with the best evaluation.

K moves are drawn uniformly from the u untried ones; when u / 2 < K, max(u / 2, 1) of them. Each is played on a copy of the
position, and the game's evaluation is asked there, as the player who moves sees it. Where a move leads to a chance event, its
value is the mean over the outcomes. A move that the node has already is never taken again: listed moves are drawn without those;
of ranks (moves too many to list) the best is looked up, and another drawn in the rare case that the node has it.
"""

import numpy as np

from distmcts.kernels.evaluation import value_position
from distmcts.kernels.expand import gather_untried, pick_move, untried_rank
from distmcts.kernels.family import child_by_move
from distmcts.kernels.jit import inner, switch
from distmcts.kernels.layout import NONE
from distmcts.kernels.modes import uses
from distmcts.kernels.rng import random_below, random_rank
from distmcts.kernels.rules import CHANCE, OVER, apply, chance_outcomes, player, returns
from distmcts.kernels.states import copy_state
from distmcts.kernels.tags import knows_chance


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


@inner
def value_of_move(game, mode, worker, shared, mover, move):
    """What a move is worth to its player, by the evaluation."""
    state = worker.trial[: game.state_words]
    copy_state(worker.state, state)
    apply(game, state, move)
    return value_after(game, mode, worker, shared, mover, state)


@inner
def value_of_position(game, mode, worker, shared, mover, state):
    if player(game, state) == OVER:
        returns(game, state, worker.results)
    else:
        value_position(game, mode, worker, shared, state)
    return worker.results[mover]


@switch
def value_after(game, mode, worker, shared, mover, state):
    """The evaluation of a position, or of a chance event the mean of its outcomes'."""
    return value_of_position(game, mode, worker, shared, mover, state)


@value_after.when(knows_chance)
def _expected_value(game, mode, worker, shared, mover, state):
    if player(game, state) != CHANCE:
        return value_of_position(game, mode, worker, shared, mover, state)
    outcome_state = worker.trial[game.state_words :]
    count = chance_outcomes(game, state, worker.outcomes, worker.probabilities)
    total = 0.0
    for i in range(count):
        copy_state(state, outcome_state)
        apply(game, outcome_state, worker.outcomes[i])
        total += worker.probabilities[i] * value_of_position(game, mode, worker, shared, mover, outcome_state)
    return total
