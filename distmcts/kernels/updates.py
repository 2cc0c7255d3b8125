"""The write protocol: how workers count what is under way, add children, and add what they found. One body for each protocol.

A lock is taken and released here and nowhere else. layout.py lists the protocols.
"""

from distmcts.kernels.atomics import fetch_add, keep_order
from distmcts.kernels.jit import inner, switch
from distmcts.kernels.layout import (
    BEGUN,
    DEPTH,
    DONE,
    LOCK_FREE,
    LOCKED_CHILD,
    LOCKED_NODE,
    NODE_LOCKS,
    ONE_LOCK,
    REDO_COUNTS,
    REDO_VALUE,
)
from distmcts.kernels.locks import lock, lock_all, unlock, unlock_all
from distmcts.kernels.modes import follows, is_alone
from distmcts.kernels.node import (
    add_to_counts,
    counts_of,
    fetch_node,
    move_of,
    packed,
    put_counts,
    put_move,
    put_status,
    put_value_sum,
    swap_move,
    swap_statistics,
    swap_status,
    value_sum_of,
)

is_atomic = follows(LOCK_FREE)
locks_nodes = follows(NODE_LOCKS)
takes_turns = follows(ONE_LOCK)

# ---- a while in which nobody else may be in a node, or in the tree --------------------------------------------------------


@switch
def hold_node(mode, tree, worker, node):
    """From here to `let_go_of_node` the node's children are this worker's to choose from and to add to."""


@hold_node.when(locks_nodes)
def _lock_node(mode, tree, worker, node):
    lock(tree, worker, LOCKED_NODE, node)


@switch
def let_go_of_node(mode, tree, worker, node):
    """Others may come in again."""


@let_go_of_node.when(locks_nodes)
def _unlock_node(mode, tree, worker, node):
    unlock(tree, worker, LOCKED_NODE, node)


@switch
def hold_tree(mode, shared, worker):
    """From here to `let_go_of_tree` the whole tree is this worker's, if workers take turns."""


@hold_tree.when(takes_turns)
def _lock_tree(mode, shared, worker):
    lock_all(shared, worker)


@switch
def let_go_of_tree(mode, shared, worker):
    """The next one may come."""


@let_go_of_tree.when(takes_turns)
def _unlock_tree(mode, shared, worker):
    unlock_all(shared, worker)


# ---- on the way down ------------------------------------------------------------------------------------------------------


@switch
def enter(mode, tree, worker, node, simulations):
    """Count so many simulations in flight at a node; return its counts before."""
    counts = counts_of(tree, node)
    put_counts(tree, node, counts + packed(0, simulations))
    return counts


@enter.when(is_alone)
def _enter_alone(mode, tree, worker, node, simulations):
    return counts_of(tree, node)


@enter.when(is_atomic)
def _enter_atomically(mode, tree, worker, node, simulations):
    return add_to_counts(tree, node, packed(0, simulations))


@enter.when(locks_nodes)
def _enter_locked(mode, tree, worker, node, simulations):
    lock(tree, worker, LOCKED_NODE, node)
    counts = counts_of(tree, node)
    put_counts(tree, node, counts + packed(0, simulations))
    unlock(tree, worker, LOCKED_NODE, node)
    return counts


@switch
def read(mode, tree, worker, child):
    """The counts and the value sum of a child of the node that this worker is in."""
    return counts_of(tree, child), value_sum_of(tree, child)


@read.when(locks_nodes)
def _read_locked(mode, tree, worker, child):
    lock(tree, worker, LOCKED_CHILD, child)
    counts = counts_of(tree, child)
    value_sum = value_sum_of(tree, child)
    unlock(tree, worker, LOCKED_CHILD, child)
    return counts, value_sum


# ---- expansion ------------------------------------------------------------------------------------------------------------
# Where a lock is held, or the tree is one's own, nobody can come between: plain stores do.


@switch
def offer_move(game, mode, tree, child, move):
    """Write the move of a child that is not published yet; the move that is there then, perhaps another worker's."""
    put_move(game, tree, child, move)
    return move


