"""Where the runs of a node's children lie, and the walk over them.

Run number 0 is found by the node's `first`, runs 1 and 2 by `next` of the two nodes of run 0, every later one by `next` of the
first node of the run before. So the second and third run, which is all that most nodes have, are fetched from memory at the
same time, not one after the other.

Whoever walks runs does so by `run_after`: the cursor over a whole family (family.py), a child by its number, the place for a
new child, and plain selection, which cannot afford the cursor's one more comparison a child.
"""

from typing import NamedTuple

import numpy as np

from distmcts.kernels import layout
from distmcts.kernels.jit import inner, switch
from distmcts.kernels.layout import FIRST_RUN, LOCK_FREE
from distmcts.kernels.modes import follows
from distmcts.kernels.node import first_of, next_of, put_first, put_next, swap_first, swap_next

link_holder = inner(layout.link_holder)
size_after = inner(layout.size_after)


class Run(NamedTuple):
    """Where a walk over the runs of a node is."""

    start: int  # its first node, or NONE: no such run
    size: int  # how many children it is meant for; the last run of a node may be shorter
    number: int
    first: int  # the start of run number 0


@inner
def first_run(tree, node):
    first = first_of(tree, node)
    return Run(first, np.int64(FIRST_RUN), np.int64(0), first)


@inner
def run_after(tree, run):
    """The next run of the same node; `run` must exist."""
    number = run.number + 1
    holder = link_holder(run.first, run.start, number)
    return Run(next_of(tree, holder), np.int64(size_after(run.size)), number, run.first)


@switch
def link_first(mode, tree, node, start):
    """Let a node's first run begin here; False if another worker was faster."""
    put_first(tree, node, start)
    return True


@link_first.when(follows(LOCK_FREE))
def _swap_first(mode, tree, node, start):
    return swap_first(tree, node, start)


@switch
def link_next(mode, tree, node, start):
    """Let a node lead to a run that begins here; False if another worker was faster."""
    put_next(tree, node, start)
    return True


@link_next.when(follows(LOCK_FREE))
def _swap_next(mode, tree, node, start):
    return swap_next(tree, node, start)


@inner
def link_run(mode, tree, node, before, number, start):
    """Let a node's run number `number` begin at `start`; `before` is the run before it, if there is one. Where it begins then."""
    if number == 0:
        return start if link_first(mode, tree, node, start) else first_of(tree, node)
    holder = link_holder(before.first, before.start, number)
    return start if link_next(mode, tree, holder, start) else next_of(tree, holder)
