"""Selection: which child of a fully expanded node to visit.

UCT (Kocsis and Szepesvari 2006), for the player to move at the node:

    score(child) = value_sum / n  +  c * sqrt(ln N / n),        n = visits of the child, N = visits of the node

A child where o simulations are in flight is read in one of three ways, w being the weight:

    nothing        as if they were not there
    virtual loss   n + w o visits, w o of them lost (Chaslot, Winands, van den Herik 2008)
    WU-UCT         n + w o visits in the exploration term only (Liu et al. 2020)

Before: the node has children. After: nothing is changed; among equal scores the choice is random.
"""

import math

import numpy as np

from distmcts.kernels.atomics import load
from distmcts.kernels.bits import float_bits
from distmcts.kernels.jit import part
from distmcts.kernels.layout import (
    CHILD_COUNT_MASK,
    CHILDREN,
    COUNTS,
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
from distmcts.kernels.runs import link_to_run, next_size

# The two roots in the formula were a third of a search's time: long chains of slow instructions that everything waits for.
# Most nodes have few visits, and a look into a small table replaces the chain.
BYTE = np.uint64(255)
TABLE = 4096
NEVER_VISITED = 1e6  # the score of a child that must come first
RECIPROCAL_ROOT = np.array([NEVER_VISITED] + [1 / math.sqrt(n) for n in range(1, TABLE)])
ROOT_OF_LOG = np.array([0.0] + [math.sqrt(math.log(n)) for n in range(1, TABLE)])

# For larger numbers, sqrt(ln n) at 64 points between a power of two and the next. The exponent and the first six bits of a
# number's mantissa are the index.
STEP_BITS = 6
STEPS = 1 << STEP_BITS
REST_BITS = 52 - STEP_BITS
FIRST_INDEX = 1023 << STEP_BITS  # of 1
OCTAVES = 50
POINTS = [2.0 ** (index // STEPS) * (1 + index % STEPS / STEPS) for index in range(OCTAVES * STEPS + 1)]
COARSE_ROOT_OF_LOG = np.array([math.sqrt(math.log(point)) for point in POINTS])


@part
def reciprocal_root(n):
    """1 / sqrt(n)."""
    if n < TABLE:
        return RECIPROCAL_ROOT[n]
    return 1.0 / math.sqrt(n)


@part
def root_of_log(n):
    """sqrt(ln n) of a whole number from 1 to 2^50: exact below TABLE, from there on to two parts in a million."""
    if n < TABLE:
        return ROOT_OF_LOG[n]
    bits = float_bits(np.float64(n))
    index = (bits >> REST_BITS) - FIRST_INDEX
    rest = (bits & ((1 << REST_BITS) - 1)) * 2.0**-REST_BITS
    here = COARSE_ROOT_OF_LOG[index]
    return here + rest * (COARSE_ROOT_OF_LOG[index + 1] - here)


@part
def score(counts, value_sum, exploration, settings):
    """The score of a child; `exploration` is c * sqrt(ln N)."""
    in_flight = counts & IN_FLIGHT_MASK
    visits = counts >> IN_FLIGHT_BITS
    if in_flight == 0 or settings.reading == READ_NOTHING:
        if visits == 0:
            return NEVER_VISITED
        root = reciprocal_root(visits)
        return value_sum * (1.0 / SCALE) * root * root + exploration * root
    virtual = settings.weight * in_flight
    total = visits + virtual
    if total <= 0.0:
        return NEVER_VISITED
    if settings.reading == READ_VIRTUAL_LOSS:
        value = (value_sum * (1.0 / SCALE) - virtual) / total
    else:
        value = value_sum * (1.0 / SCALE) / max(visits, 1)
    return value + exploration / math.sqrt(total)


@part
def read_score(tree, worker, child, exploration, settings):
    place = child * WORDS
    if settings.synchronisation != NODE_LOCKS:
        return score(load(tree.words, place + COUNTS), load(tree.words, place + VALUE_SUM), exploration, settings)
    lock(tree, worker, LOCKED_CHILD, child)
    counts = load(tree.words, place + COUNTS)
    value_sum = load(tree.words, place + VALUE_SUM)
    unlock(tree, worker, LOCKED_CHILD, child)
    return score(counts, value_sum, exploration, settings)


@part
def jitter(word, child):
    """A tiny random number for each child, 2^-40 at most: it decides between equal scores and nothing else."""
    return np.float64((word >> np.uint64((child & 7) * 8)) & BYTE) * 2.0**-48


@part
def select(tree, worker, node, parent_counts, word, settings):
    """The child with the highest score; NONE if the node has no children. `word`: random bits to decide between equals."""
    left = np.int64(load(tree.halves, node * HALVES + CHILDREN) & CHILD_COUNT_MASK)
    if left == 0:
        return np.int64(NONE)
    parent_visits = parent_counts >> IN_FLIGHT_BITS
    in_flight = parent_counts & IN_FLIGHT_MASK
    # Nobody else is in the node, so nobody is in its children: then in_flight need not be read child by child.
    is_quiet = in_flight == 0 and parent_visits < TABLE and settings.synchronisation != NODE_LOCKS
    if is_quiet:
        exploration = settings.c * ROOT_OF_LOG[parent_visits]
    else:
        virtual = 0.0 if settings.reading == READ_NOTHING else settings.weight * in_flight
        exploration = settings.c * root_of_log(max(parent_visits + np.int64(virtual), 1))

    first = np.int64(load(tree.halves, node * HALVES + FIRST))
    run = first
    number = 0
    size = FIRST_RUN
    best = -np.inf
    chosen = np.int64(NONE)
    while True:
        if is_quiet:
            for child in range(run, run + min(size, left)):
                visits = load(tree.words, child * WORDS + COUNTS) >> IN_FLIGHT_BITS
                root = RECIPROCAL_ROOT[min(visits, TABLE - 1)]
                value = load(tree.words, child * WORDS + VALUE_SUM) * (1.0 / SCALE)
                s = (value * root + exploration) * root + jitter(word, child)
                chosen = child if s > best else chosen
                best = s if s > best else best
        else:
            for child in range(run, run + min(size, left)):
                s = read_score(tree, worker, child, exploration, settings) + jitter(word, child)
                chosen = child if s > best else chosen
                best = s if s > best else best
        left -= size
        if left <= 0:
            return chosen
        number += 1
        run = np.int64(load(tree.halves, link_to_run(first, run, number)))
        size = next_size(size)
