"""Laws of trees that need the game's players to be known, so the product's own audit cannot check them."""

import numpy as np

import distmcts
from distmcts.kernels.layout import ROOT, SCALE, Tree
from distmcts.tree.view import columns, levels
from tests.support import trees


def check_values(tree: Tree, draws: bool = False) -> None:
    """In a game where two players take turns, a node's own evaluations are its value sum plus its children's.

    Every evaluation is worth 1 or -1 (or 0 if there are draws): so a single reward lost or counted twice is seen.
    """
    fields = columns(tree)
    visits = trees.visits(tree)
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


def check_chance(tree: Tree) -> int:
    """A chance node's value is that of its outcomes and of its own evaluations; how many chance nodes there are.

    Its outcomes are seen by the same player as itself, so what is left of the sum is its own, and within its own visits.
    """
    fields = columns(tree)
    visits = trees.visits(tree)
    found = 0
    above = np.empty(0, np.int64)
    for nodes, parents in levels(tree):
        below = np.zeros((2, above.size), np.int64)
        np.add.at(below[0], parents if above.size else [], fields.value_sum[nodes] if above.size else [])
        np.add.at(below[1], parents if above.size else [], visits[nodes] if above.size else [])
        _, by_chance = trees.families(tree, above)
        own_value = (fields.value_sum[above] - below[0])[by_chance]
        own_visits = (visits[above] - below[1])[by_chance]
        assert (own_visits >= 0).all()
        assert (np.abs(own_value) <= own_visits * SCALE).all(), "a chance node is not the mean of its outcomes"
        found += int(by_chance.sum())
        above = nodes
    return found


def check_trees(engine: distmcts.Engine) -> None:
    """The law that fits the game, in every tree."""
    for tree in engine.trees:
        if engine.game.has_chance:
            assert check_chance(tree) > 0
        else:
            check_values(tree, draws=True)


def search_and_count(game, simulations, state=None, **settings):
    """Search twice in one engine; the trees must hold exactly what was asked for, and obey all laws."""
    with distmcts.Engine(game, state, memory="256MiB", **settings) as engine:
        for total in (simulations, 2 * simulations):
            result = engine.search(simulations=simulations)
            assert result.simulations == simulations
            assert sum(audit.visits for audit in engine.audit()) == total
            assert sum(row.visits for row in result.moves) == total  # nobody is kept out of the root's children
            assert sum(int(tree.extra[ROOT]) for tree in engine.trees) == 0
        check_trees(engine)
