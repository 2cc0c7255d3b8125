"""What a dead worker left half done, finished or taken back from its journal.

Two steps. `release` runs at once, while others may be waiting for the dead worker's locks. `repair` runs when all living
workers of the tree stand still between two simulations: then the conservation laws hold for every node but those on dead
workers' paths, and tell which of their updates have arrived.

A playout that was finished is not thrown away: its backup is completed. A path without a result is taken back.

Exact for any number of deaths, with one exception for values: if two workers die within the few nanoseconds of the same
compare-and-swap on the same node, it is known how many of the two rewards have arrived, not which.
"""

from collections import defaultdict

import numpy as np

from distmcts.kernels.layout import (
    BACKED_UP,
    BACKUP,
    BEGUN,
    BORN,
    BREACH,
    CHILDREN,
    CHUNK_NEXT,
    COUNTS,
    DEPTH,
    DESCENT,
    DONE,
    EXPANDING,
    EXPANDING_NODE,
    FINISHED,
    GLOBAL_LOCK,
    HALVES,
    IDLE,
    IN_FLIGHT_MASK,
    LOCKED_CHILD,
    LOCKED_NODE,
    NO_BOUND,
    ONE_VISIT,
    PENDING_RUN,
    PENDING_SIZE,
    REDO_COUNTS,
    REDO_VALUE,
    ROOT,
    SLOT_INDEX,
    STAGE,
    TAKEN,
    VALUE_SUM,
    WORDS,
    Shared,
    Tree,
    Worker,
)
from distmcts.tree.view import child_nodes, columns, runs, visits


def release(tree: Tree, shared: Shared, worker: Worker, plain_stores: bool) -> None:
    """Free the locks of a dead worker. Where updates are plain stores under a lock, finish a torn one first."""
    slot = worker.slot
    if plain_stores and slot[STAGE] == BACKUP and slot[BEGUN] < slot[DONE]:
        place = int(worker.path[slot[BEGUN]]) * WORDS
        tree.words[place + COUNTS] = slot[REDO_COUNTS]
        tree.words[place + VALUE_SUM] = slot[REDO_VALUE]
        slot[DONE] = slot[BEGUN]
    for field in (LOCKED_CHILD, LOCKED_NODE):
        node = int(slot[field]) - 1
        if node >= 0 and tree.locks.size > 1 and tree.locks[node] == slot[SLOT_INDEX]:
            tree.locks[node] = 0
        slot[field] = 0
    if shared.control[GLOBAL_LOCK] == slot[SLOT_INDEX]:
        shared.control[GLOBAL_LOCK] = 0


def repair(tree: Tree, dead: list[Worker]) -> None:
    """Bring the tree to rest. Blocks nobody; the caller has seen to it that nobody else touches the tree."""
    for worker in dead:
        _undo_expansion(tree, worker)
    for worker in dead:
        if worker.slot[STAGE] == DESCENT and worker.slot[BORN] and _is_published(tree, worker):
            tree.extra[worker.path[worker.slot[DEPTH] - 1]] -= 1  # its creator will never evaluate it
    _complete_backups(tree, [worker for worker in dead if worker.slot[STAGE] == BACKUP])
    for worker in dead:
        if worker.slot[STAGE] != IDLE:
            _clear_path(tree, worker)
    for worker in dead:
        _reset(worker)


def _undo_expansion(tree: Tree, worker: Worker) -> None:
    """Open the node again that the dead worker was expanding, and take an unlinked run back into its chunk."""
    slot = worker.slot
    node = int(slot[EXPANDING_NODE]) - 1
    if node < 0:
        return
    tree.halves[node * HALVES + CHILDREN] &= ~np.int32(EXPANDING)
    run = int(slot[PENDING_RUN])
    linked = [int(start[0]) for start, *_ in runs(columns(tree), np.array([node]))]
    if run and run not in linked and slot[CHUNK_NEXT] == run + slot[PENDING_SIZE]:
        slot[CHUNK_NEXT] = run


