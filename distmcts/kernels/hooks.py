"""Where features join in: the steps of a simulation call these functions, and the file of a feature adds cases to them.

Further switches that a feature may add a case to stand beside the step they belong to: `choose` and `step` (choose.py),
`pick_move` (expand.py), `value_position` (evaluation.py).
"""

import math

from distmcts.kernels.jit import chain, switch

NEVER_VISITED = 1e6  # the score of a child that must come first


@chain()
def begin_simulation(mode, worker):
    """A new simulation begins: whatever was noted before is no longer true."""


@chain()
def note_move(game, mode, worker, state, mover, move):
    """A player is about to make a move in `state`, in the tree or in the playout."""


@chain()
def file_child(game, mode, tree, worker, shared, mover, child, move):
    """A child is being made, and nobody else can see it yet; `worker.state` is the position in which `mover` makes the move."""


@chain(passed="mean")
def adjust_mean(mode, tree, child, visits, mean, settings):
    """The mean of a child that selection uses; `visits` holds those in flight."""
    return mean


@switch
def exploration(mode, tree, child, visits, finished, mean, log_root, parent_visits, settings):
    """What is added to the mean of a child with visits; `log_root` is sqrt(ln N), `visits` holds those in flight.

    `finished` and `mean` do not.
    """
    return settings.c * log_root / math.sqrt(visits)


@switch
def bonus(mode, tree, child, visits, finished, mean, log_root, parent_visits, settings):
    """What is added to the mean of any child; where nothing but visits can tell, a child without any comes first."""
    if visits <= 0.0:
        return NEVER_VISITED
    return exploration(mode, tree, child, visits, finished, mean, log_root, parent_visits, settings)


@chain()
def replay_moves(game, mode, tree, worker, simulation, opened):
    """A simulation begins at an open level (quotas.py): the moves before it are those of the path."""


@switch
def carry_words(game, mode):
    """How many words a carry has: visits and the rewards of all players, of several simulations together (quotas.py)."""
    return 1 + game.players


@chain()
def fill_carry(game, mode, carry):
    """A carry has the visits and rewards of one simulation: what else does a feature want to carry?"""


@chain()
def count_carry(game, mode, tree, node, mover, carry):
    """A node of the path is given a carry, in one go."""


@chain()
def count_reward(mode, tree, node, visits, value):
    """A node of the path gets `visits` more visits, worth `value` together."""


@chain()
def after_simulation(game, mode, tree, worker, simulation, visits):
    """A simulation has been added to all nodes of its path; its `visits` were worth `rewards` together."""
