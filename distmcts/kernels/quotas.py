"""Visit quotas: a worker that has chosen a child stays below it for a share of its visits, then comes back up.

After UCT, the best child of a node with thousands of visits stays so for many visits in a row. So a child with n visits gets

    quota = max(1, n * stay)             if nobody else is there, and
            max(1, n * stay / W)         if others are; W workers share the tree

and until those are used up, the worker's simulations start there: nodes above are neither read nor written, and moves are
not replayed. Quotas nest: a child's is at most what is left of its parent's. What the nodes above have not been told is pending:

    levels 0 .. open - 1    are open: in flight at each node is its quota; pending at each level are finished simulations that
                            neither this node nor those above it have been given
    a simulation            starts from the position of level open - 1, goes down, and is added from its end upward, together with
                            what was pending there, to every node whose quota is used up; at the first where it is not, it is
                            pending from then on

Relatives: df-UCT (Yoshizoe et al. 2011), lc0's visits-to-change-best. Delayed feedback adds to regret and does not multiply it
(Joulani, Gyorgy, Szepesvari 2013).

Outcomes of chance are drawn beforehand for all visits of a quota (draws.py). Nobody stays at a node without children: simulations
end there. The root's quota is covered by tickets that the worker holds, so that the end of a budget cuts nothing short; a pause
does, and so does a proof.

At rest nothing is open. The record says at any instruction what is pending: `pending` has two copies of each level, and one store
(STAGE) says which of them are valid, how many levels are open, and whether a simulation is under way.
"""

import numpy as np

from distmcts.kernels.atomics import fetch_add, keep_order
from distmcts.kernels.backup import add_to_path, backup, begin_backup
from distmcts.kernels.descend import begin_path, push, put_on_path
from distmcts.kernels.draws import forget_draws, group_size
from distmcts.kernels.hooks import after_simulation, carry_words, count_carry, fill_carry, replay_moves
from distmcts.kernels.jit import inner, switch
from distmcts.kernels.layout import (
    BACKUP,
    BEYOND,
    BORN,
    DEPTH,
    DESCENT,
    FINISHED,
    IDLE,
    IN_FLIGHT_LIMIT,
    KEPT,
    LEADER,
    MAX_DEPTH,
    MOST_DRAWS,
    ROOT,
    ROOT_MOVER,
    STAGE,
    STAY_DEPTH,
    STAYING,
    WRITERS,
)
from distmcts.kernels.modes import follows, uses
from distmcts.kernels.node import child_count, counts_of, in_flight_in, is_by_chance, packed, status_of, visits_in
from distmcts.kernels.proofs import carry_rewards, is_proven, rebind, unbind
from distmcts.kernels.simulate import come_to_rest
from distmcts.kernels.states import copy_state
from distmcts.kernels.tickets import hold_tickets
from distmcts.kernels.updates import enter, leave, own_in_flight
from distmcts.kernels.words import copies_in, open_in, pending_at, pending_visits, stage_in, stage_word

MOST = 4096  # visits

is_used = uses("stay")


@inner
def keep_position(worker, simulation, level):
    words = worker.state.size
    copy_state(worker.state, simulation.positions[level * words : (level + 1) * words])


@inner
def go_to_position(worker, simulation, level):
    words = worker.state.size
    copy_state(simulation.positions[level * words : (level + 1) * words], worker.state)


