"""Workers apart: each prefers one half of a node's children a little, so that the same worker comes back to the same nodes.

What a shared tree costs is that nodes travel from core to core. Where children have nearly the same score it does not matter who
visits which; so at every node each worker has a side, and for the children of its own side

    exploration term * (1 + apart / 2),        for the others * (1 - apart / 2)

Over all workers it is the same exploration; and below the node the two sides hardly meet. Two nodes of a cache line belong to the
same side. The side of a worker is a bit of its number, another one at every level of the path (SIDES): so two workers part at
the first level, four at the second, and so on. A worker that is alone has no side.
"""

import numpy as np

from distmcts.kernels.jit import switch
from distmcts.kernels.layout import DEPTH, LOCK_FREE, SIDES
from distmcts.kernels.modes import follows, uses

_shares = follows(LOCK_FREE)
LEVELS = 62  # bits of a word that hold sides


def is_used(game, mode) -> bool:
    return uses("stay")(game, mode) and _shares(game, mode)


@switch
def side_of(mode, simulation):
    """The worker's side at the node where the path ends now."""
    return np.int64(0)


@side_of.when(is_used)
def _side_by_level(mode, simulation):
    return (simulation.journal[SIDES] >> min(simulation.journal[DEPTH] - 1, LEVELS)) & 1


@switch
def leaning(mode, side, child, settings):
    """By what the exploration term of a child is multiplied."""
    return 1.0


@leaning.when(is_used)
def _lean_to_own_side(mode, side, child, settings):
    return 1.0 + settings.apart * (0.5 - np.float64(((child >> 1) ^ side) & 1))
