"""Laws of trees that need the game's players to be known, so the product's own audit cannot check them."""

import numpy as np

from distmcts.kernels.layout import IN_FLIGHT_BITS, SCALE, Tree
from distmcts.tree.view import columns, levels


def check_values(tree: Tree, draws: bool = False) -> None:
    """In a game where two players take turns, a node's own evaluations are its value sum plus its children's.

    Every evaluation is worth 1 or -1 (or 0 if there are draws): so a single reward lost or counted twice is seen.
    """
    fields = columns(tree)
    visits = fields.counts >> IN_FLIGHT_BITS
    above = None
    for nodes, parents in [*levels(tree), (np.empty(0, np.int64), np.empty(0, np.int64))]:
        if above is not None:
            value_below = np.zeros(above.size, np.int64)
            visits_below = np.zeros(above.size, np.int64)
            np.add.at(value_below, parents, fields.value_sum[nodes])
            np.add.at(visits_below, parents, visits[nodes])
            own_value = fields.value_sum[above] + value_below
            own_visits = visits[above] - visits_below
            assert (own_value % SCALE == 0).all(), "a value sum is no sum of whole rewards"
            assert (np.abs(own_value) <= own_visits * SCALE).all(), "more reward than evaluations"
            if not draws:
                assert ((own_value // SCALE - own_visits) % 2 == 0).all(), "a reward is missing or counted twice"
        above = nodes
