"""The schemes of a comparison by name: `tree`, `tree node-locks`, `tree textbook`, `root`, `root vote`, `leaf`, ..."""

from dataclasses import dataclass
from typing import Any

from distmcts.errors import InputError, unknown
from distmcts.kernels.layout import SHARING
from distmcts.parallel.names import SERIAL
from distmcts.parallel.schemes import SCHEMES
from distmcts.settings import READINGS

_CHOICES: dict[str, tuple[str, Any]] = {  # name: the setting it stands for, and its value
    **{name: ("synchronisation", name) for name in SHARING},
    **{name: ("in_flight", name) for name in READINGS},
    "sum": ("final", "visits"),
    "vote": ("final", "vote"),
    "processes": ("backend", "process"),
    "threads": ("backend", "thread"),
    "textbook": ("stay", 0.0),
}
COMPARED = {name: scheme for name, scheme in SCHEMES.items() if not scheme.is_delayed}  # others only tell what many would do


@dataclass(frozen=True)
class Variant:
    """A scheme with its choices."""

    name: str
    settings: tuple[tuple[str, Any], ...]

    @property
    def parallel(self) -> str:
        return dict(self.settings)["parallel"]

    @property
    def backend(self) -> str:
        return dict(self.settings).get("backend", "process")


@dataclass(frozen=True)
class Cell:
    """A variant with a number of workers: one column of the comparison."""

    variant: Variant
    workers: int

    @property
    def name(self) -> str:
        return f"{self.variant.name} x{self.workers}"

    def settings(self) -> dict[str, Any]:
        return {**dict(self.variant.settings), "workers": self.workers}


def parse_variant(text: str) -> Variant:
    """The variant that a name stands for; raises InputError with the nearest allowed name."""
    names = str(text).split()
    scheme = names[0] if names else ""
    if scheme not in COMPARED:
        raise unknown("scheme", scheme, COMPARED)
    settings: dict[str, Any] = {"parallel": scheme}
    allowed = [name for name, (key, _) in _CHOICES.items() if key in COMPARED[scheme].choices]
    for name in names[1:]:
        if name not in allowed:
            raise unknown(f"choice in scheme {text!r}:", name, allowed)
        key, value = _CHOICES[name]
        if key in settings:
            raise InputError(f"scheme {text!r}: {name!r} contradicts another choice in it")
        settings[key] = value
    return Variant(" ".join(names), tuple(settings.items()))


ONE_SERIAL = Cell(parse_variant(SERIAL), 1)


def cells(variants: list[Variant], worker_counts: list[int]) -> list[Cell]:
    """Every variant with every number of workers; serial once, and first, because all others are measured against it."""
    found = [ONE_SERIAL]
    for variant in variants:
        if variant.parallel != SERIAL:
            found.extend(Cell(variant, workers) for workers in worker_counts)
    return found
