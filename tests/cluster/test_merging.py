"""Merging against a plain reference: whatever is lost, doubled, late or begun again, every simulation counts once."""

import random

import pytest

from distmcts.cluster.merging import MAX_DEPTH, Tally, pack, unpack
from distmcts.cluster.messages import FROM_NODES, MAX_ENTRIES, Reader, Report, Statistics, write
from distmcts.cluster.rules import RULES
from distmcts.errors import InputError
from distmcts.kernels.layout import SCALE
from distmcts.tree.share import Statistic
from tests.cluster.simulated_node import GrowingTree
from tests.reference.merging import Book, Delivered

SCHEDULES = 10_000
AT_ONCE = 1_000  # schedules of one test
READER = Reader(FROM_NODES)


class Sender:
    """A process on a machine: a tree, and the reports that were made of it."""

    def __init__(self, node: str, epoch: int, choose: random.Random):
        self.source = (node, epoch)
        self.tree = GrowingTree(choose)
        self.sequence = 0

    def report(self) -> bytes:
        self.sequence += 1
        return write(Report("job", *self.source, self.sequence, pack(self.tree.told()), {}, None))


def check(tally: Tally, book: Book, rule: str) -> None:
    assert tally.visits == book.visits()
    assert {path: tuple(told) for path, told in tally.total.items() if told.visits or not path} == (
        book.total() if book.reports else {}
    )
    for source in [*tally.entries, ("stranger", 0)]:
        assert tally.visits_of(source) == book.visits_of(source)
        assert {path: tuple(told) for path, told in tally.others(source).items()} == book.others(source)
    assert [tuple(row)[:4] for row in tally.rows(rule) if row.visits] == book.rows(rule)
    assert sum(row.votes for row in tally.rows(rule)) == sum(book.votes().values())


def run_schedule(seed: int) -> None:
    choose = random.Random(seed)
    rule = choose.choice(RULES)
    tally, book = Tally(), Book()
    senders = [Sender(f"n{i}", 1, choose) for i in range(choose.randint(1, 4))]
    on_the_way: list[bytes] = []
    for _ in range(choose.randint(5, 25)):
        step = choose.choice(["search", "report", "report", "deliver", "deliver", "deliver", "join", "leave", "restart"])
        if step == "join" and len(senders) < 5:
            senders.append(Sender(f"n{choose.randrange(5)}", choose.randrange(100, 10**6), choose))
        elif step == "leave" and len(senders) > 1:
            on_the_way.append(senders.pop(choose.randrange(len(senders))).report())
        elif step == "restart":  # without a word; what is on the way still comes
            at = choose.randrange(len(senders))
            node, epoch = senders[at].source
            senders[at] = Sender(node, epoch + 1, choose)
        elif step == "search":
            choose.choice(senders).tree.grow(choose.randint(1, 50))
        elif step == "report":
            on_the_way.append(choose.choice(senders).report())
        elif on_the_way:
            at = choose.randrange(len(on_the_way))
            frame = on_the_way[at]
            fate = choose.random()
            if fate < 0.75:  # otherwise it comes again
                on_the_way.pop(at)
            if fate < 0.9:  # otherwise it is lost
                report = READER.read(frame)
                source, told = (report.node, report.epoch), unpack(report.statistics)
                newest = book.newest().get(source)
                counts = tally.take(source, report.sequence, told)
                assert counts == (newest is None or report.sequence > newest.sequence)
                book.deliver(Delivered(source, report.sequence, {path: tuple(at) for path, at in told.items()}, {}))
    check(tally, book, rule)


@pytest.mark.parametrize("first", range(0, SCHEDULES, AT_ONCE))
def test_any_order_of_reports(first):
    for seed in range(first, first + AT_ONCE):
        try:
            run_schedule(seed)
        except Exception as error:
            raise AssertionError(f"schedule {seed}: {error}") from error


def test_packing_keeps_everything():
    for seed in range(200):
        choose = random.Random(seed)
        tree = GrowingTree(choose)
        for _ in range(choose.randint(0, 20)):
            tree.grow(choose.randint(1, 1000))
        assert unpack(pack(tree.told())) == tree.told()


