"""Stall a worker at every line of the kernels in turn, let another one search meanwhile, then let the first go on.

Usage: python -m tests.tree.stall_everywhere VARIANT STEP OFFSET; prints how many stalls there were. With the compiler off.

Nobody waits for a worker that stands still, and nobody is kept out of a node by it: all simulations of the other one go on to a
child of the root, and at the end nothing is lost.
"""

import sys

import numpy as np

from distmcts.kernels.layout import ROOT
from tests.tree.kill_everywhere import VARIANTS, Bench, KillAt

MEANWHILE = 3  # simulations of the other worker


class StallAt(KillAt):
    """A tracer that has another worker search, at the n-th line executed in the kernels."""

    def __init__(self, line: int, bench: Bench):
        super().__init__(line)
        self.bench = bench
        self.has_stalled = False

    def strike(self) -> None:
        if self.has_stalled:
            return
        self.has_stalled = True
        tracer = sys.gettrace()
        sys.settrace(None)
        before = int(self.bench.tree.extra[ROOT])
        for _ in range(MEANWHILE):
            self.bench.simulate(1)
        self.bench.come_to_rest([1])
        assert int(self.bench.tree.extra[ROOT]) == before, "the other worker was kept out of the root's children"
        sys.settrace(tracer)


def stalls(bench: Bench, grown: int, step: int, offset: int) -> int:
    count = 0
    line = offset
    while True:
        bench.put_back()
        tracer = StallAt(line, bench)
        sys.settrace(tracer)
        try:
            bench.simulate(0)
            bench.come_to_rest([0])
        finally:
            sys.settrace(None)
        bench.come_to_rest([1])
        simulations = grown + 1 + (MEANWHILE if tracer.has_stalled else 0)
        bench.check((simulations, simulations))
        if not tracer.has_stalled:
            return count
        count += 1
        line += step


def main(variant: str, step: int, offset: int) -> None:
    np.seterr(over="ignore")
    print(sum(stalls(Bench(VARIANTS[variant], "lockfree", grown), grown, step, offset) for grown in (0, 1, 2, 3, 40)))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
