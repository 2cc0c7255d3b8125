"""Where the runs of a node's children lie.

Run number 0 is found by the node's `first`, runs 1 and 2 by `next` of the two nodes of run 0, every later one by `next` of the
first node of the run before. So the second and third run, which is all that most nodes have, are fetched from memory at the
same time, not one after the other.
"""

from distmcts.kernels.jit import part
from distmcts.kernels.layout import FIRST_RUN, HALVES, NEXT, RUN_LIMIT


@part
def link_to_run(first, before, number):
    """The place, in `halves`, that holds the start of run `number` (1 or more); `before` is the start of the run before it."""
    return ((first + number - 1) if number <= FIRST_RUN else before) * HALVES + NEXT


@part
def next_size(size):
    return min(size * 2, RUN_LIMIT)
