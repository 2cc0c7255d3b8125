"""Finding games: those in games/, and those that other packages offer under the entry point `distmcts.games`."""

import inspect
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from distmcts.errors import InputError, unknown
from games import BUILT_IN


def list_games() -> dict[str, str]:
    """Name and origin ("module:Class") of every game that can be loaded. Imports none of them."""
    offered = {entry.name: entry.value for entry in entry_points(group="distmcts.games")}
    return dict(sorted({**offered, **BUILT_IN}.items()))


def load_game(game: Any, **parameters: Any):
    """A game by name, with its parameters; a game object is returned as it is."""
    if not isinstance(game, str):
        if parameters:
            raise InputError("parameters can be given for a game's name only, not for a game object")
        return game
    found = list_games()
    if game not in found:
        raise unknown("game", game, found)
    module, _, name = found[game].partition(":")
    game_class = getattr(import_module(module), name)
    try:
        return game_class(**parameters)
    except TypeError as error:
        allowed = ", ".join(_parameter_names(game_class)) or "none"
        raise InputError(f"{game}: {str(error).partition(') ')[2] or error}; its parameters: {allowed}") from None


def _parameter_names(game_class: type) -> list[str]:
    return list(inspect.signature(game_class).parameters)
