"""Which cache lines pass from core to core when W workers share a tree: the search is the real one, the caches are a model.

The scheme `simulated` runs W workers on one core, exactly, one turn after the other: a worker adds its last simulation to the
tree and begins the next. It is stepped a turn at a time; what a turn touches is read from the worker's record and the tree:

    the way up      writes the nodes of the last path, from its end to the level where the worker stays (quotas.py) or to the
                    root, and `extra` where the path ended at a node that was there before
    the way down    reads the node where it begins, or writes the root; at every node on the way reads all children, writes the
                    chosen one; an expansion reads the siblings, writes the parent and the new child, and the link to a new run

A line remembers which workers have it. Who reads a line that others have and it has not is sent a copy: a transfer. Who writes
one while others have it, too, takes it from them: a transfer, and it is alone with the line from then on, so whoever wrote last
always has it. A line that nobody has had is a miss in memory, which a worker alone would have as well, and costs nothing here.

Transfers that do not depend on each other overlap; what costs time is that a worker waits, once for all of them. It waits for the
children of a node before it can choose one, for the counts of the one it enters before it can choose again, and for the nodes of
its path on the way up: they are known, and all asked for at once. An expansion waits for each line that it swaps something in.

The way down takes a share of a simulation's time, in which others take turns: level by level, it is counted that much later, from
a random moment of its turn on. Otherwise no one would ever come between a worker's way up and its next way down, and nodes near
the root would seem to be passed on once a simulation where it is twice.

Left out: caches are infinite, so a line stays where it was until somebody else writes it (a real one forgets lines, and then
fetches them from memory or from a cache that is shared); no neighbouring line is fetched ahead; workers take turns in strict
rotation, all equally fast; they take new nodes out of one chunk, where real ones have one each, but only lines of `extra`, which
hold 16 nodes, can tell the difference.
"""

from typing import NamedTuple

import numpy as np

from distmcts import Engine
from distmcts.game import Game
from distmcts.kernels.family import first_child, next_child
from distmcts.kernels.jit import entry, inner, kernel
from distmcts.kernels.layout import (
    BORN,
    DEPTH,
    EVALUATED,
    EXTRA_BYTES,
    MAX_DEPTH,
    NODE_BYTES,
    NONE,
    PAUSE,
    SLICE_OVER,
    STAGE,
    stage_in,
)
from distmcts.kernels.runs import link_holder
from distmcts.kernels.words import open_in
from distmcts.parallel.tree import BATCH
from distmcts.tree.segment import LINE

MOST_WORKERS = 128  # two words of bits a line
NODES_A_LINE = LINE // NODE_BYTES
EXTRAS_A_LINE = LINE // EXTRA_BYTES

READS = 0
WRITES = 1
WAITS = 2
KINDS = 3


class Lines(NamedTuple):
    """The lines of a tree: those of its nodes, then those of `extra`."""

    holders: np.ndarray  # uint64 [lines, 2], a bit for each worker that has the line
    moves: np.ndarray  # int64 [lines], how often it was passed on
    counted: np.ndarray  # int64 [KINDS, MAX_DEPTH], by the depth of the node that lies there


class Paths(NamedTuple):
    """What every worker's record said after its last turn, and how much of its way down has been counted."""

    nodes: np.ndarray  # int64 [workers, MAX_DEPTH]
    depth: np.ndarray  # int64 [workers]
    born: np.ndarray  # int64 [workers]
    opened: np.ndarray  # int64 [workers]
    level: np.ndarray  # int64 [workers], the next one to be counted
    begun: np.ndarray  # float64 [workers], when the way down began, in turns


class Traffic(NamedTuple):
    """What a simulation costs, on average."""

    reads: np.ndarray  # transfers, by depth
    writes: np.ndarray  # transfers, by depth
    waits: np.ndarray  # by depth
    outside: float  # writes beside the tree: all workers take their tickets from one place
    hottest: float  # of the one line that is passed on most


