"""Games as compile-time types.

A kernel takes a game as its first argument and calls `apply(game, state, move)` and the like. The type of `game` decides at
compile time which rules those are, so they are inlined, and numba caches the result across processes. The name of the
type holds the game's parameters and a fingerprint of its source: edit a rule and everything is compiled anew.

Attributes of a game (`game.pits`, tables) are constants in compiled rules.
"""

import numpy as np
from numba import typeof, types
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    NativeValue,
    infer_getattr,
    lower_getattr_generic,
    models,
    overload,
    register_model,
    typeof_impl,
    unbox,
)

from distmcts.kernels.jit import OPTIONS

CHANCE = -1
OVER = -2


class Tag:
    """What kernels take for a game. `rules` holds its functions, `type_name` says which compiled code belongs to it."""

    rules: object
    type_name: str
    in_python = False  # whether the rules run on the host (host.py)


_tag_of_type: dict[str, Tag] = {}


class GameType(types.Opaque):
    """The type of one game with one set of parameters. Only its name counts, so it can be pickled into the cache."""


_types: dict[str, GameType] = {}  # made once: every call from the host asks for one


@typeof_impl.register(Tag)
def _type_of_tag(tag, context):
    known = _tag_of_type.get(tag.type_name)
    if known is not tag:
        _tag_of_type[tag.type_name] = tag
        _types[tag.type_name] = GameType(tag.type_name)
    return _types[tag.type_name]


register_model(GameType)(models.OpaqueModel)


@unbox(GameType)
def _unbox_tag(game_type, value, c):
    return NativeValue(c.context.get_dummy_value())


def _constant(game_type, attribute):
    value = getattr(_tag_of_type[game_type.name], attribute, None)
    if isinstance(value, np.ndarray):
        value.flags.writeable = False
        return value
    return value if isinstance(value, (bool, int, float)) else None


@infer_getattr
class _GameAttributes(AttributeTemplate):
    key = GameType

    def generic_resolve(self, game_type, attribute):
        value = _constant(game_type, attribute)
        return None if value is None else typeof(value)


@lower_getattr_generic(GameType)
def _lower_attribute(context, builder, game_type, game, attribute):
    value = _constant(game_type, attribute)
    return context.get_constant_generic(builder, typeof(value), value)


def knows_chance(game, *_) -> bool:
    """For `switch`: whether a game, or the type of one, has chance events."""
    return (_tag_of_type[game.name] if isinstance(game, GameType) else game).has_chance


def in_python(game, *_) -> bool:
    """For `switch`: whether the rules of a game, or of the type of one, run on the host."""
    return (_tag_of_type[game.name] if isinstance(game, GameType) else game).in_python


def _rule(game_type, name):
    """The function of a game that a call means; where the game has none, no kernel may call it."""
    return getattr(_tag_of_type[game_type.name].rules, name) if isinstance(game_type, GameType) else None


def initial(game, state):
    """Write the first position into `state` (zeros when it comes)."""
    return game.rules.initial(game, state)


def legal_moves(game, state, moves):
    """Write the legal moves into `moves`; return how many. The order depends on the state alone."""
    return game.rules.legal_moves(game, state, moves)


def apply(game, state, move):
    """Play a legal move (at a chance event: an outcome), in place."""
    return game.rules.apply(game, state, move)


def player(game, state):
    """Who is to move: 0, 1, ..., or CHANCE, or OVER."""
    return game.rules.player(game, state)


def returns(game, state, rewards):
    """Write each player's result of a finished game, from -1 (lost) to 1 (won)."""
    return game.rules.returns(game, state, rewards)


def playout(game, state, moves, rng):
    """Play on by the playout policy until the game is over, in place. `moves` is scratch space."""
    return game.rules.playout(game, state, moves, rng)


def playout_step(game, state, moves, rng):
    """Play one move (or one chance event) by the playout policy, in place; return it, or -1 if there is none."""
    return game.rules.playout_step(game, state, moves, rng)


def evaluate(game, state, rewards):
    """Write each player's expected result of an unfinished game, from -1 to 1."""
    return game.rules.evaluate(game, state, rewards)


def chance_outcomes(game, state, moves, probabilities):
    """At a chance event: write its outcomes and their probabilities, which sum to 1; return how many."""
    return game.rules.chance_outcomes(game, state, moves, probabilities)


def sample_outcome(game, state, rng):
    """At a chance event: an outcome, drawn by its probability."""
    return game.rules.sample_outcome(game, state, rng)


def state_hash(game, state):
    """64 bits (uint64) that tell positions apart."""
    return game.rules.state_hash(game, state)


def move_count(game, state):
    """How many legal moves there are. Where they are more than `max_moves`, they are 0, 1, ..., count - 1 and never listed."""
    return game.rules.move_count(game, state)


def priors(game, state, moves, count, priors):
    """Write how likely each of the `count` legal moves in `moves` is to be the best; they sum to 1."""
    return game.rules.priors(game, state, moves, count, priors)


def rave_key(game, state, move):
    """What a move is filed under in RAVE, from 0 to `rave_keys` - 1: moves alike in different positions share a key."""
    return game.rules.rave_key(game, state, move)


@overload(initial, jit_options=OPTIONS)
def _initial(game, state):
    return _rule(game, "initial")


@overload(legal_moves, jit_options=OPTIONS)
def _legal_moves(game, state, moves):
    return _rule(game, "legal_moves")


@overload(apply, jit_options=OPTIONS)
def _apply(game, state, move):
    return _rule(game, "apply")


@overload(player, jit_options=OPTIONS)
def _player(game, state):
    return _rule(game, "player")


@overload(returns, jit_options=OPTIONS)
def _returns(game, state, rewards):
    return _rule(game, "returns")


@overload(playout, jit_options=OPTIONS)
def _playout(game, state, moves, rng):
    return _rule(game, "playout")


@overload(evaluate, jit_options=OPTIONS)
def _evaluate(game, state, rewards):
    return _rule(game, "evaluate")


@overload(playout_step, jit_options=OPTIONS)
def _playout_step(game, state, moves, rng):
    return _rule(game, "playout_step")


@overload(chance_outcomes, jit_options=OPTIONS)
def _chance_outcomes(game, state, moves, probabilities):
    return _rule(game, "chance_outcomes")


@overload(sample_outcome, jit_options=OPTIONS)
def _sample_outcome(game, state, rng):
    return _rule(game, "sample_outcome")


@overload(state_hash, jit_options=OPTIONS)
def _state_hash(game, state):
    return _rule(game, "state_hash")


@overload(move_count, jit_options=OPTIONS)
def _move_count(game, state):
    return _rule(game, "move_count")


@overload(priors, jit_options=OPTIONS)
def _priors(game, state, moves, count, priors):
    return _rule(game, "priors")


@overload(rave_key, jit_options=OPTIONS)
def _rave_key(game, state, move):
    return _rule(game, "rave_key")
