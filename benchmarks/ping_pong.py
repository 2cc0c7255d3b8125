"""What it costs when a cache line goes from one core to another, measured with two threads that take turns at the same lines."""

import os
import statistics
import threading
import time
from typing import NamedTuple

import numpy as np

from distmcts.kernels.atomics import fetch_add, load, store, yield_core
from distmcts.kernels.jit import entry
from distmcts.tree.segment import LINE

LINES = 512  # 32 KiB: within the first cache of a core
TURNS = 500
REPEATS = 5
ELEMENTS = LINE // 8  # int64 a line
NEVER_SO_MANY = 40  # bits: sums shifted by it are 0, which the compiler cannot know
SPINS_BEFORE_YIELD = 1 << 14  # on a busy machine the other thread may be waiting for this very core


class Costs(NamedTuple):
    """In seconds."""

    wait: float  # for a line, when what is done next depends on what is in it
    line: float  # for one more line that is asked for at the same time


@entry
def take_turns(lines, order, turn, me, turns, depends):
    """Add to all lines, `turns` times, each time after the other thread. `depends`: 1 if each place depends on the sum before."""
    before = 0
    for number in range(me, 2 * turns, 2):
        spins = 0
        while load(turn, 0) != number:
            spins += 1
            if spins % SPINS_BEFORE_YIELD == 0:
                yield_core()
        for i in range(order.size):
            if depends != 0:
                before = fetch_add(lines, order[i] + (before >> NEVER_SO_MANY), 1)
            else:
                fetch_add(lines, order[i], 1)
        store(turn, 0, number + 1)


def _line_s(cores: list[int], depends: int) -> float:
    """How long a thread has to do with a line that the other had."""
    memory = np.zeros((LINES + 2) * ELEMENTS, "i8")
    start = -memory.ctypes.data % LINE // 8
    turn, lines = memory[start : start + 1], memory[start + ELEMENTS :]
    order = np.random.default_rng(1).permutation(LINES) * ELEMENTS  # so that no line is fetched ahead

    def work(me: int) -> None:
        os.sched_setaffinity(0, {cores[me]})  # of this thread
        take_turns(lines, order, turn, me, TURNS, depends)

    threads = [threading.Thread(target=work, args=(me,)) for me in range(2)]
    begin = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return (time.perf_counter() - begin) / (2 * TURNS * LINES)


def measure_costs() -> Costs:
    """Blocks for a fifth of a second; needs two cores."""
    cores = sorted(os.sched_getaffinity(0))[:2]
    return Costs(*(statistics.median(_line_s(cores, depends) for _ in range(REPEATS)) for depends in (1, 0)))
