"""Leaf parallelization: one worker, the leader, walks the tree; all play out from the leaf it found (Cazenave, Jouandeau 2007).

A round is one leaf. The leader publishes the leaf's position and the round's number; each worker writes the rewards of its
playout into its own lines of `sums`, and then the number. A round of n playouts counts as n simulations.
"""

from distmcts.kernels.atomics import fetch_add, load, store, yield_core
from distmcts.kernels.jit import entry, inner
from distmcts.kernels.layout import (
    ABANDON,
    BREACH,
    BROKEN,
    DOING,
    EXHAUSTED,
    FINE,
    HEARTBEAT,
    LEADER,
    MAX_PLAYERS,
    PAUSE,
    PAUSED,
    PLAYING,
    READY,
    ROUND,
    ROUND_PLAYOUTS,
    ROUNDS_CLOSED,
    SLICE_OVER,
    SLOT_INDEX,
    SUM_WORDS,
    TICKETS,
    WAITING,
)
from distmcts.kernels.modes import follows
from distmcts.kernels.proofs import settle
from distmcts.kernels.reward import play_on, set_rewards
from distmcts.kernels.simulate import begin, come_to_rest, evaluate_end, finish
from distmcts.kernels.states import copy_state
from distmcts.kernels.words import simulation_of

SPINS_BEFORE_YIELD = 64


@inner
def play_round(game, mode, worker, simulation, shared, settings, index, number):
    """Play out from the leaf and publish the result of this round. With a broken game nothing is published: BREACH says why."""
    line = index * SUM_WORDS
    if index < load(shared.control, ROUND_PLAYOUTS):
        worker.slot[DOING] = PLAYING
        copy_state(shared.leaf_state, worker.state)
        play_on(game, mode, worker, shared, settings)
        if worker.slot[BREACH] == FINE:
            set_rewards(worker, simulation, game.players, 1)
        if worker.slot[BREACH] != FINE:
            return
        for i in range(game.players):
            shared.sums[line + 1 + i] = simulation.rewards[i]
    worker.slot[DOING] = WAITING
    store(shared.sums, line, number)


@evaluate_end.when(follows(LEADER))
def _evaluate_together(game, mode, tree, worker, simulation, shared, settings):
    playouts = load(shared.control, ROUND_PLAYOUTS)
    is_settled = settle(game, mode, tree, worker, simulation)
    if worker.slot[BREACH] != FINE:
        return BROKEN
    if is_settled:
        set_rewards(worker, simulation, game.players, playouts)
        return READY
    copy_state(worker.state, shared.leaf_state)
    number = load(shared.sums, 0) + 1
    store(shared.control, ROUND, number)
    play_round(game, mode, worker, simulation, shared, settings, 0, number)
    if worker.slot[BREACH] != FINE:
        return BROKEN
    for i in range(MAX_PLAYERS):
        simulation.rewards[i] = 0
    for index in range(playouts):
        line = index * SUM_WORDS
        spins = 0
        while load(shared.sums, line) != number:
            spins += 1
            if spins % SPINS_BEFORE_YIELD == 0:
                if load(shared.control, PAUSE) == ABANDON:
                    return PAUSED  # in the middle of a simulation: repair takes it back
                worker.slot[HEARTBEAT] += 1
                yield_core()
        for i in range(game.players):
            simulation.rewards[i] += shared.sums[line + 1 + i]
    return READY


@inner
def close_rounds(shared, status):
    store(shared.control, ROUND, ROUNDS_CLOSED)
    return status


@entry
def lead(game, mode, tree, worker, shared, settings, workers, slice_length):
    """The leader's loop. Closes the rounds when it returns, unless only its slice is over."""
    simulation = simulation_of(worker, 0)
    for _ in range(slice_length):
        if load(shared.control, PAUSE) != 0:
            come_to_rest(game, mode, tree, worker, simulation, shared)
            return close_rounds(shared, PAUSED)
        playouts = min(max(fetch_add(shared.control, TICKETS, -workers), 0), workers)
        if playouts == 0:
            come_to_rest(game, mode, tree, worker, simulation, shared)
            return close_rounds(shared, EXHAUSTED)
        store(shared.control, ROUND_PLAYOUTS, playouts)
        status = begin(game, mode, tree, worker, simulation, shared, settings)
        if status != READY:
            return close_rounds(shared, status)
        finish(game, mode, tree, worker, simulation, shared, playouts)
        worker.slot[HEARTBEAT] += 1
    return SLICE_OVER


@entry
def follow(game, mode, worker, shared, settings, slice_length):
    """The loop of the others: play every round until they are closed."""
    simulation = simulation_of(worker, 0)
    index = worker.slot[SLOT_INDEX] - 1
    spins = 0
    rounds = 0
    while rounds < slice_length:
        number = load(shared.control, ROUND)
        if number == ROUNDS_CLOSED:
            return PAUSED
        if number > 0 and number != load(shared.sums, index * SUM_WORDS):
            play_round(game, mode, worker, simulation, shared, settings, index, number)
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
