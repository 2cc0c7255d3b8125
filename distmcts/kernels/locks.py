"""Spin locks: one per node, or one for the whole tree. A lock holds the number of the worker inside, so that the lock of a
dead worker can be told and released (tree/repair.py).

A worker holds at most a node's lock and that of one of its children, always taken downward: no deadlock.
"""

from distmcts.kernels.atomics import compare_and_swap, keep_order, load, store, yield_core
from distmcts.kernels.jit import inner
from distmcts.kernels.layout import DOING, GLOBAL_LOCK, HEARTBEAT, LOCK_SPINS, SLOT_INDEX, WAITING

SPINS_BEFORE_YIELD = 64  # the holder may be waiting for this very core


@inner
def spin_lock(locks, index, worker):
    """Wait for a lock and take it."""
    mine = worker.slot[SLOT_INDEX]
    if compare_and_swap(locks, index, 0, mine):
        return
    doing = worker.slot[DOING]
    worker.slot[DOING] = WAITING
    spins = 0
    while not compare_and_swap(locks, index, 0, mine):
        while load(locks, index) != 0:
            spins += 1
            if spins % SPINS_BEFORE_YIELD == 0:
                worker.slot[HEARTBEAT] += 1  # rules in Python may keep the holder busy for long
                yield_core()
    worker.slot[LOCK_SPINS] += spins
    worker.slot[DOING] = doing


@inner
def lock(tree, worker, field, node):
    """Take a node's lock; `field` of the slot says which it is, before it is taken."""
    worker.slot[field] = node + 1
    keep_order()
    spin_lock(tree.locks, node, worker)


@inner
def unlock(tree, worker, field, node):
    store(tree.locks, node, 0)
    keep_order()
    worker.slot[field] = 0


@inner
def lock_all(shared, worker):
    spin_lock(shared.control, GLOBAL_LOCK, worker)


@inner
def unlock_all(shared, worker):
    store(shared.control, GLOBAL_LOCK, 0)
