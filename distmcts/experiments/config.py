"""What to compare, as the user asks for it: keys, defaults, limits. A section with a count of 0 is left out."""

from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from distmcts.cluster.rules import check_rule
from distmcts.configuration import Section, validated
from distmcts.errors import unknown
from distmcts.experiments.variants import Cell, Variant, cells, parse_variant
from distmcts.match.sprt import Sprt
from distmcts.parallel.names import LEAF, ROOT, SERIAL, TREE
from distmcts.settings import MAX_WORKERS, READINGS

Count = Annotated[int, Field(ge=0, le=1_000_000)]
Simulations = Annotated[int, Field(ge=1, le=10**10)]
Seconds = Annotated[float, Field(gt=0, le=3600, allow_inf_nan=False)]
Exploration = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Workers = Annotated[int, Field(ge=1, le=MAX_WORKERS)]


class _Section(Section):
    @field_validator("*")
    @classmethod
    def _once(cls, value: Any) -> Any:
        """What stands twice in a list would be measured twice and count as twice the evidence."""
        return tuple(dict.fromkeys(value)) if isinstance(value, tuple) else value


class Budgets(_Section):
    """Of one move, in quality and matches."""

    simulations: Simulations = 2_000
    seconds: Seconds = 0.02


class Speed(_Section):
    positions: Count = 2
    repeats: Count = 5
    simulations: Simulations = 100_000


class Quality(_Section):
    positions: Count = 30  # of random games; agreement with a long serial search is measured there
    reference_simulations: Simulations = 100_000
    solved: Count = 30  # endgames with exact values; regret is measured there
    solved_simulations: Simulations = 50  # few: with more, every scheme finds the best move of a small endgame
    at: tuple[Literal["time", "simulations"], ...] = ("time", "simulations")


class Tuning(_Section):
    c: tuple[Exploration, ...] = ()  # values to try for every scheme; none: c is not tuned
    positions: Count = 30  # of random games, not those of quality: what was chosen there would look too good there


class Matches(_Section):
    pairs: Count = 40  # at most; the sequential test may end a match before
    least_pairs: Annotated[int, Field(ge=1)] = 10
    opening_plies: Count = 4
    elo0: float = 0.0
    elo1: float = 60.0
    factors: tuple[Annotated[float, Field(gt=0, le=1024)], ...] = (0.5, 2.0)  # times serial's budget, to calibrate strength
    at: tuple[Literal["time", "simulations"], ...] = ("time", "simulations")

    @field_validator("factors")
    @classmethod
    def _not_one(cls, factors: tuple[float, ...]) -> tuple[float, ...]:
        return tuple(factor for factor in factors if factor != 1)  # Elo 0 by definition

    @model_validator(mode="after")
    def _in_order(self) -> "Matches":
        Sprt(self.elo0, self.elo1)
        return self


class SimulatedWorkers(_Section):
    pairs: Count = 0
    simulations: Simulations = 2_000
    workers: tuple[Workers, ...] = (1, 4, 16, 64, 256, 1024)
    readings: tuple[str, ...] = ("virtual_loss", "wu_uct", "none")
    c: Exploration = 2**0.5


class SimulatedMachines(_Section):
    pairs: Count = 0
    simulations: Simulations = 8_000  # of all machines together
    machines: tuple[Annotated[int, Field(ge=1, le=256)], ...] = (1, 4, 16, 64)
    workers: Workers = 1  # simulated workers on each machine
    rules: tuple[str, ...] = ("sum", "vote", "share")
    merges: Annotated[int, Field(ge=1, le=1000)] = 10  # exchanges in one search
    c: Exploration = 2**0.5


class CompareConfig(_Section):
    """A whole comparison."""

    game: str
    game_parameters: dict[str, Any] = {}
    schemes: tuple[str, ...] = (
        SERIAL,
        LEAF,
        ROOT,
        f"{ROOT} vote",
        TREE,
        f"{TREE} wu_uct",
        f"{TREE} node-locks",
        f"{TREE} global-lock",
    )
    workers: Annotated[tuple[Workers, ...], Field(min_length=1)] = (1, 2)
    c: Exploration = 2**0.5  # of schemes that are not tuned
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 1
    budgets: Budgets = Budgets()
    speed: Speed = Speed()
    quality: Quality = Quality()
    tuning: Tuning = Tuning()
    matches: Matches = Matches()
    simulated_workers: SimulatedWorkers = SimulatedWorkers()
    simulated_machines: SimulatedMachines = SimulatedMachines()

    @field_validator("schemes")
    @classmethod
    def _schemes(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(parse_variant(name).name for name in names))

    @field_validator("simulated_workers")
    @classmethod
    def _readings(cls, section: SimulatedWorkers) -> SimulatedWorkers:
        for reading in section.readings:
            if reading not in READINGS:
                raise unknown("reading in simulated_workers.readings:", reading, READINGS)
        return section

    @field_validator("simulated_machines")
    @classmethod
    def _rules(cls, section: SimulatedMachines) -> SimulatedMachines:
        for rule in section.rules:
            check_rule(rule, "merge rule in simulated_machines.rules:")
        return section

    def variants(self) -> list[Variant]:
        return [parse_variant(name) for name in self.schemes]

    def cells(self) -> list[Cell]:
        return cells(self.variants(), sorted(set(self.workers)))


def make_config(given: dict[str, Any], source: str) -> CompareConfig:
    """A configuration from what was given; raises InputError with one line that names the source and the key."""
    return validated(CompareConfig, given, source)
