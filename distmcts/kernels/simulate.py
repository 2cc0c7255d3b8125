"""One simulation: descend, evaluate, back up. And the loops around it: of a worker, and of many simulated on one core."""

from distmcts.kernels.atomics import load
from distmcts.kernels.backup import backup
from distmcts.kernels.descend import descend
from distmcts.kernels.jit import entry, inner, switch
from distmcts.kernels.layout import (
    BREACH,
    BROKEN,
    DESCENT,
    DOING,
    EVALUATED,
    EXHAUSTED,
    FINE,
    HEARTBEAT,
    PAUSE,
    PAUSED,
    PLAYING,
    READY,
    SLICE_OVER,
    STAGE,
    TAKEN,
    TURN,
)
from distmcts.kernels.proofs import settle
from distmcts.kernels.reward import play_on, set_rewards
from distmcts.kernels.tickets import take_tickets
from distmcts.kernels.updates import hold_tree, let_go_of_tree
from distmcts.kernels.words import simulation_of, stage_in


@switch
def evaluate_end(game, mode, tree, worker, simulation, shared, settings):
    """Find the simulation's rewards. READY, or why it stays under way: BROKEN, or PAUSED when it was given up."""
    worker.slot[DOING] = PLAYING
    if not settle(game, mode, tree, worker, simulation):
        play_on(game, mode, worker, shared, settings)
    if worker.slot[BREACH] == FINE:
        set_rewards(worker, simulation, game.players, 1)
    return READY if worker.slot[BREACH] == FINE else BROKEN


@inner
def begin(game, mode, tree, worker, simulation, shared, settings):
    """A simulation up to its rewards, which nobody knows of yet. READY, or what `evaluate_end` says."""
    hold_tree(mode, shared, worker)
    descend(game, mode, tree, worker, simulation, shared, settings)
    let_go_of_tree(mode, shared, worker)
    if worker.slot[BREACH] != FINE:
        return BROKEN
    status = evaluate_end(game, mode, tree, worker, simulation, shared, settings)
    if status == READY:
        simulation.journal[STAGE] += EVALUATED - DESCENT  # what else it says stays
    return status


@inner
def finish(game, mode, tree, worker, simulation, shared, visits):
    """Add a simulation that is READY to the tree."""
    hold_tree(mode, shared, worker)
    backup(game, mode, tree, worker, simulation, visits)
    let_go_of_tree(mode, shared, worker)


@inner
def simulate(game, mode, tree, worker, shared, settings):
    """One simulation from start to end. READY, or what `evaluate_end` says: then it stays under way."""
    simulation = simulation_of(worker, 0)
    status = begin(game, mode, tree, worker, simulation, shared, settings)
    if status == READY:
        finish(game, mode, tree, worker, simulation, shared, 1)
    return status


@switch
def come_to_rest(game, mode, tree, worker, simulation, shared):
    """What is still open is finished: the worker is about to stop."""


@entry
def run_worker(game, mode, tree, worker, shared, settings, batch, slice_length):
    """Simulate until PAUSE is set, tickets run out, or `slice_length` simulations are done; say which."""
    simulation = simulation_of(worker, 0)
    for _ in range(slice_length):
        if load(shared.control, PAUSE) != 0:
            come_to_rest(game, mode, tree, worker, simulation, shared)
            return PAUSED
        if not take_tickets(simulation, shared, batch):
            come_to_rest(game, mode, tree, worker, simulation, shared)
            return EXHAUSTED
        status = simulate(game, mode, tree, worker, shared, settings)
        if status != READY:
            return status
        simulation.journal[TAKEN] -= 1
        worker.slot[HEARTBEAT] += 1
    return SLICE_OVER


@inner
def finish_if_ready(game, mode, tree, worker, simulation, shared):
    if stage_in(simulation.journal[STAGE]) == EVALUATED:
        finish(game, mode, tree, worker, simulation, shared, 1)


@inner
def finish_all(game, mode, tree, worker, shared):
    """Back up everything under way, the oldest first."""
    workers = worker.simulations.journal.shape[0]
    for i in range(workers):
        simulation = simulation_of(worker, (worker.slot[TURN] + i) % workers)
        finish_if_ready(game, mode, tree, worker, simulation, shared)
        come_to_rest(game, mode, tree, worker, simulation, shared)


@inner
def holds_tickets(worker):
    """Whether there is a ticket in one of a worker's records."""
    for index in range(worker.simulations.journal.shape[0]):
        if worker.simulations.journal[index, TAKEN] > 0:
            return True
    return False


@entry
def run_simulated(game, mode, tree, worker, shared, settings, slice_length):
    """Many workers simulated exactly on one core (Segal 2010): each result reaches the tree as late as it would with n workers.

    Worker number t mod n takes turn t: it backs up the simulation it began n turns ago, then begins the next one. So every
    simulation is chosen while n - 1 others are in flight, and the run is deterministic. Each has a record of its own.
    """
    workers = worker.simulations.journal.shape[0]
    for _ in range(slice_length):
        if load(shared.control, PAUSE) != 0:
            finish_all(game, mode, tree, worker, shared)
            return PAUSED
        turn = worker.slot[TURN] % workers
        simulation = simulation_of(worker, turn)
        finish_if_ready(game, mode, tree, worker, simulation, shared)
        if take_tickets(simulation, shared, 1):
            status = begin(game, mode, tree, worker, simulation, shared, settings)
            if status != READY:
                return status
            simulation.journal[TAKEN] -= 1
        elif not holds_tickets(worker):  # for nodes that others stay at
            finish_all(game, mode, tree, worker, shared)
            return EXHAUSTED
        worker.slot[TURN] += 1
        worker.slot[HEARTBEAT] += 1
    return SLICE_OVER
