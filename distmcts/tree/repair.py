"""What a dead worker left half done, finished or taken back from its journals.

Two steps. `release` runs at once, while others may be waiting for the dead worker's locks. The rest runs when all living
workers of the tree stand still between two simulations: `take_back` sees to memory that the dead had reserved, then `repair`
takes the records of their simulations. Then the conservation laws hold for every node but those on these paths, and tell which
of their updates have arrived.

A playout that was finished is not thrown away: its backup is completed. A path without a result is taken back.

Exact for any number of deaths, with one exception for values: if two workers die within the few nanoseconds of the same
compare-and-swap on the same node, it is known how many of the two rewards have arrived, not which.
"""

from collections import defaultdict

import numpy as np

from distmcts.kernels.layout import (
    BACKED_UP,
    BACKUP,
    BEGUN,
    BORN,
    BREACH,
    CHUNK_NEXT,
    DEPTH,
    DONE,
    EXPANDING_NODE,
    FINISHED,
    GLOBAL_LOCK,
    IDLE,
    LOCKED_CHILD,
    LOCKED_NODE,
    NO_BOUND,
    PENDING_RUN,
    PENDING_SIZE,
    REDO_COUNTS,
    REDO_VALUE,
    ROOT,
    SLOT_INDEX,
    STAGE,
    STAYING,
    TAKEN,
    Shared,
    Simulation,
    Tree,
    Worker,
    copies_in,
    open_in,
    packed,
    pending_at,
    simulation_of,
    stage_in,
    visits_in,
)
from distmcts.tree.view import child_nodes, column_sizes, columns, runs, visits


def simulations_of(worker: Worker) -> list[Simulation]:
    """The records of a worker, each a view on the segment."""
    return [simulation_of(worker, index) for index in range(len(worker.simulations.journal))]


# ---- at once --------------------------------------------------------------------------------------------------------------


def release(tree: Tree, shared: Shared, worker: Worker, plain_stores: bool) -> None:
    """Free the locks of a dead worker. Where updates are plain stores under a lock, finish a torn one first."""
    if plain_stores:
        for simulation in simulations_of(worker):
            _finish_torn_store(tree, simulation)
    slot = worker.slot
    for field in (LOCKED_CHILD, LOCKED_NODE):
        node = int(slot[field]) - 1
        if node >= 0 and tree.locks.size > 1 and tree.locks[node] == slot[SLOT_INDEX]:
            tree.locks[node] = 0
        slot[field] = 0
    if shared.control[GLOBAL_LOCK] == slot[SLOT_INDEX]:
        shared.control[GLOBAL_LOCK] = 0


def _finish_torn_store(tree: Tree, simulation: Simulation) -> None:
    journal = simulation.journal
    if _stage(simulation) == BACKUP and journal[BEGUN] < journal[DONE]:
        fields, node = columns(tree), simulation.path[journal[BEGUN]]
        fields.counts[node] = journal[REDO_COUNTS]
        fields.value_sum[node] = journal[REDO_VALUE]
        journal[DONE] = journal[BEGUN]


# ---- when all stand still -------------------------------------------------------------------------------------------------


def take_back(tree: Tree, worker: Worker) -> None:
    """Take nodes that the dead worker had reserved, and had not linked, back into its chunk."""
    slot = worker.slot
    node = int(slot[EXPANDING_NODE]) - 1
    if node >= 0:
        run, end = int(slot[PENDING_RUN]), int(slot[PENDING_RUN] + slot[PENDING_SIZE])
        linked = [int(start[0]) for start, *_ in runs(columns(tree), np.array([node]))]
        if run and run not in linked and slot[CHUNK_NEXT] in (run, end):
            for name, size in column_sizes(tree).items():
                getattr(tree, name)[run * size : end * size] = 0
            slot[CHUNK_NEXT] = run
    for field in (EXPANDING_NODE, PENDING_RUN, BREACH):
        slot[field] = 0


def repair(tree: Tree, simulations: list[Simulation]) -> int:
    """Bring the tree to rest; return how many simulations were completed. The caller sees to it that nobody else touches it."""
    under_way = [simulation for simulation in simulations if simulation.journal[STAGE] != IDLE]
    for node in _abandoned(tree, under_way):
        tree.extra[node] -= 1  # its creator will never evaluate it
    _complete_updates(tree, [Debt(simulation) for simulation in under_way])
    for simulation in under_way:
        _clear_path(tree, simulation)
    completed = sum(int(simulation.journal[BACKED_UP]) for simulation in under_way if _stage(simulation) == BACKUP)
    for simulation in simulations:
        simulation.journal[[STAGE, DEPTH, BORN, TAKEN]] = 0
    return completed


def _abandoned(tree: Tree, under_way: list[Simulation]) -> set[int]:
    """New nodes whose creators died before they had a result.

    Several may have been about to publish the same child. One of them did, and if one got further than that, it was that one.
    """
    newborn = [simulation for simulation in under_way if simulation.journal[BORN] and _is_published(tree, simulation)]
    backed_up = {_last(simulation) for simulation in newborn if _stage(simulation) == BACKUP}
    return {_last(simulation) for simulation in newborn} - backed_up


