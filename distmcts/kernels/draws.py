"""Outcomes drawn beforehand: a worker that stays at a chance node draws the outcomes of all its visits, and serves equal ones
together, so that it can stay below each of them, too.

To stay below one outcome for a share of its visits would bias the chance node's mean; to draw all visits of a quota first, each
by the probabilities, does not. Outcomes are served in the order in which they were drawn first, so where a pause cuts a quota
short, likely ones tend to have been served already; a quota at a chance node is at most MOST_DRAWS, which keeps that small beside
the noise of the draws themselves.

    draws[level]     pairs: an outcome, or its number in the family; and how many visits it was drawn for that are not served yet
    groups[level]    how many pairs there are; which one is being served; how many visits were pending when that was noted

Where there are more than OUTCOMES different ones, drawing ends there, and goes on when these are served.

Not in the leaf scheme, where one outcome gets the playouts of all workers, nor with widening of chance nodes, where it depends on
the visits so far which outcomes there can be.
"""

import numpy as np

from distmcts.kernels.chance import OUTCOME_LIMIT, draw_index, draw_outcome, draw_sample
from distmcts.kernels.jit import inner
from distmcts.kernels.layout import DEPTH, GROUP_WORDS, KEPT, LEADER, OUTCOMES
from distmcts.kernels.modes import follows, uses
from distmcts.kernels.rules import sample_outcome
from distmcts.kernels.tags import knows_chance
from distmcts.kernels.words import pending_visits

PAIRS = 0
SERVING = 1
NOTED = 2

_leads = follows(LEADER)


def is_used(game, mode) -> bool:
    return uses("stay")(game, mode) and knows_chance(game, mode) and not _leads(game, mode)


@inner
def forget_draws(simulation, level):
    """The level begins anew."""
    if simulation.groups.size > 1:
        for i in range(GROUP_WORDS):
            simulation.groups[level * GROUP_WORDS + i] = 0


@inner
def pair_at(level, index):
    """Where, in `draws`, a pair lies."""
    return 2 * (level * OUTCOMES + index)


@inner
def group_size(simulation, level):
    """For how many visits the outcome that is served now was drawn; 1 if it was not drawn beforehand."""
    group = level * GROUP_WORDS
    if simulation.groups[group + PAIRS] == 0:
        return np.int64(1)
    return np.int64(simulation.draws[pair_at(level, simulation.groups[group + SERVING]) + 1])


@inner
def go_on_serving(simulation, level):
    """Note what was served since the last call; whether there is more."""
    group = level * GROUP_WORDS
    groups = simulation.groups
    if groups[group + PAIRS] == 0:
        return False
    served = pending_visits(simulation, level)
    pair = pair_at(level, groups[group + SERVING])
    simulation.draws[pair + 1] -= served - groups[group + NOTED]
    groups[group + NOTED] = served
    if simulation.draws[pair + 1] <= 0:
        groups[group + SERVING] += 1
    if groups[group + SERVING] < groups[group + PAIRS]:
        return True
    groups[group + PAIRS] = 0
    groups[group + SERVING] = 0
    return False


@inner
def file_draw(simulation, level, outcome):
    """Count one more visit for an outcome; False when there is no room for a further kind of outcome."""
    group = level * GROUP_WORDS
    pairs = simulation.groups[group + PAIRS]
    for index in range(pairs):
        pair = pair_at(level, index)
        if simulation.draws[pair] == outcome:
            simulation.draws[pair + 1] += 1
            return True
    pair = pair_at(level, pairs)
    simulation.draws[pair] = outcome
    simulation.draws[pair + 1] = 1
    simulation.groups[group + PAIRS] = pairs + 1
    return pairs + 1 < OUTCOMES


@inner
def outcome_served(simulation, level):
    return np.int64(simulation.draws[pair_at(level, simulation.groups[level * GROUP_WORDS + SERVING])])


@inner
def visits_to_draw(simulation, level):
    """How many visits a level has left that nothing was drawn for; from now on what is served is counted from here."""
    served = pending_visits(simulation, level)
    simulation.groups[level * GROUP_WORDS + NOTED] = served
    return simulation.quotas[level] - served


@inner
def level_to_draw(simulation):
    """The level of a chance node where the worker stays; -1 if this visit is all it has."""
    level = simulation.journal[DEPTH] - 1
    return level if level < simulation.journal[KEPT] else np.int64(-1)


@draw_outcome.when(is_used)
def _next_outcome(game, mode, worker, simulation, count):
    level = level_to_draw(simulation)
    if level < 0:
        return draw_index(worker.probabilities, count, worker.rng)
    if not go_on_serving(simulation, level):
        for _ in range(visits_to_draw(simulation, level)):
            if not file_draw(simulation, level, draw_index(worker.probabilities, count, worker.rng)):
                break
    return outcome_served(simulation, level)


@draw_sample.when(is_used)
def _next_sample(game, mode, worker, simulation, settings):
    level = level_to_draw(simulation)
    if level < 0 or settings.chance_widening > 0.0:
        return np.int64(sample_outcome(game, worker.state, worker.rng))
    if not go_on_serving(simulation, level):
        for _ in range(visits_to_draw(simulation, level)):
            outcome = np.int64(sample_outcome(game, worker.state, worker.rng))
            if not 0 <= outcome < OUTCOME_LIMIT:
                return outcome  # the game is broken, as the caller will see
            if not file_draw(simulation, level, outcome):
                break
    return outcome_served(simulation, level)
