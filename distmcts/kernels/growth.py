"""When a node gets another child though it has some: first-play urgency and progressive widening.

first-play urgency      a child whose score is above the urgency is visited before untried moves are (Gelly and Wang 2006). The
                        scores are those of selection, for rewards in [-1, 1]: an urgency u for rewards in [0, 1] is 2 u - 1.
progressive widening    a node with n visits has at most k * n^alpha children (Coulom 2007, Chaslot et al. 2008).

Both together: a child is added only when both allow it.
"""

import numpy as np

from distmcts.kernels.jit import inner


@inner
def may_widen(children, visits, settings):
    """Whether progressive widening allows one more child."""
    if settings.widening <= 0.0 or children == 0:
        return True
    return children < np.ceil(settings.widening * np.float64(visits) ** settings.widening_power)


@inner
def is_urgent(best_score, settings):
    """Whether an untried move is more urgent than the best child."""
    return best_score < settings.first_play_urgency
