"""distmcts: Monte Carlo Tree Search on shared memory, many processes and many machines."""

from typing import TYPE_CHECKING, Any

from distmcts.version import __version__

__all__ = [
    "__version__",
    "AuditError",
    "Cluster",
    "CompiledGame",
    "DistmctsError",
    "Engine",
    "GameError",
    "InputError",
    "PythonGame",
    "Result",
    "Rules",
    "list_games",
    "load_game",
    "search",
]

_HOMES = {
    "AuditError": "distmcts.tree.audit",
    "Cluster": "distmcts.cluster.client",
    "CompiledGame": "distmcts.game",
    "DistmctsError": "distmcts.errors",
    "Engine": "distmcts.engine",
    "GameError": "distmcts.errors",
    "InputError": "distmcts.errors",
    "PythonGame": "distmcts.python_game",
    "Result": "distmcts.result",
    "Rules": "distmcts.game",
    "list_games": "distmcts.registry",
    "load_game": "distmcts.registry",
    "search": "distmcts.engine",
}

if TYPE_CHECKING:
    from distmcts.cluster.client import Cluster
    from distmcts.engine import Engine, search
    from distmcts.errors import DistmctsError, GameError, InputError
    from distmcts.game import CompiledGame, Rules
    from distmcts.python_game import PythonGame
    from distmcts.registry import list_games, load_game
    from distmcts.result import Result
    from distmcts.tree.audit import AuditError


def __getattr__(name: str) -> Any:
    """Import on first use: the command line answers --help without loading the compiler."""
    if name not in _HOMES:
        raise AttributeError(f"module 'distmcts' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
