"""How a memory budget is divided: the arrays of every worker and of every tree, in one segment."""

from typing import NamedTuple

import numpy as np

from distmcts.errors import InputError
from distmcts.game import Game
from distmcts.kernels.features import BUFFERS, COLUMNS
from distmcts.kernels.layout import (
    ALLOCATED,
    CAPACITY,
    CHUNK,
    CONTROL_WORDS,
    EXTRA_BYTES,
    FIRST_RUN,
    GROUP_WORDS,
    HEAP_WORDS,
    JOURNAL_WORDS,
    LOCK_BYTES,
    MAX_DEPTH,
    MAX_NODES,
    MAX_PLAYERS,
    NODE,
    NODE_BYTES,
    OUTCOMES,
    PENDING_WORDS,
    SIDES,
    SLOT_INDEX,
    SLOT_WORDS,
    STAY_DEPTH,
    SUM_WORDS,
    WRITERS,
    Shared,
    Simulation,
    Tree,
    Worker,
)
from distmcts.tree.segment import LINE, Segment, aligned, available_bytes, show_bytes

SMALLEST_TREE = 64  # nodes
LARGEST_CHUNK = 4096  # nodes a worker reserves at a time


GUARD = 512  # elements behind what a game writes to that must stay 0: so an overrun is found, and hits nothing else


class Arrays(NamedTuple):
    """All arrays of an engine."""

    shared: Shared
    workers: list[Worker]
    trees: list[Tree]
    guards: dict[str, list[np.ndarray]]  # by the name of the array they lie behind


class Needs(NamedTuple):
    """What a search needs beyond the plain arrays."""

    locks: bool = False
    columns: frozenset[str] = frozenset()  # names of those in features.COLUMNS
    buffers: frozenset[str] = frozenset()  # names of those in features.BUFFERS
    bounds: bool = False  # of the nodes on a path
    cache_bytes: int = 0  # for evaluations
    simulations: int = 1  # that a worker has under way at a time
    levels: bool = False  # of a path that are kept from one simulation to the next

    def bytes_per_node(self) -> int:
        extra = sum(int(column.dtype[1]) * column.elements for column in COLUMNS if column.name in self.columns)
        return NODE_BYTES + EXTRA_BYTES + (LOCK_BYTES if self.locks else 0) + extra


