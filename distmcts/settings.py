"""How to search, as the user asks for it: names, defaults, limits. Misspelt names are answered with the nearest allowed one."""

import os
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, create_model, field_validator

from distmcts.configuration import validated
from distmcts.errors import InputError, unknown
from distmcts.kernels import layout
from distmcts.kernels.features import SELECTIONS, SETTINGS, Setting
from distmcts.parallel.names import SHIPPED, TREE
from distmcts.tree.segment import available_bytes, parse_bytes

DEFAULT_MEMORY = 2 << 30
MAX_WORKERS = 4096
SEARCH_KEYS = ("game", "game_parameters", "position", "simulations", "seconds")  # of a search, beside its settings

READINGS = {
    "none": layout.READ_NOTHING,
    "virtual_loss": layout.READ_VIRTUAL_LOSS,
    "wu_uct": layout.READ_WU_UCT,
}
SIZES = ("memory", *(setting.name for setting in SETTINGS if setting.is_bytes))  # written as 2GiB


def _field(setting: Setting) -> tuple[Any, Any]:
    """A feature's setting as pydantic wants it."""
    finite = {"allow_inf_nan": False} if setting.kind is float else {}
    kind = Annotated[setting.kind, Field(**setting.limits, **finite)]
    return (kind | None if setting.default is None else kind), setting.default


# The settings of features, as the table declares them.
FeatureSettings = create_model("FeatureSettings", **{setting.name: _field(setting) for setting in SETTINGS})


class SearchSettings(FeatureSettings):
    """Every setting of a search, with its default; those of features are in kernels/features.py."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    parallel: str = TREE  # the scheme (parallel/)
    workers: Annotated[int, Field(ge=1, le=MAX_WORKERS)] = Field(default_factory=lambda: len(os.sched_getaffinity(0)))
    backend: Literal["process", "thread"] = "process"
    synchronisation: Literal[layout.SHARING] = layout.LOCK_FREE
    in_flight: Literal["virtual_loss", "wu_uct", "none"] = "virtual_loss"
    weight: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 1.0  # of one simulation in flight
    selection: Literal[SELECTIONS] = "uct"
    c: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 2**0.5  # exploration
    chance: Literal["enumerated", "hashed"] = "enumerated"  # outcomes: all added at once, or as they come
    cutoff: Annotated[int, Field(ge=0)] | None = None  # moves in a playout before the evaluation is asked
    final: Literal["visits", "value", "vote"] = "visits"  # which move is best
    memory: int = Field(default_factory=lambda: min(DEFAULT_MEMORY, available_bytes() // 2), validate_default=False)
    when_full: Literal["stop_growing", "stop"] = "stop_growing"
    stop_when_decided: bool = False
    pin: bool = False  # each worker to a core of its own
    backing: Literal["auto", "memfd", "named", "private"] = "auto"  # of the tree's memory
    seed: Annotated[int, Field(ge=0)] | None = None

    @field_validator("parallel", mode="before")
    @classmethod
    def _scheme(cls, name: Any) -> str:
        if name not in SHIPPED:
            from distmcts.parallel.schemes import SCHEMES  # which loads the compiler

            if name not in SCHEMES:
                raise unknown("parallel", name, SCHEMES)
        return name

    @field_validator(*SIZES, mode="before")
    @classmethod
    def _size(cls, value: Any) -> int | None:
        return None if value is None else parse_bytes(value)

    @property
    def scheme(self):
        """The scheme that `parallel` names."""
        from distmcts.parallel.schemes import SCHEMES

        return SCHEMES[self.parallel]

    def for_kernels(self) -> layout.Settings:
        numbers = {setting.name: setting for setting in SETTINGS if setting.off is not None}
        given = {name: getattr(self, name) for name in numbers}
        if self.workers == 1:
            given["apart"] = 0.0  # one worker has nobody to keep apart from
        return layout.Settings(
            c=float(self.c),
            reading=READINGS[self.in_flight] if self.scheme.shares_trees() else layout.READ_NOTHING,
            weight=float(self.weight),
            cutoff=-1 if self.cutoff is None else self.cutoff,
            **{name: setting.kind(setting.off if given[name] is None else given[name]) for name, setting in numbers.items()},
        )


def make_settings(**given: Any) -> SearchSettings:
    """Settings from keywords; None means the default. Raises InputError with one clear line."""
    given = {key: value for key, value in given.items() if value is not None}
    return validated(SearchSettings, given, kind="setting")


def check_keys(options: dict[str, Any], more: Sequence[str] = (), *, place: str = "", kind: str = "setting") -> None:
    """An InputError if what a user wrote down cannot be a search: `more` keys may be in it, `place` is where it stands."""
    allowed = [place + key for key in (*SEARCH_KEYS, *more, *SearchSettings.model_fields)]
    for key in options:
        if f"{place}{key}" not in allowed:
            raise unknown(kind, f"{place}{key}", allowed)
    for key, expected, described in (
        ("game", str, "text"),
        ("position", str, "text"),
        ("game_parameters", dict, "keys of its own"),
    ):
        if not isinstance(options.get(key, expected()), expected):
            raise InputError(f"{place}{key}={options[key]!r}: expected {described}")
