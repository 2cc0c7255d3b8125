"""Games as compile-time types.

A kernel takes a game as its first argument and calls `apply(game, state, move)` and the like (rules.py). The type of `game`
decides at compile time which rules those are, so they are inlined, and numba caches the result across processes. The name of
the type holds the game's parameters and a fingerprint of its source: edit a rule and everything is compiled anew.

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
    register_model,
    typeof_impl,
    unbox,
)


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


def tag_of(game) -> Tag:
    """The game behind an argument: itself, or the one of its type."""
    return _tag_of_type[game.name] if isinstance(game, GameType) else game


# ---- conditions for `switch` and `chain` (jit.py) -------------------------------------------------------------------------


def knows_chance(game, mode) -> bool:
    """Whether a game has chance events."""
    return tag_of(game).has_chance


def in_python(game, mode) -> bool:
    """Whether the rules of a game run on the host."""
    return tag_of(game).in_python
