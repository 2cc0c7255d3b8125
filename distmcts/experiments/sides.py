"""The sides of a match: what plays, with what budget. All matches are against serial search with the budget of one move."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from distmcts.engine import Engine
from distmcts.errors import InputError
from distmcts.experiments.config import CompareConfig
from distmcts.experiments.machines import BYTES_PER_SIMULATION, Machines
from distmcts.experiments.variants import ONE_SERIAL, Cell
from distmcts.game import CompiledGame
from distmcts.match.play import Choose
from distmcts.parallel.drive import Effort
from distmcts.parallel.names import SERIAL, SIMULATED
from distmcts.tree.segment import available_bytes, show_bytes

LEAST_MEMORY = 8 << 20
MEMORY_AT_TIME = 512 << 20  # unused pages cost nothing


@dataclass(frozen=True)
class Budget:
    """Of one move."""

    simulations: int | None = None
    seconds: float | None = None

    @property
    def memory(self) -> int:
        return MEMORY_AT_TIME if self.simulations is None else max(LEAST_MEMORY, self.simulations * BYTES_PER_SIMULATION)


def check_memory(config: CompareConfig) -> None:
    """Refuse budgets that will not fit, before hours are spent on the way to them."""
    asked = {
        "budgets.simulations": config.budgets.simulations * max(1.0, *config.matches.factors, 1.0),
        "speed.simulations": config.speed.simulations,
        "quality.reference_simulations": config.quality.reference_simulations,
        "simulated_workers.simulations": config.simulated_workers.simulations,
        "simulated_machines.simulations": config.simulated_machines.simulations,
    }
    for key, simulations in asked.items():
        needed = Budget(simulations=int(simulations)).memory
        if needed > available_bytes():
            raise InputError(f"{key}: {simulations:,.0f} simulations take {show_bytes(needed)}, more memory than is free")


@dataclass(frozen=True)
class Side:
    """One side of a match, and the group of the report it belongs to."""

    group: str  # "cells", "curve", "simulated_workers" or "simulated_machines"
    name: str
    budget: Budget
    settings: tuple[tuple[str, Any], ...]
    at: str = "simulations"
    cell: Cell | None = None
    factor: float = 1.0
    machines: int = 0  # 0: one engine
    opponent_c: float = 2**0.5
    opponent: Budget = Budget()

    @property
    def match(self) -> str:
        return f"{self.group}/{self.at}/{self.name}"


def sides(config: CompareConfig, tuned: dict[str, float]) -> list[Side]:
    """Every side that plays a match, in the order of the report. `tuned`: c by name of scheme."""
    found: list[Side] = []
    base = {"time": Budget(seconds=config.budgets.seconds), "simulations": Budget(simulations=config.budgets.simulations)}
    serial_c = tuned[ONE_SERIAL.variant.name]
    if config.matches.pairs:
        for at in config.matches.at:
            for factor in config.matches.factors:
                found.append(_serial_with(factor, at, base[at], serial_c))
            for cell in config.cells():
                if cell != ONE_SERIAL:
                    settings = {**cell.settings(), "c": tuned[cell.variant.name]}
                    found.append(
                        Side("cells", cell.name, base[at], tuple(settings.items()), at, cell, 1.0, 0, serial_c, base[at])
                    )
    found.extend(_simulated_workers(config))
    found.extend(_simulated_machines(config))
    return found


def _serial_with(factor: float, at: str, base: Budget, c: float) -> Side:
    budget = (
        Budget(seconds=base.seconds * factor) if at == "time" else Budget(simulations=max(1, round(base.simulations * factor)))
    )
    settings = (("parallel", SERIAL), ("workers", 1), ("c", c))
    return Side("curve", f"{SERIAL} with {factor:g} times the budget", budget, settings, at, None, factor, 0, c, base)


def _simulated_workers(config: CompareConfig) -> Iterator[Side]:
    section = config.simulated_workers
    budget = Budget(simulations=section.simulations)
    for reading in section.readings if section.pairs else ():
        for workers in section.workers:
            settings = {"parallel": SIMULATED, "workers": workers, "in_flight": reading, "c": section.c}
            name = f"{workers} simulated workers, {reading}"
            yield Side("simulated_workers", name, budget, tuple(settings.items()), opponent_c=section.c, opponent=budget)


def _simulated_machines(config: CompareConfig) -> Iterator[Side]:
    section = config.simulated_machines
    budget = Budget(simulations=section.simulations)
    for rule in section.rules if section.pairs else ():
        for machines in section.machines:
            every = max(1, section.simulations // machines // section.merges)
            settings = {"rule": rule, "workers": section.workers, "merge_every": every, "c": section.c}
            name = f"{machines} simulated machines, {rule}"
            yield Side(
                "simulated_machines",
                name,
                budget,
                tuple(settings.items()),
                machines=machines,
                opponent_c=section.c,
                opponent=budget,
            )


class Spent:
    """What the moves of a side really took: a budget in seconds is only nearly kept."""

    def __init__(self):
        self.moves = 0
        self.seconds = 0.0
        self.simulations = 0

    def add(self, effort: Effort) -> None:
        self.moves += 1
        self.seconds += effort.elapsed_s
        self.simulations += effort.simulations

    def per_move(self) -> dict[str, float]:
        moves = max(1, self.moves)
        return {"seconds": self.seconds / moves, "simulations": self.simulations / moves}


@contextmanager
def player(game: CompiledGame, side: Side, seed: int, spent: Spent) -> Iterator[Choose]:
    """What chooses the moves of a side. Owns its engines."""
    settings = dict(side.settings)
    if side.machines:
        with Machines(game, machines=side.machines, seed=seed, **settings) as machines:
            yield lambda state: machines.choose(state, side.budget.simulations)
    else:
        with engine_player(game, side.budget, seed, settings, spent) as choose:
            yield choose


@contextmanager
def opponent(game: CompiledGame, side: Side, seed: int, spent: Spent) -> Iterator[Choose]:
    settings = {"parallel": SERIAL, "workers": 1, "c": side.opponent_c}
    with engine_player(game, side.opponent, seed, settings, spent) as choose:
        yield choose


@contextmanager
def engine_player(game: CompiledGame, budget: Budget, seed: int, settings: dict[str, Any], spent: Spent) -> Iterator[Choose]:
    with Engine(game, memory=budget.memory, seed=seed, **settings) as engine:

        def choose(state) -> int:
            engine.set_position(state)
            spent.add(engine.run(simulations=budget.simulations, seconds=budget.seconds))
            return engine.best_move()

        yield choose
