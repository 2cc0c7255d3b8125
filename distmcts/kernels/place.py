"""Where new children are put: nodes are reserved in runs, runs are linked, children take their places in order.

All of it is noted in the worker's slot, so that a worker can be killed anywhere: a run is reserved, then linked, and only then
written to; a child exists for others when its parent's count says so.
"""

import numpy as np

from distmcts.kernels.atomics import fetch_add, keep_order, load, yield_core
from distmcts.kernels.hooks import file_child
from distmcts.kernels.jit import inner
from distmcts.kernels.layout import (
    ALLOCATED,
    BORN,
    CAPACITY,
    CHUNK,
    CHUNK_END,
    CHUNK_NEXT,
    CLASHES,
    COMPLETE,
    DEPTH,
    EXPANDING_NODE,
    FULL,
    NONE,
    PENDING_RUN,
    PENDING_SIZE,
    STAMP,
)
from distmcts.kernels.node import move_of, publish_status, put_new, status_of
from distmcts.kernels.runs import first_run, link_run, run_after
from distmcts.kernels.updates import claim


@inner
def reserve(tree, worker, size):
    """Nodes for a run out of the worker's own chunk, or out of a new one; NONE when memory is used up."""
    slot = worker.slot
    if slot[CHUNK_END] - slot[CHUNK_NEXT] < size:
        if load(tree.heap, ALLOCATED) + size > tree.heap[CAPACITY]:
            return np.int64(NONE)
        chunk = max(tree.heap[CHUNK], size)
        start = fetch_add(tree.heap, ALLOCATED, chunk)
        end = min(start + chunk, tree.heap[CAPACITY])
        if end - start < size:
            return np.int64(NONE)
        # A kill between the add and these lines loses a chunk to nobody: unused memory, never a wrong tree.
        slot[CHUNK_NEXT] = start
        keep_order()
        slot[CHUNK_END] = end
    run = slot[CHUNK_NEXT]
    slot[PENDING_SIZE] = size
    keep_order()
    slot[PENDING_RUN] = run
    keep_order()
    slot[CHUNK_NEXT] = run + size
    keep_order()
    return run


@inner
def mark_moves(game, tree, worker, start, end):
    """Mark the moves of neighbouring nodes as tried."""
    stamp = worker.slot[STAMP]
    for child in range(start, end):
        worker.marks[move_of(game, tree, child)] = stamp


@inner
def place_for_child(game, tree, worker, node, count, most, marking):
    """Where child number `count` of at most `most` goes, with a new run linked if the last one is full; NONE: no room.

    `marking`: mark the moves of all children before it, so that one that is not tried yet can be found.
    """
    slot = worker.slot
    slot[STAMP] += 1
    run = before = first_run(tree, node)
    within = count  # its number within the run
    while within >= run.size:
        if marking:
            mark_moves(game, tree, worker, run.start, run.start + run.size)
        within -= run.size
        before = run
        run = run_after(tree, run)
    if marking:
        mark_moves(game, tree, worker, run.start, run.start + within)
    if run.start != NONE:
        return run.start + within
    room = min(run.size, most - (count - within))
    room += room & 1  # runs start on a cache line
    start = reserve(tree, worker, room)
    if start == NONE:
        return np.int64(NONE)
    link_run(tree, node, before, run.number, start)
    keep_order()
    slot[PENDING_RUN] = 0
    return start + within


@inner
def put_newborn_on_path(simulation, child):
    """A new child, before others can see it: from here on the journal answers for it."""
    journal = simulation.journal
    simulation.path[journal[DEPTH]] = child
    keep_order()
    journal[DEPTH] += 1
    keep_order()
    journal[BORN] = 1
    keep_order()


@inner
def add_family(game, mode, tree, worker, shared, node, mover, moves, chances, count, flag):
    """Give a node without children all of them at once, none of them visited; False if another worker is at it, or no room.

    `flag`: BY_CHANCE where they are outcomes, else 0.
    """
    slot = worker.slot
    slot[EXPANDING_NODE] = node + 1
    keep_order()
    if status_of(tree, node) != 0 or not claim(mode, tree, node, 0):
        slot[EXPANDING_NODE] = 0
        slot[CLASHES] += 1
        yield_core()  # until they are there, simulations end here: the other worker may be waiting for this very core
        return False
    status = count | COMPLETE | flag
    for index in range(count):
        child = place_for_child(game, tree, worker, node, index, count, False)
        if child == NONE:
            slot[FULL] += 1
            status = 0  # the runs stay linked, for a later try
            break
        put_new(game, tree, child, moves[index], 0)
        if flag == 0:
            file_child(game, mode, tree, worker, shared, mover, child, moves[index])
        tree.extra[child] = -1
        if tree.priors.size > 1:
            tree.priors[child] = chances[index]
    publish_status(tree, node, status)
    keep_order()
    slot[EXPANDING_NODE] = 0
    return status != 0
