"""Many machines' statistics as one answer. Pure functions and one book of reports; nothing here knows about sockets or clocks.

Reports are cumulative and named by (node, epoch); for each name the one with the highest sequence counts, in whatever
order they come and however often. So the merged visits are exactly the simulations that the newest reports tell of.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from msgspec.structs import astuple

from distmcts.cluster.messages import MAX_ENTRIES, MoveRow, Statistics
from distmcts.cluster.rules import TABLE
from distmcts.errors import InputError
from distmcts.kernels.layout import SCALE
from distmcts.tree.merge import MergedMove
from distmcts.tree.share import NOTHING, Path, Statistic, by_visits, families, without

MAX_SOURCES = 4096  # nodes of one job, each process counted
MERGE_S = 1 / 3  # between two reports: MoGo's pace (Gelly et al. 2008)
MAX_DEPTH = 200  # moves from the root; paths are as long as nodes are deep, and one long chain must not fill the memory
MAX_STEPS = 200_000  # moves of all paths of a report together, for the same reason
MAX_VISITS = (1 << 62) // SCALE  # of all sources together: value sums must fit into what travels

Told = dict[Path, Statistic]
Source = tuple[str, int]  # node and epoch


# ---- on the wire ---------------------------------------------------------------------------------------------------------


def pack(told: Mapping[Path, Statistic]) -> Statistics:
    """Statistics of nodes, each with its parent, for the wire. If too many, the deepest and least visited are left out."""
    allowed = (path for path in told if len(path) <= MAX_DEPTH)
    paths = sorted(allowed, key=lambda path: (len(path), -told[path].visits))[:MAX_ENTRIES]
    while sum(map(len, paths)) > MAX_STEPS:
        del paths[-max(1, len(paths) // 10) :]
    place = {path: i for i, path in enumerate(paths)}
    return Statistics(
        visits=[told[path].visits for path in paths],
        value_sums=[told[path].value_sum for path in paths],
        parents=[place[path[:-1]] for path in paths[1:]],
        moves=[path[-1] for path in paths[1:]],
    )


def unpack(statistics: Statistics) -> Told:
    """What `pack` packed. InputError if it cannot be the statistics of any tree."""
    visits, value_sums, parents, moves = statistics.visits, statistics.value_sums, statistics.parents, statistics.moves
    if not len(visits) == len(value_sums) == len(parents) + 1 == len(moves) + 1:
        raise InputError("statistics: lists of different lengths")
    paths: list[Path] = [()]
    steps = 0
    below = [0] * len(visits)
    for i, (parent, move) in enumerate(zip(parents, moves, strict=True), start=1):
        if parent >= i:
            raise InputError("statistics: a node before its parent")
        if len(paths[parent]) >= MAX_DEPTH:
            raise InputError("statistics: a node that is too deep")
        paths.append((*paths[parent], move))
        steps += len(paths[i])
        if steps > MAX_STEPS:
            raise InputError("statistics: too many nodes that deep")
        below[parent] += visits[i]
    told = dict(zip(paths, map(Statistic, visits, value_sums), strict=True))
    if len(told) != len(paths):
        raise InputError("statistics: a node is there twice")
    if any(inside > own for inside, own in zip(below, visits, strict=True)):
        raise InputError("statistics: more visits below a node than it has")
    if any(abs(value_sum) > own * SCALE for value_sum, own in zip(value_sums, visits, strict=True)):
        raise InputError("statistics: a value sum beyond its visits")
    return told


def pack_row(row: MergedMove) -> MoveRow:
    return MoveRow(*row)


def unpack_row(row: MoveRow) -> MergedMove:
    return MergedMove(*astuple(row))


class Entry(NamedTuple):
    """What a report tells."""

    sequence: int
    told: Told
    proven: dict[int, float]  # exact values by move; on the wire, keys are text

    def packed_proven(self) -> dict[str, float]:
        return {str(move): value for move, value in self.proven.items()}


def unpack_report(sequence: int, statistics: Statistics, proven: dict[str, float]) -> Entry:
    """InputError if no search can have found this."""
    told = unpack(statistics)
    try:
        return Entry(sequence, told, {int(move): value for move, value in proven.items()})
    except ValueError:
        raise InputError("statistics: a move that is no number") from None


# ---- the book ------------------------------------------------------------------------------------------------------------


class Tally:
    """The newest report of every source, and their sum. A source that is lost stays: what it searched was searched."""

    def __init__(self) -> None:
        self.entries: dict[Source, Entry] = {}
        self.total: Told = {}
        self._below = families(())  # of all nodes in the total: kept, as it is needed for every report

    def take(
        self, source: Source, sequence: int, told: Told, proven: dict[int, float] | None = None, is_fuller: bool = False
    ) -> bool:
        """Let a report count; False if it is old news. InputError if it tells of fewer visits than an older one, or too many.

        `is_fuller`: it may be the newest report again, telling of more nodes; then it takes its place.
        """
        before = self.entries.get(source)
        if before is not None:
            if sequence < before.sequence + (not is_fuller):
                return False
            if told[()].visits < before.told[()].visits:
                raise InputError("statistics: a later report has fewer visits")
        if before is None and len(self.entries) >= MAX_SOURCES:
            raise InputError("statistics: of too many nodes")
        if self.visits - self.visits_of(source) + told[()].visits > MAX_VISITS:
            raise InputError("statistics: more simulations than can be added up")
        self._replace(before.told if before else {}, told)
        self.entries[source] = Entry(sequence, told, proven or {})
        return True

    def _replace(self, old: Told, new: Told) -> None:
        total = self.total
        for path, statistic in new.items():
            so_far, was = total.get(path), old.get(path, NOTHING)
            if so_far is None:
                so_far = NOTHING
                if path:
                    self._below[path[:-1]][path] = None
            total[path] = Statistic(
                so_far.visits + statistic.visits - was.visits, so_far.value_sum + statistic.value_sum - was.value_sum
            )
        for path in old.keys() - new.keys():  # left out of a report that would have been too large
            so_far, was = total.pop(path, NOTHING), old[path]
            if so_far.visits > was.visits:
                total[path] = Statistic(so_far.visits - was.visits, so_far.value_sum - was.value_sum)
            else:
                self._below[path[:-1]].pop(path, None)

    @property
    def visits(self) -> int:
        """Simulations that the reports tell of, each counted once."""
        return self.total[()].visits if self.total else 0

    def visits_of(self, source: Source) -> int:
        entry = self.entries.get(source)
        return entry.told[()].visits if entry else 0

    def others(self, source: Source, share: float = 0.0) -> Told:
        """What all sources but one have found: what that one may borrow. Always has the root. `share`: see tree/share.py."""
        entry = self.entries.get(source)
        return {(): NOTHING, **without(self.total, entry.told if entry else {}, share, self._below)}

    def rows(self, rule: str) -> list[MergedMove]:
        """The moves at the root, best first."""
        votes = _votes(entry.told for entry in self.entries.values())
        proven = {move: value for entry in self.entries.values() for move, value in entry.proven.items()}
        rows = [
            MergedMove(path[0], told.visits, told.value_sum, votes.get(path[0], 0), proven.get(path[0]))
            for path, told in self.total.items()
            if len(path) == 1
        ]
        return best_first(rows, rule)


def best_first(rows: Iterable[MergedMove], rule: str) -> list[MergedMove]:
    votes_count = TABLE[rule].votes
    return sorted(rows, key=lambda row: (-row.votes if votes_count else 0, *by_visits(row)))


def _votes(reports: Iterable[Told]) -> dict[int, int]:
    votes: dict[int, int] = {}
    for told in reports:
        moves = [(-statistic.visits, -statistic.value_sum, path[0]) for path, statistic in told.items() if len(path) == 1]
        if moves:
            move = min(moves)[2]
            votes[move] = votes.get(move, 0) + 1
    return votes
