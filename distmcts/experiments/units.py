"""The units of a comparison: the smallest pieces that are measured, recorded and never counted twice.

A unit is named by what it is, so the same configuration always has the same units; its random seed comes from its name.
"""

import hashlib
from dataclasses import dataclass

from distmcts.experiments.variants import Cell


@dataclass(frozen=True)
class Tune:
    """A scheme with one value of c on one position of a random game."""

    cell: Cell
    c: float
    position: int

    @property
    def name(self) -> str:
        return f"tune/{self.cell.name}/c={self.c!r}/{self.position}"


@dataclass(frozen=True)
class Reference:
    """A long serial search of one position."""

    position: int

    @property
    def name(self) -> str:
        return f"reference/{self.position}"


@dataclass(frozen=True)
class Speed:
    """How fast a cell searches one position."""

    cell: Cell
    position: int
    repeat: int

    @property
    def name(self) -> str:
        return f"speed/{self.cell.name}/{self.position}/{self.repeat}"


@dataclass(frozen=True)
class Answer:
    """The move a cell chooses in a position of a random game, with the budget of one move."""

    cell: Cell
    at: str  # "time" or "simulations"
    position: int

    @property
    def name(self) -> str:
        return f"answer/{self.at}/{self.cell.name}/{self.position}"


@dataclass(frozen=True)
class Endgame:
    """The move a cell chooses in a solved position, after few simulations."""

    cell: Cell
    position: int

    @property
    def name(self) -> str:
        return f"endgame/{self.cell.name}/{self.position}"


@dataclass(frozen=True)
class Pair:
    """Two games of a side against serial search, from the same opening with colours swapped."""

    match: str  # name of the match; all its pairs have the same sides
    number: int

    @property
    def name(self) -> str:
        return f"pair/{self.match}/{self.number}"


Unit = Tune | Reference | Speed | Answer | Endgame | Pair


def seed_of(run_seed: int, name: str) -> int:
    """A seed for one unit that depends on nothing but the run's seed and the unit's name."""
    return int.from_bytes(hashlib.sha256(f"{run_seed}/{name}".encode()).digest()[:6], "little")
