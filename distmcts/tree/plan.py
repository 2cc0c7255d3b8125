"""How a memory budget is divided: the arrays of every worker and of every tree, in one segment."""

from typing import NamedTuple

from distmcts.errors import InputError
from distmcts.game import CompiledGame
from distmcts.kernels.layout import (
    ALLOCATED,
    ANSWER_WORDS,
    CAPACITY,
    CHUNK,
    CONTROL_WORDS,
    EXTRA_BYTES,
    FIRST_RUN,
    HALVES,
    HEAP_WORDS,
    LOCK_BYTES,
    MAX_DEPTH,
    MAX_NODES,
    MAX_PLAYERS,
    NODE_BYTES,
    SLOT_INDEX,
    SLOT_WORDS,
    WORDS,
    Shared,
    Tree,
    Worker,
)
from distmcts.tree.segment import LINE, Segment, aligned, available_bytes, show_bytes

SMALLEST_TREE = 64  # nodes
LARGEST_CHUNK = 4096  # nodes a worker reserves at a time


class Arrays(NamedTuple):
    """All arrays of an engine."""

    shared: Shared
    workers: list[Worker]
    trees: list[Tree]


def bytes_per_node(locks: bool) -> int:
    return NODE_BYTES + EXTRA_BYTES + (LOCK_BYTES if locks else 0)


def lay_out(game: CompiledGame, memory: int, workers: int, trees: int, locks: bool, backing: str):
    """A segment of at most `memory` bytes and the arrays in it. Raises InputError if that cannot work."""
    fixed = _shared_bytes(game, workers) + workers * _worker_bytes(game)
    per_tree_fixed = aligned(8 * HEAP_WORDS) + 4 * LINE
    capacity = (memory - fixed - trees * per_tree_fixed) // (trees * bytes_per_node(locks))
    capacity = min(capacity - capacity % 2, MAX_NODES)
    if capacity < SMALLEST_TREE:
        least = fixed + trees * (per_tree_fixed + SMALLEST_TREE * bytes_per_node(locks))
        raise InputError(
            f"memory {show_bytes(memory)} is too small for {workers} workers on {game.name}: "
            f"it takes at least {show_bytes(least)}"
        )
    if memory > available_bytes():
        raise InputError(
            f"memory {show_bytes(memory)} is more than there is: {show_bytes(available_bytes())} of shared memory are free"
        )
    segment = Segment(fixed + trees * (per_tree_fixed + capacity * bytes_per_node(locks)), backing)
    shared = Shared(
        control=segment.take("i8", CONTROL_WORDS),
        root_state=segment.take("u8", game.state_words),
        leaf_state=segment.take("u8", game.state_words),
        answers=segment.take("i8", workers * ANSWER_WORDS),
    )
    return segment, Arrays(
        shared,
        [_worker(segment, game, index) for index in range(workers)],
        [_tree(segment, capacity, locks, workers // trees) for _ in range(trees)],
    )


def _shared_bytes(game: CompiledGame, workers: int) -> int:
    return aligned(8 * CONTROL_WORDS) + 2 * aligned(8 * game.state_words) + aligned(8 * workers * ANSWER_WORDS)


def _worker_sizes(game: CompiledGame) -> list[tuple[str, str, int]]:
    return [
        ("slot", "i8", SLOT_WORDS),
        ("path", "i4", MAX_DEPTH),
        ("movers", "i4", MAX_DEPTH),
        ("rewards", "i8", MAX_PLAYERS),
        ("results", "f8", MAX_PLAYERS),
        ("rng", "u8", 2),
        ("state", "u8", game.state_words),
        ("moves", "i8", game.max_moves),
        ("marks", "i8", game.move_limit),
    ]


def _worker_bytes(game: CompiledGame) -> int:
    return sum(aligned(int(dtype[1]) * count) for _, dtype, count in _worker_sizes(game))


def _worker(segment: Segment, game: CompiledGame, index: int) -> Worker:
    worker = Worker(**{name: segment.take(dtype, count) for name, dtype, count in _worker_sizes(game)})
    worker.slot[SLOT_INDEX] = index + 1
    return worker


def _tree(segment: Segment, capacity: int, locks: bool, writers: int) -> Tree:
    words = segment.take("i8", capacity * WORDS)
    tree = Tree(
        words=words,
        halves=words.view("i4"),
        extra=segment.take("i4", capacity),
        locks=segment.take("i4", capacity if locks else 1),
        heap=segment.take("i8", HEAP_WORDS),
    )
    assert tree.halves.size == capacity * HALVES
    tree.heap[ALLOCATED] = FIRST_RUN  # the root and a free place beside it
    tree.heap[CAPACITY] = capacity
    tree.heap[CHUNK] = max(2, min(LARGEST_CHUNK, capacity // (8 * writers)) // 2 * 2)
    return tree
