"""A small game of chance that ends: a race over `length` squares, solved exactly by expectation.

A player chooses a die, safe (one or two squares, equally likely) or bold (one, or four with probability 1 / 4), and rolls it. Who
reaches the end first wins. State: the squares left to each player; who is to move; the die that is about to be rolled.
"""

from functools import cache

import numpy as np

from distmcts.game import CompiledGame, Rules
from distmcts.kernels.rng import random_below
from distmcts.kernels.rules import CHANCE, OVER

_0 = np.uint64(0)
_1 = np.uint64(1)
SAFE, BOLD = 0, 1
OUTCOMES = {SAFE: ((1, 1 / 2), (2, 1 / 2)), BOLD: ((1, 3 / 4), (4, 1 / 4))}


def initial(game, state):
    state[0] = np.uint64(game.length)
    state[1] = np.uint64(game.length)
    state[2] = _0
    state[3] = _0  # 0: no die is rolled, else 1 + die


def legal_moves(game, state, moves):
    moves[0] = SAFE
    moves[1] = BOLD
    return 2


def player(game, state):
    if state[0] == _0 or state[1] == _0:
        return OVER
    return CHANCE if state[3] != _0 else np.int64(state[2])


def apply(game, state, move):
    if state[3] == _0:
        state[3] = np.uint64(move + 1)
        return
    mover = np.int64(state[2])
    state[mover] -= min(np.uint64(move), state[mover])
    state[2] = _1 - state[2]
    state[3] = _0


def returns(game, state, rewards):
    rewards[0] = 1.0 if state[0] == _0 else -1.0
    rewards[1] = -rewards[0]


def chance_outcomes(game, state, moves, probabilities):
    if state[3] == _1:
        moves[0] = 1
        moves[1] = 2
        probabilities[0] = probabilities[1] = 0.5
    else:
        moves[0] = 1
        moves[1] = 4
        probabilities[0] = 0.75
        probabilities[1] = 0.25
    return 2


def sample_outcome(game, state, rng):
    if state[3] == _1:
        return 1 + random_below(rng, 2)
    return 4 if random_below(rng, 4) == 0 else 1


def evaluate(game, state, rewards):
    rewards[0] = (np.float64(state[1]) - np.float64(state[0])) / game.length
    rewards[1] = -rewards[0]


def priors(game, state, moves, count, priors):
    priors[0] = 0.25
    priors[1] = 0.75


class DiceRace(CompiledGame):
    name = "dice_race"
    rules = Rules(
        initial,
        legal_moves,
        apply,
        player,
        returns,
        evaluate=evaluate,
        chance_outcomes=chance_outcomes,
        sample_outcome=sample_outcome,
        priors=priors,
    )
    state_words = 4
    max_moves = 2
    move_limit = 2
    max_outcomes = 2

    def __init__(self, length: int = 9):
        self.length = length
        super().__init__(length=length)


@cache
def exact(mine: int, theirs: int) -> tuple[float, float]:
    """What the two dice are worth to the player to move: chance to win minus chance to lose."""

    def after(squares: int) -> float:
        left = max(0, mine - squares)
        return 1.0 if left == 0 else -max(exact(theirs, left))

    return tuple(sum(chance * after(squares) for squares, chance in OUTCOMES[die]) for die in (SAFE, BOLD))
