"""What a game must keep to when it lists moves. A breach ends the search (layout.BREACH)."""

import numpy as np

from distmcts.kernels.jit import kernel
from distmcts.kernels.layout import FINE, MOVE_OUT_OF_RANGE, NO_END, NO_MOVES, TOO_MANY_MOVES
from distmcts.kernels.rules import legal_moves


@kernel
def breach_of_list(game, moves, legal):
    """What is wrong with a list of legal moves. A move beyond `move_limit`, but below the next power of two, passes."""
    if legal <= 0:
        return NO_MOVES
    if legal > game.max_moves:
        return TOO_MANY_MOVES
    bits = np.int64(0)  # of all moves: one comparison instead of many
    for i in range(legal):
        bits |= moves[i]
    return MOVE_OUT_OF_RANGE if np.uint64(bits) >= np.uint64(game.mark_count) else FINE


@kernel
def why_stuck(game, state, moves):
    """Why a playout got no further here."""
    breach = breach_of_list(game, moves, np.int64(legal_moves(game, state, moves)))
    return NO_END if breach == FINE else breach
