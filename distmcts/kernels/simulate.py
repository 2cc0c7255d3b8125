"""One simulation: select, expand, play out, back up. And the loop a worker spends its life in.

State is not stored in the tree: a simulation starts from the root's position and replays the moves on its way down.
"""

import numpy as np

from distmcts.kernels.atomics import fetch_add, keep_order, load
from distmcts.kernels.backup import backup, set_rewards
from distmcts.kernels.expand import expand
from distmcts.kernels.jit import entry, part
from distmcts.kernels.layout import (
    BORN,
    CHILDREN,
    COMPLETE,
    DEPTH,
    DESCENT,
    DOING,
    EXHAUSTED,
    HALVES,
    HEARTBEAT,
    LOCKED_NODE,
    MAX_DEPTH,
    MOVE,
    NODE_LOCKS,
    NONE,
    ONE_LOCK,
    PAUSE,
    PAUSED,
    PLAYING,
    ROOT,
    ROOT_MOVER,
    SELECTING,
    SLICE_OVER,
    STAGE,
    TAKEN,
    TICKETS,
)
from distmcts.kernels.locks import lock, lock_all, unlock, unlock_all
from distmcts.kernels.modes import enter
from distmcts.kernels.playout import run_playout
from distmcts.kernels.rng import random_word
from distmcts.kernels.select import select
from distmcts.kernels.states import copy_state
from distmcts.kernels.tags import apply, player

TURN = np.uint64(11)
BACK = np.uint64(64 - 11)


@part
def push(mode, tree, worker, node, mover, synchronisation):
    """Put a node on the path and count the simulation in flight there; return its counts before."""
    slot = worker.slot
    depth = slot[DEPTH]
    worker.path[depth] = node
    worker.movers[depth] = mover
    keep_order()
    slot[DEPTH] = depth + 1
    keep_order()
    if synchronisation == NODE_LOCKS:
        lock(tree, worker, LOCKED_NODE, node)
        counts = enter(mode, tree, node, synchronisation)
        unlock(tree, worker, LOCKED_NODE, node)
        return counts
    return enter(mode, tree, node, synchronisation)


@part
def descend(game, mode, tree, worker, shared, settings):
    """From the root to the node to play out from; `worker.state` is its position then. The path is in flight."""
    slot = worker.slot
    state = worker.state
    copy_state(shared.root_state, state)
    slot[DEPTH] = 0
    slot[BORN] = 0
    keep_order()
    slot[STAGE] = DESCENT
    slot[DOING] = SELECTING
    keep_order()
    node = ROOT
    word = random_word(worker.rng)
    counts = push(mode, tree, worker, node, shared.control[ROOT_MOVER], settings.synchronisation)
    while slot[DEPTH] < MAX_DEPTH:
        if settings.synchronisation == NODE_LOCKS:
            lock(tree, worker, LOCKED_NODE, node)
        child = NONE
        if not load(tree.halves, node * HALVES + CHILDREN) & COMPLETE:
            child = expand(game, mode, tree, worker, node)
        is_new = child != NONE
        if not is_new:
            child = select(tree, worker, node, counts, word, settings)
            word = (word >> TURN) | (word << BACK)  # other bits for the next level
        if settings.synchronisation == NODE_LOCKS:
            unlock(tree, worker, LOCKED_NODE, node)
        if child == NONE:
            break  # the game is over here, or nothing could be added
        mover = player(game, state)
        apply(game, state, np.int64(load(tree.halves, child * HALVES + MOVE)))
        if is_new:
            worker.movers[slot[DEPTH] - 1] = mover
            break
        counts = push(mode, tree, worker, child, mover, settings.synchronisation)
        node = child


@part
def simulate(game, mode, tree, worker, shared, settings):
    if settings.synchronisation == ONE_LOCK:
        lock_all(shared, worker)
        descend(game, mode, tree, worker, shared, settings)
        unlock_all(shared, worker)
    else:
        descend(game, mode, tree, worker, shared, settings)
    worker.slot[DOING] = PLAYING
    run_playout(game, worker.state, worker.moves, worker.results, worker.rng, settings.cutoff)
    set_rewards(worker, game.players)
    if settings.synchronisation == ONE_LOCK:
        lock_all(shared, worker)
        backup(mode, tree, worker, 1, settings)
        unlock_all(shared, worker)
    else:
        backup(mode, tree, worker, 1, settings)


@part
def take_tickets(worker, shared, batch):
    """Whether the worker has a simulation to do; takes up to `batch` from all workers' common heap when it has none."""
    if worker.slot[TAKEN] > 0:
        return True
    left = fetch_add(shared.control, TICKETS, -batch)
    worker.slot[TAKEN] = min(max(left, 0), batch)
    return left > 0


@entry
def run_worker(game, mode, tree, worker, shared, settings, batch, slice_length):
    """Simulate until PAUSE is set, tickets run out, or `slice_length` simulations are done; say which."""
    for _ in range(slice_length):
        if load(shared.control, PAUSE) != 0:
            return PAUSED
        if not take_tickets(worker, shared, batch):
            return EXHAUSTED
        simulate(game, mode, tree, worker, shared, settings)
        worker.slot[TAKEN] -= 1
        worker.slot[HEARTBEAT] += 1
    return SLICE_OVER
