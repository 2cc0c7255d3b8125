"""The features of a search, one record each: everything that is beyond plain UCT, and what it takes.

A feature that a search does not use is not compiled into it: the plain search is as fast as if there were none. One that is
used is loaded from its file, which joins in at the places it needs (hooks.py). Settings, what they demand of a game, memory,
the type of a mode and what machines exchange all come from this table: a new feature is one file and one record here.

This file knows neither games nor settings: the functions in it are given both, and look at attributes.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class Setting(NamedTuple):
    """A setting that belongs to a feature. `limits` are named as pydantic names them; None as a default means off."""

    name: str
    kind: type
    default: Any = None
    limits: dict[str, float] = {}  # noqa: RUF012
    off: float | None = None  # the number that kernels read when it is off; None: kernels do not read it
    is_bytes: bool = False


class Column(NamedTuple):
    """A field that nodes have only in searches with the feature; elsewhere the array has one element.

    Written by a node's creator, once, before others can see the node, if nothing else is said.
    """

    name: str
    dtype: str
    elements: int = 1  # a node


class Buffer(NamedTuple):
    """Scratch space of a worker; elsewhere it has one element. `guarded`: a game writes to it, so an overrun must be seen."""

    name: str
    dtype: str
    size: Callable[[Any], int]  # given the game
    guarded: bool = False


class Refusal(NamedTuple):
    """Why a search cannot be made, in `words` about {game} and {settings}, when `applies(settings, game, scheme)`."""

    applies: Callable[[Any, Any, Any], bool]
    words: str


class Feature(NamedTuple):
    name: str  # as it stands in the type of a mode
    is_on: Callable[[Any, Any], bool]  # given settings and game
    file: str | None = None  # in this folder, if it joins in at hooks; None: the floor itself knows it
    selection: str | None = None  # the selection rule that it is, if it is one
    settings: tuple[Setting, ...] = ()
    columns: tuple[Column, ...] = ()
    chance_columns: tuple[Column, ...] = ()  # those it needs only in games of chance
    buffers: tuple[Buffer, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    is_exchanged: bool = True  # False: what it needs to know is not part of what machines tell each other
    shapes_selection: bool = True  # False: plain selection stays what it is
    notes_moves: bool = False  # looks at every move of a simulation, also of its playout
    asks_evaluations: bool = False  # of the game, also where playouts go to the end
    keeps_levels: bool = False  # a simulation begins at a level of a path that is kept (Simulation.quotas and what follows it)
    binds_paths: bool = False  # a proof may speak for nodes on a path (Simulation.bounds)
    adds_whole_families: bool = False  # all children of a node come at once, before any of them is visited

    @property
    def label(self) -> str:
        """What switches it on, as a user knows it."""
        if self.selection:
            return f"selection={self.selection!r}"
        return self.settings[0].name if self.settings else self.name


PRIORS = Column("priors", "f4")  # of a move; or the probability of an outcome


def _without_evaluation(name: str) -> Refusal:
    return Refusal(
        lambda settings, game, scheme: not game.has_evaluation,
        f"{name}={{settings.{name}}}: {{game.name}} has no evaluation to ask for it",
    )


def _without_meaning(name: str, selection: str, because: str) -> Refusal:
    return Refusal(
        lambda settings, game, scheme: getattr(settings, name) is not None and getattr(settings, name) is not False,
        f"{name}: has no meaning with selection={selection!r}, {because}",
    )


def _asks_evaluations(settings: Any, game: Any) -> bool:
    return any(feature.asks_evaluations and feature.is_on(settings, game) for feature in FEATURES)


def _stays(settings: Any) -> bool:
    """Where workers take locks they keep to the textbook: that is what such a search is made for, to be compared with.

    So does random selection, where every visit draws its own way.
    """
    return settings.stay > 0 and settings.selection != "random" and not settings.scheme.takes_locks(settings.synchronisation)


FEATURES = (
    # What a game brings, and no setting switches on: more than 2^31 moves, which need a column; rules in Python.
    Feature("ranks", lambda settings, game: game.has_ranks, columns=(Column("ranks", "i8"),), shapes_selection=False),  # 1 + move
    Feature(
        "python",
        lambda settings, game: game.in_python,
        columns=(Column("players", "i4"),),  # who is to move, + PLAYER_ZERO; 0 to a player, once
        chance_columns=(PRIORS,),
        shapes_selection=False,
    ),
    # Outcomes of chance are added as they come, told apart by the hash of their position (chance.py).
    Feature(
        "hashed",
        lambda settings, game: settings.chance == "hashed" and (game.has_chance or game.in_python),
        settings=(
            Setting("chance_widening", float, limits={"gt": 0}, off=0.0),  # at most k * visits^power outcomes; this is k
            Setting("chance_widening_power", float, 0.5, {"gt": 0, "le": 1}, off=0.5),
        ),
        columns=(Column("hashes", "i8"),),  # of an outcome's position
        shapes_selection=False,
        refusals=(
            Refusal(
                lambda settings, game, scheme: game.in_python,
                "chance='hashed': positions of {game.name}, a game in Python, have no hash; use chance='enumerated'",
            ),
        ),
    ),
    # First-play urgency and progressive widening.
    Feature(
        "growth",
        lambda settings, game: settings.first_play_urgency is not None or settings.widening is not None,
        settings=(
            Setting("first_play_urgency", float, off=np.inf),  # of moves that were not tried yet
            Setting("widening", float, limits={"gt": 0}, off=0.0),  # at most k * visits^power children; this is k
            Setting("widening_power", float, 0.5, {"gt": 0, "le": 1}, off=0.5),
        ),
    ),
    # Best-of-K expansion: of so many untried moves, the best evaluated one is added.
    Feature(
        "sampled",
        lambda settings, game: (settings.samples or 1) > 1,
        file="sampled",
        settings=(Setting("samples", int, limits={"ge": 1}, off=1),),
        refusals=(_without_evaluation("samples"),),
        asks_evaluations=True,
        shapes_selection=False,
    ),
    Feature(
        "tuned",
        lambda settings, game: settings.selection == "ucb1_tuned",
        file="tuned",
        selection="ucb1_tuned",
        columns=(Column("squares", "i8"),),  # sum of squared rewards, fixed point; atomic; only up
        is_exchanged=False,
    ),
    Feature(
        "puct",
        lambda settings, game: settings.selection == "puct",
        file="puct",
        selection="puct",
        columns=(PRIORS,),
        buffers=(Buffer("priors", "f8", lambda game: game.max_moves, guarded=True),),
        adds_whole_families=True,
        refusals=(
            Refusal(lambda settings, game, scheme: not game.has_priors, "selection='puct': {game.name} has no priors"),
            Refusal(
                lambda settings, game, scheme: game.has_ranks,
                "selection='puct': {game.name} has positions with more moves than can be listed",
            ),
            *(
                _without_meaning(name, "puct", "which adds all moves at once")
                for name in ("first_play_urgency", "widening", "samples")
            ),
        ),
    ),
    Feature(
        "random",
        lambda settings, game: settings.selection == "random",
        file="random_child",
        selection="random",
        refusals=tuple(
            _without_meaning(name, "random", "which looks at no score") for name in ("first_play_urgency", "rave", "solver")
        ),
    ),
    Feature(
        "rave",
        lambda settings, game: settings.rave is not None,
        file="rave",
        settings=(Setting("rave", float, limits={"gt": 0}, off=0.0),),  # so many visits weigh as much as RAVE
        columns=(
            Column("keys", "i4"),  # what the move is filed under
            Column("rave", "i8", 2),  # visits, and sum of rewards in fixed point; two atomic adds
        ),
        buffers=(Buffer("played", "i8", lambda game: game.players * game.rave_keys),),
        notes_moves=True,
        is_exchanged=False,
        refusals=(
            Refusal(
                lambda settings, game, scheme: game.has_ranks and not game.has_rave_keys,
                "rave: {game.name} has more moves than can be kept apart, and no RAVE keys for them",
            ),
            Refusal(
                lambda settings, game, scheme: scheme.is_delayed,
                "rave: is not delayed as it would be with many workers; parallel={settings.parallel!r} does without",
            ),
        ),
    ),
    # Progressive bias: the evaluation's hint, which fades with visits.
    Feature(
        "bias",
        lambda settings, game: settings.progressive_bias is not None,
        file="bias",
        settings=(Setting("progressive_bias", float, limits={"gt": 0}, off=0.0),),  # weight of the hint at a child without visits
        columns=(Column("hints", "f4"),),  # the evaluation after the move
        asks_evaluations=True,
        refusals=(
            _without_evaluation("progressive_bias"),
            Refusal(
                lambda settings, game, scheme: settings.selection == "random",
                "progressive_bias: has no meaning with selection='random', which looks at no score",
            ),
        ),
    ),
    # Visit quotas: the share of a node's visits for which workers stay below it.
    Feature(
        "stay",
        lambda settings, game: _stays(settings),
        file="quotas",
        settings=(
            Setting("stay", float, 1 / 32, {"ge": 0, "le": 1}, off=0.0),  # 0: the textbook, every simulation starts at the root
            Setting("apart", float, 0.2, {"ge": 0, "le": 1}, off=0.0),  # how much workers prefer their own side (sides.py)
        ),
        buffers=(Buffer("carry", "i8", lambda game: 1 + 2 * game.players),),  # what a simulation brings up the path
        keeps_levels=True,
        shapes_selection=False,
    ),
    # Prove wins, losses and draws.
    Feature(
        "solver",
        lambda settings, game: settings.solver,
        file="solver",
        settings=(Setting("solver", bool, False),),
        binds_paths=True,
        columns=(Column("proofs", "i4"),),  # 0, or PROOF_ZERO + the exact value, fixed point; once; all write the same
        chance_columns=(PRIORS,),
        is_exchanged=False,
        refusals=(
            Refusal(
                lambda settings, game, scheme: game.players != 2,
                "solver: {game.name} has {game.players} players; proofs are for two",
            ),
        ),
    ),
    # A cache of evaluations.
    Feature(
        "cache",
        lambda settings, game: settings.evaluation_cache is not None,
        settings=(Setting("evaluation_cache", int, limits={"ge": 1024}, is_bytes=True),),
        shapes_selection=False,
        refusals=(
            _without_evaluation("evaluation_cache"),
            Refusal(
                lambda settings, game, scheme: game.in_python,
                "evaluation_cache: positions of {game.name}, a game in Python, have no hash to find them by",
            ),
            Refusal(
                lambda settings, game, scheme: settings.cutoff is None and not _asks_evaluations(settings, game),
                "evaluation_cache: nothing asks for evaluations; it goes with cutoff, samples or progressive_bias",
            ),
        ),
    ),
)

SELECTIONS = ("uct", *(feature.selection for feature in FEATURES if feature.selection))
SETTINGS = tuple(setting for feature in FEATURES for setting in feature.settings)
COLUMNS = tuple(dict.fromkeys(column for feature in FEATURES for column in (*feature.columns, *feature.chance_columns)))
BUFFERS = tuple(dict.fromkeys(buffer for feature in FEATURES for buffer in feature.buffers))
