"""Leaf parallelization: one worker, the leader, walks the tree; all play out from the leaf it found (Cazenave, Jouandeau 2007).

A round is one leaf. The leader publishes the leaf's position and the round's number; each worker answers with the sum of its
rewards in its own line of `rounds`, and with the number. A round of n playouts counts as n simulations.
"""

from distmcts.kernels.atomics import fetch_add, load, store, yield_core
from distmcts.kernels.backup import backup, set_rewards
from distmcts.kernels.jit import entry, part
from distmcts.kernels.layout import (
    ABANDON,
    ANSWER_WORDS,
    BAD_RESULTS,
    BREACH,
    BROKEN,
    DOING,
    EXHAUSTED,
    FINE,
    HEARTBEAT,
    MAX_PLAYERS,
    PAUSE,
    PAUSED,
    PLAYING,
    ROUND,
    ROUND_PLAYOUTS,
    ROUNDS_CLOSED,
    SLICE_OVER,
    SLOT_INDEX,
    TICKETS,
    WAITING,
)
from distmcts.kernels.reward import play_on
from distmcts.kernels.simulate import descend
from distmcts.kernels.solver import settle
from distmcts.kernels.states import copy_state

SPINS_BEFORE_YIELD = 64


@part
def answer(game, mode, worker, shared, settings, index, number):
    """Play out from the leaf and publish the result of this round. A broken game gets no answer: BREACH says why."""
    line = index * ANSWER_WORDS
    if index < load(shared.control, ROUND_PLAYOUTS):
        worker.slot[DOING] = PLAYING
        copy_state(shared.leaf_state, worker.state)
        play_on(game, mode, worker, shared, settings)
        if worker.slot[BREACH] != FINE:
            return
        if not set_rewards(worker, game.players):
            worker.slot[BREACH] = BAD_RESULTS
            return
        for i in range(game.players):
            shared.answers[line + 1 + i] = worker.rewards[i]
    worker.slot[DOING] = WAITING
    store(shared.answers, line, number)


@entry
def lead(game, mode, tree, worker, shared, settings, workers, slice_length):
    """The leader's loop. Closes the rounds when it returns, unless only its slice is over."""
    for _ in range(slice_length):
        if load(shared.control, PAUSE) != 0:
            store(shared.control, ROUND, ROUNDS_CLOSED)
            return PAUSED
        playouts = min(max(fetch_add(shared.control, TICKETS, -workers), 0), workers)
        if playouts == 0:
            store(shared.control, ROUND, ROUNDS_CLOSED)
            return EXHAUSTED
        descend(game, mode, tree, worker, shared, settings)
        is_settled = worker.slot[BREACH] == FINE and settle(game, mode, tree, worker)
        if worker.slot[BREACH] != FINE:
            store(shared.control, ROUND, ROUNDS_CLOSED)
            return BROKEN
        if is_settled:
            set_rewards(worker, game.players)
            for i in range(game.players):
                worker.rewards[i] *= playouts
            backup(game, mode, tree, worker, playouts, settings)
            worker.slot[HEARTBEAT] += 1
            continue
        copy_state(worker.state, shared.leaf_state)
        store(shared.control, ROUND_PLAYOUTS, playouts)
        number = load(shared.answers, 0) + 1
        store(shared.control, ROUND, number)
        answer(game, mode, worker, shared, settings, 0, number)
        if worker.slot[BREACH] != FINE:
            store(shared.control, ROUND, ROUNDS_CLOSED)
            return BROKEN
        for i in range(MAX_PLAYERS):
            worker.rewards[i] = 0
        for index in range(playouts):
            line = index * ANSWER_WORDS
            spins = 0
            while load(shared.answers, line) != number:
                spins += 1
                if spins % SPINS_BEFORE_YIELD == 0:
                    if load(shared.control, PAUSE) == ABANDON:
                        store(shared.control, ROUND, ROUNDS_CLOSED)
                        return PAUSED  # in the middle of a simulation: repair takes it back
                    worker.slot[HEARTBEAT] += 1
                    yield_core()
            for i in range(game.players):
                worker.rewards[i] += shared.answers[line + 1 + i]
        backup(game, mode, tree, worker, playouts, settings)
        worker.slot[HEARTBEAT] += 1
    return SLICE_OVER


@entry
def follow(game, mode, worker, shared, settings, slice_length):
    """The loop of the others: answer every round until they are closed."""
    index = worker.slot[SLOT_INDEX] - 1
    spins = 0
    rounds = 0
    while rounds < slice_length:
        number = load(shared.control, ROUND)
        if number == ROUNDS_CLOSED:
            return PAUSED
        if number > 0 and number != load(shared.answers, index * ANSWER_WORDS):
            answer(game, mode, worker, shared, settings, index, number)
            if worker.slot[BREACH] != FINE:
                return BROKEN
            worker.slot[HEARTBEAT] += 1
            rounds += 1
            continue
        spins += 1
        if spins % SPINS_BEFORE_YIELD == 0:
            worker.slot[HEARTBEAT] += 1
            yield_core()
            if spins >= slice_length:
                return SLICE_OVER
    return SLICE_OVER
