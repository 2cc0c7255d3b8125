"""Where the children of a node are put: nodes are reserved in runs, runs are linked, children take their places in order.

All of it is journalled, so that a worker can be killed anywhere: a run is reserved, then linked, and only then written to; a
child exists for others when its parent's count says so.
"""

import numpy as np

from distmcts.kernels.atomics import fetch_add, keep_order, load, store, yield_core
from distmcts.kernels.jit import part
from distmcts.kernels.layout import (
    ALLOCATED,
    BORN,
    CAPACITY,
    CHILDREN,
    CHUNK,
    CHUNK_END,
    CHUNK_NEXT,
    CLASHES,
    COMPLETE,
    COUNTS,
    DEPTH,
    EXPANDING_NODE,
    FIRST,
    FIRST_RUN,
    FULL,
    HALVES,
    MOVE,
    NONE,
    PENDING_RUN,
    PENDING_SIZE,
    STAMP,
    VALUE_SUM,
    WORDS,
)
from distmcts.kernels.modes import claim
from distmcts.kernels.moves import set_move
from distmcts.kernels.rave import file_move
from distmcts.kernels.runs import link_to_run, next_size


@part
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


@part
def place_for_child(tree, worker, node, count, most, marking):
    """Where child number `count` of at most `most` goes, with a new run linked if the last one is full; NONE: no room.

    `marking`: mark the moves of all children before it, for who looks for one that is not tried yet.
    """
    slot = worker.slot
    slot[STAMP] += 1
    stamp = slot[STAMP]
    link = node * HALVES + FIRST  # the half that points to the run
    size = FIRST_RUN
    number = 0
    first = np.int64(tree.halves[link])
    before = np.int64(0)  # children in earlier runs
    while count >= before + size:
        run = np.int64(tree.halves[link])
        if marking:
            for child in range(run, run + size):
                worker.marks[tree.halves[child * HALVES + MOVE]] = stamp
        before += size
        size = next_size(size)
        number += 1
        link = link_to_run(first, run, number)
    run = np.int64(tree.halves[link])
    if marking:
        for child in range(run, run + count - before):
            worker.marks[tree.halves[child * HALVES + MOVE]] = stamp
    if run == NONE:
        room = min(size, most - before)
        room += room & 1  # runs start on a cache line
        run = reserve(tree, worker, room)
        if run == NONE:
            return np.int64(NONE)
        tree.halves[link] = run
        keep_order()
        slot[PENDING_RUN] = 0
    return run + count - before


@part
def write_child(game, tree, child, move, in_flight):
    """A node without visits, children and past."""
    place = child * WORDS
    tree.words[place + COUNTS] = in_flight
    tree.words[place + VALUE_SUM] = 0
    tree.halves[child * HALVES + FIRST] = NONE
    tree.halves[child * HALVES + CHILDREN] = 0
    set_move(game, tree, child, move)


@part
def put_on_path(worker, child):
    """A new child, before others can see it: from here on the journal answers for it."""
    slot = worker.slot
    worker.path[slot[DEPTH]] = child
    keep_order()
    slot[DEPTH] += 1
    keep_order()
    slot[BORN] = 1
    keep_order()


@part
def add_family(game, mode, tree, worker, node, moves, chances, count, flag):
    """Give a node without children all of them at once, none of them visited; False if another worker is at it, or no room."""
    slot = worker.slot
    status = node * HALVES + CHILDREN
    slot[EXPANDING_NODE] = node + 1
    keep_order()
    if load(tree.halves, status) != 0 or not claim(mode, tree, status, 0):
        slot[EXPANDING_NODE] = 0
        slot[CLASHES] += 1
        yield_core()  # until they are there, simulations end here: the other worker may be waiting for this very core
        return False
    word = count | COMPLETE | flag
    for index in range(count):
        child = place_for_child(tree, worker, node, index, count, False)
        if child == NONE:
            slot[FULL] += 1
            word = 0  # the runs stay linked, for a later try
            break
        write_child(game, tree, child, moves[index], 0)
        if flag == 0:
            file_move(game, mode, tree, worker, child, moves[index])
        tree.extra[child] = -1
        if tree.priors.size > 1:
            tree.priors[child] = chances[index]
    store(tree.halves, status, word)
    keep_order()
    slot[EXPANDING_NODE] = 0
    return word != 0


@part
def child_number(tree, node, index):
    """A node's child by its number; it must have so many."""
    link = node * HALVES + FIRST
    first = run = np.int64(load(tree.halves, link))
    size = FIRST_RUN
    number = 0
    while index >= size:
        index -= size
        number += 1
        run = np.int64(load(tree.halves, link_to_run(first, run, number)))
        size = next_size(size)
    return run + index
