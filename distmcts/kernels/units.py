"""Results of a game as fixed-point rewards, unit 1 / SCALE."""

from distmcts.kernels.jit import part
from distmcts.kernels.layout import SCALE


@part
def round_to_unit(result):
    """A result in units of 1 / SCALE; beyond [-1, 1] it is cut, so that a value sum can never pass its visits."""
    scaled = min(max(result, -1.0), 1.0) * SCALE
    return int(scaled + 0.5) if scaled >= 0 else int(scaled - 0.5)
