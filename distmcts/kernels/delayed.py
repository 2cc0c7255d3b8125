"""Many workers simulated exactly on one core (Segal 2010): each result reaches the tree as late as it would with n workers.

Worker number t mod n takes turn t: it backs up the simulation it began n turns ago, then begins the next one. So every
simulation is chosen while n - 1 others are in flight, and the run is deterministic.
"""

from typing import NamedTuple

import numpy as np

from distmcts.kernels.atomics import fetch_add, load
from distmcts.kernels.backup import backup, set_rewards
from distmcts.kernels.jit import entry, part
from distmcts.kernels.layout import (
    BAD_RESULTS,
    BORN,
    BREACH,
    BROKEN,
    DEPTH,
    DOING,
    EXHAUSTED,
    FINE,
    HEARTBEAT,
    PAUSE,
    PAUSED,
    PLAYING,
    SLICE_OVER,
    TICKETS,
)
from distmcts.kernels.reward import find_results
from distmcts.kernels.simulate import descend


class Pending(NamedTuple):
    """The simulations in flight, a row for each simulated worker."""

    paths: np.ndarray  # int32 [workers, MAX_DEPTH]
    movers: np.ndarray  # int32 [workers, MAX_DEPTH]
    rewards: np.ndarray  # int64 [workers, MAX_PLAYERS]
    bounds: np.ndarray  # int64 [workers, MAX_DEPTH], as in Worker
    depths: np.ndarray  # int64 [workers], 0: nothing in flight
    born: np.ndarray  # int64 [workers]
    turn: np.ndarray  # int64 [1]


@part
def put_aside(game, worker, pending, row):
    depth = worker.slot[DEPTH]
    for i in range(depth):
        pending.paths[row, i] = worker.path[i]
        pending.movers[row, i] = worker.movers[i]
    for i in range(min(depth, worker.bounds.size)):
        pending.bounds[row, i] = worker.bounds[i]
    for i in range(game.players):
        pending.rewards[row, i] = worker.rewards[i]
    pending.depths[row] = depth
    pending.born[row] = worker.slot[BORN]


@part
def finish(game, mode, tree, worker, settings, pending, row):
    depth = pending.depths[row]
    if depth == 0:
        return
    for i in range(depth):
        worker.path[i] = pending.paths[row, i]
        worker.movers[i] = pending.movers[row, i]
    for i in range(min(depth, worker.bounds.size)):
        worker.bounds[i] = pending.bounds[row, i]
    for i in range(game.players):
        worker.rewards[i] = pending.rewards[row, i]
    worker.slot[DEPTH] = depth
    worker.slot[BORN] = pending.born[row]
    backup(game, mode, tree, worker, 1, settings)
    pending.depths[row] = 0


@part
def finish_all(game, mode, tree, worker, settings, pending):
    """Back up everything in flight, the oldest first."""
    workers = pending.depths.size
    for i in range(workers):
        finish(game, mode, tree, worker, settings, pending, (pending.turn[0] + i) % workers)


@entry
def run_simulated(game, mode, tree, worker, shared, settings, pending, slice_length):
    for _ in range(slice_length):
        if load(shared.control, PAUSE) != 0:
            finish_all(game, mode, tree, worker, settings, pending)
            return PAUSED
        if fetch_add(shared.control, TICKETS, -1) <= 0:
            finish_all(game, mode, tree, worker, settings, pending)
            return EXHAUSTED
        row = pending.turn[0] % pending.depths.size
        finish(game, mode, tree, worker, settings, pending, row)
        descend(game, mode, tree, worker, shared, settings)
        if worker.slot[BREACH] == FINE:
            worker.slot[DOING] = PLAYING
            find_results(game, mode, tree, worker, shared, settings)
        if worker.slot[BREACH] == FINE and not set_rewards(worker, game.players):
            worker.slot[BREACH] = BAD_RESULTS
        if worker.slot[BREACH] != FINE:
            return BROKEN
        put_aside(game, worker, pending, row)
        pending.turn[0] += 1
        worker.slot[HEARTBEAT] += 1
    return SLICE_OVER
