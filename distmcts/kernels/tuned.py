"""UCB1-Tuned (Auer, Cesa-Bianchi, Fischer 2002): explore less where rewards hardly vary. For rewards in [-1, 1]:

    score(child) = mean + c sqrt( ln N / n * min(1, variance + 4 sqrt(2 ln N / n)) )

which is the paper's formula for (reward + 1) / 2 when c = 1.
"""

import math

from distmcts.kernels.hooks import carry_words, count_carry, count_reward, exploration, fill_carry
from distmcts.kernels.layout import SCALE
from distmcts.kernels.modes import uses
from distmcts.kernels.updates import add


@count_reward.when(uses("tuned"))
def _count_square(mode, tree, node, visits, value):
    # Of a leaf's n playouts only the sum is known: n times the square of their mean.
    mean = value / visits / SCALE
    add(mode, tree.squares, node, int(mean * mean * visits * SCALE))


# Where simulations come in batches (quotas.py), each one's square is carried along: behind the rewards.


@carry_words.when(uses("tuned"))
def _with_squares(game, mode):
    return 1 + 2 * game.players


@fill_carry.when(uses("tuned"))
def _fill_squares(game, mode, carry):
    for player in range(game.players):
        mean = carry[1 + player] / max(carry[0], 1) / SCALE
        carry[1 + game.players + player] = int(mean * mean * carry[0] * SCALE)


@count_carry.when(uses("tuned"))
def _count_squares(game, mode, tree, node, mover, carry):
    add(mode, tree.squares, node, carry[1 + game.players + mover])


@exploration.when(uses("tuned"))
def _tuned_exploration(mode, tree, child, visits, finished, mean, log_root, parent_visits, settings):
    variance = max(tree.squares[child] / (max(finished, 1.0) * SCALE) - mean * mean, 0.0)
    ratio = log_root / math.sqrt(visits)
    return settings.c * ratio * math.sqrt(min(1.0, variance + 4.0 * math.sqrt(2.0) * ratio))
