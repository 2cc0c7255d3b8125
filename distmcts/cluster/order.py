"""A search as it is ordered from a cluster: made by a client that has the game, opened by nodes that must have the very same."""

from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple

from distmcts.budget import make_budget
from distmcts.cluster.merging import MERGE_S
from distmcts.cluster.messages import Search
from distmcts.cluster.rules import DEFAULT_RULE, TABLE, check_rule
from distmcts.demands import check_settings, features_of
from distmcts.errors import InputError
from distmcts.game import Game, State
from distmcts.registry import OPEN_SPIEL, load_game
from distmcts.settings import SearchSettings, make_settings
from distmcts.tree.share import SHARE

NAMED = 500  # moves whose names are sent along, for a status
LEAST_MERGE_S, MOST_MERGE_S = 0.01, 60.0


class Order(NamedTuple):
    game: Game
    state: State
    search: Search
    settings: SearchSettings


def make_order(
    game: Any,
    state: State | str | None = None,
    *,
    simulations: int | None = None,
    seconds: float | None = None,
    merge: str = DEFAULT_RULE,
    share: float = SHARE,
    merge_s: float = MERGE_S,
    wait_s: float = 60.0,
    game_parameters: dict[str, Any] | None = None,
    **settings: Any,
) -> Order:
    """Everything that can be wrong with a search is found here, before anybody else hears of it."""
    if not isinstance(game, str) and not getattr(game, "name", None):
        raise InputError("a cluster searches games that every node can load by name, see `distmcts games`")
    check_rule(merge)
    given = {key: value for key, value in settings.items() if value is not None}
    made = make_settings(**given)
    loaded = load_game(game, **(game_parameters or {}))
    if loaded.in_python and not loaded.name.startswith(OPEN_SPIEL):
        raise InputError(f"{loaded.name}: a cluster searches games that every node can load by name, see `distmcts games`")
    check_settings(loaded, made)
    if TABLE[merge].exchanges:
        _check_exchange(merge, loaded, made)
    for key, value, least, most in (
        ("share", share, 0, 1),
        ("merge_s", merge_s, LEAST_MERGE_S, MOST_MERGE_S),
        ("wait_s", wait_s, 0, 1e6),
    ):
        if not isinstance(value, (int, float)) or isinstance(value, bool) or not least <= value <= most:
            raise InputError(f"{key}={value!r}: must be a number from {least:g} to {most:g}")
    simulations, seconds = make_budget(simulations, seconds)
    start = loaded.start_position(state)
    search = Search(
        game=loaded.name,
        parameters=loaded.parameters,
        fingerprint=fingerprint(loaded),
        position=loaded.pack(start),
        settings=given,
        seconds=seconds,
        simulations=simulations,
        merge=merge,
        share=float(share),
        merge_s=float(merge_s),
        wait_s=float(wait_s),
        names={str(move): loaded.move_name(start, move) for move in loaded.legal_moves(start)[:NAMED]},
    )
    return Order(loaded, start, search, made)


def _check_exchange(rule: str, game: Game, settings: SearchSettings) -> None:
    """Refuse settings that cannot work with borrowed statistics."""
    refused = [feature.label for feature in features_of(game, settings) if not feature.is_exchanged]
    if settings.scheme.has_many_trees:
        refused.insert(0, f"parallel={settings.parallel!r}")
    if refused:
        others = " or ".join(repr(name) for name, other in TABLE.items() if not other.exchanges)
        raise InputError(f"{refused[0]}: what it needs to know is not exchanged by merge rule {rule!r}; use {others}")


def open_order(search: Search, own_settings: dict[str, Any]) -> tuple[Game, State, dict[str, Any]]:
    """Game, position and settings on a node; an InputError says why it cannot take part. The node's own settings go first."""
    game = load_game(search.game, **search.parameters)
    if fingerprint(game) != search.fingerprint:
        raise InputError(f"has another version of {search.game}: {fingerprint(game)}, the job wants {search.fingerprint}")
    try:
        state = game.state(search.position)
        game.check_state(state)
    except InputError:
        raise
    except Exception as error:  # each game has its own way to refuse
        raise InputError(f"cannot read the position: {' '.join(str(error).split())}") from None
    settings = {key: value for key, value in search.settings.items() if key != "stop_when_decided"}  # the coordinator decides
    return game, state, {**settings, **own_settings}


def fingerprint(game: Game) -> str:
    """Two machines with the same one have the same rules."""
    if not game.in_python:
        return game.type_name
    try:
        return f"{game.name} of open_spiel {version('open_spiel')}"
    except PackageNotFoundError:
        return f"{game.name} of an unknown open_spiel"
