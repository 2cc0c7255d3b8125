"""The way down: from the root to the node to evaluate, by selection, expansion and chance.

State is not stored in the tree: a simulation starts from the root's position and replays the moves on its way.
"""

import numpy as np

from distmcts.kernels.atomics import keep_order
from distmcts.kernels.chance import pass_chance
from distmcts.kernels.choose import step
from distmcts.kernels.hooks import begin_simulation, note_move
from distmcts.kernels.host import NO_REPLY, player_at
from distmcts.kernels.jit import inner, switch
from distmcts.kernels.layout import (
    BEYOND,
    BORN,
    DEPTH,
    DESCENT,
    DOING,
    MAX_DEPTH,
    NONE,
    ROOT,
    ROOT_MOVER,
    SELECTING,
    STAGE,
)
from distmcts.kernels.modes import adds_whole_families, any_of, uses
from distmcts.kernels.node import move_of, visits_in
from distmcts.kernels.proofs import is_proven, unbind
from distmcts.kernels.rng import random_word
from distmcts.kernels.rules import CHANCE, apply
from distmcts.kernels.states import copy_state
from distmcts.kernels.tags import knows_chance
from distmcts.kernels.updates import enter, hold_node, let_go_of_node

SHIFT = np.uint64(11)
BACK = np.uint64(64 - 11)


@inner
def put_on_path(mode, simulation, node, mover):
    """A node that is about to be entered: from here on the journal answers for it."""
    journal = simulation.journal
    depth = journal[DEPTH]
    simulation.path[depth] = node
    simulation.movers[depth] = mover
    unbind(mode, simulation, depth)
    keep_order()
    journal[DEPTH] = depth + 1
    keep_order()


@switch
def push(game, mode, tree, worker, simulation, shared, node, mover, is_outcome, settings):
    """Put a node on the path and count the simulation in flight there; return its counts before."""
    put_on_path(mode, simulation, node, mover)
    return enter(mode, tree, worker, node, 1)


@switch
def begin_path(game, mode, tree, worker, simulation, shared, settings):
    """Begin a simulation at the root; return the counts of the node where the path ends now."""
    journal = simulation.journal
    copy_state(shared.root_state, worker.state)
    journal[DEPTH] = 0
    journal[BORN] = 0
    journal[BEYOND] = 0
    keep_order()
    journal[STAGE] = DESCENT
    keep_order()
    return push(game, mode, tree, worker, simulation, shared, ROOT, shared.control[ROOT_MOVER], False, settings)


@inner
def descend(game, mode, tree, worker, simulation, shared, settings):
    """From the root to the node to evaluate; `worker.state` is its position then, or the outcome of chance after it.

    The path is in flight. If the game breaks its contract on the way, BREACH is set.
    """
    journal = simulation.journal
    state = worker.state
    worker.slot[DOING] = SELECTING
    begin_simulation(mode, worker)
    bits = random_word(worker.rng)
    counts = begin_path(game, mode, tree, worker, simulation, shared, settings)
    node = np.int64(simulation.path[journal[DEPTH] - 1])
    while journal[DEPTH] < MAX_DEPTH:
        mover = player_at(game, tree, worker, node)
        if game.in_python and mover == NO_REPLY:
            break
        is_chance = game.has_chance and mover == CHANCE
        seen_by = simulation.movers[journal[DEPTH] - 1] if is_chance else mover
        hold_node(mode, tree, worker, node)
        if is_chance:
            child, is_new = pass_chance(game, mode, tree, worker, simulation, shared, node, counts, settings)
        else:
            child, is_new = step(game, mode, tree, worker, simulation, shared, node, mover, counts, bits, settings)
            bits = (bits >> SHIFT) | (bits << BACK)  # other ones for the next level
        let_go_of_node(mode, tree, worker, node)
        if child == NONE:
            journal[BEYOND] = is_chance
            break  # the game is over here, or nothing could be added
        if not is_chance:
            move = move_of(game, tree, child)
            note_move(game, mode, worker, state, mover, move)
            apply(game, state, move)
        if is_new:
            simulation.movers[journal[DEPTH] - 1] = seen_by
            unbind(mode, simulation, journal[DEPTH] - 1)
            break
        counts = push(game, mode, tree, worker, simulation, shared, child, seen_by, is_chance, settings)
        node = child
        if ends_here(game, mode, tree, node, counts):
            break


@switch
def ends_here(game, mode, tree, node, counts):
    """Whether a simulation ends at a node that exists: one that was added with its siblings and is visited for the first time, or
    one that is proven."""
    return False


@ends_here.when(any_of(knows_chance, adds_whole_families, uses("solver")))
def _unvisited_or_proven(game, mode, tree, node, counts):
    return visits_in(counts) == 0 or is_proven(mode, tree, node)
