"""Reading a tree from the host: all at once with numpy, or a node's children. Writes nothing; a search may be under way."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from distmcts.kernels.layout import (
    ALLOCATED,
    CAPACITY,
    CHILD_COUNT_MASK,
    CHILDREN,
    COUNTS,
    FIRST,
    FIRST_RUN,
    HALVES,
    IN_FLIGHT_BITS,
    IN_FLIGHT_MASK,
    MOVE,
    NEXT,
    NONE,
    OPTIONAL,
    PROOF_ZERO,
    ROOT,
    RUN_LIMIT,
    SCALE,
    VALUE_SUM,
    WORDS,
    Tree,
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
    words = tree.words.reshape(-1, WORDS)
    halves = tree.halves.reshape(-1, HALVES)
    return Columns(words[:, COUNTS], words[:, VALUE_SUM], halves[:, FIRST], halves[:, CHILDREN], halves[:, MOVE], halves[:, NEXT])


def column_sizes(tree: Tree) -> dict[str, int]:
    """The columns that this tree has, with how many elements a node has in each."""
    optional = {name: size for name, (_, size) in OPTIONAL.items() if getattr(tree, name).size > 1}
    return {"words": WORDS, "extra": 1, **optional}


class Child(NamedTuple):
    node: int
    move: int
    visits: int
    value_sum: int  # unit 1 / SCALE
    proven: float | None = None  # its exact value, if the solver knows

    @property
    def value(self) -> float:
        """Mean reward for the player who makes the move; 0 if never visited."""
        return self.value_sum / SCALE / self.visits if self.visits else 0.0


def moves_of(tree: Tree, nodes: np.ndarray) -> np.ndarray:
    """The moves that lead to some nodes."""
    low = tree.halves.reshape(-1, HALVES)[nodes, MOVE].astype(np.int64)
    return low if tree.high.size == 1 else (tree.high[nodes].astype(np.int64) << 32) | (low & 0xFFFFFFFF)


def move_of(tree: Tree, node: int) -> int:
    low = int(tree.halves[node * HALVES + MOVE])
    return low if tree.high.size == 1 else (int(tree.high[node]) << 32) | (low & 0xFFFFFFFF)


def proven_value(tree: Tree, node: int = ROOT) -> float | None:
    """A node's exact value for the player who moved into it; None if the solver is off, or does not know."""
    proof = int(tree.proofs[node]) if tree.proofs.size > 1 else 0
    return (proof - PROOF_ZERO) / SCALE if proof else None


def visits(tree: Tree, node: int = ROOT) -> int:
    return int(tree.words[node * WORDS + COUNTS]) >> IN_FLIGHT_BITS


def in_flight(tree: Tree, node: int = ROOT) -> int:
    return int(tree.words[node * WORDS + COUNTS]) & IN_FLIGHT_MASK


def child_nodes(tree: Tree, node: int) -> list[int]:
    """The children of a node, in the order they were added."""
    left = int(tree.halves[node * HALVES + CHILDREN]) & CHILD_COUNT_MASK
    nodes: list[int] = []
    for start, size, _ in runs(columns(tree), np.array([node])):
        nodes.extend(range(int(start[0]), int(start[0]) + min(size, left)))
        left -= size
        if left <= 0:
            break
    return nodes


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
        run = fields.next[first + number - 1 if number <= FIRST_RUN else run].astype(np.int64)
        size = min(size * 2, RUN_LIMIT)


def children(tree: Tree, node: int = ROOT) -> list[Child]:
    return [
        Child(
            child,
            move_of(tree, child),
            visits(tree, child),
            int(tree.words[child * WORDS + VALUE_SUM]),
            proven_value(tree, child),
        )
        for child in child_nodes(tree, node)
    ]


def levels(tree: Tree, node: int = ROOT) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The subtree level by level: (nodes, the position of each one's parent in the level before)."""
    fields = columns(tree)
    nodes = np.array([node], np.int64)
    parents = np.zeros(1, np.int64)
    while nodes.size:
        yield nodes, parents
        left = (fields.children[nodes] & CHILD_COUNT_MASK).astype(np.int64)
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
