"""`serial`: one worker, one tree, in the caller's own process. Bit-for-bit reproducible with a seed."""

from distmcts.kernels.simulate import run_worker
from distmcts.parallel.names import SERIAL
from distmcts.parallel.scheme import Scheme
from distmcts.parallel.workers import Loop

BATCH = 1 << 20


class Serial(Scheme):
    name = SERIAL
    in_process = True

    def loop(self, index: int) -> Loop:
        arguments = (self.game, self.mode, self.trees[0], self.workers[0], self.shared, self.settings, BATCH)
        return lambda length: run_worker(*arguments, length)
