"""`tree`: all workers share one tree; virtual loss or WU-UCT keeps them apart. Lock-free, with node locks, or with one lock."""

from distmcts.kernels.layout import Tree
from distmcts.kernels.simulate import run_worker
from distmcts.parallel.scheme import Scheme
from distmcts.parallel.workers import Job

BATCH = 32  # tickets taken at a time: few enough that workers end together


class SharedTree(Scheme):
    name = "tree"
    alone = False

    def tree_of(self, index: int) -> Tree:
        return self.trees[0]

    def jobs(self, index: int) -> dict[str, Job]:
        arguments = (self.game, self.mode, self.trees[0], self.workers[index], self.shared, self.settings, BATCH)
        return {"simulate": lambda length: run_worker(*arguments, length)}
