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
from distmcts.kernels.jit import part, switch
from distmcts.kernels.layout import (
    BREACH,
    BY_CHANCE,
    CHILD_COUNT_MASK,
    CHILDREN,
    DEPTH,
    FIRST,
    FIRST_RUN,
    HALVES,
    KEY_OUT_OF_RANGE,
    RAVE_STAMP,
    SCALE,
)
from distmcts.kernels.modes import add, has
from distmcts.kernels.runs import link_to_run, next_size
from distmcts.kernels.tags import rave_key

ONE_SIMULATION = 1 << 22  # stamps of two simulations lie so far apart, more than any playout has moves


@part
def checked_key(game, worker, state, move):
    """The key of a move; 0, and a breach of the contract, if it is out of range."""
    key = np.int64(rave_key(game, state, move))
    if 0 <= key < game.rave_keys:
        return key
    worker.slot[BREACH] = KEY_OUT_OF_RANGE
    return np.int64(0)


def _nothing(game, mode, tree, worker, child, move):
    pass


def _file_move(game, mode, tree, worker, child, move):
    tree.keys[child] = checked_key(game, worker, worker.state, move)


# Write a new child's key; `worker.state` is the position the move is made in.
file_move = switch(lambda game, mode, *_: has(mode, "rave"), _file_move, _nothing)


def _no_begin(mode, worker):
    pass


def _begin(mode, worker):
    worker.slot[RAVE_STAMP] = (worker.slot[RAVE_STAMP] // ONE_SIMULATION + 1) * ONE_SIMULATION


# A new simulation: whatever was noted before is no longer true.
forget_moves = switch(lambda mode, *_: has(mode, "rave"), _begin, _no_begin)


def _no_note(game, mode, worker, state, mover, move):
    pass


def _note(game, mode, worker, state, mover, move):
    worker.slot[RAVE_STAMP] += 1
    worker.played[mover * game.rave_keys + checked_key(game, worker, state, move)] = worker.slot[RAVE_STAMP]


# Note a move that a player is about to make in `state`.
note_move = switch(lambda game, mode, *_: has(mode, "rave"), _note, _no_note)


def _no_blend(mode, tree, child, visits, mean, settings):
    return mean


def _blend(mode, tree, child, visits, mean, settings):
    noted = load(tree.rave, 2 * child)
    if noted <= 0:
        return mean
    beta = math.sqrt(settings.rave / (3.0 * visits + settings.rave))
    return (1.0 - beta) * mean + beta * (load(tree.rave, 2 * child + 1) / (noted * SCALE))


# The mean that selection uses.
blend = switch(lambda mode, *_: has(mode, "rave"), _blend, _no_blend)


@part
def _credit_children(mode, tree, worker, node, mover, since, keys, reward):
    """Give the reward to the children of a node whose move its player made at stamp `since` or later."""
    word = load(tree.halves, node * HALVES + CHILDREN)
    left = np.int64(word & CHILD_COUNT_MASK)
    if word & BY_CHANCE or left == 0:
        return
    first = run = np.int64(load(tree.halves, node * HALVES + FIRST))
    size = FIRST_RUN
    number = 0
    while True:
        for child in range(run, run + min(size, left)):
            if worker.played[mover * keys + tree.keys[child]] >= since:
                add(mode, tree.rave, 2 * child, 1)
                add(mode, tree.rave, 2 * child + 1, reward)
        left -= size
        if left <= 0:
            return
        number += 1
        run = np.int64(load(tree.halves, link_to_run(first, run, number)))
        size = next_size(size)


def _no_credit(game, mode, tree, worker, visits):
    pass


def _credit(game, mode, tree, worker, visits):
    # The n-th move of the simulation has stamp `start + n`. Outcomes of chance have none, so stamps lag behind depth.
    stamp = worker.slot[RAVE_STAMP] // ONE_SIMULATION * ONE_SIMULATION
    for position in range(worker.slot[DEPTH] - 1):
        node = worker.path[position]
        if load(tree.halves, node * HALVES + CHILDREN) & BY_CHANCE:
            continue
        stamp += 1
        mover = worker.movers[position + 1]
        _credit_children(mode, tree, worker, node, mover, stamp, game.rave_keys, worker.rewards[mover] // visits)


# After a simulation: credit the moves made in it. `visits` playouts were worth `worker.rewards` together.
credit_moves = switch(lambda game, mode, *_: has(mode, "rave"), _credit, _no_credit)
