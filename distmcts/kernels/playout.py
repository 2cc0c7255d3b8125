"""Playout: from the end of the path to a reward for each player.

To the end of the game with the game's own playout, or cut off after a number of moves with the game's evaluation.
"""

from distmcts.kernels.jit import kernel
from distmcts.kernels.rng import random_below
from distmcts.kernels.tags import OVER, apply, evaluate, legal_moves, player, playout, returns


@kernel
def run_playout(game, state, moves, results, rng, cutoff):
    """Play on from `state`, in place; write the players' results."""
    if cutoff < 0:
        playout(game, state, moves, rng)
        returns(game, state, results)
        return
    for _ in range(cutoff):
        if player(game, state) == OVER:
            break
        play_random_move(game, state, moves, rng)
    if player(game, state) == OVER:
        returns(game, state, results)
    else:
        evaluate(game, state, results)


@kernel
def play_random_move(game, state, moves, rng):
    apply(game, state, moves[random_below(rng, legal_moves(game, state, moves))])


def uniform_playout(game, state, moves, rng):
    """The playout of a game that brings none of its own: every legal move is equally likely."""
    while player(game, state) != OVER:
        play_random_move(game, state, moves, rng)


def no_evaluation(game, state, rewards):
    """The evaluation of a game that brings none: even."""
    for i in range(game.players):
        rewards[i] = 0.0
