"""Selection against the formula written plainly."""

import math
from collections import Counter

import numpy as np
import pytest

from distmcts.kernels.features import COLUMNS, SETTINGS
from distmcts.kernels.jit import kernel
from distmcts.kernels.layout import (
    COMPLETE,
    FIRST_RUN,
    LOCK_FREE,
    NODE,
    READ_NOTHING,
    READ_VIRTUAL_LOSS,
    READ_WU_UCT,
    ROOT,
    RUN_LIMIT,
    SCALE,
    SLOT_WORDS,
    Settings,
    Tree,
    Worker,
    packed,
)
from distmcts.kernels.modes import Mode
from distmcts.kernels.rng import random_word, seeded
from distmcts.kernels.select import reciprocal_root, root_of_log, select
from distmcts.tree.view import columns

MODE = Mode(LOCK_FREE)


def settings_with(c: float, reading: int, weight: float = 1.0) -> Settings:
    off = {setting.name: setting.kind(setting.off) for setting in SETTINGS if setting.off is not None}
    return Settings(c=c, reading=reading, weight=weight, cutoff=-1, **off)


@kernel
def call_select(mode, tree, worker, node, counts, settings):
    return select(mode, tree, worker, worker.simulations, node, counts, random_word(worker.rng), settings)


@kernel
def call_log(n):
    return root_of_log(n)


@kernel
def call_root(n):
    return reciprocal_root(n)


def family(children: list[tuple[int, int, float]]) -> tuple[Tree, Worker, list[int]]:
    """A root with children given as (visits, in flight, value sum); the nodes they got."""
    size = 4 * len(children) + 8
    records = np.zeros(size, NODE)
    tree = Tree(
        records.view(np.int64), records.view(np.int32), np.zeros(size, np.int32), np.zeros(1, np.int32), np.zeros(8, np.int64),
        **{column.name: np.zeros(1, column.dtype) for column in COLUMNS},
    )  # fmt: skip
    unused = dict.fromkeys(Worker._fields, np.zeros(0, np.int64))
    worker = Worker(**{**unused, "slot": np.zeros(SLOT_WORDS, np.int64), "rng": seeded(1, 0)})
    fields = columns(tree)
    nodes: list[int] = []
    starts: list[int] = []
    free, run_size = FIRST_RUN, FIRST_RUN
    while len(nodes) < len(children):
        number = len(starts)
        if number == 0:
            fields.first[ROOT] = free
        else:
            fields.next[(starts[0] + number - 1) if number <= FIRST_RUN else starts[-1]] = free
        starts.append(free)
        nodes.extend(range(free, free + min(run_size, len(children) - len(nodes))))
        free += run_size
        run_size = min(run_size * 2, RUN_LIMIT)
    for move, (node, (visits, in_flight, value_sum)) in enumerate(zip(nodes, children, strict=True)):
        fields.counts[node] = packed(visits, in_flight)
        fields.value_sum[node] = round(value_sum * SCALE)
        fields.move[node] = 1 + move
    fields.children[ROOT] = len(children) | COMPLETE
    return tree, worker, nodes


def plain_score(visits, in_flight, value_sum, parent, c, reading, weight):
    if reading == READ_NOTHING:
        return value_sum / visits + c * math.sqrt(math.log(parent) / visits)
    n = visits + weight * in_flight
    if reading == READ_VIRTUAL_LOSS:
        return (value_sum - weight * in_flight) / n + c * math.sqrt(math.log(parent) / n)
    return value_sum / max(visits, 1) + c * math.sqrt(math.log(parent) / n)


@pytest.mark.parametrize("reading", [READ_NOTHING, READ_VIRTUAL_LOSS, READ_WU_UCT])
@pytest.mark.parametrize("size", [1, 2, 3, 6, 7, 14, 15, 40, 121])
def test_selects_what_the_formula_says(reading, size):
    chooser = np.random.default_rng(size)
    for _ in range(100):
        scale = 10 ** chooser.integers(1, 7)
        children = []
        for _ in range(size):
            visits = int(chooser.integers(1, scale))
            in_flight = int(chooser.integers(0, 4)) if chooser.random() < 0.5 else 0
            children.append((visits, in_flight, float(visits * chooser.uniform(-1, 1))))
        visits = sum(child[0] for child in children) + 1
        in_flight = sum(child[1] for child in children)
        weight, c = float(chooser.choice([0.5, 1.0, 3.0])), float(chooser.uniform(0.1, 2))
        parent = visits + (0 if reading == READ_NOTHING else int(weight * in_flight))
        tree, worker, nodes = family(children)
        settings = settings_with(c, reading, weight)
        chosen = call_select(MODE, tree, worker, 0, packed(visits, in_flight), settings)
        scores = [plain_score(*child, parent, c, reading, weight) for child in children]
        assert scores[nodes.index(chosen)] == pytest.approx(max(scores), abs=1e-4)


def test_choice_among_equals_is_random_and_even():
    tree, worker, nodes = family([(10, 0, 5.0)] * 5 + [(10, 0, 1.0)] * 2)
    settings = settings_with(1.0, READ_NOTHING, 1.0)
    picks = Counter(call_select(MODE, tree, worker, 0, packed(71, 0), settings) for _ in range(20_000))
    assert set(picks) == set(nodes[:5])
    assert all(abs(count - 4000) < 4.5 * math.sqrt(4000) for count in picks.values())


def test_a_child_never_visited_comes_first():
    for reading in (READ_NOTHING, READ_VIRTUAL_LOSS, READ_WU_UCT):
        tree, worker, nodes = family([(50, 0, 50.0), (0, 0, 0.0), (50, 0, 50.0)])
        settings = settings_with(1.0, reading, 1.0)
        assert call_select(MODE, tree, worker, 0, packed(101, 0), settings) == nodes[1]
        assert call_select(MODE, tree, worker, 0, packed(2_000_000, 1), settings) == nodes[1]


def test_virtual_loss_sends_the_next_worker_elsewhere():
    children = [(100, 1, 60.0), (100, 0, 59.0)]
    tree, worker, nodes = family(children)
    for reading, expected in ((READ_NOTHING, 0), (READ_VIRTUAL_LOSS, 1), (READ_WU_UCT, 1)):
        settings = settings_with(2.0, reading, 10.0)
        assert call_select(MODE, tree, worker, 0, packed(201, 1), settings) == nodes[expected]


def test_logarithm_and_root_are_precise():
    numbers = [*range(1, 3000), *(3**k for k in range(1, 30)), 2**40, 2**40 + 1, 10**12]
    for n in numbers:
        assert call_log(n) == pytest.approx(math.sqrt(math.log(n)), rel=3e-6, abs=1e-12)
        assert call_root(n) == pytest.approx(1 / math.sqrt(n), rel=2e-9)
