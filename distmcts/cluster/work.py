"""Kinds of units that a node can carry out, by name. Other packages offer more under the entry point `distmcts.work`.

A kind is a function that is given the batch's context and returns a function from a unit's name to what it found; both are plain
JSON. What is costly to prepare is prepared once for a batch.
"""

from collections.abc import Callable
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from distmcts.errors import unknown

KINDS = {
    "search": "distmcts.cluster.work:searches",
    "compare": "distmcts.experiments.remote:units",
}

CarryOut = Callable[[str], Any]


def kinds() -> dict[str, str]:
    return {**{entry.name: entry.value for entry in entry_points(group="distmcts.work")}, **KINDS}


def load_kind(kind: str, context: dict[str, Any]) -> CarryOut:
    """What carries out the units of one batch. Blocks while it is prepared; InputError if it cannot be."""
    found = kinds()
    if kind not in found:
        raise unknown("kind of unit", kind, found)
    module, _, name = found[kind].partition(":")
    return getattr(import_module(module), name)(context)


def searches(context: dict[str, Any]) -> CarryOut:
    """Units are positions as the game writes them; context: game, and everything that `distmcts.search` is given by name."""
    from distmcts.engine import search

    return lambda position: search(context["game"], position, **context.get("settings", {})).as_dict()
