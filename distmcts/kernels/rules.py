"""The rules of a game: what each must do, and what a game has that does not bring one. Declared here and nowhere else.

A game gives its own as `Rules(initial=..., ...)`; argument names must be those below. Kernels call the functions below with the
game first, and its type decides which rules run (tags.py).
"""

import functools
import inspect
from collections import namedtuple
from collections.abc import Callable

import numpy as np
from numba.extending import overload

from distmcts.kernels.jit import OPTIONS, kernel
from distmcts.kernels.rng import random_below, random_rank
from distmcts.kernels.tags import GameType, tag_of

CHANCE = -1  # to move: an outcome comes by its probability
OVER = -2  # nobody is to move

LONGEST = 1_000_000  # moves of a playout; a game that goes on for longer does not end

_MIX = np.uint64(0x9E3779B97F4A7C15)
_TURN = np.uint64(29)

_declared: dict[str, Callable | None] = {}  # the defaults; None: every game brings its own


def _rule(declaration: Callable, default: Callable | None) -> Callable:
    name = declaration.__name__
    _declared[name] = default

    @functools.wraps(declaration)
    def call(game, *args):
        return getattr(game.rules, name)(game, *args)

    def chosen(game, *args):
        return getattr(tag_of(game).rules, name) if isinstance(game, GameType) else None

    chosen.__signature__ = inspect.signature(declaration)
    overload(call, jit_options=OPTIONS)(chosen)
    call.default = default
    return call


def required(declaration: Callable) -> Callable:
    """A rule that every game brings."""
    return _rule(declaration, None)


def optional(declaration: Callable) -> Callable:
    """A rule whose body here is what a game has that brings none."""
    return _rule(declaration, declaration)


# ---- what every game brings ---------------------------------------------------------------------------------------------------


@required
def initial(game, state):
    """Write the first position into `state` (zeros when it comes)."""


@required
def legal_moves(game, state, moves):
    """Write the legal moves into `moves`; return how many. The order depends on the state alone."""


@required
def apply(game, state, move):
    """Play a legal move (at a chance event: an outcome), in place."""


@required
def player(game, state):
    """Who is to move: 0, 1, ..., or CHANCE, or OVER."""


@required
def returns(game, state, rewards):
    """Write each player's result of a finished game, from -1 (lost) to 1 (won)."""


# ---- what a game may bring ----------------------------------------------------------------------------------------------------


@optional
def playout(game, state, moves, rng):
    """Play on by the playout policy until the game is over, in place. `moves` is scratch space. Without one: step by step."""
    for _ in range(LONGEST):
        if player(game, state) == OVER or playout_step(game, state, moves, rng) < 0:
            break


@optional
def evaluate(game, state, rewards):
    """Write each player's expected result of an unfinished game, from -1 to 1. Without one: even."""
    for i in range(game.players):
        rewards[i] = 0.0


@optional
def chance_outcomes(game, state, moves, probabilities):
    """At a chance event: write its outcomes and their probabilities, which sum to 1; return how many. Without one: no chance."""
    return 0


@optional
def sample_outcome(game, state, rng):
    """At a chance event: an outcome, drawn by its probability. Goes together with `chance_outcomes`."""
    return -1


@optional
def playout_step(game, state, moves, rng):
    """Play one move (or one chance event) by the playout policy, in place; return it, or -1 if there is none.

    Without one, every legal move is equally likely.
    """
    move = find_move(game, state, moves, rng)
    if move >= 0:
        apply(game, state, move)
    return move


@optional
def state_hash(game, state):
    """64 bits (uint64) that tell positions apart. Without one: all words of the state, mixed."""
    mixed = _MIX
    for i in range(game.state_words):
        mixed = (mixed ^ state[i]) * _MIX
        mixed ^= mixed >> _TURN
    return mixed


@optional
def move_count(game, state):
    """How many legal moves there are. Where they are more than `max_moves`, they are 0, 1, ..., count - 1 and never listed.

    Without one, all moves can be listed.
    """
    return -1


@optional
def priors(game, state, moves, count, priors):
    """Write how likely each of the `count` legal moves in `moves` is to be the best; they sum to 1. Without one: all the same."""
    for i in range(count):
        priors[i] = 1.0 / count


@optional
def rave_key(game, state, move):
    """What a move is filed under in RAVE, from 0 to `rave_keys` - 1: moves alike in different positions share a key.

    Without one: the move itself.
    """
    return move


Rules = namedtuple("Rules", _declared, defaults=[default for default in _declared.values() if default])
Rules.__doc__ = "The functions of a game, by the names in distmcts/kernels/rules.py. The first five are required."


def brings(rules: Rules, name: str) -> bool:
    """Whether a game has a rule of its own, and not the default."""
    return getattr(rules, name) is not _declared[name]


@kernel
def find_move(game, state, moves, rng):
    """A legal move, all equally likely; an outcome by its probability; -1 if there is none."""
    if game.has_chance and player(game, state) == CHANCE:
        return np.int64(sample_outcome(game, state, rng))
    if game.has_ranks:
        count = move_count(game, state)
        if count > game.max_moves:
            return random_rank(rng, count)
    count = legal_moves(game, state, moves)
    return moves[random_below(rng, count)] if count > 0 else np.int64(-1)
