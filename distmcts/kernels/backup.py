"""Backup: add a finished simulation to every node on its path, from the last to the root.

Before: the path is in flight (TOGETHER) and `rewards` are in the worker's slot. After: each node of the path has `visits` more
visits and the reward, times `visits`, of the player who moved into it; the worker is idle.
"""

from distmcts.kernels.atomics import fetch_add, keep_order
from distmcts.kernels.jit import part
from distmcts.kernels.layout import (
    BACKED_UP,
    BACKING_UP,
    BACKUP,
    BEGUN,
    BORN,
    DEPTH,
    DOING,
    DONE,
    FINISHED,
    IDLE,
    LOCKED_NODE,
    NODE_LOCKS,
    STAGE,
)
from distmcts.kernels.locks import lock, unlock
from distmcts.kernels.modes import fetch_path, leave
from distmcts.kernels.rave import credit_moves
from distmcts.kernels.solver import prove_path, reward_at
from distmcts.kernels.tuned import count_square
from distmcts.kernels.units import round_to_unit


@part
def set_rewards(worker, players):
    """The results of one playout, as fixed-point rewards; False if one is not a number."""
    is_number = True
    for i in range(players):
        is_number &= worker.results[i] == worker.results[i]
        worker.rewards[i] = round_to_unit(worker.results[i])
    return is_number


@part
def backup(game, mode, tree, worker, visits, settings):
    """Write the update; `rewards` are summed over the visits."""
    slot = worker.slot
    depth = slot[DEPTH]
    fetch_path(mode, tree, worker, settings.synchronisation)
    slot[BEGUN] = depth
    slot[DONE] = depth
    slot[BACKED_UP] = visits
    keep_order()
    slot[STAGE] = BACKUP
    slot[DOING] = BACKING_UP
    keep_order()
    for position in range(depth - 1, -1, -1):
        node = worker.path[position]
        value = reward_at(mode, worker, position, visits)
        if settings.synchronisation == NODE_LOCKS:
            lock(tree, worker, LOCKED_NODE, node)
            leave(mode, tree, worker, position, node, visits, value, settings.synchronisation)
            unlock(tree, worker, LOCKED_NODE, node)
        else:
            leave(mode, tree, worker, position, node, visits, value, settings.synchronisation)
        count_square(mode, tree, node, visits, value)
        if position == depth - 1 and visits != slot[BORN]:
            fetch_add(tree.extra, node, visits - slot[BORN])
    credit_moves(game, mode, tree, worker, visits)
    prove_path(mode, tree, worker)
    slot[FINISHED] += visits
    keep_order()
    slot[STAGE] = IDLE
    keep_order()
