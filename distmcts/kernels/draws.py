"""Outcomes drawn beforehand: a worker that stays at a chance node draws the outcomes of all its visits, and serves equal ones
together, so that it can stay below each of them, too.

To stay below one outcome for a share of its visits would bias the chance node's mean; to draw all visits of a quota first, each
by the probabilities, does not. The next group is that of the first draw which is not served yet, so likely ones tend to come
first where a pause cuts a quota short; a quota at a chance node is at most DRAWS, which keeps that below the noise of the draws.

    draws[level]     what was drawn and is not served: outcomes, or their numbers in the family; the group being served is first
    groups[level]    how many those are; and how many visits were pending here when that was last put in order

Not in the leaf scheme, where one outcome gets the playouts of all workers, nor with widening of chance nodes, where it depends on
the visits so far which outcomes there can be.
"""

import numpy as np

from distmcts.kernels.chance import OUTCOME_LIMIT, draw_index, draw_outcome, draw_sample
from distmcts.kernels.jit import inner
from distmcts.kernels.layout import DEPTH, DRAWS, KEPT, LEADER
from distmcts.kernels.modes import follows, uses
from distmcts.kernels.rules import sample_outcome
from distmcts.kernels.tags import knows_chance
from distmcts.kernels.words import pending_visits

_leads = follows(LEADER)


def is_used(game, mode) -> bool:
    return uses("stay")(game, mode) and knows_chance(game, mode) and not _leads(game, mode)


@inner
def forget_draws(simulation, level):
    """The level begins anew."""
    if simulation.groups.size > 1:
        simulation.groups[2 * level] = 0
        simulation.groups[2 * level + 1] = 0


@inner
def group_size(simulation, level):
    """For how many visits the outcome that is served now was drawn; 1 if it was not drawn beforehand."""
    count = simulation.groups[2 * level]
    first = level * DRAWS
    same = np.int64(0)
    for i in range(count):
        same += simulation.draws[first + i] == simulation.draws[first]
    return max(same, np.int64(1))


@inner
def drop_served(simulation, level):
    """Take away what was served since the last call: so many of the group that comes first. How many draws are left."""
    groups = simulation.groups
    served = pending_visits(simulation, level)
    done = served - groups[2 * level + 1]
    groups[2 * level + 1] = served
    first = level * DRAWS
    outcome = simulation.draws[first]
    left = np.int64(0)
    for i in range(groups[2 * level]):
        draw = simulation.draws[first + i]
        if draw == outcome and done > 0:
            done -= 1
        else:
            simulation.draws[first + left] = draw
            left += 1
    groups[2 * level] = left
    return left


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
    if drop_served(simulation, level) == 0:
        visits = simulation.quotas[level] - pending_visits(simulation, level)
        for i in range(visits):
            simulation.draws[level * DRAWS + i] = draw_index(worker.probabilities, count, worker.rng)
        simulation.groups[2 * level] = visits
    return np.int64(simulation.draws[level * DRAWS])


@draw_sample.when(is_used)
def _next_sample(game, mode, worker, simulation, settings):
    level = level_to_draw(simulation)
    if level < 0 or settings.chance_widening > 0.0:
        return np.int64(sample_outcome(game, worker.state, worker.rng))
    if drop_served(simulation, level) == 0:
        visits = simulation.quotas[level] - pending_visits(simulation, level)
        for i in range(visits):
            outcome = np.int64(sample_outcome(game, worker.state, worker.rng))
            if not 0 <= outcome < OUTCOME_LIMIT:
                return outcome  # the game is broken, as the caller will see
            simulation.draws[level * DRAWS + i] = outcome
        simulation.groups[2 * level] = visits
    return np.int64(simulation.draws[level * DRAWS])