@inner
def quota_for(tree, shared, node, most, settings):
    """For how many visits to stay at a node, `most` of them at most."""
    if most == 1:
        return np.int64(1)
    status = status_of(tree, node)
    if child_count(status) == 0:
        return np.int64(1)
    counts = counts_of(tree, node)
    writers = shared.control[WRITERS]
    is_shared = in_flight_in(counts) > 0
    quota = np.int64(visits_in(counts) * (settings.stay / writers if is_shared else settings.stay))
    if is_by_chance(status):
        most = min(most, MOST_DRAWS)
    return max(min(quota, most, IN_FLIGHT_LIMIT // writers), np.int64(1))


@switch
def cover(mode, simulation, shared, quota):
    """The root's quota, or what tickets there are for it."""
    return hold_tickets(simulation, shared, quota)


@cover.when(follows(LEADER))
def _cover_by_rounds(mode, simulation, shared, quota):
    return quota  # the leader pays as it goes


@inner
def quota_at(mode, tree, simulation, shared, node, level, is_outcome, settings):
    """The quota of a node that comes on the path next; those of all levels before it are above 1."""
    if level == 0:
        return cover(mode, simulation, shared, quota_for(tree, shared, node, np.int64(MOST), settings))
    most = simulation.quotas[level - 1] - pending_visits(simulation, level - 1)
    if is_outcome and most > 1:
        most = group_size(simulation, level - 1)
    return quota_for(tree, shared, node, most, settings)


@push.when(is_used)
def _push_with_quota(game, mode, tree, worker, simulation, shared, node, mover, is_outcome, settings):
    journal = simulation.journal
    level = journal[DEPTH]
    quota = np.int64(1)
    if level == journal[KEPT] and level < STAY_DEPTH:
        quota = quota_at(mode, tree, simulation, shared, node, level, is_outcome, settings)
        if quota > 1:
            journal[KEPT] = level + 1
            simulation.quotas[level] = quota
            keep_position(worker, simulation, level)
            place = pending_at(level, 0)
            for i in range(carry_words(game, mode)):
                simulation.pending[place + i] = 0
            forget_draws(simulation, level)
    put_on_path(mode, simulation, node, mover)
    return enter(mode, tree, worker, node, quota)


@begin_path.when(is_used)
def _begin_where_open(game, mode, tree, worker, simulation, shared, settings):
    journal = simulation.journal
    close_proven(game, mode, tree, worker, simulation)
    before = journal[STAGE]
    opened = open_in(before)
    copies = copies_in(before)
    journal[DEPTH] = opened
    journal[KEPT] = opened
    journal[BORN] = 0
    journal[BEYOND] = 0
    keep_order()
    journal[STAGE] = stage_word(DESCENT, opened, copies)
    keep_order()
    if opened == 0:
        copy_state(shared.root_state, worker.state)
        return push(game, mode, tree, worker, simulation, shared, ROOT, shared.control[ROOT_MOVER], False, settings)
    level = opened - 1
    go_to_position(worker, simulation, level)
    replay_moves(game, mode, tree, worker, simulation, opened)
    unbind(mode, simulation, level)
    node = np.int64(simulation.path[level])
    visits = pending_visits(simulation, level)
    return counts_of(tree, node) + packed(visits, -own_in_flight(mode, simulation.quotas[level]))


@inner
def climb(game, mode, tree, worker, simulation, visits, closing):
    """Add a simulation, and what is pending, to the nodes of the path whose quota is used up by it.

    `closing`: levels from this one on are closed, whatever is left of their quotas.
    """
    journal = simulation.journal
    pending = simulation.pending
    carry = worker.carry
    words = carry_words(game, mode)
    opened = open_in(journal[STAGE])
    copies = copies_in(journal[STAGE])
    depth = journal[DEPTH]
    kept = min(journal[KEPT], depth)
    begin_backup(mode, tree, worker, simulation, visits, opened, stage_word(BACKUP, opened, copies))
    add_to_path(mode, tree, worker, simulation, visits, kept)
    carry[0] = visits
    carry_rewards(game, mode, simulation, carry)
    fill_carry(game, mode, carry)
    after = np.int64(IDLE)
    for position in range(kept - 1, -1, -1):
        node = np.int64(simulation.path[position])
        quota = simulation.quotas[position]
        rebind(game, mode, simulation, position, carry)
        if position < opened:
            place = pending_at(position, (copies >> position) & 1)
            for i in range(words):
                carry[i] += pending[place + i]
        stays = carry[0] < quota and position < closing
        if stays:
            copy = np.int64(1)
            if position < opened:
                copy = 1 - ((copies >> position) & 1)
            place = pending_at(position, copy)
            for i in range(words):
                pending[place + i] = carry[i]
            valid = copies & ((np.int64(1) << min(opened, position)) - 1)  # levels that were not open before begin with copy 0
            after = stage_word(STAYING, position + 1, valid | (copy << position))
        else:
            mover = simulation.movers[position]
            leave(mode, tree, worker, simulation, position, node, carry[0], carry[1 + mover], quota)
            count_carry(game, mode, tree, node, mover, carry)
        if position == depth - 1 and visits > 0:
            fetch_add(tree.extra, node, visits)
        if stays:
            break
    if visits > 0:
        after_simulation(game, mode, tree, worker, simulation, visits)
    worker.slot[FINISHED] += visits
    keep_order()
    journal[STAGE] = after
    keep_order()


@backup.when(is_used)
def _back_up_to_the_open_level(game, mode, tree, worker, simulation, visits):
    climb(game, mode, tree, worker, simulation, visits, np.int64(MAX_DEPTH))


@inner
def close(game, mode, tree, worker, simulation, closing):
    """Close all levels from this one on."""
    journal = simulation.journal
    journal[DEPTH] = open_in(journal[STAGE])
    journal[KEPT] = journal[DEPTH]
    journal[BORN] = 0
    for i in range(game.players):
        simulation.rewards[i] = 0
    climb(game, mode, tree, worker, simulation, np.int64(0), closing)


@come_to_rest.when(is_used)
def _close_all(game, mode, tree, worker, simulation, shared):
    if stage_in(simulation.journal[STAGE]) == STAYING:
        close(game, mode, tree, worker, simulation, np.int64(0))


@switch
def close_proven(game, mode, tree, worker, simulation):
    """Where a node is proven nobody stays: there is nothing to learn below it."""


@close_proven.when(uses("solver"))
def _close_proven(game, mode, tree, worker, simulation):
    for level in range(open_in(simulation.journal[STAGE])):
        if is_proven(mode, tree, simulation.path[level]):
            close(game, mode, tree, worker, simulation, np.int64(level))
            return
