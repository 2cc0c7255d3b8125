"""What every parallel scheme answers, so that one loop (drive.py) can run them all."""

from abc import ABC, abstractmethod

import numpy as np

from distmcts.errors import GameError
from distmcts.game import Game, State
from distmcts.kernels.layout import (
    BAD_PROBABILITIES,
    BAD_RESULTS,
    BREACH,
    FINE,
    FINISHED,
    KEY_OUT_OF_RANGE,
    LOCK_FREE,
    MOVE_OUT_OF_RANGE,
    NO_END,
    NO_MOVES,
    PAUSE,
    TAKEN,
    TICKETS,
    TOO_MANY_MOVES,
    Settings,
    Tree,
    Worker,
)
from distmcts.kernels.modes import ALONE, TOGETHER, with_features
from distmcts.parallel.hosting import Host
from distmcts.parallel.workers import Job
from distmcts.tree import view
from distmcts.tree.plan import Arrays
from distmcts.tree.repair import release, repair

BREACHES = {
    NO_MOVES: "no legal moves, but not over,",
    MOVE_OUT_OF_RANGE: "a move is outside 0 to {game.move_limit} - 1",
    TOO_MANY_MOVES: "writes beyond the end of a buffer: more than max_moves={game.max_moves} or max_outcomes={game.max_outcomes}",
    BAD_PROBABILITIES: "probabilities do not sum to 1",
    BAD_RESULTS: "a result is not a number, or results do not sum to 0 as the solver needs them to,",
    KEY_OUT_OF_RANGE: "a RAVE key is outside 0 to {game.rave_keys} - 1",
    NO_END: "a playout does not end; it is",
}
UNLIMITED = 1 << 60  # tickets of a search that ends by time


class Scheme(ABC):
    """One way to use many workers. Knows the kernels and the arrays; owns nothing."""

    name: str
    in_process = False  # runs in the caller's own process, without workers
    alone = True  # each tree has one writer

    def __init__(self, game: Game, arrays: Arrays, settings: Settings, features: frozenset[str] = frozenset()):
        self.game = game
        self.mode = with_features(ALONE if self.alone else TOGETHER, features)
        self.shared = arrays.shared
        self.workers = arrays.workers
        self.trees = arrays.trees
        self.settings = settings
        self._host = Host(game, self.shared, self.workers, settings, features) if game.in_python else None

    def set_root(self, state: State) -> None:
        """Search from this position. Of a game in Python, only workers that start from now on know it."""
        if self._host:
            self._host.set_root(state)
        else:
            self.shared.root_state[:] = state

    def close(self) -> None:
        if self._host:
            self._host.close()

    @staticmethod
    def tree_count(workers: int) -> int:
        return 1

    @abstractmethod
    def jobs(self, index: int) -> dict[str, Job]:
        """The kernels a worker will be asked to run, ready to be called. They must read arrays, never replace them."""

    def guarded_jobs(self, index: int) -> dict[str, Job]:
        """The same; they raise what rules in Python have raised."""
        jobs = self.jobs(index)
        return {name: self._host.guarded(job, index) for name, job in jobs.items()} if self._host else jobs

    @abstractmethod
    def tree_of(self, index: int) -> Tree:
        """The tree a worker writes to."""

    def job_of(self, index: int) -> str:
        return "simulate"

    def deal(self, wanted: int | None) -> None:
        """Set out tickets for so many simulations (None: as many as time allows). All workers stand still."""
        self.shared.control[TICKETS] = UNLIMITED if wanted is None else wanted
        for worker in self.workers:
            worker.slot[TAKEN] = 0

    def compile(self) -> None:
        """Have every kernel compiled or loaded, by running it with nothing to do."""
        self.shared.control[PAUSE] = 1
        self.shared.control[TICKETS] = 0
        done = set()
        for index in range(len(self.workers)):
            for name, job in self.jobs(index).items():
                if name not in done:
                    job(1)
                    done.add(name)

    # ---- counting ---------------------------------------------------------------------------------------------------------

    def visits(self) -> int:
        """Simulations in the trees, exactly, when all workers stand still."""
        return sum(view.visits(tree) for tree in self.trees)

    def finished(self) -> int:
        """Simulations finished in this search, as the workers tell it: good enough to show."""
        return int(np.sum([worker.slot[FINISHED] for worker in self.workers]))

    def reset_counters(self) -> None:
        for worker in self.workers:
            worker.slot[FINISHED] = 0

    # ---- when the game is broken ------------------------------------------------------------------------------------------

    def breach(self, index: int) -> GameError:
        """What a worker found wrong with the game, and where."""
        worker = self.workers[index]
        state = worker.state.copy()
        try:
            position = self.game.format(state)
        except Exception:  # a game that is broken may not be able to say where
            position = " ".join(f"{int(word):x}" for word in state)
        what = BREACHES[int(worker.slot[BREACH])].format(game=self.game)
        worker.slot[BREACH] = FINE
        return GameError(f"{self.game.name}: {what} in position {position!r}; `distmcts games check` tests a game")

    # ---- after a death ----------------------------------------------------------------------------------------------------

    def release(self, index: int) -> None:
        """Free what a dead worker holds, at once."""
        plain_stores = self.alone or self.settings.synchronisation != LOCK_FREE
        release(self.tree_of(index), self.shared, self.workers[index], plain_stores)

    def repair(self, dead: list[int]) -> None:
        """Finish or take back what dead workers were doing. Nobody else writes to their trees now."""
        for tree in self.trees:
            workers: list[Worker] = [self.workers[i] for i in dead if self.tree_of(i) is tree]
            if workers:
                repair(tree, workers)

    def resume(self, index: int) -> bool:
        """Make a replaced worker ready to go on while the others are working; False: it waits until all are sent out."""
        return False

    def pauses_for_repair(self) -> bool:
        """Whether the living must stand still while a dead worker's tree is repaired."""
        return True
