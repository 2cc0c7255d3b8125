"""Trees as tests look at them: everything their nodes hold, to be compared; visits of all nodes at once."""

import numpy as np

import distmcts
from distmcts.kernels.layout import BY_CHANCE, Tree, child_count, visits_in
from distmcts.tree import view

Content = dict[str, np.ndarray]  # by column


def content(tree: Tree) -> Content:
    """A copy of all that the nodes of a tree hold."""
    used = view.nodes_used(tree)
    return {name: getattr(tree, name)[: used * size].copy() for name, size in view.column_sizes(tree).items()}


def contents(engine: distmcts.Engine) -> list[Content]:
    return [content(tree) for tree in engine.trees]


def trees_of(game, *searches: int, **settings) -> list[Content]:
    """The trees after searches of so many simulations."""
    with distmcts.Engine(game, memory="64MiB", **settings) as engine:
        for simulations in searches:
            engine.search(simulations=simulations)
        return contents(engine)


def equal(first: list[Content], second: list[Content]) -> bool:
    """Whether two lists of trees are the same, bit for bit; of columns that both have, since a game in Python needs some more."""
    return len(first) == len(second) and all(
        np.array_equal(a[name], b[name]) for a, b in zip(first, second, strict=True) for name in a.keys() & b.keys()
    )


def visits(tree: Tree) -> np.ndarray:
    """Of all nodes, by their number."""
    return visits_in(view.columns(tree).counts)


def families(tree: Tree, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of some nodes: how many children they have, and whether those are outcomes of chance."""
    status = view.columns(tree).children[nodes]
    return child_count(status), (status & BY_CHANCE) != 0
