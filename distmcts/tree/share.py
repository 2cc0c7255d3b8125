"""What a machine tells others about its tree, and what it takes from them: slow tree parallelization (MoGo; Gelly et al. 2008).

Each machine has a tree of its own. Now and then it tells the others what it knows below the nodes that many of its own
simulations pass (5 % of them, or more): the statistics of *all* children of such a node. It adds what others tell to its own:

    report = own(tree, ledger)                                       on every machine
    total = combine(all reports)                                     anywhere
    borrow(tree, ledger, without(total, report, share))              on every machine

A node is named by the moves from the root to it, () being the root. All numbers that travel are cumulative, never differences:
a message that is lost or comes twice does no harm. The ledger holds what was borrowed so far, so that

    what is in a node = own + borrowed

at any time, and simulations of others are never told as one's own. The trees stand still when these functions run.

Families are told whole, because selection compares siblings: one with the visits of all machines beside one with the visits of
this machine alone makes the second look unexplored. And what is borrowed does not count for the 5 %, or with 20 machines and
more, nobody could tell anything new. benchmarks/results/merge_rules.md has the figures with and without.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from distmcts.errors import InputError
from distmcts.kernels.layout import ROOT, SCALE, Tree, packed
from distmcts.tree.merge import MergedMove
from distmcts.tree.view import Reader

SHARE = 0.05  # of a machine's own simulations: how many must pass a node before its children are told

Path = tuple[int, ...]  # moves from the root


class Statistic(NamedTuple):
    visits: int
    value_sum: int  # fixed point


NOTHING = Statistic(0, 0)


class Ledger:
    """What one tree has borrowed and told since it got its present root. An emptied tree needs a new ledger."""

    def __init__(self) -> None:
        self.borrowed: dict[Path, Statistic] = {}
        self.borrowed_below: dict[Path, int] = defaultdict(int)  # visits that a node's children have borrowed, all together
        self.opened: set[Path] = set()  # nodes whose children were told
        self.nodes: dict[Path, int] = {(): ROOT}  # where nodes lie, as far as it was asked; as long as the root stays, so do they

    def own(self, path: Path, total: Statistic) -> Statistic:
        """What is left of a node's total without what was borrowed."""
        borrowed = self.borrowed.get(path, NOTHING)
        return Statistic(total.visits - borrowed.visits, total.value_sum - borrowed.value_sum)

    def after(self, move: int) -> "Ledger":
        """The ledger of the same tree when it has kept the subtree below a move (tree/compact.py), on every machine."""
        ledger = Ledger()
        for old, new in ((self.borrowed, ledger.borrowed), (self.borrowed_below, ledger.borrowed_below)):
            new.update({path[1:]: entry for path, entry in old.items() if path[:1] == (move,)})
        ledger.opened = {path[1:] for path in self.opened if path[:1] == (move,)}
        return ledger


def own(tree: Tree, ledger: Ledger, share: float = SHARE, depth: int | None = None) -> dict[Path, Statistic]:
    """The tree's own statistics of the root, and of all children of nodes with this share of them, down to `depth` moves.

    A family told once is told ever after, even if its share shrinks: so totals never fall, and borrowers need not forget.
    """
    nodes = _Nodes(tree)
    root = ledger.own((), nodes.statistic(ROOT))
    least = share * root.visits
    report = {(): root}
    open_nodes: list[tuple[int, Path]] = [(ROOT, ())]
    while open_nodes:
        node, path = open_nodes.pop()
        if depth is not None and len(path) >= depth:
            continue
        ledger.opened.add(path)
        for child in nodes.children(node):
            below = (*path, nodes.move(child))
            statistic = ledger.own(below, nodes.statistic(child))
            if statistic.visits:
                report[below] = statistic
                if statistic.visits >= least or below in ledger.opened:
                    open_nodes.append((child, below))
    return report


def own_root(tree: Tree, ledger: Ledger) -> list[MergedMove]:
    """The moves at the root with the tree's own visits only, best first. Summed over machines, every simulation counts once."""
    nodes = _Nodes(tree)
    rows = []
    for child in nodes.children(ROOT):
        move = nodes.move(child)
        rows.append(MergedMove(move, *ledger.own((move,), nodes.statistic(child)), votes=0))
    rows.sort(key=by_visits)
    return [row._replace(votes=1) if place == 0 else row for place, row in enumerate(rows)]


def by_visits(row: MergedMove) -> tuple:
    """Sorts the best move to the front."""
    return -row.visits, -row.value, row.move


def combine(reports: Iterable[dict[Path, Statistic]]) -> dict[Path, Statistic]:
    """The sum of several machines' reports."""
    total: dict[Path, Statistic] = {}
    for report in reports:
        for path, told in report.items():
            so_far = total.get(path, NOTHING)
            total[path] = Statistic(so_far.visits + told.visits, so_far.value_sum + told.value_sum)
    return total


