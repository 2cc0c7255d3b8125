"""How much of a search was new: simulations that reached a leaf which another one had already evaluated."""

import numpy as np

from distmcts.kernels.layout import Tree
from distmcts.tree.view import levels, moves_of, visits

_MIX = np.uint64(0x9E3779B97F4A7C15)
_TURN = np.uint64(29)


def duplicated_share(trees: list[Tree]) -> float:
    """The share of simulations without a leaf of their own, in one tree or in several of the same position.

    A simulation normally creates the node it evaluates. What goes beyond one simulation a node was spent on leaves that were
    known: by waiting workers, by several playouts of one leaf, by trees that grew the same nodes, or because a game was over.
    """
    simulations = sum(visits(tree) for tree in trees)
    if simulations == 0:
        return 0.0
    nodes = np.unique(np.concatenate([_fingerprints(tree) for tree in trees])).size - 1  # the root is nobody's leaf
    return max(0.0, 1.0 - nodes / simulations)


def _fingerprints(tree: Tree) -> np.ndarray:
    """A number for every node that depends on the moves leading to it and on nothing else."""
    found = []
    above = np.zeros(1, np.uint64)
    for nodes, parents in levels(tree):
        own = moves_of(tree, nodes).astype(np.uint64) + np.uint64(1)
        if found:
            mixed = (above[parents] ^ (own * _MIX)) * _MIX
            above = mixed ^ (mixed >> _TURN)
        found.append(above)
    return np.concatenate(found)
