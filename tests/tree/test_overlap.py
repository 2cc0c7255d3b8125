"""The share of duplicated leaves, against a walk over all nodes with paths in a set."""

import pytest

import distmcts
from distmcts.tree import view
from distmcts.tree.overlap import duplicated_share


def paths(tree, node=0, path=()):
    for child in view.children(tree, node):
        yield (*path, child.move)
        yield from paths(tree, child.node, (*path, child.move))


@pytest.mark.parametrize(("parallel", "workers"), [("serial", 1), ("root", 3), ("leaf", 2), ("tree", 2), ("simulated", 16)])
def test_against_sets_of_paths(parallel, workers):
    with distmcts.Engine("connect_four", parallel=parallel, workers=workers, memory="8MiB", seed=1) as engine:
        engine.search(simulations=3000)
        distinct = {path for tree in engine.trees for path in paths(tree)}
        assert duplicated_share(engine.trees) == pytest.approx(1 - len(distinct) / 3000)


def test_leaf_playouts_and_separate_trees_are_duplicates():
    shares = {}
    for parallel in ("serial", "root", "leaf"):
        with distmcts.Engine("connect_four", parallel=parallel, workers=4, memory="8MiB", seed=1) as engine:
            engine.search(simulations=8000)
            shares[parallel] = duplicated_share(engine.trees)
    assert shares["leaf"] == pytest.approx(0.75, abs=0.02)  # four playouts of every leaf
    assert shares["serial"] < 0.02 < 0.2 < shares["root"]


def test_nothing_searched():
    with distmcts.Engine("connect_four", parallel="serial", memory="1MiB") as engine:
        assert duplicated_share(engine.trees) == 0.0
