"""How a search is compiled, as a compile-time type: who writes to a tree, how, and with which features.

The first part of a mode's name is the protocol by which workers write (layout.py lists them, updates.py is what they do), then
come the features. All protocols keep the journal, so that a worker can be killed at any instruction.
"""

from importlib import import_module

from numba import types
from numba.extending import NativeValue, models, register_model, typeof_impl, unbox

from distmcts.kernels.features import FEATURES
from distmcts.kernels.jit import Condition
from distmcts.kernels.layout import ALONE, LEADER, PROTOCOLS


class Mode:
    """What kernels take for a mode. `name`: the protocol, then the features, with + between."""

    def __init__(self, protocol: str, features: frozenset[str] = frozenset()):
        known = {feature.name: feature for feature in FEATURES}
        for feature in FEATURES:
            if feature.file:
                import_module(f"distmcts.kernels.{feature.file}")
        if protocol not in PROTOCOLS or not features <= known.keys():
            raise ValueError(f"no such mode: {protocol} with {', '.join(features)}")
        self.protocol = protocol
        self.name = "+".join([protocol, *sorted(features)])


class ModeType(types.Opaque):
    """The type of a mode; has the same name."""


register_model(ModeType)(models.OpaqueModel)


@typeof_impl.register(Mode)
def _type_of_mode(mode, context):
    return ModeType(mode.name)


@unbox(ModeType)
def _unbox_mode(mode_type, value, c):
    return NativeValue(c.context.get_dummy_value())


# ---- conditions for `switch` and `chain` (jit.py) -------------------------------------------------------------------------


def follows(*protocols: str) -> Condition:
    return lambda game, mode: mode.name.partition("+")[0] in protocols


def uses(*names: str) -> Condition:
    """Whether a search uses one of these features."""
    unknown = set(names) - {feature.name for feature in FEATURES}
    if unknown:
        raise ValueError(f"no such feature: {', '.join(unknown)}")

    def is_used(game, mode) -> bool:
        return not set(names).isdisjoint(mode.name.split("+"))

    is_used.place = min((place for place, feature in enumerate(FEATURES) if feature.name in names), default=0)
    return is_used


def without(condition: Condition) -> Condition:
    return lambda game, mode: not condition(game, mode)


def any_of(*conditions: Condition) -> Condition:
    return lambda game, mode: any(condition(game, mode) for condition in conditions)


is_alone = follows(ALONE, LEADER)
shapes_selection = uses(*(feature.name for feature in FEATURES if feature.shapes_selection))
notes_moves = uses(*(feature.name for feature in FEATURES if feature.notes_moves))
adds_whole_families = uses(*(feature.name for feature in FEATURES if feature.adds_whole_families))
