"""What the end of a path is worth to each player: what is proven, or what a playout finds.

Before: `worker.state` is the position at the end of the path. After: `worker.results` holds the players' results, or BREACH says
what is wrong with the game.
"""

from distmcts.kernels.contract import why_stuck
from distmcts.kernels.evaluation import value_position
from distmcts.kernels.fixed_point import fixed_point
from distmcts.kernels.hooks import note_move
from distmcts.kernels.host import play_on_host
from distmcts.kernels.jit import inner, switch
from distmcts.kernels.layout import BAD_RESULTS, BREACH, FINE, NO_END
from distmcts.kernels.modes import notes_moves, uses
from distmcts.kernels.playout import run_playout
from distmcts.kernels.rules import CHANCE, LONGEST, OVER, player, playout_step, returns
from distmcts.kernels.states import copy_state
from distmcts.kernels.tags import in_python


@inner
def play_freely(game, worker, settings):
    """By the game's own playout, which nobody watches."""
    breach = run_playout(game, worker.state, worker.moves, worker.results, worker.rng, settings.cutoff)
    if breach != FINE:
        worker.slot[BREACH] = breach


@inner
def play_step_by_step(game, mode, worker, shared, settings):
    """Moves are noted, and the evaluation at a cutoff may be known already."""
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


@switch
def play_on(game, mode, worker, shared, settings):
    """From `worker.state` to results, without a look at the tree."""
    play_freely(game, worker, settings)


@play_on.when(in_python)
def _play_on_host(game, mode, worker, shared, settings):
    play_on_host(worker)


@play_on.when(notes_moves)
def _play_watched(game, mode, worker, shared, settings):
    play_step_by_step(game, mode, worker, shared, settings)


@play_on.when(uses("cache"))
def _play_to_cached_evaluation(game, mode, worker, shared, settings):
    if settings.cutoff < 0:
        play_freely(game, worker, settings)
    else:
        play_step_by_step(game, mode, worker, shared, settings)


@inner
def set_rewards(worker, simulation, players, visits):
    """The results as fixed-point rewards of so many visits. A result that is not a number is a breach of the contract."""
    for i in range(players):
        result = worker.results[i]
        if result != result:
            worker.slot[BREACH] = BAD_RESULTS
        simulation.rewards[i] = fixed_point(result) * visits
