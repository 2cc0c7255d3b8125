"""Many machines simulated on one core: each has a tree of its own, searched by simulated workers. Deterministic with a seed.

Their trees become one move by the merge rules of real clusters (cluster/rules.py).
"""

import os
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

from distmcts.budget import MAX_SIMULATIONS
from distmcts.cluster.merging import best_first
from distmcts.cluster.rules import DEFAULT_RULE, TABLE, check_rule
from distmcts.engine import Engine
from distmcts.errors import InputError, SearchError, unknown
from distmcts.game import State
from distmcts.kernels.rng import seeded
from distmcts.parallel.names import SIMULATED
from distmcts.registry import load_game
from distmcts.settings import make_settings
from distmcts.tree.merge import MergedMove
from distmcts.tree.share import SHARE, Ledger, borrow, combine, families, own, own_root, without

SETTINGS = (
    "c",
    "cutoff",
    "in_flight",
    "weight",
)  # settings of an engine that may be given; the others are ours, or end a search early
MERGES = 10  # in one search, if nothing else is asked for
MAX_MACHINES = 4096

FIRST_ROOM = 4096  # simulations a machine has memory for, until more are asked for
FIXED_BYTES = 1 << 20  # what an engine needs beside its nodes, generously
BYTES_PER_SIMULATION = 160  # twice the worst case: two places for each node


class Row(NamedTuple):
    """One move at the root, all machines together."""

    move: int
    visits: int
    value: float


class Machines:
    """Searches one position after another. Owns engines: use it with `with`, or call `close`."""

    def __init__(
        self,
        game: Any,
        machines: int = 8,
        workers: int = 1,
        rule: str = DEFAULT_RULE,
        merge_every: int | None = None,
        share: float = SHARE,
        seed: int | None = None,
        **settings: Any,
    ):
        """`merge_every`: simulations of its own a machine makes between two exchanges; None: ten exchanges a search."""
        self._engines: list[Engine] = []
        check_rule(rule)
        for key in settings:
            if key not in SETTINGS:
                raise unknown("setting of simulated machines", key, SETTINGS)
        self.machines = _whole("machines", machines, MAX_MACHINES)
        self.merge_every = None if merge_every is None else _whole("merge_every", merge_every, MAX_SIMULATIONS)
        if not isinstance(share, (int, float)) or not 0 <= share <= 1:
            raise InputError(f"share={share!r}: must be a number from 0 to 1")
        make_settings(workers=workers, seed=seed, **settings)  # so that errors come now rather than at the first search
        self.rule = rule
        self.share = share
        self.game = load_game(game)
        self._seed = int.from_bytes(os.urandom(6), "little") if seed is None else seed
        self._settings = {"parallel": SIMULATED, "workers": workers, **settings}
        self._room = 0
        self._make_room(FIRST_ROOM)

    def choose(self, state: State | str, simulations: int) -> int:
        """The move for a position, after so many simulations of all machines together. Blocks."""
        return self._search(state, simulations)[0].move

    def search(self, state: State | str, simulations: int) -> list[Row]:
        """The moves, best first; their visits are exactly the simulations asked for. Blocks."""
        return [Row(row.move, row.visits, row.value) for row in self._search(state, simulations)]

    def _search(self, state: State | str, simulations: int) -> list[MergedMove]:
        self._alive()
        each, left = divmod(_whole("simulations", simulations, MAX_SIMULATIONS), self.machines)
        budgets = [each + (index < left) for index in range(self.machines)]
        self._make_room(budgets[0])
        for engine in self._engines:
            engine.set_position(state)
        ledgers = [Ledger() for _ in self._engines]
        for start, stop in pairwise(self._stops(budgets[0])):
            if start:
                self._exchange(ledgers)
            for engine, budget in zip(self._engines, budgets, strict=True):
                if min(stop, budget) > start:
                    engine.run(simulations=min(stop, budget) - start)
        return self._together(ledgers)

    def _stops(self, budget: int) -> Iterator[int]:
        """After how many simulations of its own a machine pauses: 0, each exchange, the end."""
        yield 0
        if TABLE[self.rule].exchanges and self.machines > 1:
            if self.merge_every is not None:
                yield from range(self.merge_every, budget, self.merge_every)
            else:
                parts = MERGES + 1
                yield from sorted({budget * part // parts for part in range(1, parts)} - {0})
        yield budget

    def _exchange(self, ledgers: list[Ledger]) -> None:
        trees = [engine.trees[0] for engine in self._engines]
        depth = TABLE[self.rule].depth
        share = self.share if depth is None else 0.0
        reports = [own(tree, ledger, share, depth) for tree, ledger in zip(trees, ledgers, strict=True)]
        total = combine(reports)
        below = families(total)
        for tree, ledger, report in zip(trees, ledgers, reports, strict=True):
            borrow(tree, ledger, without(total, report, share, below))

    def _together(self, ledgers: list[Ledger]) -> list[MergedMove]:
        """The moves of all machines added up, own simulations only, best first."""
        found: dict[int, MergedMove] = {}
        for engine, ledger in zip(self._engines, ledgers, strict=True):
            for row in own_root(engine.trees[0], ledger):
                before = found.get(row.move, MergedMove(row.move, 0, 0, 0))
                found[row.move] = MergedMove(
                    row.move, before.visits + row.visits, before.value_sum + row.value_sum, before.votes + row.votes
                )
        return best_first(found.values(), self.rule)

    def _make_room(self, simulations: int) -> None:
        """Engines with memory for so many simulations each. Those that have it are kept, with their random streams."""
        if simulations <= self._room:
            return
        room = max(simulations, 2 * self._room)
        self.close()
        memory = FIXED_BYTES + BYTES_PER_SIMULATION * room
        try:
            for index in range(self.machines):
                seed = machine_seed(self._seed, index)
                self._engines.append(Engine(self.game, memory=memory, seed=seed, **self._settings))
        except BaseException:
            self.close()
            raise
        self._room = room

    def _alive(self) -> None:
        if not self._engines:
            raise SearchError("these machines are closed")

    def close(self) -> None:
        """Give the memory back. Can be called twice."""
        for engine in self._engines:
            engine.close()
        self._engines = []
        self._room = 0

    def __enter__(self) -> "Machines":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def machine_seed(seed: int, index: int) -> int:
    """The seed of one machine's engine."""
    return int(seeded(seed, index)[0])


def _whole(key: str, value: Any, largest: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= largest:
        raise InputError(f"{key}={value!r}: must be a whole number from 1 to {largest}")
    return value
