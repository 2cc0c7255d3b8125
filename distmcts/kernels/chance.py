"""Chance nodes: the position is a roll of dice or the like. The tree policy is not used there; outcomes come by probability.

enumerated   All outcomes are added at once, when a simulation passes the node for the first time, and drawn by probability.
             (Not already when the node is made: most nodes are never passed, and would cost several times their memory.)
hashed       An outcome is drawn from the game; if the hash of the resulting position is new, it becomes a child. With double
             progressive widening (Couetoux et al. 2011) there are at most k * visits^alpha outcomes; once there are, one of
             them is drawn, each as often as it came.

Before: `state` is at a chance event. After: an outcome has been played on it; the child it leads to, and whether that is new.
"""

import numpy as np

from distmcts.kernels.atomics import fetch_add, keep_order
from distmcts.kernels.family import child_number, first_child, first_child_of, next_child
from distmcts.kernels.jit import inner, switch
from distmcts.kernels.layout import (
    BAD_PROBABILITIES,
    BREACH,
    BY_CHANCE,
    EXPANDING_NODE,
    FINE,
    FULL,
    MOVE_OUT_OF_RANGE,
    NONE,
    RUN_LIMIT,
    TOO_MANY_MOVES,
)
from distmcts.kernels.modes import uses, without
from distmcts.kernels.node import (
    child_count,
    is_complete,
    move_of,
    status_of,
    visits_in,
    visits_of,
)
from distmcts.kernels.place import add_family, place_for_child, put_newborn_on_path, take_unborn_off_path
from distmcts.kernels.rng import random_below, random_rank, random_share
from distmcts.kernels.rules import CHANCE, apply, chance_outcomes, sample_outcome, state_hash
from distmcts.kernels.states import copy_state
from distmcts.kernels.tags import in_python, knows_chance
from distmcts.kernels.updates import offer_move, publish

ROUNDING = 1e-6  # by so much the sum of probabilities may differ from 1
OUTCOME_LIMIT = 1 << 31


@inner
def draw_index(probabilities, count, rng):
    share = random_share(rng)
    for index in range(count - 1):
        share -= probabilities[index]
        if share < 0.0:
            return np.int64(index)
    return np.int64(count - 1)


@inner
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


@switch
def draw_outcome(game, mode, worker, simulation, count):
    """The number of an outcome, by `worker.probabilities`. Some are drawn beforehand (draws.py)."""
    return draw_index(worker.probabilities, count, worker.rng)


@switch
def draw_sample(game, mode, worker, simulation, settings):
    """An outcome, as the game throws its dice."""
    return np.int64(sample_outcome(game, worker.state, worker.rng))


@inner
def ask_and_draw(game, mode, tree, worker, simulation, shared, node):
    """Ask the game for the outcomes, add them if they are not there, and draw one of them."""
    count = np.int64(chance_outcomes(game, worker.state, worker.outcomes, worker.probabilities))
    if not is_complete(status_of(tree, node)):
        breach = breach_of_outcomes(game, worker, count)
        if breach != FINE:
            worker.slot[BREACH] = breach
            return np.int64(NONE)
        add_family(game, mode, tree, worker, shared, node, CHANCE, worker.outcomes, worker.probabilities, count, BY_CHANCE)
    index = draw_outcome(game, mode, worker, simulation, count)
    apply(game, worker.state, worker.outcomes[index])
    if not is_complete(status_of(tree, node)):
        return np.int64(NONE)  # no room: the playout starts from the outcome
    return child_number(tree, node, index)


@inner
def draw_child(game, mode, tree, worker, simulation, node):
    """One of the outcomes in the tree, by the probabilities that are kept there."""
    count = np.int64(0)
    at = first_child(tree, node)
    while at.child != NONE:
        worker.probabilities[count] = np.float64(tree.priors[at.child])
        count += 1
        at = next_child(tree, at)
    return child_number(tree, node, draw_outcome(game, mode, worker, simulation, count))


@switch
def pass_enumerated(game, mode, tree, worker, simulation, shared, node):
    """Play an outcome by its probability; the child it leads to. Compiled rules are asked: they are faster than memory."""
    return ask_and_draw(game, mode, tree, worker, simulation, shared, node)


