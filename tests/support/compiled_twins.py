"""Compiled games that draw their random numbers as games in Python do; tests/support/python_games.py has their twins.

In a file of their own: compiled code is kept for as long as the file of a game does not change.
"""

import numpy as np

from distmcts.kernels.rng import random_share
from distmcts.kernels.rules import playout
from games import tic_tac_toe
from tests.support import dice_race

_1 = np.uint64(1)


class PlainTicTacToe(tic_tac_toe.TicTacToe):
    """Without a playout of its own."""

    rules = tic_tac_toe.TicTacToe.rules._replace(playout=playout.default)


def drawn_by_share(game, state, rng):
    share = random_share(rng)
    if state[3] == _1:
        return 1 if share < 0.5 else 2
    return 1 if share < 0.75 else 4


class PlainDiceRace(dice_race.DiceRace):
    rules = dice_race.DiceRace.rules._replace(sample_outcome=drawn_by_share)