def _stage(simulation: Simulation) -> int:
    return int(stage_in(simulation.journal[STAGE]))


def _depth(simulation: Simulation) -> int:
    """How many nodes of the path count."""
    return int(open_in(simulation.journal[STAGE]) if _stage(simulation) == STAYING else simulation.journal[DEPTH])


class Debt:
    """What a simulation under way owes to the nodes of its path: its own visits in BACKUP, and what is pending at open levels."""

    def __init__(self, simulation: Simulation):
        journal = simulation.journal
        in_backup = _stage(simulation) == BACKUP
        self.simulation = simulation
        self.opened = int(open_in(journal[STAGE]))
        self.visits = int(journal[BACKED_UP]) if in_backup else 0
        self.begun = int(journal[BEGUN]) if in_backup else self.opened  # from here up no update was begun
        self.done = int(journal[DONE]) if in_backup else self.opened  # from here up updates may be missing
        self.not_in_extra = self.visits - int(journal[BORN]) if in_backup else 0
        self.last = _depth(simulation) - 1
        self._owed = [self._carry(position) for position in range(self.last + 1)] if in_backup or self.opened else []

    def at(self, position: int) -> tuple[int, int]:
        """Visits and value for the node at a position of the path."""
        return self._owed[position]

    def _carry(self, position: int) -> tuple[int, int]:
        """What comes up from the end of the path, as the player sees it who moved into the node at a position."""
        simulation = self.simulation
        movers, bounds = simulation.movers, simulation.bounds
        mover = movers[position]
        copies = int(copies_in(simulation.journal[STAGE]))
        visits = self.visits
        value = int(simulation.rewards[mover]) if visits else 0
        for level in range(self.last, position - 1, -1):
            if bounds.size > 1 and bounds[level] != NO_BOUND and visits:  # what a proof says counts (kernels/solver.py)
                value = visits * int(bounds[level] if mover == movers[level + 1] else -bounds[level])
            if level < self.opened:
                place = pending_at(level, copies >> level & 1)
                visits += int(simulation.pending[place])
                value += int(simulation.pending[place + 1 + mover])
        return visits, value


def _complete_updates(tree: Tree, debts: list[Debt]) -> None:
    """Write what is missing, deepest nodes first, so that a node's children are right when it is looked at."""
    open_updates = defaultdict(list)  # (position on the path, node) -> debts that may not be paid there
    for debt in debts:
        for position in range(debt.done):
            open_updates[position, int(debt.simulation.path[position])].append(debt)
    for (position, node), here in sorted(open_updates.items(), reverse=True, key=lambda item: item[0][0]):
        certain = [debt for debt in here if debt.begun > position]
        unsure = [debt for debt in here if debt.begun <= position]
        missing = _missing_visits(tree, node, position, here)
        if unsure:
            missing -= sum(debt.at(position)[0] for debt in certain)
        for debt in unsure:
            if missing > 0:
                certain.append(debt)
                missing -= debt.at(position)[0]
        fields = columns(tree)
        for debt in certain:
            visits, value = debt.at(position)
            fields.counts[node] += packed(visits, 0)
            fields.value_sum[node] += value


def _missing_visits(tree: Tree, node: int, position: int, debts: list[Debt]) -> int:
    """How many visits a node lacks, by the conservation law."""
    # The update of the last node comes before `extra`: its own evaluation stands in neither yet.
    not_in_extra = sum(debt.not_in_extra for debt in debts if debt.last == position)
    return _within_32_bits(_expected_visits(tree, node) + not_in_extra - visits(tree, node))


def _expected_visits(tree: Tree, node: int) -> int:
    below = sum(visits(tree, child) for child in child_nodes(tree, node))
    return below + int(tree.extra[node]) + (0 if node == ROOT else 1)


def _within_32_bits(count: int) -> int:
    """`extra` counts modulo 2^32, and so does everything computed from it; what is looked for here is small."""
    return (count + (1 << 31)) % (1 << 32) - (1 << 31)


def _clear_path(tree: Tree, simulation: Simulation) -> None:
    """Nothing is in flight when everybody stands still; and the last node's own evaluations are what its visits say."""
    depth = _depth(simulation)
    counts = columns(tree).counts
    for node in simulation.path[:depth].tolist():
        counts[node] = packed(visits_in(counts[node]), 0)
    if depth > 0 and _is_published(tree, simulation):
        last = _last(simulation)
        own = int(tree.extra[last]) + visits(tree, last) - _expected_visits(tree, last)
        tree.extra[last] = _within_32_bits(own)


def _last(simulation: Simulation) -> int:
    return int(simulation.path[_depth(simulation) - 1])


def _is_published(tree: Tree, simulation: Simulation) -> bool:
    """Whether the last node on a path is part of the tree: a new child may not have been counted yet."""
    *_, parent, last = [ROOT, *simulation.path[: _depth(simulation)].tolist()]
    return last == ROOT or last in child_nodes(tree, parent)


def repair_after(tree: Tree, dead: list[Worker]) -> None:
    """All that dead workers of a tree left, after `release`."""
    for worker in dead:
        take_back(tree, worker)
    completed = repair(tree, [simulation for worker in dead for simulation in simulations_of(worker)])
    dead[0].slot[FINISHED] += completed
