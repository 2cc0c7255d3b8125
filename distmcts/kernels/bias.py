"""Progressive bias (Chaslot et al. 2008): the game's evaluation says where to look first, and less and less where more is known.

    mean used in selection = mean + k * H / (n + 1),        n = visits of the child

H, the hint, is the evaluation after the move, as the player who makes it sees it: asked once, when the child is made.
"""

from distmcts.kernels.evaluation import value_of_move
from distmcts.kernels.hooks import adjust_mean, file_child
from distmcts.kernels.layout import BAD_RESULTS, BREACH
from distmcts.kernels.modes import uses

is_used = uses("bias")


@file_child.when(is_used)
def _file_hint(game, mode, tree, worker, shared, mover, child, move):
    hint = value_of_move(game, mode, worker, shared, mover, move)
    if hint != hint:
        worker.slot[BREACH] = BAD_RESULTS
    tree.hints[child] = hint


@adjust_mean.when(is_used)
def _lean(mode, tree, child, visits, mean, settings):
    return mean + settings.progressive_bias * tree.hints[child] / (visits + 1.0)
