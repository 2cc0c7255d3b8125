"""Whether a tree has one writer or many, as a compile-time type, and the two node updates that depend on it.

ALONE: one worker owns the tree (serial, root, leaf). No atomics, no in_flight.
TOGETHER: workers share the tree. Every update is atomic, or done under the node's lock.

Both keep the journal, so that a worker can be killed at any instruction.
"""

from numba import types
from numba.extending import NativeValue, models, overload, register_model, typeof_impl, unbox

from distmcts.kernels.atomics import compare_and_swap, compare_and_swap_pair, fetch_add, fetch_for_writing, keep_order, load
from distmcts.kernels.jit import OPTIONS, part
from distmcts.kernels.layout import (
    BEGUN,
    COUNTS,
    DEPTH,
    DONE,
    EXPANDING,
    LOCK_FREE,
    ONE_VISIT,
    REDO_COUNTS,
    REDO_VALUE,
    VALUE_SUM,
    WORDS,
)


class Mode:
    def __init__(self, name):
        self.name = name


ALONE = Mode("alone")
TOGETHER = Mode("together")


class ModeType(types.Opaque):
    pass


register_model(ModeType)(models.OpaqueModel)


@typeof_impl.register(Mode)
def _type_of_mode(mode, context):
    return ModeType(mode.name)


@unbox(ModeType)
def _unbox_mode(mode_type, value, c):
    return NativeValue(c.context.get_dummy_value())


def _by_mode(alone, together):
    """The overload that picks one of two functions by the type of the argument `mode`."""

    def choose(mode, *args):
        if isinstance(mode, ModeType):
            return alone if mode.name == "alone" else together
        return None

    return choose


# ---- on the way down ------------------------------------------------------------------------------------------------------


def enter(mode, tree, node, synchronisation):
    """Count a simulation in flight at a node; return its counts before."""
    return (_enter_alone if mode is ALONE else _enter_together)(mode, tree, node, synchronisation)


def _enter_alone(mode, tree, node, synchronisation):
    return tree.words[node * WORDS + COUNTS]


def _enter_together(mode, tree, node, synchronisation):
    place = node * WORDS + COUNTS
    if synchronisation == LOCK_FREE:
        return fetch_add(tree.words, place, 1)
    counts = load(tree.words, place)
    tree.words[place] = counts + 1
    return counts


@overload(enter, jit_options=OPTIONS)
def _enter(mode, tree, node, synchronisation):
    return _by_mode(_enter_alone, _enter_together)(mode)


# ---- expansion ------------------------------------------------------------------------------------------------------------


def claim(mode, tree, status, word):
    """Set EXPANDING in a node's `children`, which was `word`; False if another worker was faster."""
    return (_claim_alone if mode is ALONE else _claim_together)(mode, tree, status, word)


def _claim_alone(mode, tree, status, word):
    tree.halves[status] = word | EXPANDING
    return True


def _claim_together(mode, tree, status, word):
    return compare_and_swap(tree.halves, status, word, word | EXPANDING)


@overload(claim, jit_options=OPTIONS)
def _claim(mode, tree, status, word):
    return _by_mode(_claim_alone, _claim_together)(mode)


def in_flight_at_birth(mode):
    """What the count of a new child starts with: the simulation that creates it, if such things are counted."""
    return 0 if mode is ALONE else 1


def _born_alone(mode):
    return 0


def _born_together(mode):
    return 1


@overload(in_flight_at_birth, jit_options=OPTIONS)
def _in_flight_at_birth(mode):
    return _by_mode(_born_alone, _born_together)(mode)


# ---- on the way up --------------------------------------------------------------------------------------------------------


def fetch_path(mode, tree, worker, synchronisation):
    """Ask for all nodes of the path at once, before they are written one after the other."""
    return (_fetch_alone if mode is ALONE else _fetch_together)(mode, tree, worker, synchronisation)


def _fetch_alone(mode, tree, worker, synchronisation):
    pass


def _fetch_together(mode, tree, worker, synchronisation):
    # Half of these lines were last written by another core. An atomic operation waits for its line, and the next one for it.
    if synchronisation == LOCK_FREE:
        for position in range(worker.slot[DEPTH]):
            fetch_for_writing(tree.words, worker.path[position] * WORDS)


@overload(fetch_path, jit_options=OPTIONS)
def _fetch_path(mode, tree, worker, synchronisation):
    return _by_mode(_fetch_alone, _fetch_together)(mode)


@part
def write_update(tree, worker, position, node, counts, value):
    """Add to a node that no other worker can write to now, with plain stores.

    Two stores can be torn by a kill, so both results stand in the journal before the first is written: writing them once
    more is harmless.
    """
    place = node * WORDS
    worker.slot[REDO_COUNTS] = tree.words[place + COUNTS] + counts
    worker.slot[REDO_VALUE] = tree.words[place + VALUE_SUM] + value
    keep_order()
    worker.slot[BEGUN] = position
    keep_order()
    tree.words[place + COUNTS] = worker.slot[REDO_COUNTS]
    tree.words[place + VALUE_SUM] = worker.slot[REDO_VALUE]
    keep_order()
    worker.slot[DONE] = position
    keep_order()


def leave(mode, tree, worker, position, node, visits, value, synchronisation):
    """Turn one simulation in flight at a node into `visits` finished ones that were worth `value` together."""
    chosen = _leave_alone if mode is ALONE else _leave_together
    return chosen(mode, tree, worker, position, node, visits, value, synchronisation)


def _leave_alone(mode, tree, worker, position, node, visits, value, synchronisation):
    write_update(tree, worker, position, node, visits * ONE_VISIT, value)


def _leave_together(mode, tree, worker, position, node, visits, value, synchronisation):
    if synchronisation == LOCK_FREE:
        place = node * WORDS
        worker.slot[BEGUN] = position
        keep_order()
        while True:
            counts = load(tree.words, place + COUNTS)
            total = load(tree.words, place + VALUE_SUM)
            new = counts + visits * ONE_VISIT - 1
            if compare_and_swap_pair(tree.words, place, counts, total, new, total + value):
                break
        keep_order()
        worker.slot[DONE] = position
        keep_order()
    else:
        write_update(tree, worker, position, node, visits * ONE_VISIT - 1, value)


@overload(leave, jit_options=OPTIONS)
def _leave(mode, tree, worker, position, node, visits, value, synchronisation):
    return _by_mode(_leave_alone, _leave_together)(mode)
