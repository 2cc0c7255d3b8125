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
from distmcts.kernels.jit import inner
from distmcts.kernels.layout import FIRST_RUN
from distmcts.kernels.node import first_of, next_of, set_first, set_next

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


@inner
def link_run(tree, node, before, number, start):
    """Let a node's run number `number` begin at `start`; `before` is the run before it, if there is one."""
    if number == 0:
        set_first(tree, node, start)
    else:
        set_next(tree, link_holder(before.first, before.start, number), start)
