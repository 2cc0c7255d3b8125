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

from distmcts.kernels.bits import float_bits
from distmcts.kernels.hooks import NEVER_VISITED
from distmcts.kernels.jit import inner, switch
from distmcts.kernels.layout import NONE, READ_NOTHING, READ_VIRTUAL_LOSS, SCALE
from distmcts.kernels.node import child_count, in_flight_in, status_of, value_sum_of, visits_in, visits_of
from distmcts.kernels.runs import first_run, run_after
from distmcts.kernels.sides import leaning, side_of
from distmcts.kernels.updates import locks_nodes, read

# The two roots in the formula were a third of a search's time: long chains of slow instructions that everything waits for.
# Most nodes have few visits, and a look into a small table replaces the chain.
BYTE = np.uint64(255)
TABLE = 4096
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


@inner
def reciprocal_root(n):
    """1 / sqrt(n)."""
    if n < TABLE:
        return RECIPROCAL_ROOT[n]
    return 1.0 / math.sqrt(n)


@inner
def root_of_log(n):
    """sqrt(ln n) of a whole number from 1 to 2^50: exact below TABLE, from there on to two parts in a million."""
    if n < TABLE:
        return ROOT_OF_LOG[n]
    bits = float_bits(np.float64(n))
    index = (bits >> REST_BITS) - FIRST_INDEX
    rest = (bits & ((1 << REST_BITS) - 1)) * 2.0**-REST_BITS
    here = COARSE_ROOT_OF_LOG[index]
    return here + rest * (COARSE_ROOT_OF_LOG[index + 1] - here)


@inner
def score(counts, value_sum, exploration, settings):
    """The score of a child; `exploration` is c * sqrt(ln N)."""
    in_flight = in_flight_in(counts)
    visits = visits_in(counts)
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


@inner
def jitter(bits, child):
    """A tiny random number for each child, 2^-40 at most: it decides between equal scores and nothing else."""
    return np.float64((bits >> np.uint64((child & 7) * 8)) & BYTE) * 2.0**-48


@switch
def may_be_quiet(mode):
    """Whether children may be read without a look at what is in flight, where nothing is."""
    return True


@may_be_quiet.when(locks_nodes)
def _never_quiet(mode):
    return False


@inner
def select(mode, tree, worker, simulation, node, counts, bits, settings):
    """The child with the highest score; NONE if the node has no children.

    `counts`: of the node, before this simulation came. `bits`: random ones, to decide between equals.
    """
    left = child_count(status_of(tree, node))
    if left == 0:
        return np.int64(NONE)
    visits = visits_in(counts)
    in_flight = in_flight_in(counts)
    # Nobody else is in the node, so nobody is in its children: then in_flight need not be read child by child.
    is_quiet = in_flight == 0 and visits < TABLE and may_be_quiet(mode)
    if is_quiet:
        exploration = settings.c * ROOT_OF_LOG[visits]
    else:
        virtual = 0.0 if settings.reading == READ_NOTHING else settings.weight * in_flight
        exploration = settings.c * root_of_log(max(visits + np.int64(virtual), 1))

    side = side_of(mode, simulation)
    # Run by run, and not by the cursor of family.py: here its one more comparison per child would be felt.
    run = first_run(tree, node)
    best = -np.inf
    chosen = np.int64(NONE)
    while True:
        end = run.start + min(run.size, left)
        if is_quiet:
            for child in range(run.start, end):
                root = RECIPROCAL_ROOT[min(visits_of(tree, child), TABLE - 1)]
                value = value_sum_of(tree, child) * (1.0 / SCALE)
                s = (value * root + exploration * leaning(mode, side, child, settings)) * root + jitter(bits, child)
                chosen = child if s > best else chosen
                best = s if s > best else best
        else:
            for child in range(run.start, end):
                child_counts, value_sum = read(mode, tree, worker, child)
                leant = exploration * leaning(mode, side, child, settings)
                s = score(child_counts, value_sum, leant, settings) + jitter(bits, child)
                chosen = child if s > best else chosen
                best = s if s > best else best
        left -= run.size
        if left <= 0:
            return chosen
        run = run_after(tree, run)
