"""Expansion: give a node one more child, for one of its moves that has none yet: a random one, or the best of some (sampled.py).

Before: `state` is the node's position. After: the node has one child more, or COMPLETE is set, or nothing has changed because
memory is used up, another worker is at it, or the game breaks its contract. Memory: one node per call, plus the free places of
the last run.
"""

import numpy as np

from distmcts.kernels.atomics import keep_order, load, store
from distmcts.kernels.contract import breach_of_list
from distmcts.kernels.family import place_for_child, put_on_path, write_child
from distmcts.kernels.jit import part, switch
from distmcts.kernels.layout import (
    BREACH,
    CHILD_COUNT_MASK,
    CHILDREN,
    CLASHES,
    COMPLETE,
    EXPANDING,
    EXPANDING_NODE,
    FINE,
    FULL,
    HALVES,
    MOVE_OUT_OF_RANGE,
    NONE,
    STAMP,
)
from distmcts.kernels.modes import claim, has, in_flight_at_birth
from distmcts.kernels.rave import file_move
from distmcts.kernels.rng import random_below
from distmcts.kernels.sampled import best_of_samples, untried_rank
from distmcts.kernels.tags import OVER, legal_moves, move_count


@part
def expand(game, mode, tree, worker, shared, node, mover, settings):
    """The new child, not yet played; NONE if none was added. `mover` is to move at the node."""
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
    if count == 0 and mover == OVER:
        word |= COMPLETE
    else:
        legal = list_moves(game, worker)
        move = np.int64(-1)
        if legal > 0:
            child = place_for_child(tree, worker, node, count, legal, not game.has_ranks or legal <= game.max_moves)
            if child == NONE:
                slot[FULL] += 1
            else:
                move = pick_move(game, mode, tree, worker, shared, node, mover, count, legal, settings)
                if move >= game.move_limit and legal <= game.max_moves:
                    slot[BREACH] = MOVE_OUT_OF_RANGE
                    move = np.int64(-1)
        if move < 0:
            child = np.int64(NONE)
        else:
            write_child(game, tree, child, move, in_flight_at_birth(mode))
            file_move(game, mode, tree, worker, child, move)
            put_on_path(worker, child)
            word += 1
            if count + 1 == legal:
                word |= COMPLETE
    store(tree.halves, status, word)
    keep_order()
    slot[EXPANDING_NODE] = 0
    return child


@part
def list_moves(game, worker):
    """How many legal moves there are; lists them in `worker.moves` unless they are too many. 0: the game is broken."""
    if game.has_ranks:
        ranked = np.int64(move_count(game, worker.state))
        if ranked > game.max_moves:
            return ranked
    legal = np.int64(legal_moves(game, worker.state, worker.moves))
    breach = breach_of_list(game, worker.moves, legal)
    if breach != FINE:
        worker.slot[BREACH] = breach
        return np.int64(0)
    return legal


@part
def gather_untried(worker, legal):
    """Move the listed moves without the mark of place_for_child to the front of the list; how many they are."""
    stamp = worker.slot[STAMP]
    untried = 0
    for i in range(legal):  # no branch, since none could be foreseen
        move = worker.moves[i]
        worker.moves[untried] = move
        untried += worker.marks[move] != stamp
    return untried


def _random_move(game, mode, tree, worker, shared, node, mover, count, legal, settings):
    if game.has_ranks and legal > game.max_moves:
        return untried_rank(game, tree, worker, node, legal)
    return worker.moves[random_below(worker.rng, gather_untried(worker, legal))]


def _sampled_move(game, mode, tree, worker, shared, node, mover, count, legal, settings):
    if not game.has_ranks or legal <= game.max_moves:
        gather_untried(worker, legal)
    return best_of_samples(game, mode, tree, worker, shared, node, mover, legal - count, legal, settings)


# An untried one of the legal moves; -1 if none was found.
pick_move = switch(lambda game, mode, *_: has(mode, "sampled"), _sampled_move, _random_move)
