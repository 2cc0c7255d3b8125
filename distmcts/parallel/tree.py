"""`tree`: all workers share one tree; virtual loss or WU-UCT keeps them apart. Lock-free, with node locks, or with one lock."""

from distmcts.kernels.layout import SHARING
from distmcts.kernels.simulate import run_worker
from distmcts.parallel.names import TREE
from distmcts.parallel.scheme import Scheme
from distmcts.parallel.workers import Loop

BATCH = 32  # tickets taken at a time: few enough that workers end together


class SharedTree(Scheme):
    name = TREE
    choices = ("synchronisation", "in_flight", "backend", "stay")
    protocols = SHARING

    def loop(self, index: int) -> Loop:
        arguments = (self.game, self.mode, self.trees[0], self.workers[index], self.shared, self.settings, BATCH)
        return lambda length: run_worker(*arguments, length)
