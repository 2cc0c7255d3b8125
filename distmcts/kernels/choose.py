"""Selection with features: which child, by which score. The plain search does without this file (select.py).

    score(child) = mean + bonus,    the mean blended with RAVE (rave.py), the bonus of UCT, UCB1-Tuned or PUCT,
                                    or the proven value (solver.py)

and whether the node gets a new child instead (growth.py).
"""

import math

import numpy as np

from distmcts.kernels.atomics import load
from distmcts.kernels.expand import expand
from distmcts.kernels.growth import is_urgent, may_widen
from distmcts.kernels.jit import part, switch
from distmcts.kernels.layout import (
    CHILD_COUNT_MASK,
    CHILDREN,
    COMPLETE,
    COUNTS,
    DEPTH,
    FIRST,
    FIRST_RUN,
    HALVES,
    IN_FLIGHT_BITS,
    IN_FLIGHT_MASK,
    LOCKED_CHILD,
    NODE_LOCKS,
    NONE,
    READ_NOTHING,
    READ_VIRTUAL_LOSS,
    SCALE,
    VALUE_SUM,
    WORDS,
)
from distmcts.kernels.locks import lock, unlock
from distmcts.kernels.modes import has
from distmcts.kernels.puct import add_all_moves, puct_bonus
from distmcts.kernels.rave import blend
from distmcts.kernels.runs import link_to_run, next_size
from distmcts.kernels.select import NEVER_VISITED, jitter, root_of_log, select
from distmcts.kernels.solver import bind, is_proven, unbind, with_proof
from distmcts.kernels.tuned import tuned_bonus


def _uct_bonus(mode, tree, child, visits, finished, mean, log_root, parent_visits, settings):
    return settings.c * log_root / math.sqrt(visits)


_tuned_or_uct = switch(lambda mode, *_: has(mode, "tuned"), tuned_bonus, _uct_bonus)


def _by_visits(mode, tree, child, visits, finished, mean, log_root, parent_visits, settings):
    if visits <= 0.0:
        return NEVER_VISITED
    return _tuned_or_uct(mode, tree, child, visits, finished, mean, log_root, parent_visits, settings)


# What is added to the mean of a child; where nothing but visits can tell, a child without any comes first.
bonus = switch(lambda mode, *_: has(mode, "puct"), puct_bonus, _by_visits)


@part
def featured_score(mode, tree, worker, child, log_root, parent_visits, settings, open_only):
    place = child * WORDS
    if settings.synchronisation == NODE_LOCKS:
        lock(tree, worker, LOCKED_CHILD, child)
    counts = load(tree.words, place + COUNTS)
    value_sum = load(tree.words, place + VALUE_SUM) * (1.0 / SCALE)
    if settings.synchronisation == NODE_LOCKS:
        unlock(tree, worker, LOCKED_CHILD, child)
    finished = np.float64(counts >> IN_FLIGHT_BITS)
    virtual = 0.0 if settings.reading == READ_NOTHING else settings.weight * (counts & IN_FLIGHT_MASK)
    visits = finished + virtual
    plain = value_sum / finished if finished > 0.0 else 0.0
    mean = plain
    if settings.reading == READ_VIRTUAL_LOSS:
        mean = (value_sum - virtual) / visits if visits > 0.0 else 0.0
    mean = blend(mode, tree, child, visits, mean, settings)
    score = mean + bonus(mode, tree, child, visits, finished, plain, log_root, parent_visits, settings)
    return with_proof(mode, tree, child, score, open_only)


@part
def best_child(mode, tree, worker, node, counts, word, settings, open_only):
    """The child with the highest score, and that score; NONE if the node has no children, or with `open_only` none to prove."""
    left = np.int64(load(tree.halves, node * HALVES + CHILDREN) & CHILD_COUNT_MASK)
    chosen = np.int64(NONE)
    best = -np.inf
    if left == 0:
        return chosen, best
    virtual = 0.0 if settings.reading == READ_NOTHING else settings.weight * (counts & IN_FLIGHT_MASK)
    parent_visits = max((counts >> IN_FLIGHT_BITS) + virtual, 1.0)
    log_root = root_of_log(np.int64(parent_visits))
    first = run = np.int64(load(tree.halves, node * HALVES + FIRST))
    number = 0
    size = FIRST_RUN
    while True:
        for child in range(run, run + min(size, left)):
            s = featured_score(mode, tree, worker, child, log_root, parent_visits, settings, open_only) + jitter(word, child)
            if s > best:
                chosen = child
                best = s
        left -= size
        if left <= 0:
            return chosen, best
        number += 1
        run = np.int64(load(tree.halves, link_to_run(first, run, number)))
        size = next_size(size)


def _choose(mode, tree, worker, node, counts, word, settings):
    return best_child(mode, tree, worker, node, counts, word, settings, False)


def _choose_open(mode, tree, worker, node, counts, word, settings):
    child, best = best_child(mode, tree, worker, node, counts, word, settings, False)
    if child != NONE and is_proven(mode, tree, child):
        other, _ = best_child(mode, tree, worker, node, counts, word, settings, True)
        if other != NONE:
            bind(mode, tree, worker, child)
            child = other
    return child, best


# The child to visit, and the highest score; NONE if the node has no children.
choose = switch(lambda mode, *_: has(mode, "solver"), _choose_open, _choose)


def _plain_step(game, mode, tree, worker, shared, node, mover, counts, word, settings):
    if not load(tree.halves, node * HALVES + CHILDREN) & COMPLETE:
        child = expand(game, mode, tree, worker, shared, node, mover, settings)
        if child != NONE:
            return child, True
    return select(tree, worker, node, counts, word, settings), False


def _featured_step(game, mode, tree, worker, shared, node, mover, counts, word, settings):
    status = load(tree.halves, node * HALVES + CHILDREN)
    children = np.int64(status & CHILD_COUNT_MASK)
    child = np.int64(NONE)
    if not status & COMPLETE and may_widen(children, counts >> IN_FLIGHT_BITS, settings):
        best = -np.inf
        if settings.urgency < np.inf:
            child, best = choose(mode, tree, worker, node, counts, word, settings)
        if child == NONE or is_urgent(best, settings):
            new = expand(game, mode, tree, worker, shared, node, mover, settings)
            if new != NONE:
                unbind(mode, worker, worker.slot[DEPTH] - 2)  # the visit goes to neither
                return new, True
    if child == NONE:
        child, best = choose(mode, tree, worker, node, counts, word, settings)
    return child, False


def _prior_step(game, mode, tree, worker, shared, node, mover, counts, word, settings):
    if not load(tree.halves, node * HALVES + CHILDREN) & COMPLETE:
        add_all_moves(game, mode, tree, worker, node, mover)
    child, best = choose(mode, tree, worker, node, counts, word, settings)
    return child, False


_featured_or_prior = switch(lambda game, mode, *_: has(mode, "puct"), _prior_step, _featured_step)


def _some_step(game, mode, tree, worker, shared, node, mover, counts, word, settings):
    return _featured_or_prior(game, mode, tree, worker, shared, node, mover, counts, word, settings)


# From a node one step down: the child, and whether it is new; NONE where the game is over, or nothing could be added.
step = switch(
    lambda game, mode, *_: has(mode, "growth", "puct", "tuned", "rave", "solver"),
    _some_step,
    _plain_step,
)
