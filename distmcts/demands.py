"""What the settings of a search demand of the game, and of memory."""

from distmcts.errors import InputError
from distmcts.game import Game
from distmcts.kernels.playout import move_itself
from distmcts.settings import SearchSettings
from distmcts.tree.plan import Needs


def check_settings(game: Game, settings: SearchSettings) -> None:
    """An InputError if the game cannot be searched like this."""
    if settings.final == "vote" and settings.parallel != "root":
        raise InputError("final='vote' needs trees that can vote: parallel='root'")
    if not game.has_evaluation:
        for key in ("cutoff", "samples", "evaluation_cache"):
            if getattr(settings, key) is not None and (key != "samples" or settings.samples > 1):
                asked = "after a cutoff" if key == "cutoff" else "for it"
                raise InputError(f"{key}={getattr(settings, key)}: {game.name} has no evaluation to ask {asked}")
    if game.in_python:
        _check_python(game, settings)
    if settings.evaluation_cache is not None and settings.cutoff is None and (settings.samples or 1) == 1:
        raise InputError("evaluation_cache: nothing asks for evaluations; it goes with cutoff or samples")
    if settings.selection == "puct":
        _check_puct(game, settings)
    if settings.chance_widening is not None and not game.has_chance:
        raise InputError(f"chance_widening: {game.name} knows no chance")
    if settings.rave is not None and game.has_ranks and game.rules.rave_key is move_itself:
        raise InputError(f"rave: {game.name} has more moves than can be kept apart, and no RAVE keys for them")
    if settings.chance_widening is not None and settings.chance != "hashed":
        raise InputError("chance_widening: goes with chance='hashed', where outcomes are added as they come")
    if settings.solver and game.players != 2:
        raise InputError(f"solver: {game.name} has {game.players} players; proofs are for two")
    if settings.rave is not None and settings.parallel == "simulated":
        raise InputError("rave: is not delayed as it would be with many workers; parallel='simulated' does without")


def _check_python(game: Game, settings: SearchSettings) -> None:
    if settings.chance == "hashed":
        raise InputError(f"chance='hashed': positions of {game.name}, a game in Python, have no hash; use chance='enumerated'")
    if settings.evaluation_cache is not None:
        raise InputError(f"evaluation_cache: positions of {game.name}, a game in Python, have no hash to find them by")


def _check_puct(game: Game, settings: SearchSettings) -> None:
    if not game.has_priors:
        raise InputError(f"selection='puct': {game.name} has no priors")
    if game.has_ranks:
        raise InputError(f"selection='puct': {game.name} has positions with more moves than can be listed")
    for key in ("first_play_urgency", "widening", "samples"):
        if getattr(settings, key) is not None:
            raise InputError(f"{key}: has no meaning with selection='puct', which adds all moves at once")


def needs_of(game: Game, settings: SearchSettings) -> Needs:
    """The arrays that a search uses beyond the plain ones."""
    puct = settings.selection == "puct"
    columns = {
        "high": game.has_ranks,
        "hashes": game.has_chance and settings.chance == "hashed",
        "priors": puct or (game.has_chance and (settings.solver or game.in_python)),
        "keys": settings.rave is not None,
        "rave": settings.rave is not None,
        "squares": settings.selection == "ucb1_tuned",
        "proofs": settings.solver,
        "players": game.in_python,
    }
    return Needs(
        locks=settings.parallel == "tree" and settings.synchronisation == "node-locks",
        columns=frozenset(name for name, is_used in columns.items() if is_used),
        cache_bytes=settings.evaluation_cache or 0,
        priors=puct,
        played=settings.rave is not None,
    )