def lay_out(game: Game, memory: int, workers: int, trees: int, needs: Needs, backing: str):
    """A segment of at most `memory` bytes and the arrays in it. Raises InputError if that cannot work.

    The records of simulated workers come on top: what they take is no matter of the tree whose growth is studied.
    """
    record = _bytes(_simulation_sizes(game, needs))
    fixed = _bytes(_shared_sizes(game, workers, needs)) + workers * (record + _bytes(_scratch_sizes(game, needs)))
    on_top = workers * (needs.simulations - 1) * record
    per_tree_fixed = aligned(8 * HEAP_WORDS) + (2 + len(COLUMNS)) * 2 * LINE
    per_node = needs.bytes_per_node()
    capacity = (memory - fixed - trees * per_tree_fixed) // (trees * per_node)
    capacity = min(capacity - capacity % 2, MAX_NODES)
    if capacity < SMALLEST_TREE:
        least = fixed + trees * (per_tree_fixed + SMALLEST_TREE * per_node)
        raise InputError(
            f"memory {show_bytes(memory)} is too small for {workers} worker{'s' if workers != 1 else ''} on {game.name}: "
            f"it takes at least {show_bytes(least)}"
        )
    if memory > available_bytes():
        raise InputError(
            f"memory {show_bytes(memory)} is more than there is: {show_bytes(available_bytes())} of shared memory are free"
        )
    segment = Segment(fixed + on_top + trees * (per_tree_fixed + capacity * per_node), backing)
    guards: dict[str, list[np.ndarray]] = {}
    shared = Shared(**_take(segment, _shared_sizes(game, workers, needs), guards))
    all_workers = [_worker(segment, game, needs, guards) for _ in range(workers)]
    shared.control[WRITERS] = workers // trees * needs.simulations
    for index, worker in enumerate(all_workers):
        worker.slot[SLOT_INDEX] = index + 1
        for number, journal in enumerate(worker.simulations.journal, index * needs.simulations):
            journal[SIDES] = _sides(number, workers // trees * needs.simulations)
    return segment, Arrays(shared, all_workers, [_tree(segment, capacity, needs, workers // trees) for _ in range(trees)], guards)


def _sides(number: int, writers: int) -> int:
    """A bit for each level of a path: those of a worker's number, again and again."""
    bits = max((writers - 1).bit_length(), 1)
    return sum((number >> level % bits & 1) << level for level in range(63))


class _Size(NamedTuple):
    name: str
    dtype: str
    count: int
    guarded: bool = False

    @property
    def elements(self) -> int:
        return self.count + (GUARD if self.guarded else 0)


def _shared_sizes(game: Game, workers: int, needs: Needs) -> list[_Size]:
    entry = 1 + game.players
    return [
        _Size("control", "i8", CONTROL_WORDS),
        _Size("root_state", "u8", game.state_words),
        _Size("leaf_state", "u8", game.state_words),
        _Size("sums", "i8", workers * SUM_WORDS),
        _Size("cache", "u8", max(needs.cache_bytes // (8 * entry), 1) * entry if needs.cache_bytes else 1),
    ]


def _simulation_sizes(game: Game, needs: Needs) -> list[_Size]:
    return [
        _Size("journal", "i8", JOURNAL_WORDS),
        _Size("path", "i4", MAX_DEPTH),
        _Size("movers", "i4", MAX_DEPTH),
        _Size("rewards", "i8", MAX_PLAYERS),
        _Size("bounds", "i8", MAX_DEPTH if needs.bounds else 1),
        _Size("quotas", "i8", STAY_DEPTH if needs.levels else 1),
        _Size("pending", "i8", STAY_DEPTH * 2 * PENDING_WORDS if needs.levels else 1),
        _Size("positions", "u8", STAY_DEPTH * game.state_words if needs.levels else 1),
        _Size("draws", "i4", STAY_DEPTH * OUTCOMES * 2 if needs.levels and game.has_chance else 1),
        _Size("groups", "i8", STAY_DEPTH * GROUP_WORDS if needs.levels and game.has_chance else 1),
    ]


def _rows_of_simulations(game: Game, needs: Needs) -> list[_Size]:
    return [size._replace(count=size.count * needs.simulations) for size in _simulation_sizes(game, needs)]


def _scratch_sizes(game: Game, needs: Needs) -> list[_Size]:
    return [
        _Size("slot", "i8", SLOT_WORDS),
        _Size("results", "f8", MAX_PLAYERS, guarded=True),
        _Size("rng", "u8", 2),
        _Size("state", "u8", game.state_words, guarded=True),
        _Size("moves", "i8", game.list_length, guarded=True),
        _Size("marks", "i8", game.mark_count),
        _Size("outcomes", "i8", game.max_outcomes, guarded=True),
        _Size("probabilities", "f8", game.max_outcomes, guarded=True),
        _Size("trial", "u8", 2 * game.state_words, guarded=True),
        *(
            _Size(buffer.name, buffer.dtype, buffer.size(game), buffer.guarded)
            if buffer.name in needs.buffers
            else _Size(buffer.name, buffer.dtype, 1)
            for buffer in BUFFERS
        ),
    ]


def _worker(segment: Segment, game: Game, needs: Needs, guards: dict[str, list[np.ndarray]]) -> Worker:
    rows = _take(segment, _rows_of_simulations(game, needs), guards)
    simulations = Simulation(**{name: array.reshape(needs.simulations, -1) for name, array in rows.items()})
    return Worker(simulations=simulations, **_take(segment, _scratch_sizes(game, needs), guards))


def _bytes(sizes: list[_Size]) -> int:
    return sum(aligned(int(size.dtype[1]) * size.elements) for size in sizes)


def _take(segment: Segment, sizes: list[_Size], guards: dict[str, list[np.ndarray]]) -> dict[str, np.ndarray]:
    arrays = {}
    for size in sizes:
        array = segment.take(size.dtype, size.elements)
        arrays[size.name] = array[: size.count]
        if size.guarded:
            guards.setdefault(size.name, []).append(array[size.count :])
    return arrays


def _tree(segment: Segment, capacity: int, needs: Needs, writers: int) -> Tree:
    records = segment.take(NODE, capacity)
    tree = Tree(
        words=records.view("i8"),
        halves=records.view("i4"),
        extra=segment.take("i4", capacity),
        locks=segment.take("i4", capacity if needs.locks else 1),
        heap=segment.take("i8", HEAP_WORDS),
        **{
            column.name: segment.take(column.dtype, capacity * column.elements if column.name in needs.columns else 1)
            for column in COLUMNS
        },
    )
    for array in tree:
        array[:1] = 0  # its first page comes now, and not while a worker adds the root's children and keeps all others out
    tree.heap[ALLOCATED] = FIRST_RUN  # the root and a free place beside it
    tree.heap[CAPACITY] = capacity
    tree.heap[CHUNK] = max(2, min(LARGEST_CHUNK, capacity // (8 * writers)) // 2 * 2)
    return tree
