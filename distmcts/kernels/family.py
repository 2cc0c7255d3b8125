"""A family: all children of a node one after the other, whatever their runs.

    at = first_child(tree, node)
    while at.child != NONE:
        ...
        at = next_child(tree, at)

Those who were there when the walk began are seen, in the order in which they were added; nothing is changed.
"""

from typing import NamedTuple

import numpy as np

from distmcts.kernels.jit import inner
from distmcts.kernels.layout import NONE
from distmcts.kernels.node import child_count, move_of, status_of
from distmcts.kernels.runs import Run, first_run, run_after


class Family(NamedTuple):
    """Where a walk over a family is."""

    child: int  # NONE: there are no more
    end: int  # behind the last child of this run
    left: int  # children in later runs
    run: Run


@inner
def _enter_run(run, left):
    here = min(run.size, left)
    return Family(run.start, run.start + here, left - here, run)


@inner
def first_child(tree, node):
    return first_child_of(tree, node, status_of(tree, node))


@inner
def first_child_of(tree, node, status):
    """The same for a status that was read before: the walk sees the children of that moment."""
    count = child_count(status)
    run = first_run(tree, node)
    if count == 0:
        return Family(np.int64(NONE), np.int64(NONE), count, run)
    return _enter_run(run, count)


@inner
def next_child(tree, at):
    child = at.child + 1
    if child < at.end:
        return Family(child, at.end, at.left, at.run)
    if at.left == 0:
        return Family(np.int64(NONE), at.end, at.left, at.run)
    return _enter_run(run_after(tree, at.run), at.left)


@inner
def child_number(tree, node, index):
    """A node's child by its number; it must have so many."""
    run = first_run(tree, node)
    while index >= run.size:
        index -= run.size
        run = run_after(tree, run)
    return run.start + index


@inner
def child_by_move(game, tree, node, move):
    """A node's child for a move, or NONE."""
    at = first_child(tree, node)
    while at.child != NONE and move_of(game, tree, at.child) != move:
        at = next_child(tree, at)
    return at.child
