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
from distmcts.kernels.rng import random_word
from distmcts.kernels.runs import link_to_run, next_size

# Most nodes of a tree have few visits: a look into a small table replaces a division and a root for them. It takes 8 KiB of
# the 32 KiB level-1 cache; a larger one pushed the nodes themselves out.
BYTE = np.uint64(255)
TABLE = 1024
RECIPROCAL_ROOT = np.array([1e6] + [1 / math.sqrt(n) for n in range(1, TABLE)])

# ln N = exponent * ln 2 + ln(mantissa), the mantissa by table and a short series: one part in 10^10, a third of libm's time.
LOG_STEP_BITS = 6
LOG_STEPS = 1 << LOG_STEP_BITS
LOG_TABLE = np.array([math.log(1 + (i + 0.5) / LOG_STEPS) for i in range(LOG_STEPS)])
LOG_RECIPROCAL = np.array([1 / (1 + (i + 0.5) / LOG_STEPS) for i in range(LOG_STEPS)])
LN_2 = math.log(2)


@part
def reciprocal_root(n):
    if n < TABLE:
        return RECIPROCAL_ROOT[n]
    return 1.0 / math.sqrt(n)


@part
def natural_log(n):
    """ln n of a whole number from 1 to 2^53."""
    bits = float_bits(np.float64(n))
    exponent = (bits >> 52) - 1023
    step = (bits >> (52 - LOG_STEP_BITS)) & (LOG_STEPS - 1)
    mantissa = n / np.float64(np.int64(1) << exponent)  # from 1 up to 2, exact
    rest = mantissa * LOG_RECIPROCAL[step] - 1.0
    return exponent * LN_2 + LOG_TABLE[step] + rest * (1.0 - rest * (0.5 - rest * (1.0 / 3.0 - rest * 0.25)))


@part
def score(counts, value_sum, exploration, settings):
    """The score of a child; `exploration` is c * sqrt(ln N)."""
    in_flight = counts & IN_FLIGHT_MASK
    visits = counts >> IN_FLIGHT_BITS
    if in_flight == 0 or settings.reading == READ_NOTHING:
        if visits == 0:
            return np.inf
        root = reciprocal_root(visits)
        return value_sum * (1.0 / SCALE) * root * root + exploration * root
    virtual = settings.weight * in_flight
    total = visits + virtual
    if total <= 0.0:
        return np.inf
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
def select(tree, worker, node, parent_counts, settings):
    """The child with the highest score; NONE if the node has no children."""
    left = np.int64(load(tree.halves, node * HALVES + CHILDREN) & CHILD_COUNT_MASK)
    if left == 0:
        return np.int64(NONE)
    parent_visits = parent_counts >> IN_FLIGHT_BITS
    in_flight = parent_counts & IN_FLIGHT_MASK
    # Nobody else is in the node, so nobody is in its children: then in_flight need not be read child by child.
    is_quiet = in_flight == 0 and parent_visits < TABLE and settings.synchronisation != NODE_LOCKS
    if settings.reading != READ_NOTHING:
        parent_visits += np.int64(settings.weight * in_flight)
    exploration = settings.c * math.sqrt(natural_log(max(parent_visits, 1)))
    word = random_word(worker.rng)

    first = np.int64(tree.halves[node * HALVES + FIRST])
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
        run = np.int64(tree.halves[link_to_run(first, run, number)])
        size = next_size(size)
