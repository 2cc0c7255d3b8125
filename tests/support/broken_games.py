"""A game that keeps the contract, and games that each break one point of it.

The game is Nim: ten stones, take one, two or three, who takes the last one wins. State: the stones, and who is to move.
"""

import numba
import numpy as np

from distmcts.errors import InputError
from distmcts.game import CompiledGame, Rules, State
from distmcts.kernels.jit import kernel
from distmcts.kernels.rng import random_below
from distmcts.kernels.rules import CHANCE, OVER, playout_step

STONES = np.uint64(10)
COMPILED = not numba.config.DISABLE_JIT

_0 = np.uint64(0)
_1 = np.uint64(1)


@kernel
def take_up_to_three(state, moves):
    count = min(np.int64(state[0]), 3)
    for i in range(count):
        moves[i] = i
    return count


def initial(game, state):
    state[0] = STONES


def legal_moves(game, state, moves):
    return take_up_to_three(state, moves)


def apply(game, state, move):
    state[0] -= np.uint64(move + 1)
    state[1] = _1 - state[1]


def player(game, state):
    return OVER if state[0] == _0 else np.int64(state[1])


def returns(game, state, rewards):
    loser = np.int64(state[1])
    rewards[loser] = -1.0
    rewards[1 - loser] = 1.0


class Nim(CompiledGame):
    """Keeps the contract."""

    name = "nim"
    rules = Rules(initial, legal_moves, apply, player, returns)
    state_words = 2
    max_moves = 3
    move_limit = 3
    perft_counts = (3, 9, 27)


class MoreMovesThanSaid(Nim):
    max_moves = 2


def sixteen_moves(game, state, moves):
    for i in range(16):
        moves[i] = i
    return 16


def take_all(game, state, move):
    state[0] = _0
    state[1] = _1 - state[1]


class ManyMoreMovesThanSaid(Nim):
    rules = Nim.rules._replace(legal_moves=sixteen_moves, apply=take_all)
    move_limit = 16
    perft_counts = ()


class MoveOutOfRange(Nim):
    move_limit = 2


def no_moves_at_five(game, state, moves):
    return 0 if state[0] == np.uint64(5) else take_up_to_three(state, moves)


class NoMovesButNotOver(Nim):
    rules = Nim.rules._replace(legal_moves=no_moves_at_five)


def returns_too_much(game, state, rewards):
    rewards[0] = 2.0
    rewards[1] = -2.0


class ResultsOutOfRange(Nim):
    rules = Nim.rules._replace(returns=returns_too_much)


def legal_moves_that_write(game, state, moves):
    state[1] ^= _1
    return take_up_to_three(state, moves)


class LookingChangesTheState(Nim):
    rules = Nim.rules._replace(legal_moves=legal_moves_that_write)


def playout_of_one_move(game, state, moves, rng):
    if state[0] != _0:
        playout_step(game, state, moves, rng)


class PlayoutStopsEarly(Nim):
    rules = Nim.rules._replace(playout=playout_of_one_move)


class WrongPerftCounts(Nim):
    perft_counts = (3, 9, 28)


class ReadsBackSomethingElse(Nim):
    def parse(self, text: str) -> State:
        state = super().parse(text).copy()
        state[0] = max(1, int(state[0]) - 1)
        return self.state(state)


class CannotReadWhatItWrites(Nim):
    def parse(self, text: str) -> State:
        raise InputError(f"nim position {text!r}: cannot be read")


def apply_that_differs(game, state, move):
    if COMPILED:
        state[0] -= np.uint64(move + 1)
    else:
        state[0] -= _1
    state[1] = _1 - state[1]


class PlaysDifferentlyAsPython(Nim):
    rules = Nim.rules._replace(apply=apply_that_differs)


def _pass(game, state, move):
    state[1] ^= np.uint64(1)


class NeverEnds(Nim):
    """A move only changes who is to move."""

    rules = Nim.rules._replace(apply=_pass)


# ---- broken in a way that a search meets -------------------------------------------------------------------------------------


def move_seventy_at_five(game, state, moves):
    count = take_up_to_three(state, moves)
    if state[0] == np.uint64(5):
        moves[0] = 70
    return count


class StrangeMoveLater(Nim):
    rules = Nim.rules._replace(legal_moves=move_seventy_at_five)


def negative_move_at_five(game, state, moves):
    count = take_up_to_three(state, moves)
    if state[0] == np.uint64(5):
        moves[0] = -1
    return count


class NegativeMoveLater(Nim):
    rules = Nim.rules._replace(legal_moves=negative_move_at_five)


def player_or_chance(game, state):
    """Before every move a coin is tossed, which changes nothing but that it was."""
    if state[0] == _0:
        return OVER
    return CHANCE if state[2] == _0 else np.int64(state[1])


def toss_or_take(game, state, move):
    if state[2] == _0:
        state[2] = _1 + np.uint64(move)
        return
    state[0] -= np.uint64(move + 1)
    state[1] = _1 - state[1]
    state[2] = _0


def coin(game, state, moves, probabilities):
    moves[0] = 0
    moves[1] = 1
    probabilities[0] = 0.5
    probabilities[1] = 0.5
    return 2


def toss(game, state, rng):
    return random_below(rng, 2)


class Tossed(Nim):
    """Keeps the contract, with chance."""

    rules = Nim.rules._replace(player=player_or_chance, apply=toss_or_take, chance_outcomes=coin, sample_outcome=toss)
    state_words = 3
    max_outcomes = 2
    perft_counts = ()


def crooked_coin(game, state, moves, probabilities):
    moves[0] = 0
    moves[1] = 1
    probabilities[0] = 0.75 if state[0] == np.uint64(5) else 0.5
    probabilities[1] = 0.5
    return 2


class ProbabilitiesOverOne(Tossed):
    rules = Tossed.rules._replace(chance_outcomes=crooked_coin)


def toss_something_else(game, state, rng):
    return 0


class DrawsAnotherCoin(Tossed):
    rules = Tossed.rules._replace(sample_outcome=toss_something_else)


def write_behind_the_state(game, state, move):
    state[0] -= np.uint64(move + 1)
    state[1] = _1 - state[1]
    if COMPILED:
        state[7] = _1


class WritesBehindItsState(Nim):
    rules = Nim.rules._replace(apply=write_behind_the_state)
