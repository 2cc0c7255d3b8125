"""The path of a simulation, and how far it stays open for the next one: visit quotas, in plain Python.

A level is a node of the path with its quota, and with the visits and rewards that neither it nor the nodes above it have been
given. A simulation is added to the last level; one whose quota is used up is closed: its node is given all of it, and so is the
level above. Without quotas every level is closed at once.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

UNIT = 1 << 22  # results are counted in whole numbers of 1 / UNIT


@dataclass
class Level:
    MOST: ClassVar[int] = 4096
    DEEPEST: ClassVar[int] = 40
    DRAWS: ClassVar[int] = 1024

    node: Any
    quota: int
    visits: int = 0
    rewards: list[int] = field(default_factory=lambda: [0, 0])
    squares: list[int] = field(default_factory=lambda: [0, 0])
    bound: int | None = None  # what a proven child promises the player to move, when another child is visited
    draws: list[Any] = field(default_factory=list)  # outcomes drawn beforehand; the one being served comes first
    served: int = 0  # visits when `draws` was last put in order
    by_chance: bool = False

    def add(self, visits: int, rewards: list[int], squares: list[int]) -> None:
        self.visits += visits
        self.rewards = [mine + more for mine, more in zip(self.rewards, rewards, strict=True)]
        self.squares = [mine + more for mine, more in zip(self.squares, squares, strict=True)]

    def close(self) -> None:
        """Give the node what is pending."""
        self.node.visits += self.visits
        self.node.value_sum += self.rewards[self.node.seen_by]
        self.node.squares += self.squares[self.node.seen_by]

    def next_draw(self, draw: Callable[[], Any], at_once: bool = True) -> Any:
        """The next outcome: drawn for this visit, or for all visits of the quota at once and then grouped."""
        self.by_chance = True
        if self.quota == 1 or not at_once:
            return draw()
        del self.draws[: self.visits - self.served]
        self.served = self.visits
        if not self.draws:
            drawn = [draw() for _ in range(self.quota - self.visits)]
            self.draws = sorted(drawn, key=drawn.index)  # equal ones together, in the order in which they came first
        return self.draws[0]

    def most_below(self) -> int:
        """The quota of the next level is at most this."""
        if self.by_chance:
            return self.draws.count(self.draws[0]) if self.draws else 1
        return self.quota - self.visits


class Levels(list[Level]):
    """All levels of a path, from the root down."""

    def __init__(self, stay: float):
        super().__init__()
        self.stay = stay

    @property
    def nodes(self) -> list[Any]:
        return [level.node for level in self]

    def enter(self, node: Any, most: int, at_chance: bool) -> None:
        """One level more; simulations that would end at once at a node do not stay there."""
        can_stay = node.children and len(self) < Level.DEEPEST
        most = min(most, Level.DRAWS if at_chance else Level.MOST)
        self.append(Level(node, max(1, min(int(node.visits * self.stay), most)) if can_stay else 1))

    def close_proven(self) -> None:
        """Nobody stays where everything is known."""
        for depth, level in enumerate(self):
            if level.node.proven is not None:
                self.add(0, [0, 0], closing=depth)
                return

    def add(self, visits: int, rewards: list[int], closing: int | None = None) -> None:
        """Add a simulation at the end of the path. Levels from number `closing` on are closed, whatever their quota."""
        squares = [reward * reward // UNIT for reward in rewards]
        while self:
            level = self[-1]
            level.add(visits, rewards, squares)
            if level.visits < level.quota and (closing is None or len(self) <= closing):
                return
            level.close()
            visits, rewards, squares = level.visits, level.rewards, level.squares
            self.pop()
            if self and self[-1].bound is not None:
                value = self[-1].bound * visits
                rewards = seen_by_both(value, level.node.seen_by)
                squares = [value * value // (UNIT * max(visits, 1))] * 2


def seen_by_both(value: int, player: int) -> list[int]:
    """A value for one of two players whose results sum to 0, as both see it."""
    return [value, -value] if player == 0 else [-value, value]