@pass_enumerated.when(in_python)
def _pass_without_asking(game, mode, tree, worker, simulation, shared, node):
    """Rules in Python are asked once for every node."""
    if not is_complete(status_of(tree, node)):
        return ask_and_draw(game, mode, tree, worker, simulation, shared, node)
    child = draw_child(game, mode, tree, worker, simulation, node)
    apply(game, worker.state, move_of(game, tree, child))
    return child


@inner
def draw_known(tree, worker, node, known):
    """One of the outcomes that came before, each as likely as it was often."""
    total = np.int64(0)
    at = first_child(tree, node)
    for _ in range(known):
        total += visits_of(tree, at.child) + 1
        at = next_child(tree, at)
    left = random_rank(worker.rng, total)
    at = first_child(tree, node)
    for _ in range(known):
        left -= visits_of(tree, at.child) + 1
        if left < 0:
            return at.child
        at = next_child(tree, at)
    return child_number(tree, node, random_below(worker.rng, known))  # visits have grown meanwhile


@inner
def find_outcome(tree, node, status, mark, start):
    """The child with this hash among those from number `start` on; NONE if there is none."""
    at = first_child_of(tree, node, status)
    for _ in range(start):
        at = next_child(tree, at)
    while at.child != NONE and tree.hashes[at.child] != mark:
        at = next_child(tree, at)
    return at.child


@inner
def mark_after(game, worker, outcome):
    """The hash of the position after an outcome of the chance event that `worker.trial` begins with."""
    before, after = worker.trial[: game.state_words], worker.trial[game.state_words :]
    copy_state(before, after)
    apply(game, after, outcome)
    return np.int64(state_hash(game, after))


@inner
def add_outcome(game, mode, tree, worker, simulation, node, outcome, mark, looked_at):
    """A new child for an outcome that is none of the first `looked_at` ones; the child, and whether it is new.

    Where another worker has begun to add its own outcome, and has not finished, that is done for it.
    """
    slot = worker.slot
    slot[EXPANDING_NODE] = node + 1
    keep_order()
    is_new = False
    while True:
        status = status_of(tree, node)
        known = child_count(status)
        child = find_outcome(tree, node, status, mark, looked_at)  # another worker may have been faster
        if child != NONE:
            break
        looked_at = known
        child = place_for_child(game, mode, tree, worker, node, known, known + RUN_LIMIT, False)
        if child == NONE:
            slot[FULL] += 1
            break
        offered = offer_move(game, mode, tree, child, outcome)
        is_own = offered == outcome
        tree.hashes[child] = mark if is_own else mark_after(game, worker, offered)
        put_newborn_on_path(mode, tree, simulation, child)
        if publish(mode, tree, node, status, (status + 1) | BY_CHANCE):
            if is_own:
                is_new = True
                break
            fetch_add(tree.extra, child, -1)  # nobody has evaluated it yet
        take_unborn_off_path(mode, tree, worker, simulation, child)
    keep_order()
    slot[EXPANDING_NODE] = 0
    return child, is_new


@switch
def pass_chance(game, mode, tree, worker, simulation, shared, node, counts, settings):
    """Play an outcome; the child it leads to (NONE: it could not be added, the playout starts here) and whether that is new."""
    return pass_enumerated(game, mode, tree, worker, simulation, shared, node), False


@pass_chance.when(without(knows_chance))
def _no_chance(game, mode, tree, worker, simulation, shared, node, counts, settings):
    return np.int64(NONE), False


@pass_chance.when(uses("hashed"))
def _pass_hashed(game, mode, tree, worker, simulation, shared, node, counts, settings):
    status = status_of(tree, node)
    known = child_count(status)
    if known > 0 and settings.chance_widening > 0.0:
        visits = np.float64(visits_in(counts))
        if known >= np.ceil(settings.chance_widening * visits**settings.chance_widening_power):
            child = draw_known(tree, worker, node, known)
            apply(game, worker.state, move_of(game, tree, child))
            return child, False
    copy_state(worker.state, worker.trial[: game.state_words])  # for `mark_after`
    outcome = draw_sample(game, mode, worker, simulation, settings)
    if not 0 <= outcome < OUTCOME_LIMIT:
        worker.slot[BREACH] = MOVE_OUT_OF_RANGE
        return np.int64(NONE), False
    apply(game, worker.state, outcome)
    mark = np.int64(state_hash(game, worker.state))
    child = find_outcome(tree, node, status, mark, 0)
    if child != NONE:
        return child, False
    return add_outcome(game, mode, tree, worker, simulation, node, outcome, mark, known)
