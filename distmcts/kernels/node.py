"""A node: every read and write of its record's fields, by name. layout.py says who may write which, and when.

Reads acquire: who sees a count or a link sees what was written before it was published. `status` is the field `children`: how
many there are, with flags.
"""

import numpy as np

from distmcts.kernels import layout
from distmcts.kernels.atomics import compare_and_swap, compare_and_swap_pair, fetch_add, fetch_for_writing, load, store
from distmcts.kernels.jit import inner
from distmcts.kernels.layout import (
    BY_CHANCE,
    CHILDREN,
    COMPLETE,
    COUNTS,
    FIRST,
    HALVES,
    MOVE,
    NEXT,
    NONE,
    VALUE_SUM,
    WORDS,
)

_child_count = inner(layout.child_count)
visits_in = inner(layout.visits_in)
in_flight_in = inner(layout.in_flight_in)
packed = inner(layout.packed)

# ---- statistics -------------------------------------------------------------------------------------------------------------


@inner
def counts_of(tree, node):
    """Visits and simulations in flight, read at once: visits_in and in_flight_in take them apart."""
    return load(tree.words, node * WORDS + COUNTS)


@inner
def visits_of(tree, node):
    return visits_in(counts_of(tree, node))


@inner
def value_sum_of(tree, node):
    return load(tree.words, node * WORDS + VALUE_SUM)


@inner
def add_to_counts(tree, node, amount):
    """One atomic operation; the counts before."""
    return fetch_add(tree.words, node * WORDS + COUNTS, amount)


@inner
def swap_statistics(tree, node, counts, value_sum, new_counts, new_value_sum):
    """Write both if both are as expected, in one atomic operation; whether they were."""
    return compare_and_swap_pair(tree.words, node * WORDS + COUNTS, counts, value_sum, new_counts, new_value_sum)


@inner
def put_counts(tree, node, counts):
    """A plain store, for whoever is alone with the node."""
    tree.words[node * WORDS + COUNTS] = counts


@inner
def put_value_sum(tree, node, value_sum):
    """A plain store, for whoever is alone with the node."""
    tree.words[node * WORDS + VALUE_SUM] = value_sum


@inner
def fetch_node(tree, node):
    """Ask for the node's cache line, which will be written soon."""
    fetch_for_writing(tree.words, node * WORDS)


# ---- children ---------------------------------------------------------------------------------------------------------------


@inner
def status_of(tree, node):
    return load(tree.halves, node * HALVES + CHILDREN)


@inner
def child_count(status):
    return np.int64(_child_count(status))


@inner
def is_complete(status):
    return status & COMPLETE != 0


@inner
def is_by_chance(status):
    return status & BY_CHANCE != 0


@inner
def put_status(tree, node, status):
    """Release: whoever reads the new count sees the new children."""
    store(tree.halves, node * HALVES + CHILDREN, status)


@inner
def swap_status(tree, node, status, new_status):
    """The same, if the status is still the old one; whether it was."""
    return compare_and_swap(tree.halves, node * HALVES + CHILDREN, status, new_status)


@inner
def first_of(tree, node):
    """The start of a node's first run of children, or NONE."""
    return np.int64(load(tree.halves, node * HALVES + FIRST))


@inner
def next_of(tree, node):
    """The start of the run that this node leads to, or NONE (runs.py)."""
    return np.int64(load(tree.halves, node * HALVES + NEXT))


@inner
def put_first(tree, node, run):
    tree.halves[node * HALVES + FIRST] = run


@inner
def put_next(tree, node, run):
    tree.halves[node * HALVES + NEXT] = run


@inner
def swap_first(tree, node, run):
    """If there is no first run yet; whether there was none."""
    return compare_and_swap(tree.halves, node * HALVES + FIRST, NONE, run)


@inner
def swap_next(tree, node, run):
    """If the node leads to no run yet; whether it led to none."""
    return compare_and_swap(tree.halves, node * HALVES + NEXT, NONE, run)


# ---- the move ---------------------------------------------------------------------------------------------------------------
# It is kept in a column of its own, `ranks`, where a game has more than 2^31 moves.


@inner
def move_of(game, tree, node):
    """The move that leads here; -1 if none was written yet."""
    if game.has_ranks:
        return load(tree.ranks, node) - 1
    return np.int64(load(tree.halves, node * HALVES + MOVE)) - 1


@inner
def put_move(game, tree, node, move):
    """A plain store, for whoever is alone with the node."""
    if game.has_ranks:
        tree.ranks[node] = move + 1
    else:
        tree.halves[node * HALVES + MOVE] = move + 1


@inner
def swap_move(game, tree, node, move):
    """Write a move if there is none yet; whether there was none."""
    if game.has_ranks:
        return compare_and_swap(tree.ranks, node, 0, move + 1)
    return compare_and_swap(tree.halves, node * HALVES + MOVE, 0, move + 1)


@inner
def put_blank(game, tree, node):
    """Make a node that was written to, and that nobody else has seen, like one that was not."""
    put_move(game, tree, node, np.int64(-1))
    put_next(tree, node, NONE)
    tree.extra[node] = 0
