"""Chance nodes: the position is a roll of dice or the like. The tree policy is not used there; outcomes come by probability.

enumerated   All outcomes are added at once, when a simulation passes the node for the first time, and drawn by probability.
             (Not already when the node is made: most nodes are never passed, and would cost several times their memory.)
hashed       An outcome is drawn from the game; if the hash of the resulting position is new, it becomes a child. With double
             progressive widening (Couetoux et al. 2011) there are at most k * visits^alpha outcomes; once there are, one of
             them is drawn, each as often as it came.

Before: `state` is at a chance event. After: an outcome has been played on it; the child it leads to, and whether that is new.
"""

import numpy as np

from distmcts.kernels.atomics import keep_order, load, store
from distmcts.kernels.family import add_family, child_number, place_for_child, put_on_path, write_child
from distmcts.kernels.jit import part, switch
from distmcts.kernels.layout import (
    BAD_PROBABILITIES,
    BREACH,
    BY_CHANCE,
    CHILD_COUNT_MASK,
    CHILDREN,
    CLASHES,
    COMPLETE,
    COUNTS,
    ENUMERATED,
    EXPANDING,
    EXPANDING_NODE,
    FINE,
    FULL,
    HALVES,
    IN_FLIGHT_BITS,
    MOVE_OUT_OF_RANGE,
    NONE,
    RUN_LIMIT,
    TOO_MANY_MOVES,
    WORDS,
)
from distmcts.kernels.modes import claim, in_flight_at_birth
from distmcts.kernels.moves import move_of
from distmcts.kernels.rng import random_below, random_rank, random_share
from distmcts.kernels.tags import apply, chance_outcomes, in_python, knows_chance, sample_outcome, state_hash

ROUNDING = 1e-6  # by so much the sum of probabilities may differ from 1
OUTCOME_LIMIT = 1 << 31


@part
def draw_index(probabilities, count, rng):
    share = random_share(rng)
    for index in range(count - 1):
        share -= probabilities[index]
        if share < 0.0:
            return np.int64(index)
    return np.int64(count - 1)


@part
def breach_of_outcomes(game, worker, count):
    """What is wrong with a list of outcomes."""
    if count > game.max_outcomes:
        return TOO_MANY_MOVES
    total = 0.0
    least = 0.0
    for index in range(count):
        total += worker.probabilities[index]
        least = min(least, worker.probabilities[index])
        if not 0 <= worker.outcomes[index] < OUTCOME_LIMIT:
            return MOVE_OUT_OF_RANGE
    is_fine = abs(total - 1.0) <= ROUNDING and least == 0.0  # what is not a number is not fine
    return FINE if is_fine else BAD_PROBABILITIES


@part
def pass_enumerated(game, mode, tree, worker, node):
    count = np.int64(chance_outcomes(game, worker.state, worker.outcomes, worker.probabilities))
    if not load(tree.halves, node * HALVES + CHILDREN) & COMPLETE:
        breach = breach_of_outcomes(game, worker, count)
        if breach != FINE:
            worker.slot[BREACH] = breach
            return np.int64(NONE)
        add_family(game, mode, tree, worker, node, worker.outcomes, worker.probabilities, count, BY_CHANCE)
    index = draw_index(worker.probabilities, count, worker.rng)
    apply(game, worker.state, worker.outcomes[index])
    if not load(tree.halves, node * HALVES + CHILDREN) & COMPLETE:
        return np.int64(NONE)  # no room, or another worker is adding them: the playout starts from the outcome
    return child_number(tree, node, index)


@part
def draw_child(tree, worker, node):
    """One of the outcomes in the tree, by the probabilities that are kept there."""
    count = np.int64(load(tree.halves, node * HALVES + CHILDREN) & CHILD_COUNT_MASK)
    share = random_share(worker.rng)
    for index in range(count - 1):
        child = child_number(tree, node, index)
        share -= np.float64(tree.priors[child])
        if share < 0.0:
            return child
    return child_number(tree, node, count - 1)


def _pass_asking(game, mode, tree, worker, node):
    return pass_enumerated(game, mode, tree, worker, node)


