"""`simulated`: n workers on one shared tree, simulated exactly on one core: strength at 1,024 workers, on a laptop.

Deterministic with a seed. The rate it runs at says nothing; what it finds per simulation says everything.
"""

from distmcts.kernels.layout import LOCK_FREE
from distmcts.kernels.simulate import run_simulated
from distmcts.parallel.names import SIMULATED
from distmcts.parallel.scheme import Scheme
from distmcts.parallel.workers import Loop


class Simulated(Scheme):
    name = SIMULATED
    in_process = True
    protocols = (LOCK_FREE,)
    is_delayed = True

    def loop(self, index: int) -> Loop:
        arguments = (self.game, self.mode, self.trees[0], self.workers[0], self.shared, self.settings)
        return lambda length: run_simulated(*arguments, length)
