"""What the end of a path is worth to each player: what is proven, or what a playout finds.

Before: `worker.state` is the position at the end of the path. After: `worker.results` holds the players' results, or BREACH says
what is wrong with the game.
"""

from distmcts.kernels.contract import why_stuck
from distmcts.kernels.evaluation import value_position
from distmcts.kernels.host import play_on_host
from distmcts.kernels.jit import part, switch
from distmcts.kernels.layout import BREACH, FINE, NO_END
from distmcts.kernels.modes import has
from distmcts.kernels.playout import LONGEST, run_playout
from distmcts.kernels.rave import note_move
from distmcts.kernels.solver import settle
from distmcts.kernels.states import copy_state
from distmcts.kernels.tags import CHANCE, OVER, in_python, player, playout_step, returns


def _plain_playout(game, mode, worker, shared, settings):
    breach = run_playout(game, worker.state, worker.moves, worker.results, worker.rng, settings.cutoff)
    if breach != FINE:
        worker.slot[BREACH] = breach


def _watched_playout(game, mode, worker, shared, settings):
    """Step by step: moves are noted, and the evaluation at a cutoff may be known already."""
    state = worker.state
    before = worker.trial[: game.state_words]
    limit = LONGEST if settings.cutoff < 0 else settings.cutoff
    for _ in range(limit):
        mover = player(game, state)
        if mover == OVER:
            break
        copy_state(state, before)
        move = playout_step(game, state, worker.moves, worker.rng)
        if move < 0:
            worker.slot[BREACH] = why_stuck(game, state, worker.moves)
            return
        if mover != CHANCE:
            note_move(game, mode, worker, before, mover, move)
    if player(game, state) == OVER:
        returns(game, state, worker.results)
    elif settings.cutoff < 0:
        worker.slot[BREACH] = NO_END
    else:
        value_position(game, mode, worker, shared, state)


def _cached_playout(game, mode, worker, shared, settings):
    if settings.cutoff < 0:
        _plain_part(game, mode, worker, shared, settings)
    else:
        _watched_part(game, mode, worker, shared, settings)


_plain_part = part(_plain_playout)
_watched_part = part(_watched_playout)
_cached_or_plain = switch(lambda game, mode, *_: has(mode, "cache"), _cached_playout, _plain_playout)


def _unwatched_playout(game, mode, worker, shared, settings):
    _cached_or_plain(game, mode, worker, shared, settings)


_compiled_playout = switch(lambda game, mode, *_: has(mode, "rave"), _watched_playout, _unwatched_playout)


def _playout_by_kernel(game, mode, worker, shared, settings):
    _compiled_playout(game, mode, worker, shared, settings)


def _playout_by_host(game, mode, worker, shared, settings):
    play_on_host(worker)


# From `worker.state` to results, without a look at the tree.
play_on = switch(in_python, _playout_by_host, _playout_by_kernel)


@part
def find_results(game, mode, tree, worker, shared, settings):
    if not settle(game, mode, tree, worker):
        play_on(game, mode, worker, shared, settings)
