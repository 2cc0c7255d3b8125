"""How a search is compiled: one writer of a tree or many, and which features, as a compile-time type. And what depends on it.

ALONE: one worker owns the tree (serial, root, leaf). No atomics, no in_flight.
TOGETHER: workers share the tree. Every update is atomic, or done under the node's lock.

Both keep the journal, so that a worker can be killed at any instruction. A feature that a search does not use is not compiled
into it: the plain search is as fast as if there were none.
"""

from numba import types
from numba.extending import NativeValue, models, register_model, typeof_impl, unbox

from distmcts.kernels.atomics import compare_and_swap, compare_and_swap_pair, fetch_add, fetch_for_writing, keep_order, load
from distmcts.kernels.jit import part, switch
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

FEATURES = (
    "growth",  # first-play urgency, progressive widening (growth.py)
    "sampled",  # best-of-K expansion (sampled.py)
    "tuned",  # UCB1-Tuned (tuned.py)
    "puct",  # PUCT with priors (puct.py)
    "rave",  # RAVE (rave.py)
    "solver",  # MCTS-Solver (solver.py)
    "cache",  # of evaluations (evaluation.py)
)


class Mode:
    """`name` says it all: "alone" or "together", then the features, with + between."""

    def __init__(self, name):
        self.name = name


class ModeType(types.Opaque):
    """The type of a mode; has the same name."""


register_model(ModeType)(models.OpaqueModel)


@typeof_impl.register(Mode)
def _type_of_mode(mode, context):
    return ModeType(mode.name)


@unbox(ModeType)
def _unbox_mode(mode_type, value, c):
    return NativeValue(c.context.get_dummy_value())


ALONE = Mode("alone")
TOGETHER = Mode("together")


def with_features(mode: Mode, features: frozenset[str]) -> Mode:
    return Mode("+".join([mode.name, *sorted(features)])) if features else mode


def has(mode, *wanted: str) -> bool:
    """Whether a mode, or the type of one, has one of these features."""
    return not set(wanted).isdisjoint(mode.name.split("+"))


def is_alone(mode, *_) -> bool:
    return mode.name.startswith("alone")


# ---- on the way down ------------------------------------------------------------------------------------------------------


def _enter_alone(mode, tree, node, synchronisation):
    return tree.words[node * WORDS + COUNTS]


def _enter_together(mode, tree, node, synchronisation):
    place = node * WORDS + COUNTS
    if synchronisation == LOCK_FREE:
        return fetch_add(tree.words, place, 1)
    counts = load(tree.words, place)
    tree.words[place] = counts + 1
    return counts


# Count a simulation in flight at a node; return its counts before.
enter = switch(is_alone, _enter_alone, _enter_together)


# ---- expansion ------------------------------------------------------------------------------------------------------------


def _claim_alone(mode, tree, status, word):
    tree.halves[status] = word | EXPANDING
    return True


def _claim_together(mode, tree, status, word):
    return compare_and_swap(tree.halves, status, word, word | EXPANDING)


# Set EXPANDING in a node's `children`, which was `word`; False if another worker was faster.
claim = switch(is_alone, _claim_alone, _claim_together)


def _born_alone(mode):
    return 0


def _born_together(mode):
    return 1


# What the count of a new child starts with: the simulation that creates it, if such things are counted.
in_flight_at_birth = switch(is_alone, _born_alone, _born_together)


# ---- on the way up --------------------------------------------------------------------------------------------------------


def _fetch_alone(mode, tree, worker, synchronisation):
    pass


def _fetch_together(mode, tree, worker, synchronisation):
    # Half of these lines were last written by another core. An atomic operation waits for its line, and the next one for it.
    if synchronisation == LOCK_FREE:
        for position in range(worker.slot[DEPTH]):
            fetch_for_writing(tree.words, worker.path[position] * WORDS)


# Ask for all nodes of the path at once, before they are written one after the other.
fetch_path = switch(is_alone, _fetch_alone, _fetch_together)


def _add_alone(mode, array, index, amount):
    array[index] += amount


def _add_together(mode, array, index, amount):
    fetch_add(array, index, amount)


# Add to one element of an optional column.
add = switch(is_alone, _add_alone, _add_together)


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


# Turn one simulation in flight at a node into `visits` finished ones that were worth `value` together.
leave = switch(is_alone, _leave_alone, _leave_together)