def empty_lines(capacity: int) -> Lines:
    """For a tree of so many nodes."""
    count = -(-capacity // NODES_A_LINE) + -(-capacity // EXTRAS_A_LINE)
    return Lines(np.zeros((count, 2), "u8"), np.zeros(count, "i8"), np.zeros((KINDS, MAX_DEPTH), "i8"))


@inner
def _count(lines, line, kind, depth):
    lines.moves[line] += 1
    lines.counted[kind, depth] += 1


@kernel
def read_line(lines, line, worker, depth):
    """A worker reads a line in which a node of this depth lies; whether it is a transfer."""
    word = worker >> 6
    bit = np.uint64(1) << np.uint64(worker & 63)
    had = lines.holders[line, word]
    if had & bit != 0:
        return False
    lines.holders[line, word] = had | bit
    if had == 0 and lines.holders[line, 1 - word] == 0:
        return False
    _count(lines, line, READS, depth)
    return True


@kernel
def write_line(lines, line, worker, depth):
    """A worker writes to a line in which a node of this depth lies; whether it is a transfer."""
    word = worker >> 6
    bit = np.uint64(1) << np.uint64(worker & 63)
    is_transfer = lines.holders[line, word] & ~bit != 0 or lines.holders[line, 1 - word] != 0
    lines.holders[line, word] = bit
    lines.holders[line, 1 - word] = 0
    if is_transfer:
        _count(lines, line, WRITES, depth)
    return is_transfer


@inner
def _write_extra(tree, lines, node, worker, depth):
    first = lines.holders.shape[0] - (tree.extra.size + EXTRAS_A_LINE - 1) // EXTRAS_A_LINE
    return write_line(lines, first + node // EXTRAS_A_LINE, worker, depth)


@inner
def _climb(tree, lines, paths, opened, worker):
    """Add the last simulation. Nodes are asked for, to be written, from the level on where it began; written from `opened` on."""
    end = paths.depth[worker] - 1
    waits = False
    for level in range(end, min(paths.opened[worker], opened) - 1, -1):
        waits |= write_line(lines, paths.nodes[worker, level] // NODES_A_LINE, worker, level)
    if end >= 0 and paths.born[worker] == 0:
        waits |= _write_extra(tree, lines, paths.nodes[worker, end], worker, end)
    lines.counted[WAITS, max(end, 0)] += waits


@inner
def _read_children(tree, lines, node, newborn, worker, depth):
    """All children of a node, or those before a `newborn`."""
    at = first_child(tree, node)
    waits = False
    while at.child != NONE and at.child != newborn:
        waits |= read_line(lines, at.child // NODES_A_LINE, worker, depth)
        at = next_child(tree, at)
    lines.counted[WAITS, depth] += waits


@inner
def _add_child(tree, lines, node, newborn, worker, depth):
    """The second half of an expansion: a new run is linked if need be, the child gets its move, the parent its count."""
    at = first_child(tree, node)
    before = at.run
    while at.child != newborn:
        before = at.run
        at = next_child(tree, at)
    waits = 0
    if newborn == at.run.start and at.run.number > 0:
        waits += write_line(lines, link_holder(at.run.first, before.start, at.run.number) // NODES_A_LINE, worker, depth)
    waits += write_line(lines, newborn // NODES_A_LINE, worker, depth)
    lines.counted[WAITS, depth] += waits
    lines.counted[WAITS, depth - 1] += write_line(lines, node // NODES_A_LINE, worker, depth - 1)


@inner
def _begin(lines, paths, worker):
    opened = paths.opened[worker]
    level = max(opened - 1, 0)
    line = paths.nodes[worker, level] // NODES_A_LINE
    waits = write_line(lines, line, worker, level) if opened == 0 else read_line(lines, line, worker, level)
    lines.counted[WAITS, level] += waits


@inner
def _step(tree, lines, paths, worker, level):
    """From the node at a level one step down; or if there is none, since it is the newborn, what its parent still has to do."""
    end = paths.depth[worker] - 1
    if level == end:
        _add_child(tree, lines, paths.nodes[worker, end - 1], paths.nodes[worker, end], worker, end)
        return
    node = paths.nodes[worker, level]
    child = paths.nodes[worker, level + 1]
    if paths.born[worker] != 0 and level + 1 == end:
        _read_children(tree, lines, node, child, worker, end)
    else:
        _read_children(tree, lines, node, np.int64(NONE), worker, level + 1)
        lines.counted[WAITS, level + 1] += write_line(lines, child // NODES_A_LINE, worker, level + 1)


@inner
def _descend_until(tree, lines, paths, worker, now, length):
    """Count a worker's way down as far as it has come now; all of it takes so many turns of others."""
    top = max(paths.opened[worker] - 1, 0)
    steps = paths.depth[worker] - 1 - top + paths.born[worker]  # an expansion is two: it reads, and later writes
    while paths.level[worker] < top + steps:
        level = paths.level[worker]
        if paths.begun[worker] + length * (level - top) / steps >= now:
            return
        if level == top:
            _begin(lines, paths, worker)
        _step(tree, lines, paths, worker, level)
        paths.level[worker] = level + 1


@entry
def count_turn(tree, records, paths, lines, turn, moment, length):
    """Count what a turn that has just been taken has touched, and what others have by now.

    `moment`: from 0 to 1, when in its turn the worker goes down again. `length`: how many turns of all workers that takes.
    """
    workers = paths.depth.size
    worker = turn % workers
    journal = records.journal[worker]
    opened = open_in(journal[STAGE])
    _descend_until(tree, lines, paths, worker, np.inf, length)
    _climb(tree, lines, paths, opened, worker)
    for level in range(journal[DEPTH]):
        paths.nodes[worker, level] = records.path[worker, level]
    paths.depth[worker] = journal[DEPTH]
    paths.born[worker] = journal[BORN]
    paths.opened[worker] = opened
    paths.level[worker] = max(opened - 1, 0)
    paths.begun[worker] = turn + moment
    for i in range(workers):  # who began first comes first
        _descend_until(tree, lines, paths, (turn + 1 + i) % workers, turn + 1.0, length)


def count_search(engine: Engine, simulations: int, share: float, seed: int) -> Lines:
    """Search with an engine of simulated workers that has not searched yet, and count. Blocks. `share`: of the way down."""
    scheme = engine._scheme
    tree, worker = scheme.trees[0], scheme.workers[0]
    workers = worker.simulations.journal.shape[0]
    paths = Paths(np.zeros((workers, MAX_DEPTH), "i8"), *(np.zeros(workers, "i8") for _ in range(4)), np.zeros(workers))
    lines = empty_lines(tree.extra.size)
    moments = np.random.default_rng(seed).random(simulations)
    loop = scheme.loop(0)
    scheme.deal(simulations)
    scheme.shared.control[PAUSE] = 0
    turn = 0
    while loop(1) == SLICE_OVER:
        if stage_in(worker.simulations.journal[turn % workers, STAGE]) == EVALUATED:  # else it had no ticket
            count_turn(tree, worker.simulations, paths, lines, turn, moments[turn % simulations], share * workers)
        turn += 1
    assert sum(audit.visits for audit in engine.audit()) == simulations
    return lines


def traffic(game: Game, workers: int, stay: float, share: float, simulations: int, memory: int, seed: int) -> Traffic:
    """Blocks for some 20 microseconds a simulation. The game must have no chance: the model does not know such nodes."""
    settings = {"parallel": "simulated", "workers": workers, "stay": stay, "memory": memory, "seed": seed}
    with Engine(game, **settings) as engine:
        lines = count_search(engine, simulations, share, seed)
    reads, writes, waits = lines.counted / simulations
    outside = (workers > 1) / BATCH  # taken in rotation, so the last one to take some was another worker
    return Traffic(reads, writes, waits, outside, max(float(lines.moves.max()) / simulations, outside))
