"""Reading a tree from the host: all at once with numpy, or a node's children. Writes nothing; a search may be under way."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from distmcts.kernels.features import COLUMNS
from distmcts.kernels.layout import (
    ALLOCATED,
    CAPACITY,
    FIRST_RUN,
    NODE,
    NONE,
    PROOF_ZERO,
    ROOT,
    SCALE,
    WORDS,
    Tree,
    child_count,
    in_flight_in,
    link_holder,
    size_after,
    visits_in,
)


class Columns(NamedTuple):
    """The fields of all nodes, each an array that is a view on the segment."""

    counts: np.ndarray
    value_sum: np.ndarray
    first: np.ndarray
    children: np.ndarray  # with the flags
    move: np.ndarray
    next: np.ndarray


def columns(tree: Tree) -> Columns:
    records = tree.words.view(NODE)
    return Columns(*(records[name] for name in Columns._fields))


def column_sizes(tree: Tree) -> dict[str, int]:
    """The columns that this tree has, with how many elements a node has in each."""
    optional = {column.name: column.elements for column in COLUMNS if getattr(tree, column.name).size > 1}
    return {"words": WORDS, "extra": 1, **optional}


class Child(NamedTuple):
    node: int
    move: int
    visits: int
    value_sum: int  # fixed point
    proven: float | None = None  # its exact value, if the solver knows

    @property
    def value(self) -> float:
        """Mean reward for the player who makes the move; 0 if never visited."""
        return self.value_sum / SCALE / self.visits if self.visits else 0.0


def moves_of(tree: Tree, nodes: np.ndarray) -> np.ndarray:
    """The moves that lead to some nodes."""
    kept = tree.ranks if tree.ranks.size > 1 else columns(tree).move
    return kept[nodes].astype(np.int64) - 1


class Reader:
    """Single nodes of a tree, quickly: numbers come faster out of a memoryview than out of an array. Holds on to the memory."""

    def __init__(self, tree: Tree):
        fields = columns(tree)
        self.counts = memoryview(fields.counts)
        self.value_sums = memoryview(fields.value_sum)
        self._first = memoryview(fields.first)
        self._children = memoryview(fields.children)
        self._move = memoryview(tree.ranks if tree.ranks.size > 1 else fields.move)
        self._next = memoryview(fields.next)

    def visits(self, node: int) -> int:
        return visits_in(self.counts[node])

    def move(self, node: int) -> int:
        return self._move[node] - 1

    def children(self, node: int) -> list[int]:
        """In the order they were added."""
        left = child_count(self._children[node])
        first = run = self._first[node]
        size = FIRST_RUN
        number = 0
        found: list[int] = []
        while left > 0:
            found.extend(range(run, run + min(size, left)))
            left -= size
            number += 1
            run = self._next[link_holder(first, run, number)]
            size = size_after(size)
        return found


def proven_value(tree: Tree, node: int = ROOT) -> float | None:
    """A node's exact value for the player who moved into it; None if the solver is off, or does not know."""
    proof = int(tree.proofs[node]) if tree.proofs.size > 1 else 0
    return (proof - PROOF_ZERO) / SCALE if proof else None


def visits(tree: Tree, node: int = ROOT) -> int:
    return int(visits_in(columns(tree).counts[node]))


def in_flight(tree: Tree, node: int = ROOT) -> int:
    return int(in_flight_in(columns(tree).counts[node]))


def child_nodes(tree: Tree, node: int) -> list[int]:
    """The children of a node, in the order they were added."""
    return Reader(tree).children(node)


def runs(fields: Columns, nodes: np.ndarray) -> Iterator[tuple[np.ndarray, int, np.ndarray]]:
    """All first runs of some nodes, then all second ones, ...: (starts, nominal size, the positions of their nodes).

    Follows links, not counts: a run may be linked before its first child is counted. See kernels/runs.py.
    """
    owner = np.arange(nodes.size)
    first = fields.first[nodes].astype(np.int64)
    run = first
    size = FIRST_RUN
    number = 0
    while True:
        keep = run != NONE
        if not keep.any():
            return
        run, first, owner = run[keep], first[keep], owner[keep]
        yield run, size, owner
        number += 1
        run = fields.next[link_holder(first, run, number)].astype(np.int64)
        size = size_after(size)


def children(tree: Tree, node: int = ROOT) -> list[Child]:
    reader = Reader(tree)
    return [
        Child(child, reader.move(child), reader.visits(child), reader.value_sums[child], proven_value(tree, child))
        for child in reader.children(node)
    ]


def levels(tree: Tree, node: int = ROOT) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The subtree level by level: (nodes, the position of each one's parent in the level before)."""
    fields = columns(tree)
    nodes = np.array([node], np.int64)
    parents = np.zeros(1, np.int64)
    while nodes.size:
        yield nodes, parents
        left = child_count(fields.children[nodes]).astype(np.int64)
        found, found_parents = [], []
        for run, size, owner in runs(fields, nodes):
            count = np.clip(left[owner], 0, size)
            within = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
            found.append(np.repeat(run, count) + within)
            found_parents.append(np.repeat(owner, count))
            left[owner] -= size
        nodes = np.concatenate(found) if found else np.empty(0, np.int64)
        parents = np.concatenate(found_parents) if found else np.empty(0, np.int64)


def nodes_used(tree: Tree) -> int:
    """Nodes handed out to workers, whether they hold a child yet or not."""
    return min(int(tree.heap[ALLOCATED]), int(tree.heap[CAPACITY]))
