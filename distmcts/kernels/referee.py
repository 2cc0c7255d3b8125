"""Single steps of a game for the host side: begin, play, look. And perft, random games and bare playouts."""

from distmcts.kernels import tags
from distmcts.kernels.jit import entry
from distmcts.kernels.playout import play_random_move, run_playout
from distmcts.kernels.states import copy_state
from distmcts.kernels.tags import OVER


@entry
def begin(game, state):
    tags.initial(game, state)


@entry
def play(game, state, move):
    tags.apply(game, state, move)


@entry
def look(game, state, moves, results):
    """The player to move and the number of legal moves; fills `moves`, and `results` if the game is over."""
    player = tags.player(game, state)
    if player == OVER:
        tags.returns(game, state, results)
        return player, 0
    return player, tags.legal_moves(game, state, moves)


@entry
def assess(game, state, results):
    """The game's evaluation of a position."""
    tags.evaluate(game, state, results)


@entry
def perft(game, states, moves, counts, next_move, depth):
    """How many different ways there are to play `depth` moves from states[0]. One row per level in each array."""
    total = 0
    level = 0
    counts[0] = -1
    while level >= 0:
        if counts[level] < 0:
            over = tags.player(game, states[level]) == OVER
            counts[level] = 0 if over else tags.legal_moves(game, states[level], moves[level])
            next_move[level] = 0
            if level == depth - 1:
                total += counts[level]
                level -= 1
                continue
        if next_move[level] == counts[level]:
            level -= 1
            continue
        copy_state(states[level], states[level + 1])
        tags.apply(game, states[level + 1], moves[level][next_move[level]])
        next_move[level] += 1
        counts[level + 1] = -1
        level += 1
    return total


@entry
def play_randomly(game, state, moves, rng, length):
    """Play up to `length` uniformly random moves; return how many it were."""
    for i in range(length):
        if tags.player(game, state) == OVER:
            return i
        play_random_move(game, state, moves, rng)
    return length


@entry
def bare_playouts(game, start, state, moves, results, totals, rng, cutoff, count):
    """Playouts from one position without a tree; adds up the players' results."""
    for _ in range(count):
        copy_state(start, state)
        run_playout(game, state, moves, results, rng, cutoff)
        for i in range(game.players):
            totals[i] += results[i]
