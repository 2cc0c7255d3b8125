"""Playout: from the end of the path to a reward for each player.

To the end of the game with the game's own playout, or cut off after a number of moves with the game's evaluation. What a game
does not bring itself is here: uniformly random moves, chance by its probabilities.
"""

import numpy as np

from distmcts.kernels.contract import why_stuck
from distmcts.kernels.jit import kernel
from distmcts.kernels.layout import FINE
from distmcts.kernels.rng import random_below, random_rank
from distmcts.kernels.tags import (
    CHANCE,
    OVER,
    apply,
    evaluate,
    legal_moves,
    move_count,
    player,
    playout,
    playout_step,
    returns,
    sample_outcome,
)

LONGEST = 1_000_000  # moves of a playout; a game that goes on for longer does not end

_MIX = np.uint64(0x9E3779B97F4A7C15)
_TURN = np.uint64(29)


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


def uniform_playout(game, state, moves, rng):
    """The playout of a game that brings none of its own: step by step."""
    for _ in range(LONGEST):
        if player(game, state) == OVER or playout_step(game, state, moves, rng) < 0:
            break


def uniform_step(game, state, moves, rng):
    """The step of a game that brings none of its own: every legal move is equally likely."""
    move = find_move(game, state, moves, rng)
    if move >= 0:
        apply(game, state, move)
    return move


@kernel
def find_move(game, state, moves, rng):
    """A legal move, all equally likely; an outcome by its probability; -1 if there is none."""
    if game.has_chance and player(game, state) == CHANCE:
        return np.int64(sample_outcome(game, state, rng))
    if game.has_ranks:
        count = move_count(game, state)
        if count > game.max_moves:
            return random_rank(rng, count)
    count = legal_moves(game, state, moves)
    return moves[random_below(rng, count)] if count > 0 else np.int64(-1)


def no_evaluation(game, state, rewards):
    """The evaluation of a game that brings none: even."""
    for i in range(game.players):
        rewards[i] = 0.0


def mixed_words(game, state):
    """The hash of a game that brings none: all words of the state, mixed."""
    mixed = _MIX
    for i in range(game.state_words):
        mixed = (mixed ^ state[i]) * _MIX
        mixed ^= mixed >> _TURN
    return mixed


def move_itself(game, state, move):
    """The RAVE key of a game that brings none."""
    return move


# A game without chance, or whose moves can all be listed, has these. No kernel runs them; they only must have a type.


def no_outcomes(game, state, moves, probabilities):
    return 0


def no_outcome(game, state, rng):
    return -1


def no_count(game, state):
    return -1


def equal_priors(game, state, moves, count, priors):
    """The priors of a game that brings none."""
    for i in range(count):
        priors[i] = 1.0 / count
