"""Visit quotas: a worker that has chosen a child stays below it for a share of its visits, then comes back up.

After UCT, the best child of a node with thousands of visits stays so for many visits in a row. So a child with n visits gets

    quota = max(1, n * stay / W),        W workers share the tree; `stay` is what all of them may have outstanding together

and until those are used up, the worker's simulations start there: nodes above are neither read nor written, and moves are
not replayed. Quotas nest: a child's is at most its parent's. What the nodes above have not been told is pending:

    levels 0 .. open - 1    are open: in flight at each node is its quota; pending at each level are finished simulations that
                            neither this node nor those above it have been given
    a simulation            starts from the position of level open - 1, goes down, and is added from its end upward, together with
                            what was pending there, to every node whose quota is used up; at the first where it is not, it is
                            pending from then on

Relatives: df-UCT (Yoshizoe et al. 2011), lc0's visits-to-change-best. Delayed feedback adds to regret and does not multiply it
(Joulani, Gyorgy, Szepesvari 2013).

Outcomes of chance are drawn anew for every visit, so nobody stays below a chance node: its mean is that of its outcomes. Nobody
stays at a node without children either: simulations end there.

At rest nothing is open. The record says at any instruction what is pending: `pending` has two copies of each level, and one store
(STAGE) says which of them are valid, how many levels are open, and whether a simulation is under way.
"""

import numpy as np

from distmcts.kernels import layout
from distmcts.kernels.atomics import fetch_add, keep_order
from distmcts.kernels.backup import backup
from distmcts.kernels.descend import begin_path, push, put_on_path
from distmcts.kernels.jit import inner
from distmcts.kernels.layout import (
    BACKED_UP,
    BACKING_UP,
    BACKUP,
    BEGUN,
    BEYOND,
    BORN,
    DEPTH,
    DESCENT,
    DOING,
    DONE,
    FINISHED,
    IDLE,
    IN_FLIGHT_LIMIT,
    PENDING_WORDS,
    ROOT,
    ROOT_MOVER,
    STAGE,
    STAY_DEPTH,
    STAYING,
    WRITERS,
)
from distmcts.kernels.modes import uses
from distmcts.kernels.node import child_count, counts_of, packed, status_of, visits_of
from distmcts.kernels.simulate import come_to_rest, stage_in
from distmcts.kernels.states import copy_state
from distmcts.kernels.updates import enter, fetch_path, leave, own_in_flight

MOST = 4096  # visits

is_used = uses("stay")

open_in = inner(layout.open_in)
copies_in = inner(layout.copies_in)
stage_word = inner(layout.stage_word)
pending_at = inner(layout.pending_at)


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
    """For how many visits to stay at a node."""
    if child_count(status_of(tree, node)) == 0:
        return np.int64(1)
    writers = shared.control[WRITERS]
    quota = np.int64(visits_of(tree, node) * (settings.stay / writers))
    return max(min(quota, most, MOST, IN_FLIGHT_LIMIT // writers), np.int64(1))


@push.when(is_used)
def _push_with_quota(mode, tree, worker, simulation, shared, node, mover, is_outcome, settings):
    level = simulation.journal[DEPTH]
    quota = np.int64(1)
    if level < STAY_DEPTH:
        most = np.int64(MOST)
        if is_outcome:
            most = np.int64(1)
        elif level > 0:
            most = simulation.quotas[level - 1]
        quota = quota_for(tree, shared, node, most, settings)
        simulation.quotas[level] = quota
        if quota > 1:
            keep_position(worker, simulation, level)
            place = pending_at(level, 0)
            for i in range(PENDING_WORDS):
                simulation.pending[place + i] = 0
    put_on_path(mode, simulation, node, mover)
    return enter(mode, tree, worker, node, quota)


@begin_path.when(is_used)
def _begin_where_open(mode, tree, worker, simulation, shared, settings):
    journal = simulation.journal
    before = journal[STAGE]
    opened = open_in(before)
    copies = copies_in(before)
    journal[DEPTH] = opened
    journal[BORN] = 0
    journal[BEYOND] = 0
    keep_order()
    journal[STAGE] = stage_word(DESCENT, opened, copies)
    keep_order()
    if opened == 0:
        copy_state(shared.root_state, worker.state)
        return push(mode, tree, worker, simulation, shared, ROOT, shared.control[ROOT_MOVER], False, settings)
    level = opened - 1
    go_to_position(worker, simulation, level)
    node = np.int64(simulation.path[level])
    visits = simulation.pending[pending_at(level, (copies >> level) & 1)]
    return counts_of(tree, node) + packed(visits, -own_in_flight(mode, simulation.quotas[level]))


@inner
def climb(mode, tree, worker, simulation, visits, is_forced):
    """Add a simulation, and what is pending, to the nodes of the path whose quota is used up by it; to all if `is_forced`."""
    journal = simulation.journal
    pending = simulation.pending
    carry = worker.carry
    opened = open_in(journal[STAGE])
    copies = copies_in(journal[STAGE])
    depth = journal[DEPTH]
    carry[0] = visits
    for i in range(carry.size - 1):
        carry[1 + i] = simulation.rewards[i]
    fetch_path(mode, tree, simulation, opened)
    journal[BEGUN] = depth
    journal[DONE] = depth
    journal[BACKED_UP] = visits
    keep_order()
    journal[STAGE] = stage_word(BACKUP, opened, copies)
    worker.slot[DOING] = BACKING_UP
    keep_order()
    for position in range(depth - 1, -1, -1):
        node = np.int64(simulation.path[position])
        ends_here = position == depth - 1
        quota = np.int64(1)
        if position < STAY_DEPTH and not (ends_here and journal[BORN] != 0):
            quota = simulation.quotas[position]
        if position < opened:
            place = pending_at(position, (copies >> position) & 1)
            for i in range(carry.size):
                carry[i] += pending[place + i]
        if carry[0] < quota and not is_forced:
            copy = np.int64(1)
            if position < opened:
                copy = 1 - ((copies >> position) & 1)
            place = pending_at(position, copy)
            for i in range(carry.size):
                pending[place + i] = carry[i]
            if ends_here and visits != journal[BORN]:
                fetch_add(tree.extra, node, visits - journal[BORN])
            worker.slot[FINISHED] += visits
            valid = copies & ((np.int64(1) << min(opened, position)) - 1)  # levels that were not open before begin with copy 0
            keep_order()
            journal[STAGE] = stage_word(STAYING, position + 1, valid | (copy << position))
            keep_order()
            return
        leave(mode, tree, worker, simulation, position, node, carry[0], carry[1 + simulation.movers[position]], quota)
        if ends_here and visits != journal[BORN]:
            fetch_add(tree.extra, node, visits - journal[BORN])
    worker.slot[FINISHED] += visits
    keep_order()
    journal[STAGE] = IDLE
    keep_order()


@backup.when(is_used)
def _back_up_to_the_open_level(game, mode, tree, worker, simulation, visits):
    climb(mode, tree, worker, simulation, visits, False)


@come_to_rest.when(is_used)
def _close_all(game, mode, tree, worker, simulation, shared):
    journal = simulation.journal
    if stage_in(journal[STAGE]) != STAYING:
        return
    journal[DEPTH] = open_in(journal[STAGE])
    journal[BORN] = 0
    for i in range(worker.carry.size - 1):
        simulation.rewards[i] = 0
    climb(mode, tree, worker, simulation, 0, True)
