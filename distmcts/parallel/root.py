"""`root`: every worker has a tree of its own; the roots are merged at the end. Reproducible with a seed and a worker count.

Simulations are divided evenly beforehand, not taken from a common heap: so each tree depends on the seed alone.
"""

from distmcts.kernels.layout import TAKEN, TICKETS
from distmcts.kernels.simulate import run_worker
from distmcts.parallel.names import ROOT
from distmcts.parallel.scheme import UNLIMITED, Scheme
from distmcts.parallel.workers import Loop
from distmcts.tree import view


class Root(Scheme):
    name = ROOT
    choices = ("final", "backend", "stay")
    has_many_trees = True

    def loop(self, index: int) -> Loop:
        arguments = (self.game, self.mode, self.trees[index], self.workers[index], self.shared, self.settings, 0)
        return lambda length: run_worker(*arguments, length)

    def deal(self, wanted: int | None) -> None:
        self.shared.control[TICKETS] = 0
        have = [view.visits(tree) for tree in self.trees]
        share, rest = divmod(UNLIMITED if wanted is None else wanted, len(have))
        self._targets = [visits + share + (i < rest) for i, visits in enumerate(have)]
        for index in range(len(self.workers)):
            self.resume(index)

    def resume(self, index: int) -> bool:
        """Give a worker what its tree still lacks."""
        self.workers[index].simulations.journal[0, TAKEN] = self._targets[index] - view.visits(self.trees[index])
        return True

    def pauses_for_repair(self) -> bool:
        return False
