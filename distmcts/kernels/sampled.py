"""Sampled expansion for large action spaces ("best of K"): look at K untried moves, expand the one with the best evaluation.

K moves are drawn uniformly from the u untried ones; when u / 2 < K, max(u / 2, 1) of them. Each is played on a copy of the
position, and the game's evaluation is asked there, as the player who moves sees it. Where a move leads to a chance event, its
value is the mean over the outcomes. A move that the node has already is never taken again: listed moves are drawn without those;
of ranks (moves too many to list) the best is looked up, and another drawn in the rare case that the node has it.
"""

import numpy as np

from distmcts.kernels.atomics import load
from distmcts.kernels.evaluation import value_position
from distmcts.kernels.jit import part, switch
from distmcts.kernels.layout import CHILD_COUNT_MASK, CHILDREN, FIRST, FIRST_RUN, HALVES
from distmcts.kernels.moves import move_of
from distmcts.kernels.rng import random_below, random_rank
from distmcts.kernels.runs import link_to_run, next_size
from distmcts.kernels.states import copy_state
from distmcts.kernels.tags import CHANCE, OVER, apply, chance_outcomes, knows_chance, player, returns

TRIES = 8  # for a rank that is not in the tree yet; ranks are so many that one is nearly always enough


@part
def is_child(game, tree, node, move):
    """Whether a node has a child for a move."""
    left = np.int64(load(tree.halves, node * HALVES + CHILDREN) & CHILD_COUNT_MASK)
    first = run = np.int64(load(tree.halves, node * HALVES + FIRST))
    size = FIRST_RUN
    number = 0
    while left > 0:
        for child in range(run, run + min(size, left)):
            if move_of(game, tree, child) == move:
                return True
        left -= size
        number += 1
        run = np.int64(load(tree.halves, link_to_run(first, run, number)))
        size = next_size(size)
    return False


@part
def untried_rank(game, tree, worker, node, ranks):
    """A random rank that no child of the node has; -1 if none was found in some tries."""
    for _ in range(TRIES):
        move = random_rank(worker.rng, ranks)
        if not is_child(game, tree, node, move):
            return move
    return np.int64(-1)


@part
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
    return untried_rank(game, tree, worker, node, legal) if ranked and is_child(game, tree, node, best) else best


@part
def value_of_move(game, mode, worker, shared, mover, move):
    """What a move is worth to its player, by the evaluation."""
    state = worker.trial[: game.state_words]
    copy_state(worker.state, state)
    apply(game, state, move)
    return value_after(game, mode, worker, shared, mover, state)


@part
def _value(game, mode, worker, shared, mover, state):
    if player(game, state) == OVER:
        returns(game, state, worker.results)
    else:
        value_position(game, mode, worker, shared, state)
    return worker.results[mover]


def _value_certain(game, mode, worker, shared, mover, state):
    return _value(game, mode, worker, shared, mover, state)


def _value_expected(game, mode, worker, shared, mover, state):
    if player(game, state) != CHANCE:
        return _value(game, mode, worker, shared, mover, state)
    outcome_state = worker.trial[game.state_words :]
    count = chance_outcomes(game, state, worker.outcomes, worker.probabilities)
    total = 0.0
    for i in range(count):
        copy_state(state, outcome_state)
        apply(game, outcome_state, worker.outcomes[i])
        total += worker.probabilities[i] * _value(game, mode, worker, shared, mover, outcome_state)
    return total


# The evaluation of a position, or of a chance event the mean of its outcomes'.
value_after = switch(knows_chance, _value_expected, _value_certain)
