"""The words of a simulation's journal, and what is pending at its levels, for kernels: layout.py says how they are packed."""

import numpy as np

from distmcts.kernels import layout
from distmcts.kernels.jit import inner
from distmcts.kernels.layout import STAGE

simulation_of = inner(layout.simulation_of)
stage_in = inner(layout.stage_in)
open_in = inner(layout.open_in)
copies_in = inner(layout.copies_in)
stage_word = inner(layout.stage_word)
pending_at = inner(layout.pending_at)


@inner
def pending_visits(simulation, level):
    """Visits of a level on the path that its node has not been given yet; none where the level was not open before."""
    word = simulation.journal[STAGE]
    if level >= open_in(word):
        return np.int64(0)
    return simulation.pending[pending_at(level, (copies_in(word) >> level) & 1)]
