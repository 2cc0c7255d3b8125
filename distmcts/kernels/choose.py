"""One step down the tree: to which child, and whether the node gets a new one instead.

Plain UCT has a selection of its own (select.py). With features that shape it,

    score(child) = mean + bonus,    the mean adjusted by RAVE and the like, the bonus that of the selection rule (hooks.py),
                                    or the proven value (solver.py)

A new feature gets this form unless its record says that it leaves selection alone (features.py).
"""

import numpy as np

from distmcts.kernels.expand import expand
from distmcts.kernels.family import first_child, next_child
from distmcts.kernels.growth import is_urgent, may_widen
from distmcts.kernels.hooks import adjust_mean, bonus
from distmcts.kernels.jit import inner, switch
from distmcts.kernels.layout import DEPTH, NONE, READ_NOTHING, READ_VIRTUAL_LOSS, SCALE
from distmcts.kernels.modes import shapes_selection, without
from distmcts.kernels.node import child_count, in_flight_in, is_complete, status_of, visits_in
from distmcts.kernels.proofs import unbind, with_proof
from distmcts.kernels.select import jitter, root_of_log, select
from distmcts.kernels.sides import leaning, side_of
from distmcts.kernels.updates import read


@inner
def featured_score(mode, tree, worker, side, child, log_root, parent_visits, settings, open_only):
    counts, total = read(mode, tree, worker, child)
    value_sum = total * (1.0 / SCALE)
    finished = np.float64(visits_in(counts))
    virtual = 0.0 if settings.reading == READ_NOTHING else settings.weight * in_flight_in(counts)
    visits = finished + virtual
    plain = value_sum / finished if finished > 0.0 else 0.0
    mean = plain
    if settings.reading == READ_VIRTUAL_LOSS:
        mean = (value_sum - virtual) / visits if visits > 0.0 else 0.0
    mean = adjust_mean(mode, tree, child, visits, mean, settings)
    explored = bonus(mode, tree, child, visits, finished, plain, log_root, parent_visits, settings)
    return with_proof(mode, tree, child, mean + explored * leaning(mode, side, child, settings), open_only)


@inner
def best_child(mode, tree, worker, simulation, node, counts, bits, settings, open_only):
    """The child with the highest score, and that score; NONE if the node has no children, or with `open_only` none to prove."""
    virtual = 0.0 if settings.reading == READ_NOTHING else settings.weight * in_flight_in(counts)
    parent_visits = max(visits_in(counts) + virtual, 1.0)
    log_root = root_of_log(np.int64(parent_visits))
    chosen = np.int64(NONE)
    best = -np.inf
    side = side_of(mode, simulation)
    at = first_child(tree, node)
    while at.child != NONE:
        s = featured_score(mode, tree, worker, side, at.child, log_root, parent_visits, settings, open_only)
        s += jitter(bits, at.child)
        if s > best:
            chosen = at.child
            best = s
        at = next_child(tree, at)
    return chosen, best


@switch
def choose(mode, tree, worker, simulation, node, counts, bits, settings):
    """The child to visit, and the highest score; NONE if the node has no children."""
    return best_child(mode, tree, worker, simulation, node, counts, bits, settings, False)


@switch
def step(game, mode, tree, worker, simulation, shared, node, mover, counts, bits, settings):
    """From a node one step down: the child, and whether it is new; NONE where the game is over, or nothing could be added."""
    status = status_of(tree, node)
    child = np.int64(NONE)
    if not is_complete(status) and may_widen(child_count(status), visits_in(counts), settings):
        best = -np.inf
        if settings.first_play_urgency < np.inf:
            child, best = choose(mode, tree, worker, simulation, node, counts, bits, settings)
        if child == NONE or is_urgent(best, settings):
            new = expand(game, mode, tree, worker, simulation, shared, node, mover, settings)
            if new != NONE:
                unbind(mode, simulation, simulation.journal[DEPTH] - 2)  # the visit goes to neither
                return new, True
    if child == NONE:
        child, best = choose(mode, tree, worker, simulation, node, counts, bits, settings)
    return child, False


@step.when(without(shapes_selection))
def _plain_step(game, mode, tree, worker, simulation, shared, node, mover, counts, bits, settings):
    if not is_complete(status_of(tree, node)):
        child = expand(game, mode, tree, worker, simulation, shared, node, mover, settings)
        if child != NONE:
            return child, True
    return select(mode, tree, worker, simulation, node, counts, bits, settings), False
