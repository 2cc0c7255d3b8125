"""Merging reports, slow and obviously right: every report ever delivered is kept, and everything is computed from scratch.

A report is of a source (node, epoch), has a sequence, and tells statistics (visits, value sum) of nodes of a tree by their paths.
"""

from typing import NamedTuple

Source = tuple[str, int]
Told = dict[tuple[int, ...], tuple[int, int]]


class Delivered(NamedTuple):
    source: Source
    sequence: int
    told: Told
    proven: dict[int, float]
    is_last: bool = False
    at: float = 0.0


class Book:
    """All that was delivered, in the order in which it was."""

    def __init__(self) -> None:
        self.reports: list[Delivered] = []

    def deliver(self, report: Delivered) -> None:
        self.reports.append(report)

    def newest(self) -> dict[Source, Delivered]:
        """Of each source the report with the highest sequence."""
        found: dict[Source, Delivered] = {}
        for report in self.reports:
            if report.source not in found or report.sequence > found[report.source].sequence:
                found[report.source] = report
        return found

    def visits(self) -> int:
        return sum(report.told[()][0] for report in self.newest().values())

    def visits_of(self, source: Source) -> int:
        newest = self.newest()
        return newest[source].told[()][0] if source in newest else 0

    def total(self) -> Told:
        return added_up([report.told for report in self.newest().values()])

    def others(self, source: Source, share: float = 0.0) -> Told:
        """What all but one have found, of nodes whose parents have this share of everybody's simulations."""
        found = added_up([report.told for other, report in self.newest().items() if other != source])
        total = self.total()
        return {path: told for path, told in found.items() if not path or total[path[:-1]][0] >= share * total[()][0]}

    def votes(self) -> dict[int, int]:
        """Each source has one, for its most visited move; of equal ones for the better, then the lower."""
        votes: dict[int, int] = {}
        for report in self.newest().values():
            moves = [path[0] for path in report.told if len(path) == 1]
            if moves:
                best = sorted(moves, key=lambda move: (-report.told[move,][0], -report.told[move,][1], move))[0]  # noqa: B023
                votes[best] = votes.get(best, 0) + 1
        return votes

    def rows(self, rule: str) -> list[tuple[int, int, int, int]]:
        """(move, visits, value sum, votes), best first."""
        votes = self.votes()
        rows = [(path[0], *told, votes.get(path[0], 0)) for path, told in self.total().items() if len(path) == 1]
        if rule == "vote":
            return sorted(rows, key=lambda row: (-row[3], -row[1], -row[2] / row[1], row[0]))
        return sorted(rows, key=lambda row: (-row[1], -row[2] / row[1], row[0]))


def added_up(many: list[Told]) -> Told:
    """Nodes that nobody has visited are left out, but for the root."""
    paths = {path for told in many for path in told} | {()}
    total = {
        path: (sum(told.get(path, (0, 0))[0] for told in many), sum(told.get(path, (0, 0))[1] for told in many)) for path in paths
    }
    return {path: told for path, told in total.items() if told[0] or not path}
