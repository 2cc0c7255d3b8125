"""Tickets: each is the right to one simulation. So a budget of simulations is kept exactly, whoever makes them.

They lie on one heap. A simulation's record holds those that were taken and are not used yet. Towards the end workers take fewer
at a time, so that they end together.
"""

import numpy as np

from distmcts.kernels.atomics import fetch_add, load
from distmcts.kernels.jit import inner
from distmcts.kernels.layout import TAKEN, TICKETS, WRITERS


@inner
def take(simulation, shared, most):
    """Take up to so many from the heap."""
    others = shared.control[WRITERS] - 1
    wanted = min(max(load(shared.control, TICKETS) // (4 * others + 1), 1), most)
    left = fetch_add(shared.control, TICKETS, -wanted)
    simulation.journal[TAKEN] += min(max(left, 0), wanted)


@inner
def take_tickets(simulation, shared, batch):
    """Whether there is a ticket for the next simulation; takes up to `batch` if there is none at hand."""
    if simulation.journal[TAKEN] <= 0:
        take(simulation, shared, batch)
    return simulation.journal[TAKEN] > 0


@inner
def hold_tickets(simulation, shared, wanted):
    """See to it that there are so many tickets at hand, or nearly; how many of those wanted there are."""
    at_hand = simulation.journal[TAKEN]
    if at_hand < wanted:
        take(simulation, shared, wanted - at_hand)
    return np.int64(max(min(simulation.journal[TAKEN], wanted), 1))
