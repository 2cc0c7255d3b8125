"""The move of a node: in its record, and its upper half in a column of its own where a game has more than 2^31 moves."""

import numpy as np

from distmcts.kernels.atomics import load
from distmcts.kernels.jit import part
from distmcts.kernels.layout import HALVES, MOVE

_LOW = np.int64((1 << 32) - 1)
_SIGN = np.int64(1 << 31)


@part
def move_of(game, tree, node):
    low = np.int64(load(tree.halves, node * HALVES + MOVE))
    if game.has_ranks:
        return (np.int64(load(tree.high, node)) << 32) | (low & _LOW)
    return low


@part
def set_move(game, tree, node, move):
    if game.has_ranks:
        tree.halves[node * HALVES + MOVE] = ((move & _LOW) ^ _SIGN) - _SIGN
        tree.high[node] = move >> 32
    else:
        tree.halves[node * HALVES + MOVE] = move
