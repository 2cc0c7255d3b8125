"""Tree reuse: keep one child's subtree, move it to the front of the arrays, give the rest back.

Runs keep their order and slide down, so the arrays are written from left to right in one pass.
"""

import numpy as np

from distmcts.kernels.layout import ALLOCATED, CHUNK_END, CHUNK_NEXT, FIRST_RUN, NONE, ROOT, Tree, Worker
from distmcts.tree.view import column_sizes, columns, levels, nodes_used, runs


def keep_subtree(tree: Tree, node: int | None, writers: list[Worker]) -> None:
    """Make a node the root; None: empty the tree. No worker may be at work."""
    used = nodes_used(tree)
    end = FIRST_RUN
    kept: dict[str, np.ndarray] = {}
    if node is not None:
        all_starts = np.sort(_runs(tree, ROOT)[0])
        starts, sizes = _runs(tree, node)
        order = np.argsort(starts)
        starts, sizes = starts[order], sizes[order]
        # A run may be smaller than its place in the sequence says: it ends where the next one begins.
        following = np.append(all_starts, used)[np.searchsorted(all_starts, starts, side="right")]
        rooms = np.minimum(sizes, following - starts)
        new_starts = FIRST_RUN + np.cumsum(rooms) - rooms
        end = FIRST_RUN + int(rooms.sum())
        kept = _moved(tree, node, starts, rooms, new_starts)
    for name, size in column_sizes(tree).items():
        column = getattr(tree, name)
        column[: used * size] = 0
        if name in kept:
            column[: kept[name].size] = kept[name]
    tree.heap[ALLOCATED] = end
    for worker in writers:
        worker.slot[CHUNK_NEXT] = worker.slot[CHUNK_END] = 0


def _moved(tree: Tree, node: int, starts: np.ndarray, rooms: np.ndarray, new_starts: np.ndarray) -> dict[str, np.ndarray]:
    """The columns of the subtree in their new order, with links that point to new places."""
    within = np.arange(rooms.sum()) - np.repeat(np.cumsum(rooms) - rooms, rooms)
    old = np.concatenate([[node, node], np.repeat(starts, rooms) + within]).astype(np.int64)
    kept = {name: getattr(tree, name).reshape(-1, size)[old] for name, size in column_sizes(tree).items()}
    for column in kept.values():
        column[1] = 0  # the free place beside the root
    kept = {name: column.ravel() for name, column in kept.items()}
    moved = tree._replace(halves=kept["words"].view("i4"), **kept)
    fields = columns(moved)
    fields.next[ROOT] = NONE  # it led to siblings, which are gone
    fields.move[ROOT] = 0
    moved.ranks[ROOT] = 0
    for links in (fields.first, fields.next):
        linked = links != NONE
        links[linked] = new_starts[np.searchsorted(starts, links[linked])]
    kept["extra"][ROOT] += 1  # a root has no creator: the evaluation that made the node counts as one of its own now
    return kept


def _runs(tree: Tree, node: int) -> tuple[np.ndarray, np.ndarray]:
    """Start and nominal size of every run in a subtree."""
    fields = columns(tree)
    starts, sizes = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for nodes, _ in levels(tree, node):
        for run, size, _ in runs(fields, nodes):
            starts.append(run)
            sizes.append(np.full(run.size, size, np.int64))
    return np.concatenate(starts), np.concatenate(sizes)
