"""Finding games: those in games/, those that other packages offer under the entry point `distmcts.games`, those of OpenSpiel
("open_spiel:chess"), and games in Python, which are objects."""

import inspect
import sys
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from distmcts.errors import InputError, unknown
from distmcts.game import Game
from distmcts.python_game import PythonGame
from games import BUILT_IN

OPEN_SPIEL = "open_spiel:"


def list_games() -> dict[str, str]:
    """Name and origin ("module:Class") of every game that can be loaded. Imports none of them."""
    offered = {entry.name: entry.value for entry in entry_points(group="distmcts.games")}
    return dict(sorted({**offered, **BUILT_IN}.items()))


def load_game(game: Any, **parameters: Any):
    """A game by name, with its parameters; a game object is returned as it is, one in Python made searchable."""
    if not isinstance(game, str):
        if parameters:
            raise InputError("parameters can be given for a game's name only, not for a game object")
        return game if isinstance(game, Game) else _from_object(game)
    if game.startswith(OPEN_SPIEL):
        from games.open_spiel import OpenSpielGame

        return OpenSpielGame(game.removeprefix(OPEN_SPIEL), parameters)
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


def _from_object(source: Any) -> PythonGame:
    """A state or a game with OpenSpiel's methods, be it theirs or another one."""
    spiel = sys.modules.get("pyspiel")  # whoever has one of its objects has imported it
    if spiel and isinstance(source, (spiel.Game, spiel.State)):
        from games.open_spiel import OpenSpielGame

        return OpenSpielGame(source)
    return PythonGame(source)


def _parameter_names(game_class: type) -> list[str]:
    return list(inspect.signature(game_class).parameters)
