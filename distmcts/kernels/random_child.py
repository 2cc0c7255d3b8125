"""Random selection: any child, all equally likely. The original Monte Carlo Tree Search, before UCT told it where to look.

Every simulation is a random game then, and a node's value the mean of random play: the yardstick that other rules must beat.
"""

import numpy as np

from distmcts.kernels.choose import choose
from distmcts.kernels.family import child_number
from distmcts.kernels.layout import NONE
from distmcts.kernels.modes import uses
from distmcts.kernels.node import child_count, status_of
from distmcts.kernels.rng import random_below


@choose.when(uses("random"))
def _any_child(mode, tree, worker, simulation, node, counts, bits, settings):
    count = child_count(status_of(tree, node))
    if count == 0:
        return np.int64(NONE), -np.inf
    return child_number(tree, node, random_below(worker.rng, count)), np.inf
