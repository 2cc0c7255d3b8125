"""How to search, as the user says it: names, defaults, limits. Misspelt names are answered with the nearest allowed one."""

import os
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from distmcts.errors import InputError, unknown
from distmcts.kernels import layout
from distmcts.tree.segment import available_bytes, parse_bytes

DEFAULT_MEMORY = 2 << 30
MAX_WORKERS = 4096
MAX_SIMULATIONS = 10**12  # counts are exact up to here

SYNCHRONISATIONS = {"lockfree": layout.LOCK_FREE, "node-locks": layout.NODE_LOCKS, "global-lock": layout.ONE_LOCK}
READINGS = {
    "none": layout.READ_NOTHING,
    "virtual_loss": layout.READ_VIRTUAL_LOSS,
    "wu_uct": layout.READ_WU_UCT,
}

CHANCES = {"enumerated": layout.ENUMERATED, "hashed": layout.HASHED}

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Power = Annotated[float, Field(gt=0, le=1)]


class SearchSettings(BaseModel):
    """Every setting of a search, with its default."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    parallel: Literal["serial", "leaf", "root", "tree", "simulated"] = "tree"
    workers: Annotated[int, Field(ge=1, le=MAX_WORKERS)] = Field(default_factory=lambda: len(os.sched_getaffinity(0)))
    backend: Literal["process", "thread"] = "process"
    synchronisation: Literal["lockfree", "node-locks", "global-lock"] = "lockfree"
    in_flight: Literal["virtual_loss", "wu_uct", "none"] = "virtual_loss"
    weight: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 1.0  # of one simulation in flight
    selection: Literal["uct", "ucb1_tuned", "puct"] = "uct"
    c: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 2**0.5  # exploration
    chance: Literal["enumerated", "hashed"] = "enumerated"  # outcomes: all added at once, or as they come
    first_play_urgency: Annotated[float, Field(allow_inf_nan=False)] | None = None  # of moves that were not tried yet
    widening: Positive | None = None  # progressive widening: at most k * visits^power children; this is k
    widening_power: Power = 0.5
    chance_widening: Positive | None = None  # the same of outcomes, with chance=hashed: double progressive widening
    chance_widening_power: Power = 0.5
    samples: Annotated[int, Field(ge=1)] | None = None  # expand the best evaluated of so many moves
    rave: Positive | None = None  # so many visits weigh as much as RAVE
    solver: bool = False  # prove wins, losses and draws
    evaluation_cache: Annotated[int, Field(ge=1024)] | None = None  # bytes for evaluations that were asked before
    cutoff: Annotated[int, Field(ge=0)] | None = None  # moves in a playout before the evaluation is asked
    final: Literal["visits", "value", "vote"] = "visits"  # which move is best
    memory: int = Field(default_factory=lambda: min(DEFAULT_MEMORY, available_bytes() // 2), validate_default=False)
    when_full: Literal["stop_growing", "stop"] = "stop_growing"
    stop_when_decided: bool = False
    pin: bool = False  # each worker to a core of its own
    backing: Literal["auto", "memfd", "named", "private"] = "auto"  # of the tree's memory
    seed: Annotated[int, Field(ge=0)] | None = None

    @field_validator("memory", "evaluation_cache", mode="before")
    @classmethod
    def _size(cls, value: Any) -> int | None:
        return None if value is None else parse_bytes(value)

    @property
    def features(self) -> frozenset[str]:
        """What is compiled into the search beyond the plain one (kernels/modes.py)."""
        wanted = {
            "growth": self.first_play_urgency is not None or self.widening is not None,
            "sampled": (self.samples or 1) > 1,
            "tuned": self.selection == "ucb1_tuned",
            "puct": self.selection == "puct",
            "rave": self.rave is not None,
            "solver": self.solver,
            "cache": self.evaluation_cache is not None,
        }
        return frozenset(name for name, is_wanted in wanted.items() if is_wanted)

    def for_kernels(self) -> layout.Settings:
        alone = self.parallel in ("serial", "root", "leaf")
        return layout.Settings(
            c=float(self.c),
            reading=layout.READ_NOTHING if alone else READINGS[self.in_flight],
            weight=float(self.weight),
            cutoff=-1 if self.cutoff is None else self.cutoff,
            synchronisation=SYNCHRONISATIONS[self.synchronisation] if self.parallel == "tree" else layout.LOCK_FREE,
            chance=CHANCES[self.chance],
            urgency=float("inf") if self.first_play_urgency is None else float(self.first_play_urgency),
            widening=float(self.widening or 0.0),
            widening_power=float(self.widening_power),
            chance_widening=float(self.chance_widening or 0.0),
            chance_widening_power=float(self.chance_widening_power),
            samples=self.samples or 1,
            rave=float(self.rave or 0.0),
        )


def make_settings(**given: Any) -> SearchSettings:
    """Settings from keywords; None means the default. Raises InputError with one clear line."""
    given = {key: value for key, value in given.items() if value is not None}
    try:
        return SearchSettings(**given)
    except ValidationError as error:
        raise _explain(error.errors()[0], given) from None


def _explain(error: Any, given: dict[str, Any]) -> InputError:
    key = str(error["loc"][0])
    if error["type"] == "extra_forbidden":
        return unknown("setting", key, SearchSettings.model_fields)
    if error["type"] == "literal_error":
        return unknown(key, given[key], _choices(key))
    message = error["msg"].removeprefix("Value error, ")
    return InputError(f"{key}={given.get(key)!r}: {message[0].lower()}{message[1:]}")


def _choices(key: str) -> list[str]:
    return list(SearchSettings.model_fields[key].annotation.__args__)


def check_budget(simulations: Any, seconds: Any) -> tuple[int | None, float | None]:
    """The budget of one search, made sure of."""
    if simulations is not None and not (_is_number(simulations) and 1 <= simulations <= MAX_SIMULATIONS and simulations % 1 == 0):
        raise InputError(f"simulations={simulations!r}: must be a whole number from 1 to {MAX_SIMULATIONS}")
    if seconds is not None and not (_is_number(seconds) and 0 < seconds < float("inf")):
        raise InputError(f"seconds={seconds!r}: must be a positive number")
    return None if simulations is None else int(simulations), None if seconds is None else float(seconds)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
