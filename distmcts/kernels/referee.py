"""Single steps of a game for the host side: begin, play, look. And perft, random games and bare playouts."""

import numpy as np

from distmcts.kernels import rules
from distmcts.kernels.jit import entry, inner
from distmcts.kernels.playout import run_playout
from distmcts.kernels.rules import CHANCE, OVER, find_move
from distmcts.kernels.states import copy_state


@entry
def begin(game, state):
    rules.initial(game, state)


@entry
def play(game, state, move):
    rules.apply(game, state, move)


@inner
def options(game, state, moves, probabilities, player):
    """List the legal moves, or a chance event's outcomes; their number. Ranked moves are counted and not listed."""
    if game.has_chance and player == CHANCE:
        return np.int64(rules.chance_outcomes(game, state, moves, probabilities))
    if game.has_ranks:
        count = np.int64(rules.move_count(game, state))
        if count > game.max_moves:
            return count
    return np.int64(rules.legal_moves(game, state, moves))


@entry
def look(game, state, moves, probabilities, results):
    """The player to move (or CHANCE) and the number of `options`; fills `results` if the game is over."""
    player = np.int64(rules.player(game, state))
    if player == OVER:
        rules.returns(game, state, results)
        return player, np.int64(0)
    return player, options(game, state, moves, probabilities, player)


@entry
def hash_state(game, state):
    return np.uint64(rules.state_hash(game, state))


@entry
def give_priors(game, state, moves, count, priors):
    """The game's priors of legal moves."""
    rules.priors(game, state, moves, count, priors)


@entry
def draw_outcomes(game, state, drawn, rng):
    """Fill `drawn` with outcomes of a chance event."""
    for i in range(drawn.size):
        drawn[i] = rules.sample_outcome(game, state, rng)


@entry
def assess(game, state, results):
    """The game's evaluation of a position."""
    rules.evaluate(game, state, results)


@entry
def perft(game, states, moves, probabilities, counts, next_move, depth):
    """How many different ways there are to play `depth` moves from states[0], outcomes of chance counted as moves.

    One row per level in each array. No position on the way may have more moves than can be listed.
    """
    total = 0
    level = 0
    counts[0] = -1
    while level >= 0:
        if counts[level] < 0:
            player = rules.player(game, states[level])
            counts[level] = 0 if player == OVER else options(game, states[level], moves[level], probabilities, player)
            next_move[level] = 0
            if level == depth - 1:
                total += counts[level]
                level -= 1
                continue
        if next_move[level] == counts[level]:
            level -= 1
            continue
        copy_state(states[level], states[level + 1])
        rules.apply(game, states[level + 1], moves[level][next_move[level]])
        next_move[level] += 1
        counts[level + 1] = -1
        level += 1
    return total


@entry
def play_randomly(game, state, moves, rng, length):
    """Play up to `length` uniformly random moves; return their number."""
    for i in range(length):
        if rules.player(game, state) == OVER:
            return i
        rules.apply(game, state, find_move(game, state, moves, rng))
    return length


@entry
def bare_playouts(game, start, state, moves, results, totals, rng, cutoff, count):
    """Playouts from one position without a tree; adds up the players' results."""
    for _ in range(count):
        copy_state(start, state)
        run_playout(game, state, moves, results, rng, cutoff)
        for i in range(game.players):
            totals[i] += results[i]
