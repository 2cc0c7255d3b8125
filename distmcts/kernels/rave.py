"""RAVE (Gelly and Silver 2011): a move is also judged by simulations in which its player made it later on ("all moves as first").

    mean used in selection = (1 - beta) * mean + beta * rave mean,        beta = sqrt( k / (3 n + k) )

n: visits of the child; k: so many visits weigh as much as RAVE. Moves are told apart by the player and by the game's `rave_key`.

While a simulation runs, `played` notes for every key the last time it was used: the simulation's RAVE_STAMP + the number of the
move. After it, each child of each node on the path whose key was used by the player to move there, there or later, gets the
reward. In the leaf scheme the leader's own playout is the one whose moves are known.
"""

import math

import numpy as np

from distmcts.kernels.atomics import load
from distmcts.kernels.family import first_child, next_child
from distmcts.kernels.hooks import adjust_mean, after_simulation, begin_simulation, file_child, note_move, replay_moves
from distmcts.kernels.jit import inner
from distmcts.kernels.layout import BREACH, DEPTH, KEY_OUT_OF_RANGE, NONE, RAVE_STAMP, SCALE
from distmcts.kernels.modes import uses
from distmcts.kernels.node import is_by_chance, status_of
from distmcts.kernels.rules import rave_key
from distmcts.kernels.updates import add

ONE_SIMULATION = 1 << 22  # stamps of two simulations lie so far apart, more than any playout has moves

is_used = uses("rave")


@inner
def checked_key(game, worker, state, move):
    """The key of a move; 0, and a breach of the contract, if it is out of range."""
    key = np.int64(rave_key(game, state, move))
    if 0 <= key < game.rave_keys:
        return key
    worker.slot[BREACH] = KEY_OUT_OF_RANGE
    return np.int64(0)


@file_child.when(is_used)
def _file_key(game, mode, tree, worker, shared, mover, child, move):
    tree.keys[child] = checked_key(game, worker, worker.state, move)


@begin_simulation.when(is_used)
def _forget_moves(mode, worker):
    worker.slot[RAVE_STAMP] = (worker.slot[RAVE_STAMP] // ONE_SIMULATION + 1) * ONE_SIMULATION


@note_move.when(is_used)
def _note_key(game, mode, worker, state, mover, move):
    worker.slot[RAVE_STAMP] += 1
    worker.played[mover * game.rave_keys + checked_key(game, worker, state, move)] = worker.slot[RAVE_STAMP]


@replay_moves.when(is_used)
def _note_path(game, mode, tree, worker, simulation, opened):
    for position in range(1, opened):
        if is_by_chance(status_of(tree, simulation.path[position - 1])):
            continue
        worker.slot[RAVE_STAMP] += 1
        key = tree.keys[simulation.path[position]]
        worker.played[simulation.movers[position] * game.rave_keys + key] = worker.slot[RAVE_STAMP]


@adjust_mean.when(is_used)
def _blend(mode, tree, child, visits, mean, settings):
    noted = load(tree.rave, 2 * child)
    if noted <= 0:
        return mean
    beta = math.sqrt(settings.rave / (3.0 * visits + settings.rave))
    return (1.0 - beta) * mean + beta * (load(tree.rave, 2 * child + 1) / (noted * SCALE))


@inner
def credit_children(mode, tree, worker, node, mover, since, keys, reward):
    """Give the reward to the children of a node whose move its player made at stamp `since` or later."""
    at = first_child(tree, node)
    while at.child != NONE:
        if worker.played[mover * keys + tree.keys[at.child]] >= since:
            add(mode, tree.rave, 2 * at.child, 1)
            add(mode, tree.rave, 2 * at.child + 1, reward)
        at = next_child(tree, at)


@after_simulation.when(is_used)
def _credit_moves(game, mode, tree, worker, simulation, visits):
    # The n-th move of the simulation has stamp `start + n`. Outcomes of chance have none, so stamps lag behind depth.
    stamp = worker.slot[RAVE_STAMP] // ONE_SIMULATION * ONE_SIMULATION
    for position in range(simulation.journal[DEPTH] - 1):
        node = simulation.path[position]
        if is_by_chance(status_of(tree, node)):
            continue
        stamp += 1
        mover = simulation.movers[position + 1]
        credit_children(mode, tree, worker, node, mover, stamp, game.rave_keys, simulation.rewards[mover] // visits)