@offer_move.when(is_atomic)
def _offer_first(game, mode, tree, child, move):
    if swap_move(game, tree, child, move):
        return move
    return move_of(game, tree, child)


@switch
def publish(mode, tree, node, status, new_status):
    """Let others see what was added to a node; False if another worker was faster, and the status is no longer what it was."""
    put_status(tree, node, new_status)
    return True


@publish.when(is_atomic)
def _publish_first(mode, tree, node, status, new_status):
    return swap_status(tree, node, status, new_status)


@switch
def enter_newborn(mode, tree, child):
    """Count the simulation in flight at a child that is about to be published."""
    put_counts(tree, child, packed(0, 1))


@enter_newborn.when(is_alone)
def _not_counted(mode, tree, child):
    pass


@enter_newborn.when(is_atomic)
def _enter_newborn_atomically(mode, tree, child):
    add_to_counts(tree, child, packed(0, 1))


@switch
def leave_unborn(mode, tree, child):
    """Take back what `enter_newborn` did: another worker has published the child."""


@leave_unborn.when(is_atomic)
def _leave_unborn_atomically(mode, tree, child):
    add_to_counts(tree, child, packed(0, -1))


# ---- on the way up --------------------------------------------------------------------------------------------------------


@switch
def own_in_flight(mode, simulations):
    """What a worker that has so many simulations in flight at a node sees of them in its counts."""
    return simulations


@own_in_flight.when(is_alone)
def _none_of_them(mode, simulations):
    return 0


@switch
def fetch_path(mode, tree, simulation, start):
    """Ask for all nodes of the path from a position on at once, before they are written one after the other."""


@fetch_path.when(is_atomic)
def _fetch_path(mode, tree, simulation, start):
    # Half of these lines were last written by another core. An atomic operation waits for its line, and the next one for it.
    for position in range(start, simulation.journal[DEPTH]):
        fetch_node(tree, simulation.path[position])


@switch
def add(mode, array, index, amount):
    """Add to one element of a column."""
    fetch_add(array, index, amount)


@add.when(is_alone)
def _add_alone(mode, array, index, amount):
    array[index] += amount


@inner
def write_update(tree, simulation, position, node, counts, value):
    """Add to a node that no other worker can write to now, with plain stores.

    Two stores can be torn by a kill, so both results stand in the journal before the first is written: writing them once
    more is harmless.
    """
    journal = simulation.journal
    journal[REDO_COUNTS] = counts_of(tree, node) + counts
    journal[REDO_VALUE] = value_sum_of(tree, node) + value
    keep_order()
    journal[BEGUN] = position
    keep_order()
    put_counts(tree, node, journal[REDO_COUNTS])
    put_value_sum(tree, node, journal[REDO_VALUE])
    keep_order()
    journal[DONE] = position
    keep_order()


@switch
def leave(mode, tree, worker, simulation, position, node, visits, value, in_flight):
    """Turn so many simulations in flight at a node into `visits` finished ones that were worth `value` together."""
    write_update(tree, simulation, position, node, packed(visits, -in_flight), value)


@leave.when(is_alone)
def _leave_alone(mode, tree, worker, simulation, position, node, visits, value, in_flight):
    write_update(tree, simulation, position, node, packed(visits, 0), value)


@leave.when(is_atomic)
def _leave_atomically(mode, tree, worker, simulation, position, node, visits, value, in_flight):
    journal = simulation.journal
    journal[BEGUN] = position
    keep_order()
    while True:
        counts = counts_of(tree, node)
        total = value_sum_of(tree, node)
        if swap_statistics(tree, node, counts, total, counts + packed(visits, -in_flight), total + value):
            break
    keep_order()
    journal[DONE] = position
    keep_order()


@leave.when(locks_nodes)
def _leave_locked(mode, tree, worker, simulation, position, node, visits, value, in_flight):
    lock(tree, worker, LOCKED_NODE, node)
    write_update(tree, simulation, position, node, packed(visits, -in_flight), value)
    unlock(tree, worker, LOCKED_NODE, node)
