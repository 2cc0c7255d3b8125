"""When a search ends. Each rule is a small object; a search ends when the first of its rules says why.

The number of simulations is not among them: it is kept exactly, by tickets (kernels/simulate.py).
"""

from collections.abc import Callable
from typing import NamedTuple, Protocol

from distmcts.kernels.layout import Tree
from distmcts.tree.view import proven_value


class Progress(NamedTuple):
    """Where a search stands."""

    simulations: int  # finished in this search
    wanted: int | None  # simulations asked for, if any
    elapsed_s: float
    seconds: float | None  # time asked for, if any
    memory_used: float  # share of the tree's capacity
    root_visits: Callable[[], list[int]]  # of the moves at the root, all trees together


class Stopper(Protocol):
    def reached(self, progress: Progress) -> str | None:
        """Why the search should end, or None."""


class Seconds:
    """Time; but a search that was given too little still makes one simulation, so that it has an answer."""

    def __init__(self, seconds: float):
        self.seconds = seconds

    def reached(self, progress: Progress) -> str | None:
        is_over = progress.elapsed_s >= self.seconds and progress.simulations > 0
        return f"{self.seconds:g} seconds" if is_over else None


class MemoryFull:
    """For those who want no further search once the tree cannot grow."""

    def reached(self, progress: Progress) -> str | None:
        return "memory is full" if progress.memory_used >= 1.0 else None


class Decided:
    """The move with the most visits can no longer be overtaken.

    `outstanding`: the share of all visits that may be finished and not yet in the tree, because workers stay below nodes.
    """

    def __init__(self, outstanding: float = 0.0):
        self.outstanding = outstanding

    def reached(self, progress: Progress) -> str | None:
        if progress.wanted is not None:
            left = progress.wanted - progress.simulations
        elif progress.seconds is not None and progress.elapsed_s > 0:
            rate = progress.simulations / progress.elapsed_s
            left = rate * max(0.0, progress.seconds - progress.elapsed_s)
        else:
            return None
        visits = progress.root_visits()
        first, second, *_ = [*sorted(visits, reverse=True), 0, 0]
        return "decided: the leader cannot be caught" if first - second > left + self.outstanding * sum(visits) else None


class Proven:
    """The solver knows the root's value; more search could not change it."""

    def __init__(self, trees: list[Tree]):
        self.trees = trees

    def reached(self, progress: Progress) -> str | None:
        return "proven" if any(proven_value(tree) is not None for tree in self.trees) else None


def first_reason(stoppers: list[Stopper], progress: Progress) -> str | None:
    return next((reason for stopper in stoppers if (reason := stopper.reached(progress))), None)
