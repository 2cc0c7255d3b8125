"""One node's part in a search: an engine that searches a slice at a time, reports, and borrows what others know."""

import time

from distmcts.cluster.members import ENDS
from distmcts.cluster.merging import Told, pack, unpack
from distmcts.cluster.messages import MAX_LINES, Ending, Others, Report, Search
from distmcts.cluster.rules import TABLE
from distmcts.engine import Engine
from distmcts.errors import InputError
from distmcts.parallel.stoppers import Progress
from distmcts.parallel.workers import signals_later
from distmcts.tree import view
from distmcts.tree.merge import merged
from distmcts.tree.share import NOTHING, Ledger, borrow, combine, own


class Part:
    """`name`: of the node, with its epoch. Outside of these methods the engine is at rest."""

    def __init__(self, engine: Engine, search: Search, job: str, name: tuple[str, int]):
        self.engine = engine
        self.search = search
        self.job = job
        self.name = name
        self.simulations = 0
        self.stopped_by = ""  # set when there is nothing left to search
        self._rule = TABLE[search.merge]
        self._ledger = Ledger()
        self._sequence = 0
        self._reported = time.perf_counter()
        self._borrowed = 0  # sequence of the last news
        self._began = time.perf_counter()
        self._searched_s = 0.0
        self._replaced = 0

    def begin(self) -> None:
        self._began = time.perf_counter()

    def run(self, seconds: float | None, simulations: int | None, on_progress) -> None:
        """Search for a slice."""
        done = self.simulations

        def show(progress: Progress) -> None:
            on_progress(done + progress.simulations)

        try:
            effort = self.engine.run(seconds=seconds, simulations=simulations, on_progress=show)
        finally:  # also after Ctrl-C: the trees are whole, and what is in them was searched
            self.simulations = self._own_visits()
        self._searched_s += effort.elapsed_s
        self._replaced += effort.replaced
        if effort.stopped_by in ENDS:
            self.stopped_by = effort.stopped_by

    def _own_visits(self) -> int:
        return sum(view.visits(tree) for tree in self.engine.trees) - self._ledger.borrowed.get((), NOTHING).visits

    def take(self, news: Others) -> None:
        """Borrow what the others have found."""
        if self._rule.exchanges and news.sequence > self._borrowed:
            self._borrowed = news.sequence
            told = unpack(news.statistics)
            with signals_later():  # a signal between tree and ledger would make what others found look like our own
                borrow(self.engine.trees[0], self._ledger, told)

    def report(self, stopped_by: str | None = None) -> Report:
        """All that was found so far; with a reason, it is the last one."""
        self._sequence += 1
        self._reported = time.perf_counter()
        trees = self.engine.trees
        proven = {str(child.move): child.proven for tree in trees for child in view.children(tree) if child.proven is not None}
        ending = None if stopped_by is None else self._ending(stopped_by)
        node, epoch = self.name
        return Report(self.job, node, epoch, self._sequence, pack(self._told()), proven, ending)

    @property
    def since_report_s(self) -> float:
        return time.perf_counter() - self._reported

    def _told(self) -> Told:
        """All moves at the root; with `share` also what is below much visited nodes. Schemes with many trees borrow nothing."""
        return combine(own(tree, self._ledger, self.search.share, self._rule.depth) for tree in self.engine.trees)

    def _ending(self, stopped_by: str) -> Ending:
        elapsed = time.perf_counter() - self._began
        best = [row.move for row in merged(self.engine.trees)[:MAX_LINES]]
        return Ending(
            stopped_by=stopped_by,
            elapsed_s=elapsed,
            replaced=self._replaced,
            nodes=self.engine.nodes_used(),
            bytes_used=self.engine.bytes_used(),
            merging_s=max(0.0, elapsed - self._searched_s),
            lines=list(self.engine.lines(best).values()),
            workers=self.engine.settings.scheme.workers_told(self.engine.settings.workers),
        )


def place_seed(seed: int, place: int) -> int:
    """The seed of one node's engine: nodes that are given the same seed still grow different trees."""
    from distmcts.kernels.rng import seeded

    if seed < 0:
        raise InputError(f"seed={seed}: must not be negative")
    return int(seeded(seed, place)[0] >> 1)
