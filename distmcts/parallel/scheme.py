"""What every parallel scheme answers, so that one loop (drive.py) can run them all."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

import numpy as np

from distmcts.errors import GameError
from distmcts.game import Game, State
from distmcts.kernels.layout import (
    ALONE,
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
    NODE_LOCKS,
    ONE_LOCK,
    PAUSE,
    SHARING,
    TAKEN,
    TICKETS,
    TOO_MANY_MOVES,
    Settings,
    Tree,
    Worker,
)
from distmcts.kernels.modes import Mode
from distmcts.parallel.hosting import Host
from distmcts.parallel.workers import Loop
from distmcts.tree import view
from distmcts.tree.memory import Arrays
from distmcts.tree.repair import release, repair_after

BREACHES = {
    NO_MOVES: "no legal moves, but not over,",
    MOVE_OUT_OF_RANGE: "a move is outside 0 to {game.move_limit} - 1",
    TOO_MANY_MOVES: "writes beyond the end of a buffer: more than max_moves={game.max_moves} or max_outcomes={game.max_outcomes}",
    BAD_PROBABILITIES: "probabilities do not sum to 1",
    BAD_RESULTS: "a result is not a number, or results do not sum to 0 as the solver needs them to,",
    KEY_OUT_OF_RANGE: "a RAVE key is outside 0 to {game.rave_keys} - 1",
    NO_END: "a playout does not end; it is",
}
SCHEMES: dict[str, type["Scheme"]] = {}  # by name
UNLIMITED = 1 << 60  # tickets of a search that ends by time


class Scheme(ABC):
    """One way to use many workers. Knows the kernels and the arrays; owns nothing.

    A subclass with a name registers itself: it can be asked for by that name from then on. schemes.py finds those in this folder.
    """

    name: str
    in_process = False  # runs in the caller's own process, without workers
    protocols: tuple[str, ...] = (ALONE,)  # how workers may write to a tree (kernels/layout.py), by default the first
    is_delayed = False  # several simulations of one worker are under way at a time
    choices: tuple[str, ...] = ()  # settings that make variants of it worth comparing
    has_many_trees = False  # one for each worker; they can vote, and borrow nothing from other machines

    def __init_subclass__(cls, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        if "name" in vars(cls):
            SCHEMES[cls.name] = cls

    def __init__(self, game: Game, arrays: Arrays, settings: Settings, mode: Mode):
        self.game = game
        self.mode = mode
        self.shared = arrays.shared
        self.workers = arrays.workers
        self.trees = arrays.trees
        self.settings = settings
        self._host = Host(game, self.shared, self.workers, settings, mode) if game.in_python else None

    @classmethod
    def protocol(cls, synchronisation: str) -> str:
        """The protocol for what the user asks for; a scheme that knows only one keeps to it."""
        return synchronisation if synchronisation in cls.protocols else cls.protocols[0]

    @classmethod
    def shares_trees(cls) -> bool:
        """Whether a tree has more than one writer, who see what the others have under way."""
        return cls.protocols[0] in SHARING

    @classmethod
    def takes_locks(cls, synchronisation: str) -> bool:
        return cls.protocol(synchronisation) in (NODE_LOCKS, ONE_LOCK)

    @classmethod
    def worker_count(cls, workers: int) -> int:
        """How many workers there are when the user asks for so many."""
        return 1 if cls.in_process else workers

    @classmethod
    def simulations_under_way(cls, workers: int) -> int:
        """How many simulations a worker has under way at a time when the user asks for so many workers."""
        return workers if cls.is_delayed else 1

    @classmethod
    def workers_told(cls, workers: int) -> int:
        """How many workers a result speaks of, simulated ones among them."""
        return cls.worker_count(workers) * cls.simulations_under_way(workers)

    @classmethod
    def tree_count(cls, workers: int) -> int:
        return workers if cls.has_many_trees else 1

    def set_root(self, state: State) -> None:
        """Search from this position. Of a game in Python, only workers that start from now on know it."""
        if self._host:
            self._host.set_root(state)
        else:
            self.shared.root_state[:] = state

    def close(self) -> None:
        if self._host:
            self._host.close()

    @abstractmethod
    def loop(self, index: int) -> Loop:
        """The kernel that a worker runs, ready to be called. It must read arrays, never replace them."""

    def guarded_loop(self, index: int) -> Loop:
        """The same; it raises what rules in Python have raised."""
        loop = self.loop(index)
        return self._host.guarded(loop, index) if self._host else loop

    def tree_of(self, index: int) -> Tree:
        """The tree a worker writes to."""
        return self.trees[index if self.has_many_trees else 0]

    def deal(self, wanted: int | None) -> None:
        """Set out tickets for so many simulations (None: as many as time allows). All workers stand still."""
        self.shared.control[TICKETS] = UNLIMITED if wanted is None else wanted
        for worker in self.workers:
            worker.simulations.journal[:, TAKEN] = 0

    def compile(self) -> None:
        """Have every kernel compiled or loaded, by running it with nothing to do."""
        self.shared.control[PAUSE] = 1
        self.shared.control[TICKETS] = 0
        for index in self._kinds():
            self.loop(index)(1)

    def _kinds(self) -> Iterable[int]:
        """Workers that stand for all: each different kernel is run by one of them."""
        return range(1)

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
        plain_stores = self.mode.protocol != LOCK_FREE
        release(self.tree_of(index), self.shared, self.workers[index], plain_stores)

    def repair(self, dead: list[int]) -> None:
        """Finish or take back what dead workers were doing. Nobody else writes to their trees now."""
        for tree in self.trees:
            workers: list[Worker] = [self.workers[i] for i in dead if self.tree_of(i) is tree]
            if workers:
                repair_after(tree, workers)

    def resume(self, index: int) -> bool:
        """Make a replaced worker ready to go on while the others are working; False: it waits until all are sent out."""
        return False

    def pauses_for_repair(self) -> bool:
        """Whether the living must stand still while a dead worker's tree is repaired."""
        return True
