"""The game's evaluation of a position, and a cache of it in shared memory (a transposition table) for when it is expensive.

One entry is 1 + players words: the state's hash xor all values, each turned by its place (else equal and opposite values would
leave no trace), then the values as bits of floats. Workers write without a lock; an entry that two have written at once has a
first word that fits no hash, and is never taken for anything (Hyatt's lockless table). An entry is overwritten by the next
position that falls on it.
"""

import numpy as np

from distmcts.kernels.atomics import load, store
from distmcts.kernels.bits import float_bits, float_of_bits
from distmcts.kernels.jit import inner, switch
from distmcts.kernels.layout import CACHE_HITS, EVALUATIONS
from distmcts.kernels.modes import uses
from distmcts.kernels.rules import CHANCE, OVER, apply, chance_outcomes, evaluate, player, returns, state_hash
from distmcts.kernels.states import copy_state
from distmcts.kernels.tags import knows_chance

_64 = np.uint64(64)
_NEVER = np.uint64(0xD1B54A32D192ED03)  # so that an empty entry fits no hash


@inner
def turned(word, place):
    """A word rotated by an amount that depends on its place."""
    bits = np.uint64(7 * (place + 1))
    return (word << bits) | (word >> (_64 - bits))


@switch
def value_position(game, mode, worker, shared, state):
    """Write each player's expected result of an unfinished game into `worker.results`."""
    evaluate(game, state, worker.results)
    worker.slot[EVALUATIONS] += 1


@value_position.when(uses("cache"))
def _looked_up(game, mode, worker, shared, state):
    cache = shared.cache
    key = state_hash(game, state) ^ _NEVER
    size = 1 + game.players
    entry = np.int64(key % np.uint64(cache.size // size)) * size
    check = load(cache, entry)
    for i in range(game.players):
        word = load(cache, entry + 1 + i)
        check ^= turned(word, i)
        worker.results[i] = float_of_bits(word)
    if check == key:
        worker.slot[CACHE_HITS] += 1
        return
    evaluate(game, state, worker.results)
    worker.slot[EVALUATIONS] += 1
    check = key
    for i in range(game.players):
        word = np.uint64(float_bits(worker.results[i]))
        check ^= turned(word, i)
        store(cache, entry + 1 + i, word)
    store(cache, entry, check)


# ---- of a move ----------------------------------------------------------------------------------------------------------------


@inner
def value_of_move(game, mode, worker, shared, mover, move):
    """What a move in `worker.state` is worth to its player, by the evaluation. Uses `worker.trial` and `worker.results`."""
    state = worker.trial[: game.state_words]
    copy_state(worker.state, state)
    apply(game, state, move)
    return value_after(game, mode, worker, shared, mover, state)


@inner
def value_of_position(game, mode, worker, shared, mover, state):
    if player(game, state) == OVER:
        returns(game, state, worker.results)
    else:
        value_position(game, mode, worker, shared, state)
    return worker.results[mover]


@switch
def value_after(game, mode, worker, shared, mover, state):
    """The evaluation of a position, or of a chance event the mean of its outcomes'."""
    return value_of_position(game, mode, worker, shared, mover, state)


@value_after.when(knows_chance)
def _expected_value(game, mode, worker, shared, mover, state):
    if player(game, state) != CHANCE:
        return value_of_position(game, mode, worker, shared, mover, state)
    outcome_state = worker.trial[game.state_words :]
    count = chance_outcomes(game, state, worker.outcomes, worker.probabilities)
    total = 0.0
    for i in range(count):
        copy_state(state, outcome_state)
        apply(game, outcome_state, worker.outcomes[i])
        total += worker.probabilities[i] * value_of_position(game, mode, worker, shared, mover, outcome_state)
    return total
