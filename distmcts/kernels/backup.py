"""Backup: add a finished simulation to every node on its path, from the last to the root.

Before: the path is in flight (where such things are counted) and the simulation has its `rewards`. After: each node of the path
has `visits` more visits, and the reward of the player who moved into it, of all these visits together; the simulation is idle.
"""

from distmcts.kernels.atomics import fetch_add, keep_order
from distmcts.kernels.hooks import after_simulation, count_reward
from distmcts.kernels.jit import inner, switch
from distmcts.kernels.layout import (
    BACKED_UP,
    BACKING_UP,
    BACKUP,
    BEGUN,
    BORN,
    BOUND_AT,
    DEPTH,
    DOING,
    DONE,
    FINISHED,
    IDLE,
    STAGE,
)
from distmcts.kernels.proofs import reward_at
from distmcts.kernels.updates import fetch_path, leave


@inner
def begin_backup(mode, tree, worker, simulation, visits, start, stage):
    """From here on the journal says what each node gets. Nodes from position `start` on will be written soon."""
    journal = simulation.journal
    depth = journal[DEPTH]
    fetch_path(mode, tree, simulation, start)
    journal[BEGUN] = depth
    journal[DONE] = depth
    journal[BACKED_UP] = visits
    journal[BOUND_AT] = 0
    keep_order()
    journal[STAGE] = stage
    worker.slot[DOING] = BACKING_UP
    keep_order()


@inner
def add_to_path(mode, tree, worker, simulation, visits, end):
    """Add a simulation to the nodes of its path, from the last one up to position `end`."""
    journal = simulation.journal
    depth = journal[DEPTH]
    for position in range(depth - 1, end - 1, -1):
        node = simulation.path[position]
        value = reward_at(mode, simulation, position, visits)
        leave(mode, tree, worker, simulation, position, node, visits, value, 1)
        count_reward(mode, tree, node, visits, value)
        if position == depth - 1 and visits != journal[BORN]:
            fetch_add(tree.extra, node, visits - journal[BORN])


@switch
def backup(game, mode, tree, worker, simulation, visits):
    """Add a simulation to its path. A worker that stays in a subtree adds it to a part of the path only (quotas.py)."""
    journal = simulation.journal
    begin_backup(mode, tree, worker, simulation, visits, 0, BACKUP)
    add_to_path(mode, tree, worker, simulation, visits, 0)
    after_simulation(game, mode, tree, worker, simulation, visits)
    worker.slot[FINISHED] += visits
    keep_order()
    journal[STAGE] = IDLE
    keep_order()