def _pass_without_asking(game, mode, tree, worker, node):
    if not load(tree.halves, node * HALVES + CHILDREN) & COMPLETE:
        return pass_enumerated(game, mode, tree, worker, node)
    child = draw_child(tree, worker, node)
    apply(game, worker.state, move_of(game, tree, child))
    return child


# Compiled rules are faster than the tree's memory; rules in Python are asked once for every node.
pass_listed = switch(in_python, _pass_without_asking, _pass_asking)


@part
def pass_hashed(game, mode, tree, worker, node, counts, settings):
    status = node * HALVES + CHILDREN
    known = np.int64(load(tree.halves, status) & CHILD_COUNT_MASK)
    if known > 0 and settings.chance_widening > 0.0:
        visits = np.float64(counts >> IN_FLIGHT_BITS)
        if known >= np.ceil(settings.chance_widening * visits**settings.chance_widening_power):
            child = draw_known(tree, worker, node, known)
            apply(game, worker.state, move_of(game, tree, child))
            return child, False
    outcome = np.int64(sample_outcome(game, worker.state, worker.rng))
    if not 0 <= outcome < OUTCOME_LIMIT:
        worker.slot[BREACH] = MOVE_OUT_OF_RANGE
        return np.int64(NONE), False
    apply(game, worker.state, outcome)
    mark = np.int64(state_hash(game, worker.state))
    child = find_outcome(tree, node, mark, 0, known)
    if child != NONE:
        return child, False
    return add_outcome(game, mode, tree, worker, node, outcome, mark, known)


@part
def draw_known(tree, worker, node, known):
    """One of the outcomes that came before, each as likely as it was often."""
    total = np.int64(0)
    for index in range(known):
        total += (load(tree.words, child_number(tree, node, index) * WORDS + COUNTS) >> IN_FLIGHT_BITS) + 1
    left = random_rank(worker.rng, total)
    for index in range(known):
        child = child_number(tree, node, index)
        left -= (load(tree.words, child * WORDS + COUNTS) >> IN_FLIGHT_BITS) + 1
        if left < 0:
            return child
    return child_number(tree, node, random_below(worker.rng, known))  # visits have grown meanwhile


@part
def find_outcome(tree, node, mark, start, known):
    """The child with this hash among those from number `start` on; NONE if there is none."""
    for index in range(start, known):
        child = child_number(tree, node, index)
        if tree.hashes[child] == mark:
            return child
    return np.int64(NONE)


@part
def add_outcome(game, mode, tree, worker, node, outcome, mark, looked_at):
    """A new child for an outcome that is none of the first `looked_at` ones; the child, and whether it is new."""
    slot = worker.slot
    status = node * HALVES + CHILDREN
    slot[EXPANDING_NODE] = node + 1
    keep_order()
    word = load(tree.halves, status)
    if word & EXPANDING or not claim(mode, tree, status, word):
        slot[EXPANDING_NODE] = 0
        slot[CLASHES] += 1
        return np.int64(NONE), False
    known = np.int64(word & CHILD_COUNT_MASK)
    child = find_outcome(tree, node, mark, looked_at, known)  # another worker may have been faster
    is_new = child == NONE
    if is_new:
        child = place_for_child(tree, worker, node, known, known + RUN_LIMIT, False)
        if child == NONE:
            slot[FULL] += 1
            is_new = False
        else:
            write_child(game, tree, child, outcome, in_flight_at_birth(mode))
            tree.hashes[child] = mark
            put_on_path(worker, child)
            word = (word + 1) | BY_CHANCE
    store(tree.halves, status, word)
    keep_order()
    slot[EXPANDING_NODE] = 0
    return child, is_new


def _pass_chance(game, mode, tree, worker, node, counts, settings):
    if settings.chance == ENUMERATED:
        return pass_listed(game, mode, tree, worker, node), False
    return pass_hashed(game, mode, tree, worker, node, counts, settings)


def _no_chance(game, mode, tree, worker, node, counts, settings):
    return np.int64(NONE), False


# Play an outcome; the child it leads to (NONE: it could not be added, the playout starts here) and whether that is new.
pass_chance = switch(knows_chance, _pass_chance, _no_chance)
