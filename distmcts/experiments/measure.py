"""Carrying out one unit: a search, or a pair of games, and the record of it."""

import time
from functools import cached_property

from distmcts.engine import Engine
from distmcts.experiments.config import CompareConfig
from distmcts.experiments.oracle import regret
from distmcts.experiments.positions import midgame, openings, solved_positions
from distmcts.experiments.sides import LEAST_MEMORY, Budget, Side, Spent, opponent, player, sides
from distmcts.experiments.units import Answer, Endgame, Pair, Reference, Speed, Tune, Unit, seed_of
from distmcts.experiments.variants import ONE_SERIAL, Cell
from distmcts.game import State
from distmcts.match.play import play_pair
from distmcts.parallel.names import SIMULATED
from distmcts.records import Record
from distmcts.registry import load_game
from distmcts.tree.overlap import duplicated_share

NODE_LIMIT = 5_000  # positions the oracle looks at for one solved position: some tenths of a second


class Measurements:
    """Carries out units of one configuration. Positions are found once, from the run's seed."""

    def __init__(self, config: CompareConfig):
        self.config = config
        self.game = load_game(config.game, **config.game_parameters)
        self._sides: dict[str, Side] | None = None

    # ---- where it is measured ---------------------------------------------------------------------------------------------

    @cached_property
    def positions(self) -> list[State]:
        """Positions of random games, for agreement with a long search: first those of quality, then those of tuning."""
        count = self.config.quality.positions + (self.config.tuning.positions if self.config.tuning.c else 0)
        return midgame(self.game, count, seed_of(self.config.seed, "positions")) if count else []

    @cached_property
    def solved(self) -> list[tuple[State, dict[int, float]]]:
        """Positions near the end, with the exact value of every move; none for games of chance, which the oracle cannot solve."""
        count = 0 if self.game.has_chance else self.config.quality.solved
        return solved_positions(self.game, count, seed_of(self.config.seed, "solved"), NODE_LIMIT) if count else []

    @cached_property
    def openings(self) -> list[State]:
        """One for each pair of a match; if the game has too few, they are used again."""
        config = self.config
        count = max(config.matches.pairs, config.simulated_workers.pairs, config.simulated_machines.pairs)
        return openings(self.game, count, config.matches.opening_plies, seed_of(config.seed, "openings")) or [
            self.game.initial_state()
        ]

    @cached_property
    def speed_positions(self) -> list[State]:
        """The start, then positions of random games."""
        return [self.game.initial_state(), *midgame(self.game, self.config.speed.positions, seed_of(self.config.seed, "speed"))]

    def compile(self) -> None:
        """Have every kernel compiled that will be needed, so that no unit has to wait for it. Blocks."""
        kinds = {cell.variant.settings for cell in self.config.cells()}
        if self.config.simulated_workers.pairs or self.config.simulated_machines.pairs:
            kinds.add((("parallel", SIMULATED),))
        for kind in sorted(kinds):
            Engine(self.game, workers=1, memory=LEAST_MEMORY, **dict(kind)).close()

    # ---- units ------------------------------------------------------------------------------------------------------------

    def measure(self, unit: Unit, tuned: dict[str, float]) -> Record:
        """Blocks while the unit is carried out. `tuned`: c of every scheme, as far as it is known (plan.tuned_c)."""
        start = time.perf_counter()
        match unit:
            case Tune():
                found = self._tune(unit)
            case Reference():
                found = self._reference(unit)
            case Speed():
                found = self._speed(unit, tuned)
            case Answer():
                found = self._answer(unit, tuned)
            case Endgame():
                found = self._endgame(unit, tuned)
            case Pair():
                found = self._pair(unit, tuned)
        return {"unit": unit.name, **found, "took_s": round(time.perf_counter() - start, 4)}

    def _choose(self, cell: Cell, state: State, budget: Budget, c: float, seed: int) -> int:
        with Engine(self.game, state, memory=budget.memory, c=c, seed=seed, **cell.settings()) as engine:
            engine.run(simulations=budget.simulations, seconds=budget.seconds)
            return engine.best_move()

    def _tune(self, unit: Tune) -> Record:
        budget = Budget(simulations=self.config.budgets.simulations)
        seed = seed_of(self.config.seed, unit.name)
        move = self._choose(unit.cell, self.positions[unit.position], budget, unit.c, seed)
        return {"kind": "tune", "scheme": unit.cell.variant.name, "c": unit.c, "position": unit.position, "move": move}

    def _reference(self, unit: Reference) -> Record:
        state = self.positions[unit.position]
        budget = Budget(simulations=self.config.quality.reference_simulations)
        move = self._choose(ONE_SERIAL, state, budget, self.config.c, seed_of(self.config.seed, unit.name))
        return {"kind": "reference", "position": unit.position, "text": self.game.format(state), "move": move}

    def _speed(self, unit: Speed, c: dict[str, float]) -> Record:
        simulations = self.config.speed.simulations
        settings = {**unit.cell.settings(), "c": c[unit.cell.variant.name], "seed": seed_of(self.config.seed, unit.name)}
        memory = Budget(simulations=simulations).memory
        with Engine(self.game, self.speed_positions[unit.position], memory=memory, **settings) as engine:
            engine.search(simulations=max(1, simulations // 100))  # workers are up and caches warm
            with engine.sampler() as sampler:
                result = engine.search(simulations=simulations)
            return {
                "kind": "speed",
                "cell": unit.cell.name,
                "position": unit.position,
                "repeat": unit.repeat,
                "rate": result.simulations_per_second,
                "bytes_per_simulation": result.bytes_per_simulation,
                "duplicated": duplicated_share(engine.trees),
                "stages": sampler.shares(),
            }

    def _answer(self, unit: Answer, c: dict[str, float]) -> Record:
        budgets = self.config.budgets
        budget = Budget(seconds=budgets.seconds) if unit.at == "time" else Budget(simulations=budgets.simulations)
        seed = seed_of(self.config.seed, unit.name)
        move = self._choose(unit.cell, self.positions[unit.position], budget, c[unit.cell.variant.name], seed)
        return {"kind": "answer", "cell": unit.cell.name, "at": unit.at, "position": unit.position, "move": move}

    def _endgame(self, unit: Endgame, c: dict[str, float]) -> Record:
        state, values = self.solved[unit.position]
        budget = Budget(simulations=self.config.quality.solved_simulations)
        seed = seed_of(self.config.seed, unit.name)
        move = self._choose(unit.cell, state, budget, c[unit.cell.variant.name], seed)
        text = self.game.format(state)
        return {"kind": "endgame", "cell": unit.cell.name, "text": text, "move": move, "regret": regret(values, move)}

    def _pair(self, unit: Pair, tuned: dict[str, float]) -> Record:
        if self._sides is None:
            self._sides = {side.match: side for side in sides(self.config, tuned)}
        side = self._sides[unit.match]
        opening = self.openings[unit.number % len(self.openings)]
        seed = seed_of(self.config.seed, unit.name)
        own, other = Spent(), Spent()
        with player(self.game, side, seed, own) as first, opponent(self.game, side, seed + 1, other) as second:
            games = play_pair(self.game, opening, first, second, seed)
        return {
            "kind": "pair",
            "match": unit.match,
            "number": unit.number,
            "opening": self.game.format(opening),
            "scores": [played.score for played in games],
            "moves": [played.moves for played in games],
            **({"per_move": [own.per_move(), other.per_move()]} if side.at == "time" else {}),
        }