def _complete_backups(tree: Tree, dead: list[Worker]) -> None:
    """Write what is missing, deepest nodes first, so that a node's children are right when it is looked at."""
    open_updates = defaultdict(list)  # (position on the path, node) -> workers whose update may be missing there
    for worker in dead:
        for position in range(int(worker.slot[DONE])):
            open_updates[position, int(worker.path[position])].append(worker)
    for (position, node), workers in sorted(open_updates.items(), reverse=True, key=lambda item: item[0][0]):
        certain = [worker for worker in workers if worker.slot[BEGUN] > position]
        unsure = [worker for worker in workers if worker.slot[BEGUN] <= position]
        missing = _missing_visits(tree, node, position, workers)
        if unsure:
            missing -= sum(int(worker.slot[BACKED_UP]) for worker in certain)
        for worker in unsure:
            if missing > 0:
                certain.append(worker)
                missing -= int(worker.slot[BACKED_UP])
        for worker in certain:
            place = node * WORDS
            tree.words[place + COUNTS] += int(worker.slot[BACKED_UP]) * ONE_VISIT
            tree.words[place + VALUE_SUM] += _reward_at(worker, position)


def _reward_at(worker: Worker, position: int) -> int:
    """What a node of the path is credited with: the reward, or what a proof at it or below it says (kernels/solver.py)."""
    mover = worker.movers[position]
    if worker.bounds.size > 1:
        for at in range(position, int(worker.slot[DEPTH])):
            if worker.bounds[at] != NO_BOUND:
                value = int(worker.bounds[at] * worker.slot[BACKED_UP])
                return value if mover == worker.movers[at + 1] else -value
    return int(worker.rewards[mover])


def _missing_visits(tree: Tree, node: int, position: int, workers: list[Worker]) -> int:
    """How many visits a node lacks, by the conservation law."""
    ends_here = [worker for worker in workers if worker.slot[DEPTH] == position + 1]
    # The update of the last node comes before `extra`: its own evaluation stands in neither yet.
    not_in_extra = sum(int(worker.slot[BACKED_UP] - worker.slot[BORN]) for worker in ends_here)
    return _within_32_bits(_expected_visits(tree, node) + not_in_extra - visits(tree, node))


def _expected_visits(tree: Tree, node: int) -> int:
    below = sum(visits(tree, child) for child in child_nodes(tree, node))
    return below + int(tree.extra[node]) + (0 if node == ROOT else 1)


def _within_32_bits(count: int) -> int:
    """`extra` counts modulo 2^32, and so does everything computed from it; what is looked for here is small."""
    return (count + (1 << 31)) % (1 << 32) - (1 << 31)


def _clear_path(tree: Tree, worker: Worker) -> None:
    """Nothing is in flight when everybody stands still; and the last node's own evaluations are what its visits say."""
    depth = int(worker.slot[DEPTH])
    for node in worker.path[:depth].tolist():
        tree.words[node * WORDS + COUNTS] &= ~np.int64(IN_FLIGHT_MASK)
    if depth > 0 and _is_published(tree, worker):
        last = int(worker.path[depth - 1])
        own = int(tree.extra[last]) + visits(tree, last) - _expected_visits(tree, last)
        tree.extra[last] = _within_32_bits(own)


def _is_published(tree: Tree, worker: Worker) -> bool:
    """Whether the last node on a path is part of the tree: a new child may not have been counted yet."""
    *_, parent, last = [ROOT, *worker.path[: worker.slot[DEPTH]].tolist()]
    return last == ROOT or last in child_nodes(tree, parent)


def _reset(worker: Worker) -> None:
    slot = worker.slot
    if slot[STAGE] == BACKUP:
        slot[FINISHED] += slot[BACKED_UP]
    for field in (STAGE, DEPTH, BORN, EXPANDING_NODE, PENDING_RUN, TAKEN, BREACH):
        slot[field] = 0
