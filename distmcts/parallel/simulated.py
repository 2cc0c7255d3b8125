"""`simulated`: n workers on one shared tree, simulated exactly on one core: strength at 1,024 workers, on a laptop.

Deterministic with a seed. The rate it runs at says nothing; what it finds per simulation says everything.
"""

import numpy as np

from distmcts.kernels.delayed import Pending, run_simulated
from distmcts.kernels.layout import MAX_DEPTH, MAX_PLAYERS, Tree
from distmcts.parallel.scheme import Scheme
from distmcts.parallel.workers import Job
from distmcts.tree.compact import keep_subtree


class Simulated(Scheme):
    name = "simulated"
    in_process = True
    alone = False

    def __init__(self, game, arrays, settings, features=frozenset(), simulated_workers: int = 1):
        super().__init__(game, arrays, settings, features)
        self._pending = Pending(
            paths=np.zeros((simulated_workers, MAX_DEPTH), np.int32),
            movers=np.zeros((simulated_workers, MAX_DEPTH), np.int32),
            rewards=np.zeros((simulated_workers, MAX_PLAYERS), np.int64),
            bounds=np.zeros((simulated_workers, MAX_DEPTH), np.int64),
            depths=np.zeros(simulated_workers, np.int64),
            born=np.zeros(simulated_workers, np.int64),
            turn=np.zeros(1, np.int64),
        )

    def tree_of(self, index: int) -> Tree:
        return self.trees[0]

    def jobs(self, index: int) -> dict[str, Job]:
        arguments = (self.game, self.mode, self.trees[0], self.workers[0], self.shared, self.settings, self._pending)
        return {"simulate": lambda length: run_simulated(*arguments, length)}

    def repair(self, dead: list[int]) -> None:
        """Only a broken game brings it here, with simulations under way: their tree is given up."""
        self._pending.depths[:] = 0
        keep_subtree(self.trees[0], None, self.workers)
        super().repair(dead)
