"""Results of a game as fixed-point rewards: 1 is SCALE (layout.py)."""

from distmcts.kernels.jit import inner
from distmcts.kernels.layout import SCALE


@inner
def fixed_point(result):
    """Beyond [-1, 1] a result is cut, so that a value sum can never pass its visits."""
    scaled = min(max(result, -1.0), 1.0) * SCALE
    return int(scaled + 0.5) if scaled >= 0 else int(scaled - 0.5)
