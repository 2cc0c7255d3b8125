"""Expansion: give a node one more child, for one of its moves that has none yet: a random one, or the best of some (sampled.py).

Before: `worker.state` is the node's position. After: the node has one child more, or COMPLETE is set, or nothing has changed
because memory is used up or the game breaks its contract. Memory: one node per call, plus the free places of the last run.

Other workers may be adding children to the same node. What is there already is taken as it is: the place of the next child, and
its move if another has written it. Whoever raises the node's count has created the child, and the others try the one after it.
"""

import numpy as np

from distmcts.kernels.atomics import keep_order
from distmcts.kernels.contract import breach_of_list
from distmcts.kernels.family import child_by_move
from distmcts.kernels.hooks import file_child
from distmcts.kernels.jit import inner, switch
from distmcts.kernels.layout import BREACH, COMPLETE, EXPANDING_NODE, FINE, FULL, MOVE_OUT_OF_RANGE, NONE, STAMP
from distmcts.kernels.node import child_count, is_complete, move_of, status_of
from distmcts.kernels.place import place_for_child, put_newborn_on_path, take_unborn_off_path
from distmcts.kernels.rng import random_below, random_rank
from distmcts.kernels.rules import OVER, legal_moves, move_count
from distmcts.kernels.updates import offer_move, publish

TRIES = 8  # for a rank that is not in the tree yet; ranks are so many that one is nearly always enough


@inner
def expand(game, mode, tree, worker, simulation, shared, node, mover, settings):
    """The new child, not yet played; NONE if none was added. `mover` is to move at the node."""
    slot = worker.slot
    status = status_of(tree, node)
    if is_complete(status):
        return np.int64(NONE)
    if mover == OVER and child_count(status) == 0:
        publish(mode, tree, node, status, status | COMPLETE)
        return np.int64(NONE)
    slot[EXPANDING_NODE] = node + 1
    keep_order()
    child = np.int64(NONE)
    legal = list_moves(game, worker)
    while legal > 0 and not is_complete(status):
        count = child_count(status)
        child = place_for_child(game, mode, tree, worker, node, count, legal, not game.has_ranks or legal <= game.max_moves)
        if child == NONE:
            slot[FULL] += 1
            break
        move = move_of(game, tree, child)  # if another worker was here first
        if move < 0:
            move = pick_move(game, mode, tree, worker, shared, node, mover, count, legal, settings)
            if move >= game.move_limit and legal <= game.max_moves:
                slot[BREACH] = MOVE_OUT_OF_RANGE
                move = np.int64(-1)
            if move < 0:
                child = np.int64(NONE)
                break
            move = offer_move(game, mode, tree, child, move)
        file_child(game, mode, tree, worker, shared, mover, child, move)
        put_newborn_on_path(mode, tree, simulation, child)
        if publish(mode, tree, node, status, status + 1 + (COMPLETE if count + 1 == legal else 0)):
            break
        take_unborn_off_path(mode, tree, worker, simulation, child)
        child = np.int64(NONE)
        status = status_of(tree, node)
    keep_order()
    slot[EXPANDING_NODE] = 0
    return child


@inner
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


@inner
def gather_untried(worker, legal):
    """Move the listed moves without the mark of place_for_child to the front of the list; return their number."""
    stamp = worker.slot[STAMP]
    untried = 0
    for i in range(legal):  # no branch, since none could be foreseen
        move = worker.moves[i]
        worker.moves[untried] = move
        untried += worker.marks[move] != stamp
    return untried


@inner
def untried_rank(game, tree, worker, node, ranks):
    """A random rank that no child of the node has; -1 if none was found in some tries."""
    for _ in range(TRIES):
        move = random_rank(worker.rng, ranks)
        if child_by_move(game, tree, node, move) == NONE:
            return move
    return np.int64(-1)


@switch
def pick_move(game, mode, tree, worker, shared, node, mover, count, legal, settings):
    """An untried one of the legal moves; -1 if none was found. The node has `count` children."""
    if game.has_ranks and legal > game.max_moves:
        return untried_rank(game, tree, worker, node, legal)
    return worker.moves[random_below(worker.rng, gather_untried(worker, legal))]
