"""Playout: from the end of the path to a result for each player.

To the end of the game with the game's own playout, or cut off after a number of moves with the game's evaluation.
"""

from distmcts.kernels.contract import why_stuck
from distmcts.kernels.jit import kernel
from distmcts.kernels.layout import FINE
from distmcts.kernels.rules import OVER, evaluate, player, playout, playout_step, returns


@kernel
def run_playout(game, state, moves, results, rng, cutoff):
    """Play on from `state`, in place; write the players' results. FINE, or what is wrong with the game."""
    if cutoff < 0:
        playout(game, state, moves, rng)
        if not game.own_playout and player(game, state) != OVER:
            return why_stuck(game, state, moves)
        returns(game, state, results)
        return FINE
    for _ in range(cutoff):
        if player(game, state) == OVER:
            break
        if playout_step(game, state, moves, rng) < 0:
            return why_stuck(game, state, moves)
    if player(game, state) == OVER:
        returns(game, state, results)
    else:
        evaluate(game, state, results)
    return FINE
