"""Many trees of one position seen as one: visits and value sums of equal moves are added."""

from collections import defaultdict
from typing import NamedTuple

from distmcts.kernels.layout import SCALE, Tree
from distmcts.tree import view


class MergedMove(NamedTuple):
    move: int
    visits: int
    value_sum: int  # fixed point
    votes: int  # trees in which this move has the most visits
    proven: float | None = None  # its exact value, if one tree has proven it

    @property
    def value(self) -> float:
        return self.value_sum / SCALE / self.visits if self.visits else 0.0


def merged(trees: list[Tree]) -> list[MergedMove]:
    """The moves at the root, most visits first."""
    visits: dict[int, int] = defaultdict(int)
    sums: dict[int, int] = defaultdict(int)
    votes: dict[int, int] = defaultdict(int)
    proven: dict[int, float] = {}
    for tree in trees:
        children = view.children(tree)
        for child in children:
            visits[child.move] += child.visits
            sums[child.move] += child.value_sum
            if child.proven is not None:
                proven[child.move] = child.proven
        if children:
            votes[max(children, key=lambda child: (child.visits, child.value)).move] += 1
    rows = [MergedMove(move, visits[move], sums[move], votes[move], proven.get(move)) for move in visits]
    return sorted(rows, key=lambda row: (-row.visits, -row.value, row.move))
