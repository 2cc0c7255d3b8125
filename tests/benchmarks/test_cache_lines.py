"""The model of caches counts what a person would count by hand."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

import distmcts

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def model():
    """benchmarks/ is no package: its files are scripts."""
    spec = importlib.util.spec_from_file_location("cache_lines", ROOT / "benchmarks" / "cache_lines.py")
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "cache_lines", module)  # where the compiler looks for it
        spec.loader.exec_module(module)
        yield module


# Who does what to one line, and whether it is a transfer
SEQUENCES = {
    "nobody has had it": ["0 reads: no", "0 reads: no"],
    "written by one and read by another": ["0 writes: no", "1 reads: yes", "1 reads: no", "0 reads: no"],
    "taken from a reader": ["0 reads: no", "1 writes: yes", "1 writes: no", "0 reads: yes"],
    "a reader writes": ["0 reads: no", "0 writes: no", "1 reads: yes", "1 writes: yes", "1 writes: no", "0 writes: yes"],
    "all lose it to one": ["0 writes: no", "1 reads: yes", "2 reads: yes", "2 writes: yes", "0 reads: yes", "1 reads: yes"],
    "to and fro": ["0 writes: no", "1 writes: yes", "0 writes: yes", "1 writes: yes"],
    "in both words": ["3 writes: no", "127 reads: yes", "64 reads: yes", "127 writes: yes", "3 reads: yes", "64 writes: yes"],
    "same bit, other word": ["0 writes: no", "64 writes: yes", "0 reads: yes", "64 reads: no"],
}


@pytest.mark.parametrize("name", SEQUENCES)
def test_transfers_of_a_line(model, name):
    lines = model.empty_lines(8)
    for step in SEQUENCES[name]:
        worker, deed, expected = step.replace(":", "").split()
        act = {"reads": model.read_line, "writes": model.write_line}[deed]
        before = lines.counted.sum(), lines.moves[1]
        assert act(lines, 1, int(worker), 5) == (expected == "yes"), step
        assert (lines.counted.sum() - before[0], lines.moves[1] - before[1]) == ((1, 1) if expected == "yes" else (0, 0)), step
    found = [sum(f"{deed}: yes" in step for step in SEQUENCES[name]) for deed in ("reads", "writes")]
    assert list(lines.counted[:, 5]) == [*found, 0]
    assert lines.counted[:, :5].sum() == lines.counted[:, 6:].sum() == lines.moves[0] == lines.moves[2:].sum() == 0


def search(model, workers: int, simulations: int, share: float, stay: float = 0.0):
    settings = {"parallel": "simulated", "workers": workers, "stay": stay, "memory": "64MiB", "seed": 1}
    with distmcts.Engine("tic_tac_toe", **settings) as engine:
        return model.count_search(engine, simulations, share, 1)


def test_the_first_turns_of_two_workers(model):
    """By hand: A, B, C are the root's first children. A and B lie on one line, C on the next.

    1. worker 0 enters the root and adds A                     nobody has had these lines
    2. worker 1 enters the root                                a write at depth 0
       reads A, to know its move, and adds B beside it         a read and a write at depth 1
    3. worker 0 gives A and the root their visits              a write at depth 1, one at depth 0, and one wait for both
       enters the root, reads A and B, links C's run, adds C   all its own by now
    """
    first, second, third = (search(model, 2, simulations, 0.0).counted[:, :3] for simulations in (1, 2, 3))
    assert not first.any()
    assert np.array_equal(second, [[0, 1, 0], [1, 1, 0], [1, 2, 0]])
    assert np.array_equal(third, [[0, 1, 0], [2, 2, 0], [1, 3, 0]])


def test_a_worker_alone_waits_for_nobody(model):
    assert not search(model, 1, 3_000, 0.5).counted.any()


def test_who_stays_below_a_node_leaves_the_root_to_others(model):
    """With textbook search the root's line goes to the next worker in every turn but the first; more often while it has children
    to be added."""
    simulations = 20_000
    textbook = search(model, 2, simulations, 0.3).counted
    staying = search(model, 2, simulations, 0.3, stay=1.0).counted
    assert simulations - 1 <= textbook[model.WRITES, 0] < simulations + 10
    assert staying[model.WRITES, 0] < simulations / 50
    assert staying[model.WAITS].sum() < textbook[model.WAITS].sum() / 2
