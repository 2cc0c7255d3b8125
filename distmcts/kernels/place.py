"""Where new children are put: nodes are reserved in runs, runs are linked, children take their places in order.

All of it is noted in the worker's slot, so that a worker can be killed anywhere: a run is reserved, then linked, and only then
written to; a child exists for others when its parent's count says so. Nobody waits for another worker: a place is where the
first one has put it.
"""

import numpy as np

from distmcts.kernels.atomics import fetch_add, keep_order, load
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
    FIRST_RUN,
    FULL,
    NONE,
    PENDING_RUN,
    PENDING_SIZE,
    STAMP,
)
from distmcts.kernels.node import first_of, move_of, put_blank, put_move, put_next
from distmcts.kernels.runs import Run, first_run, link_first, link_holder, link_run, run_after, size_after
from distmcts.kernels.updates import enter_newborn, leave_unborn, publish


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
def give_back(worker, run):
    """Nodes that were reserved last and are not linked: they are the next to be reserved."""
    keep_order()
    worker.slot[CHUNK_NEXT] = run


@inner
def mark_moves(game, tree, worker, start, end):
    """Mark the moves of neighbouring nodes as tried."""
    stamp = worker.slot[STAMP]
    for child in range(start, end):
        worker.marks[move_of(game, tree, child)] = stamp


@inner
def place_for_child(game, mode, tree, worker, node, count, most, marking):
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
    linked = link_run(mode, tree, node, before, run.number, start)
    if linked != start:
        give_back(worker, start)
    keep_order()
    slot[PENDING_RUN] = 0
    return linked + within


@inner
def put_newborn_on_path(mode, tree, simulation, child):
    """A new child, before others can see it: from here on the journal answers for it."""
    journal = simulation.journal
    simulation.path[journal[DEPTH]] = child
    keep_order()
    journal[DEPTH] += 1
    keep_order()
    journal[BORN] = 1
    keep_order()
    enter_newborn(mode, tree, child)


@inner
def take_unborn_off_path(mode, tree, worker, simulation, child):
    """Another worker was faster, and has created the child."""
    journal = simulation.journal
    leave_unborn(mode, tree, child)
    keep_order()
    journal[BORN] = 0
    keep_order()
    journal[DEPTH] -= 1
    keep_order()
    worker.slot[CLASHES] += 1


@inner
def room_for(count):
    """How many nodes the runs of a family take."""
    room = np.int64(0)
    size = np.int64(FIRST_RUN)
    while count > 0:
        room += min(size, count + (count & 1))
        count -= size
        size = np.int64(size_after(size))
    return room


@inner
def write_family(game, mode, tree, worker, shared, mover, start, moves, chances, count, flag):
    """All children of a node, in runs one behind the other, where nobody can see them yet."""
    run = Run(start, np.int64(FIRST_RUN), np.int64(0), start)
    within = np.int64(0)
    for index in range(count):
        if within == run.size:
            following = run.start + run.size
            number = run.number + 1
            put_next(tree, link_holder(start, run.start, number), following)
            run = Run(following, np.int64(size_after(run.size)), number, start)
            within = np.int64(0)
        child = run.start + within
        within += 1
        put_move(game, tree, child, moves[index])
        if flag == 0:
            file_child(game, mode, tree, worker, shared, mover, child, moves[index])
        tree.extra[child] = -1
        if tree.priors.size > 1:
            tree.priors[child] = chances[index]


@inner
def add_family(game, mode, tree, worker, shared, node, mover, moves, chances, count, flag):
    """Give a node without children all of them at once, none of them visited; False if there is no room.

    They are linked when they are complete. A worker that finds others linked meanwhile takes its own back, and uses those.
    `flag`: BY_CHANCE where they are outcomes, else 0.
    """
    slot = worker.slot
    slot[EXPANDING_NODE] = node + 1
    keep_order()
    is_there = first_of(tree, node) != NONE
    if not is_there:
        room = room_for(count)
        start = reserve(tree, worker, room)
        if start == NONE:
            slot[FULL] += 1
        else:
            write_family(game, mode, tree, worker, shared, mover, start, moves, chances, count, flag)
            if not link_first(mode, tree, node, start):
                for child in range(start, start + room):
                    put_blank(game, tree, child)
                slot[CLASHES] += 1
                give_back(worker, start)
            keep_order()
            slot[PENDING_RUN] = 0
            is_there = True
    if is_there:
        publish(mode, tree, node, np.int32(0), np.int32(count | COMPLETE | flag))
    keep_order()
    slot[EXPANDING_NODE] = 0
    return is_there
