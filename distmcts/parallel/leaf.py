"""`leaf`: worker 0 walks the tree, all workers play out from the leaf it found. n workers make n simulations of each leaf."""

from distmcts.kernels.layout import ANSWER_WORDS, IDLE, ROUND, ROUNDS_CLOSED, STAGE, Tree
from distmcts.kernels.rounds import follow, lead
from distmcts.parallel.scheme import Scheme
from distmcts.parallel.workers import Job

LEADER = 0


class Leaf(Scheme):
    name = "leaf"

    def tree_of(self, index: int) -> Tree:
        return self.trees[0]

    def jobs(self, index: int) -> dict[str, Job]:
        worker = self.workers[index]
        if index == LEADER:
            arguments = (self.game, self.mode, self.trees[0], worker, self.shared, self.settings, len(self.workers))
            return {"lead": lambda length: lead(*arguments, length)}
        return {"follow": lambda length: follow(self.game, self.mode, worker, self.shared, self.settings, length)}

    def job_of(self, index: int) -> str:
        return "lead" if index == LEADER else "follow"

    def compile(self) -> None:
        self.shared.control[ROUND] = ROUNDS_CLOSED
        super().compile()

    def deal(self, wanted: int | None) -> None:
        super().deal(wanted)
        # A round that was given up keeps its number for ever: who has answered it must not seem to have answered the next.
        self.shared.answers[0] = self.shared.answers[::ANSWER_WORDS].max()
        self.shared.control[ROUND] = 0

    def release(self, index: int) -> None:
        super().release(index)
        if index == LEADER:
            self.shared.control[ROUND] = ROUNDS_CLOSED  # the others are waiting for it

    def repair(self, dead: list[int]) -> None:
        # The leader gives up its simulation when another dies; what it leaves is the same as if it had died itself.
        if self.workers[LEADER].slot[STAGE] != IDLE and LEADER not in dead:
            self.release(LEADER)
            dead = [LEADER, *dead]
        super().repair(dead)
