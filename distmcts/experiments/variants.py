"""The schemes of a comparison by name: `tree`, `tree node-locks`, `tree wu_uct`, `root`, `root vote`, `leaf`, ..."""

from dataclasses import dataclass
from typing import Any

from distmcts.errors import InputError, unknown

SCHEMES = ("serial", "leaf", "root", "tree")
_WORDS: dict[str, tuple[str, str]] = {  # word: the setting it stands for, and its value
    "lockfree": ("synchronisation", "lockfree"),
    "node-locks": ("synchronisation", "node-locks"),
    "global-lock": ("synchronisation", "global-lock"),
    "virtual_loss": ("in_flight", "virtual_loss"),
    "wu_uct": ("in_flight", "wu_uct"),
    "none": ("in_flight", "none"),
    "sum": ("final", "visits"),
    "vote": ("final", "vote"),
    "processes": ("backend", "process"),
    "threads": ("backend", "thread"),
}
_FITTING = {"serial": (), "leaf": ("backend",), "root": ("final", "backend"), "tree": ("synchronisation", "in_flight", "backend")}


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
    """The variant that a name stands for; raises InputError with the nearest allowed word."""
    words = str(text).split()
    if not words or words[0] not in SCHEMES:
        raise unknown("scheme", words[0] if words else "", SCHEMES)
    settings: dict[str, Any] = {"parallel": words[0]}
    for word in words[1:]:
        allowed = [name for name, (key, _) in _WORDS.items() if key in _FITTING[words[0]]]
        if word not in allowed:
            raise unknown(f"word in scheme {text!r}:", word, allowed)
        key, value = _WORDS[word]
        if key in settings:
            raise InputError(f"scheme {text!r}: {word!r} contradicts another word in it")
        settings[key] = value
    return Variant(" ".join(words), tuple(settings.items()))


SERIAL = Cell(parse_variant("serial"), 1)


def cells(variants: list[Variant], worker_counts: list[int]) -> list[Cell]:
    """Every variant with every number of workers; serial once, and first, because all others are measured against it."""
    found = [SERIAL]
    for variant in variants:
        if variant.parallel != "serial":
            found.extend(Cell(variant, workers) for workers in worker_counts)
    return found
