"""`leaf`: worker 0 walks the tree, all workers play out from the leaf it found. n workers make n simulations of each leaf."""

from distmcts.kernels.layout import LEADER, ROUND, ROUNDS_CLOSED, SUM_WORDS
from distmcts.kernels.rounds import follow, lead
from distmcts.parallel.names import LEAF
from distmcts.parallel.scheme import Scheme
from distmcts.parallel.workers import Loop
from distmcts.tree.audit import is_idle

FIRST = 0  # the leader


class Leaf(Scheme):
    name = LEAF
    choices = ("backend", "stay")
    protocols = (LEADER,)

    def loop(self, index: int) -> Loop:
        worker = self.workers[index]
        if index == FIRST:
            arguments = (self.game, self.mode, self.trees[0], worker, self.shared, self.settings, len(self.workers))
            return lambda length: lead(*arguments, length)
        return lambda length: follow(self.game, self.mode, worker, self.shared, self.settings, length)

    def _kinds(self) -> range:
        return range(min(2, len(self.workers)))

    def compile(self) -> None:
        self.shared.control[ROUND] = ROUNDS_CLOSED
        super().compile()

    def deal(self, wanted: int | None) -> None:
        super().deal(wanted)
        # A round that was given up keeps its number for ever: a worker that played it must not seem to have played the next one.
        self.shared.sums[0] = self.shared.sums[::SUM_WORDS].max()
        self.shared.control[ROUND] = 0

    def release(self, index: int) -> None:
        super().release(index)
        if index == FIRST:
            self.shared.control[ROUND] = ROUNDS_CLOSED  # the others are waiting for it

    def repair(self, dead: list[int]) -> None:
        # The leader gives up its simulation when another dies; what it leaves is the same as if it had died itself.
        if not is_idle(self.workers[FIRST]) and FIRST not in dead:
            self.release(FIRST)
            dead = [FIRST, *dead]
        super().repair(dead)
