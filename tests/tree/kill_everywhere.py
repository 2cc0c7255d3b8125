"""Kill a worker at every line of the kernels in turn, repair, audit. Run with the compiler off, by test_repair.py.

Usage: python -m tests.tree.kill_everywhere SCHEME STEP OFFSET GAME; prints how many kills were survived.
"""

import random
import sys

import numpy as np

from distmcts.game import Game
from distmcts.kernels.layout import (
    LOCK_FREE,
    NODE_LOCKS,
    ONE_LOCK,
    READ_NOTHING,
    READ_VIRTUAL_LOSS,
    ROOT_MOVER,
    Settings,
)
from distmcts.kernels.modes import ALONE, TOGETHER
from distmcts.kernels.rng import seeded
from distmcts.kernels.simulate import simulate
from distmcts.parallel.hosting import Host
from distmcts.registry import load_game
from distmcts.tree.audit import audit_tree, audit_workers
from distmcts.tree.plan import Needs, lay_out
from distmcts.tree.repair import release, repair
from distmcts.tree.view import visits
from tests.laws import check_values
from tests.python_games import DiceRace, Nim

SCHEMES = {
    "alone": (ALONE, LOCK_FREE, READ_NOTHING),
    "lockfree": (TOGETHER, LOCK_FREE, READ_VIRTUAL_LOSS),
    "node-locks": (TOGETHER, NODE_LOCKS, READ_VIRTUAL_LOSS),
    "global-lock": (TOGETHER, ONE_LOCK, READ_VIRTUAL_LOSS),
}


class Killed(Exception):
    pass


class KillAt:
    """A tracer that ends the run at the n-th line executed in the kernels."""

    def __init__(self, line: int):
        self.left = line

    def __call__(self, frame, event, argument):
        # An atomic operation is one instruction in truth: a kill falls before or after it. Copies of positions, of a thousand
        # words where rules are in Python, are nobody's business but the worker's.
        if "/kernels/" not in frame.f_code.co_filename or frame.f_code.co_filename.endswith(("atomics.py", "states.py")):
            return None
        return self.on_line

    def on_line(self, frame, event, argument):
        if event == "line":
            self.left -= 1
            if self.left < 0:
                raise Killed
        return self.on_line


class Bench:
    """A small tree with two workers, which can be put back to how it was."""

    def __init__(self, game: Game, scheme: str, grown: int):
        self.game = game
        self.mode, synchronisation, reading = SCHEMES[scheme]
        self.settings = Settings(1.4, reading, 1.0, -1, synchronisation)
        locks = synchronisation == NODE_LOCKS
        columns = frozenset(("players", "priors") if game.in_python else ())
        self.segment, arrays = lay_out(game, 1 << 20 if not game.in_python else 1 << 23, 2, 1, Needs(locks, columns), "private")
        self.shared, self.workers, (self.tree,), _ = arrays
        if game.in_python:
            self.host = Host(game, self.shared, self.workers, self.settings, frozenset())
            self.host.set_root(game.initial_state())
        else:
            self.shared.root_state[:] = game.initial_state()
        self.shared.control[ROOT_MOVER] = 1
        for i, worker in enumerate(self.workers):
            worker.rng[:] = seeded(3, i)
        for i in range(grown):
            self.simulate(i % 2)
        self.check((grown, grown))
        self.everything = np.frombuffer(self.segment._map, np.uint8)
        self.before = self.everything.copy()

    def simulate(self, worker: int) -> None:
        simulate(self.game, self.mode, self.tree, self.workers[worker], self.shared, self.settings)

    def put_back(self) -> None:
        self.everything[:] = self.before

    def killed_at(self, worker: int, line: int) -> bool:
        """Simulate with one worker until the line; whether it got killed."""
        sys.settrace(KillAt(line))
        try:
            self.simulate(worker)
            return False
        except Killed:
            return True
        finally:
            sys.settrace(None)

    def bury(self, dead: list[int], expected: tuple[int, int]) -> None:
        """Repair, then check all laws, then check that work can go on."""
        for i in dead:
            release(
                self.tree,
                self.shared,
                self.workers[i],
                self.mode is ALONE or self.settings.synchronisation != LOCK_FREE,
            )
        repair(self.tree, [self.workers[i] for i in dead])
        self.check(expected)
        before = visits(self.tree)
        self.simulate(0)
        self.check((before + 1, before + 1))

    def check(self, expected: tuple[int, int]) -> None:
        audit = audit_tree(self.tree).check()
        assert not audit_workers(self.shared, self.workers)
        assert expected[0] <= audit.visits <= expected[1], (expected, audit)
        if not self.game.has_chance:
            check_values(self.tree)


def one_death(bench: Bench, grown: int, step: int, offset: int) -> int:
    kills = 0
    line = offset
    while True:
        bench.put_back()
        if not bench.killed_at(0, line):
            return kills
        bench.bury([0], (grown, grown + 1))
        kills += 1
        line += step


def two_deaths(bench: Bench, grown: int, pairs: int) -> int:
    """The second worker runs on what the first has left, as living ones do until they are told to stop."""
    chooser = random.Random(5)
    kills = 0
    while kills < 2 * pairs:
        bench.put_back()
        if not bench.killed_at(0, chooser.randrange(700)):
            continue
        release(bench.tree, bench.shared, bench.workers[0], bench.settings.synchronisation != LOCK_FREE)
        if bench.killed_at(1, chooser.randrange(700)):
            bench.bury([0, 1], (grown, grown + 2))
            kills += 2
    return kills


# Without draws: every reward that is lost or doubled shows.
GAMES = {
    "hex": lambda: load_game("hex", size=4),
    "nim": lambda: load_game(Nim()),
    "dice_race": lambda: load_game(DiceRace()),
}


def main(scheme: str, step: int, offset: int, name: str) -> None:
    np.seterr(over="ignore")
    game = GAMES[name]()
    kills = 0
    for grown in (0, 3, 40):
        bench = Bench(game, scheme, grown)
        kills += one_death(bench, grown, step, offset)
        if scheme != "alone" and grown:
            kills += two_deaths(bench, grown, 60)
    print(kills)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
