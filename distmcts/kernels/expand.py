"""Expansion: give a node one more child, for a random one of its moves that has none yet.

Before: `state` is the node's position. After: the node has one child more, or COMPLETE is set, or nothing has changed because
memory is used up or another worker is at it. Memory: one node per call, plus the free places of the last run.
"""

import numpy as np

from distmcts.kernels.atomics import fetch_add, keep_order, load, store
from distmcts.kernels.jit import part
from distmcts.kernels.layout import (
    ALLOCATED,
    BORN,
    CAPACITY,
    CHILD_COUNT_MASK,
    CHILDREN,
    CHUNK,
    CHUNK_END,
    CHUNK_NEXT,
    CLASHES,
    COMPLETE,
    COUNTS,
    DEPTH,
    EXPANDING,
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
from distmcts.kernels.modes import claim, in_flight_at_birth
from distmcts.kernels.rng import random_below
from distmcts.kernels.runs import link_to_run, next_size
from distmcts.kernels.tags import OVER, legal_moves, player


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
def expand(game, mode, tree, worker, node):
    """The new child, not yet played; NONE if none was added."""
    slot = worker.slot
    status = node * HALVES + CHILDREN
    word = load(tree.halves, status)
    if word & COMPLETE:
        return np.int64(NONE)
    slot[EXPANDING_NODE] = node + 1
    keep_order()
    if word & EXPANDING or not claim(mode, tree, status, word):
        slot[EXPANDING_NODE] = 0
        slot[CLASHES] += 1
        return np.int64(NONE)

    count = np.int64(word & CHILD_COUNT_MASK)
    child = np.int64(NONE)
    if count == 0 and player(game, worker.state) == OVER:
        word |= COMPLETE
    else:
        legal = legal_moves(game, worker.state, worker.moves)
        child = _place_for_child(tree, worker, node, count, legal)
        if child == NONE:
            slot[FULL] += 1
        else:
            move = _untried_move(worker, legal)
            place = child * WORDS
            tree.words[place + COUNTS] = in_flight_at_birth(mode)
            tree.words[place + VALUE_SUM] = 0
            tree.halves[child * HALVES + FIRST] = NONE
            tree.halves[child * HALVES + CHILDREN] = 0
            tree.halves[child * HALVES + MOVE] = move
            # On the path before others can see it: from here on the journal answers for it.
            worker.path[slot[DEPTH]] = child
            keep_order()
            slot[DEPTH] += 1
            keep_order()
            slot[BORN] = 1
            keep_order()
            word += 1
            if count + 1 == legal:
                word |= COMPLETE
    store(tree.halves, status, word)
    keep_order()
    slot[EXPANDING_NODE] = 0
    return child


@part
def _place_for_child(tree, worker, node, count, legal):
    """Where child number `count` goes, with a new run linked if the last one is full. Marks the moves tried so far."""
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
        for child in range(run, run + size):
            worker.marks[tree.halves[child * HALVES + MOVE]] = stamp
        before += size
        size = next_size(size)
        number += 1
        link = link_to_run(first, run, number)
    run = np.int64(tree.halves[link])
    for child in range(run, run + count - before):
        worker.marks[tree.halves[child * HALVES + MOVE]] = stamp
    if run == NONE:
        room = min(size, legal - before)
        room += room & 1  # runs start on a cache line
        run = reserve(tree, worker, room)
        if run == NONE:
            return np.int64(NONE)
        tree.halves[link] = run
        keep_order()
        slot[PENDING_RUN] = 0
    return run + count - before


@part
def _untried_move(worker, legal):
    """A random legal move without the mark that _place_for_child gave to the tried ones."""
    stamp = worker.slot[STAMP]
    untried = 0
    for i in range(legal):  # untried moves to the front; no branch, since none could be foreseen
        move = worker.moves[i]
        worker.moves[untried] = move
        untried += worker.marks[move] != stamp
    return worker.moves[random_below(worker.rng, untried)]
