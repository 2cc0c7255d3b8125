"""One simulation: select, expand, play out, back up. And the loop a worker spends its life in.

State is not stored in the tree: a simulation starts from the root's position and replays the moves on its way down.
"""

import numpy as np

from distmcts.kernels.atomics import fetch_add, keep_order, load
from distmcts.kernels.backup import backup, set_rewards
from distmcts.kernels.chance import pass_chance
from distmcts.kernels.choose import step
from distmcts.kernels.host import NO_ANSWER, player_at
from distmcts.kernels.jit import entry, part, switch
from distmcts.kernels.layout import (
    BAD_RESULTS,
    BEYOND,
    BORN,
    BREACH,
    BROKEN,
    DEPTH,
    DESCENT,
    DOING,
    EXHAUSTED,
    FINE,
    HEARTBEAT,
    IN_FLIGHT_BITS,
    LOCKED_NODE,
    MAX_DEPTH,
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
from distmcts.kernels.modes import enter, has
from distmcts.kernels.moves import move_of
from distmcts.kernels.rave import forget_moves, note_move
from distmcts.kernels.reward import find_results
from distmcts.kernels.rng import random_word
from distmcts.kernels.solver import is_proven, unbind
from distmcts.kernels.states import copy_state
from distmcts.kernels.tags import CHANCE, apply, knows_chance

TURN = np.uint64(11)
BACK = np.uint64(64 - 11)


@part
def push(mode, tree, worker, node, mover, synchronisation):
    """Put a node on the path and count the simulation in flight there; return its counts before."""
    slot = worker.slot
    depth = slot[DEPTH]
    worker.path[depth] = node
    worker.movers[depth] = mover
    unbind(mode, worker, depth)
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
    """From the root to the node to play out from; `worker.state` is its position then, or the outcome of chance after it.

    The path is in flight.
    """
    slot = worker.slot
    state = worker.state
    copy_state(shared.root_state, state)
    slot[DEPTH] = 0
    slot[BORN] = 0
    slot[BEYOND] = 0
    keep_order()
    slot[STAGE] = DESCENT
    slot[DOING] = SELECTING
    keep_order()
    forget_moves(mode, worker)
    node = ROOT
    word = random_word(worker.rng)
    counts = push(mode, tree, worker, node, shared.control[ROOT_MOVER], settings.synchronisation)
    while slot[DEPTH] < MAX_DEPTH:
        mover = player_at(game, tree, worker, node)
        if game.in_python and mover == NO_ANSWER:
            break
        is_chance = game.has_chance and mover == CHANCE
        seen_by = worker.movers[slot[DEPTH] - 1] if is_chance else mover
        if settings.synchronisation == NODE_LOCKS:
            lock(tree, worker, LOCKED_NODE, node)
        if is_chance:
            child, is_new = pass_chance(game, mode, tree, worker, node, counts, settings)
        else:
            child, is_new = step(game, mode, tree, worker, shared, node, mover, counts, word, settings)
            word = (word >> TURN) | (word << BACK)  # other bits for the next level
        if settings.synchronisation == NODE_LOCKS:
            unlock(tree, worker, LOCKED_NODE, node)
        if child == NONE:
            slot[BEYOND] = is_chance
            break  # the game is over here, or nothing could be added
        if not is_chance:
            move = move_of(game, tree, child)
            note_move(game, mode, worker, state, mover, move)
            apply(game, state, move)
        if is_new:
            worker.movers[slot[DEPTH] - 1] = seen_by
            unbind(mode, worker, slot[DEPTH] - 1)
            break
        counts = push(mode, tree, worker, child, seen_by, settings.synchronisation)
        node = child
        if ends_here(game, mode, tree, node, counts):
            break


def _never_ends(game, mode, tree, node, counts):
    return False


def _unvisited_or_proven(game, mode, tree, node, counts):
    return counts >> IN_FLIGHT_BITS == 0 or is_proven(mode, tree, node)


# Whether a simulation ends at a node that exists: one that was added with its siblings and is visited for the first time, or one
# that is proven.
ends_here = switch(
    lambda game, mode, *_: knows_chance(game) or has(mode, "puct", "solver"),
    _unvisited_or_proven,
    _never_ends,
)


@part
def simulate(game, mode, tree, worker, shared, settings):
    """One simulation. If the game breaks its contract on the way, BREACH is set and the simulation stays under way."""
    slot = worker.slot
    if settings.synchronisation == ONE_LOCK:
        lock_all(shared, worker)
        descend(game, mode, tree, worker, shared, settings)
        unlock_all(shared, worker)
    else:
        descend(game, mode, tree, worker, shared, settings)
    if slot[BREACH] == FINE:
        slot[DOING] = PLAYING
        find_results(game, mode, tree, worker, shared, settings)
    if slot[BREACH] == FINE and not set_rewards(worker, game.players):
        slot[BREACH] = BAD_RESULTS
    if slot[BREACH] != FINE:
        return
    if settings.synchronisation == ONE_LOCK:
        lock_all(shared, worker)
        backup(game, mode, tree, worker, 1, settings)
        unlock_all(shared, worker)
    else:
        backup(game, mode, tree, worker, 1, settings)


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
        if worker.slot[BREACH] != FINE:
            return BROKEN
        worker.slot[TAKEN] -= 1
        worker.slot[HEARTBEAT] += 1
    return SLICE_OVER