def test_too_much_to_pack_loses_the_deepest():
    told = {(): Statistic(10**6, 0)} | {(move,): Statistic(2, 0) for move in range(6000)}
    told |= {(move, 0): Statistic(1, 0) for move in range(6000)}
    kept = unpack(pack(told))
    assert len(kept) == MAX_ENTRIES
    assert {path for path in told if len(path) <= 1} <= kept.keys()
    assert kept.items() <= told.items()


def test_a_chain_is_cut_where_it_is_too_deep():
    """A path is as long as it is deep: without a limit, one report of a chain would fill the memory."""
    told = {(0,) * depth: Statistic(1000 - depth, 0) for depth in range(900)}
    kept = unpack(pack(told))
    assert kept.items() <= told.items()
    assert len(kept) == MAX_DEPTH + 1
    endless = Statistics([9_000 - i for i in range(9_000)], [0] * 9_000, list(range(8_999)), [0] * 8_999)
    with pytest.raises(InputError, match="deep"):
        unpack(endless)


@pytest.mark.parametrize(
    "statistics, what",
    [
        (Statistics([1, 1], [0], [0], [0]), "different lengths"),
        (Statistics([1, 1], [0, 0], [0], []), "different lengths"),
        (Statistics([2, 1], [0, 0], [1], [0]), "before its parent"),
        (Statistics([2, 1], [0, 0], [1 << 62], [0]), "before its parent"),
        (Statistics([2, 1, 1], [0, 0, 0], [0, 0], [7, 7]), "twice"),
        (Statistics([2, 2, 1], [0, 0, 0], [0, 0], [7, 8]), "more visits below"),
        (Statistics([2], [2 * SCALE + 1], [], []), "beyond its visits"),
        (Statistics([2], [-2 * SCALE - 1], [], []), "beyond its visits"),
        (Statistics([0], [1], [], []), "beyond its visits"),
    ],
)
def test_what_no_tree_can_have_is_refused(statistics, what):
    with pytest.raises(InputError, match=what):
        unpack(statistics)


def test_a_refused_report_changes_nothing():
    tally = Tally()
    tally.take(("a", 1), 5, {(): Statistic(10, 0), (1,): Statistic(9, 0)})
    before = dict(tally.total)
    with pytest.raises(InputError, match="fewer visits"):
        tally.take(("a", 1), 6, {(): Statistic(9, 0)})
    assert not tally.take(("a", 1), 5, {(): Statistic(11, 0)})
    assert tally.total == before and tally.visits == 10


def test_more_than_can_be_added_up_is_refused():
    """Sums must fit into what travels, whoever claims what."""
    tally = Tally()
    most = (1 << 62) // SCALE
    tally.take(("a", 1), 1, {(): Statistic(most - 5, 0)})
    with pytest.raises(InputError, match="more simulations than"):
        tally.take(("b", 1), 1, {(): Statistic(6, 0)})
    assert tally.visits == most - 5
    assert tally.take(("b", 1), 2, {(): Statistic(5, 5 * SCALE)})
    assert tally.take(("a", 1), 2, {(): Statistic(most - 5, 0)})


def test_paths_that_nobody_tells_of_any_more_are_forgotten():
    """Otherwise a source that tells of other nodes each time would fill the memory."""
    tally = Tally()
    for sequence in range(1, 200):
        tally.take(("a", 1), sequence, {(): Statistic(10, 0), (sequence,): Statistic(5, 0)})
        tally.take(("b", 1), sequence, {(): Statistic(10, 0), (1,): Statistic(5, 0), (sequence % 7 + 10,): Statistic(0, 0)})
    assert {path: told for path, told in tally.total.items() if told.visits} == {(): (20, 0), (199,): (5, 0), (1,): (5, 0)}
    assert len(tally.total) <= 4


def test_the_best_move_by_sum_and_by_vote():
    tally = Tally()
    for node, visits in enumerate([{1: 51, 2: 49}, {1: 51, 2: 49}, {1: 0, 2: 100}]):
        told = {(move,): Statistic(count, 0) for move, count in visits.items() if count}
        tally.take((f"n{node}", 1), 1, {(): Statistic(100, 0), **told})
    assert [(row.move, row.visits, row.votes) for row in tally.rows("sum")] == [(2, 198, 1), (1, 102, 2)]
    assert [(row.move, row.visits, row.votes) for row in tally.rows("vote")] == [(1, 102, 2), (2, 198, 1)]
