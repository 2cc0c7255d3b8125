"""What the settings of a search demand of the game, and of memory."""

from distmcts.errors import InputError
from distmcts.game import Game
from distmcts.kernels.features import FEATURES, Feature
from distmcts.kernels.layout import NODE_LOCKS
from distmcts.kernels.modes import Mode
from distmcts.parallel.names import ROOT
from distmcts.settings import SearchSettings
from distmcts.tree.memory import Needs


def features_of(game: Game, settings: SearchSettings) -> list[Feature]:
    """The features that a search of this game uses."""
    return [feature for feature in FEATURES if feature.is_on(settings, game)]


def check_settings(game: Game, settings: SearchSettings) -> None:
    """An InputError if the game cannot be searched like this."""
    scheme = settings.scheme
    if settings.final == "vote" and not scheme.has_many_trees:
        raise InputError(f"final='vote' needs trees that can vote: parallel={ROOT!r}")
    if settings.cutoff is not None and not game.has_evaluation:
        raise InputError(f"cutoff={settings.cutoff}: {game.name} has no evaluation to ask after a cutoff")
    for feature in features_of(game, settings):
        for refusal in feature.refusals:
            if refusal.applies(settings, game, scheme):
                raise InputError(refusal.words.format(game=game, settings=settings))
    if settings.chance_widening is not None and not game.has_chance:
        raise InputError(f"chance_widening: {game.name} knows no chance")
    if settings.chance_widening is not None and settings.chance != "hashed":
        raise InputError("chance_widening: goes with chance='hashed', where outcomes are added as they come")


def adds_whole_families(game: Game, settings: SearchSettings) -> bool:
    """Whether the children of a node come all at once: such trees cannot be searched on one by one."""
    return any(feature.adds_whole_families for feature in features_of(game, settings))


def mode_of(game: Game, settings: SearchSettings) -> Mode:
    """How the search is compiled."""
    names = frozenset(feature.name for feature in features_of(game, settings))
    return Mode(settings.scheme.protocol(settings.synchronisation), names)


def needs_of(game: Game, settings: SearchSettings) -> Needs:
    """The arrays that a search uses beyond the plain ones."""
    features = features_of(game, settings)
    columns = {column for feature in features for column in feature.columns}
    if game.has_chance:
        columns |= {column for feature in features for column in feature.chance_columns}
    return Needs(
        locks=settings.scheme.protocol(settings.synchronisation) == NODE_LOCKS,
        columns=frozenset(column.name for column in columns),
        buffers=frozenset(buffer.name for feature in features for buffer in feature.buffers),
        bounds=any(feature.binds_paths for feature in features),
        cache_bytes=settings.evaluation_cache or 0,
        levels=any(feature.keeps_levels for feature in features),
        simulations=settings.scheme.simulations_under_way(settings.workers),
    )
