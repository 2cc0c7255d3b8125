"""Kill a worker at every line of the kernels in turn, repair, audit. Run with the compiler off, by test_repair.py.

Usage: python -m tests.tree.kill_everywhere SCHEME VARIANT STEP OFFSET; prints how many kills were survived.
"""

import random
import sys
from typing import Any, NamedTuple

import numpy as np

from distmcts.demands import mode_of, needs_of
from distmcts.game import Game
from distmcts.kernels.layout import LOCK_FREE, ROOT_MOVER, TICKETS, simulation_of
from distmcts.kernels.rng import seeded
from distmcts.kernels.simulate import come_to_rest, simulate
from distmcts.parallel.hosting import Host
from distmcts.parallel.scheme import UNLIMITED
from distmcts.registry import load_game
from distmcts.settings import make_settings
from distmcts.tree.audit import audit_tree, audit_workers
from distmcts.tree.memory import lay_out
from distmcts.tree.repair import release, repair_after
from distmcts.tree.view import visits
from tests.support.dice_race import DiceRace
from tests.support.laws import check_chance, check_values
from tests.support.python_games import DiceRace as PythonDiceRace
from tests.support.python_games import Nim

SCHEMES: dict[str, dict[str, Any]] = {
    "alone": {"parallel": "serial"},
    "lockfree": {"parallel": "tree", "synchronisation": "lockfree"},
    "node-locks": {"parallel": "tree", "synchronisation": "node-locks"},
    "global-lock": {"parallel": "tree", "synchronisation": "global-lock"},
}
# An atomic operation is one instruction in truth: a kill falls before or after it. So is the read or write of a node's field.
# Copies of positions, of a thousand words where rules are in Python, are nobody's business but the worker's. And what is decided
# when kernels are compiled takes no time when they run.
WHOLE = ("atomics.py", "node.py", "states.py", "jit.py", "modes.py", "tags.py")


FEATURES = {
    "solver": True,
    "rave": 30,
    "first_play_urgency": 1.2,
    "widening": 1.5,
    "selection": "ucb1_tuned",
    "samples": 2,
    "cutoff": 3,
    "evaluation_cache": 4096,
}


class Variant(NamedTuple):
    """A game, and how it is searched."""

    game: Game
    settings: dict[str, Any]

    @property
    def is_certain(self) -> bool:
        """Players take turns and results are whole: then every reward that is lost or doubled shows."""
        return not self.game.has_chance and not {"cutoff", "solver"} & self.settings.keys()


VARIANTS = {
    "plain": Variant(load_game("hex", size=4), {}),
    "stay": Variant(load_game("hex", size=4), {"stay": 0.9}),
    "stay with chance": Variant(DiceRace(5), {"stay": 0.9}),
    "stay, solver": Variant(load_game("hex", size=3), {"stay": 0.9, "solver": True}),
    "stay, puct": Variant(DiceRace(5), {"stay": 0.9, "selection": "puct", "chance": "hashed"}),
    "python": Variant(load_game(Nim()), {}),
    "python with chance": Variant(load_game(PythonDiceRace()), {}),
    "enumerated": Variant(DiceRace(5), {}),
    "hashed": Variant(DiceRace(5), {"chance": "hashed", "chance_widening": 1.0}),
    "puct": Variant(DiceRace(5), {"selection": "puct", "solver": True}),
    "features": Variant(DiceRace(5), FEATURES),
    "stay, features": Variant(DiceRace(5), {**FEATURES, "stay": 0.9}),
}


class Killed(Exception):
    pass


class KillAt:
    """A tracer that ends the run at the n-th line executed in the kernels."""

    def __init__(self, line: int):
        self.left = line

    def __call__(self, frame, event, argument):
        if "/kernels/" not in frame.f_code.co_filename or frame.f_code.co_filename.endswith(WHOLE):
            return None
        return self.on_line

    def on_line(self, frame, event, argument):
        if event == "line":
            self.left -= 1
            if self.left < 0:
                self.strike()
        return self.on_line

    def strike(self) -> None:
        raise Killed


class Bench:
    """A small tree with two workers, which can be put back to how it was."""

    def __init__(self, variant: Variant, scheme: str, grown: int):
        self.game = game = variant.game
        self.is_certain = variant.is_certain
        settings = make_settings(c=1.4, workers=2, **SCHEMES[scheme], **variant.settings)
        self.mode = mode_of(game, settings)
        self.settings = settings.for_kernels()
        needs = needs_of(game, settings)
        self.segment, arrays = lay_out(game, 1 << 23 if game.in_python else 1 << 20, 2, 1, needs, "private")
        self.shared, self.workers, (self.tree,), _ = arrays
        if game.in_python:
            self.host = Host(game, self.shared, self.workers, self.settings, self.mode)
            self.host.set_root(game.initial_state())
        else:
            self.shared.root_state[:] = game.initial_state()
        self.shared.control[ROOT_MOVER] = 1
        self.shared.control[TICKETS] = UNLIMITED
        for i, worker in enumerate(self.workers):
            worker.rng[:] = seeded(3, i)
        for i in range(grown):
            self.simulate(i % 2)
        self.everything = np.frombuffer(self.segment._map, np.uint8)
        self.before = self.everything.copy()
        self.come_to_rest([0, 1])
        self.check((grown, grown))

    def simulate(self, worker: int) -> None:
        simulate(self.game, self.mode, self.tree, self.workers[worker], self.shared, self.settings)

    def come_to_rest(self, workers: list[int]) -> None:
        """What workers do before they stand still."""
        for i in workers:
            worker = self.workers[i]
            come_to_rest(self.game, self.mode, self.tree, worker, simulation_of(worker, 0), self.shared)

    def put_back(self) -> None:
        self.everything[:] = self.before

    def killed_at(self, worker: int, line: int) -> bool:
        """Simulate with one worker, and have it come to rest, until the line; whether it got killed."""
        sys.settrace(KillAt(line))
        try:
            self.simulate(worker)
            self.come_to_rest([worker])
            return False
        except Killed:
            return True
        finally:
            sys.settrace(None)

    def bury(self, dead: list[int], expected: tuple[int, int]) -> None:
        """Repair, then check all laws, then check that work can go on."""
        for i in dead:
            self.release(i)
        self.come_to_rest([i for i in range(2) if i not in dead])
        repair_after(self.tree, [self.workers[i] for i in dead])
        self.check(expected)
        before = visits(self.tree)
        for i in range(4):
            self.simulate(i % 2)
        self.come_to_rest([0, 1])
        self.check((before + 4, before + 4))

    def release(self, worker: int) -> None:
        release(self.tree, self.shared, self.workers[worker], plain_stores=self.mode.protocol != LOCK_FREE)

    def check(self, expected: tuple[int, int]) -> None:
        audit = audit_tree(self.tree).check()
        assert not audit_workers(self.shared, self.workers)
        assert expected[0] <= audit.visits <= expected[1], (expected, audit)
        if self.is_certain:
            check_values(self.tree)
        check_chance(self.tree)


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
        bench.release(0)
        if bench.killed_at(1, chooser.randrange(700)):
            bench.bury([0, 1], (grown, grown + 2))
            kills += 2
    return kills


def main(scheme: str, variant: str, step: int, offset: int) -> None:
    np.seterr(over="ignore")
    kills = 0
    for grown in (0, 3, 40):
        bench = Bench(VARIANTS[variant], scheme, grown)
        kills += one_death(bench, grown, step, offset)
        if scheme != "alone" and grown:
            kills += two_deaths(bench, grown, 60)
    print(kills)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