def families(paths: Iterable[Path]) -> dict[Path, dict[Path, None]]:
    """Nodes by their parent; the inner dictionaries are ordered sets."""
    found: dict[Path, dict[Path, None]] = defaultdict(dict)
    for path in paths:
        if path:
            found[path[:-1]][path] = None
    return found


def without(
    total: dict[Path, Statistic],
    report: dict[Path, Statistic],
    share: float = 0.0,
    below: dict[Path, dict[Path, None]] | None = None,
) -> dict[Path, Statistic]:
    """A sum of reports without one of them, the very same that was added: what its machine may borrow.

    Nodes that nobody else told about are left out, and so is all that is below nodes with less than this share of everybody's
    simulations: with many machines there is much of it, and it would hardly ever be used. `below`: families(total), if known.
    """
    below = families(total) if below is None else below
    least = share * total[()].visits if total else 0.0
    rest = {}
    open_nodes: list[Path] = []
    found: Iterable[Path] = [()] if total else ()
    while True:
        for path in found:
            summed, told = total[path], report.get(path, NOTHING)
            if summed.visits > told.visits:
                rest[path] = Statistic(summed.visits - told.visits, summed.value_sum - told.value_sum)
            if summed.visits >= least and path in below:
                open_nodes.append(path)
        if not open_nodes:
            return rest
        found = below[open_nodes.pop()]


def borrow(tree: Tree, ledger: Ledger, others: dict[Path, Statistic]) -> None:
    """Add what is new in the others' totals to the nodes that exist here. Nodes that do not exist yet get theirs later."""
    gains: dict[Path, int] = {}
    for path, told in others.items():
        if abs(told.value_sum) > told.visits * SCALE:
            raise InputError(f"statistics of {path}: a value sum of {told.value_sum} is more than {told.visits} visits allow")
        gain = told.visits - ledger.borrowed.get(path, NOTHING).visits
        if gain > 0:  # otherwise it is old news
            gains[path] = gain
    families: dict[Path, list[Path]] = defaultdict(list)
    for path in gains:
        if path:
            families[path[:-1]].append(path)

    nodes = _Nodes(tree)
    to_extra: dict[Path, int] = defaultdict(int)  # what a node gains and its children do not
    if () in gains:
        _take(nodes, ledger, (), others[()])
        to_extra[()] = gains[()]
    for parent in sorted(families, key=len):  # a node before its children
        children = _existing(nodes, ledger, parent, families[parent])
        gain = sum(gains[path] for path in children)
        if _covers(ledger, parent, gain):
            ledger.borrowed_below[parent] += gain
            to_extra[parent] -= gain
            for path in children:
                _take(nodes, ledger, path, others[path])
                to_extra[path] = gains[path]
    for path, visits in to_extra.items():
        if visits:
            nodes.add_to_extra(ledger.nodes[path], visits)


def _existing(nodes: "_Nodes", ledger: Ledger, parent: Path, children: list[Path]) -> list[Path]:
    """Those of a family that exist here."""
    if any(path not in ledger.nodes for path in children) and parent in ledger.nodes:
        for node in nodes.children(ledger.nodes[parent]):
            ledger.nodes[*parent, nodes.move(node)] = node
    return [path for path in children if path in ledger.nodes]


def _covers(ledger: Ledger, parent: Path, gain: int) -> bool:
    """Whether a node has borrowed enough visits for those that its children would have borrowed after this gain.

    What is borrowed here and lies below no child that exists here goes into `extra`, which must not fall below what the tree's
    own simulations made it. Totals of one and the same time always fit: a node has at least its children's visits, and is told
    whenever a child is. Totals of different times may not (a machine was lost, an old message came late): then the whole family
    stays as it was, and since nothing borrowed is ever given back, what fitted before still fits.
    """
    return gain > 0 and ledger.borrowed_below[parent] + gain <= ledger.borrowed.get(parent, NOTHING).visits


def _take(nodes: "_Nodes", ledger: Ledger, path: Path, told: Statistic) -> None:
    """Bring what a node has borrowed up to a new total."""
    # Visits and value are those of one total: so the node's value sum stays within its visits, as those of both its parts do.
    before = ledger.borrowed.get(path, NOTHING)
    nodes.add(ledger.nodes[path], told.visits - before.visits, told.value_sum - before.value_sum)
    ledger.borrowed[path] = told


class _Nodes(Reader):
    """Single nodes of a tree at rest, which a merge may change."""

    def __init__(self, tree: Tree):
        super().__init__(tree)
        self._extra = memoryview(tree.extra)

    def statistic(self, node: int) -> Statistic:
        return Statistic(self.visits(node), self.value_sums[node])

    def add(self, node: int, visits: int, value_sum: int) -> None:
        self.counts[node] += packed(visits, 0)
        self.value_sums[node] += value_sum

    def add_to_extra(self, node: int, visits: int) -> None:
        """Modulo 2^32, as layout.py says."""
        half = 1 << 31
        self._extra[node] = (self._extra[node] + visits + half) % (2 * half) - half
