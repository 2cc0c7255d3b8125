"""Sharing among machines: whatever is exchanged, and when, every tree keeps its laws and every simulation counts once."""

import copy
import random

import pytest

from distmcts.engine import Engine
from distmcts.errors import InputError
from distmcts.kernels.layout import SCALE
from distmcts.tree import view
from distmcts.tree.share import Ledger, Statistic, borrow, combine, own, own_root, without
from tests.support.trees import content, contents, equal

SHARES = [0.0, 0.01, 0.05, 0.3]


class Machine:
    """One tree, its ledger, and how many simulations it has made."""

    def __init__(self, game: str, seed: int, workers: int = 1):
        # Without quotas, so that it makes no difference between which simulations machines exchange what they know.
        self.engine = Engine(game, parallel="simulated", workers=workers, stay=0.0, memory="2MiB", seed=seed)
        self.tree = self.engine.trees[0]
        self.ledger = Ledger()
        self.made = 0

    def run(self, simulations: int) -> None:
        self.engine.run(simulations=simulations)
        self.made += simulations

    def own(self, **limits) -> dict:
        return own(self.tree, self.ledger, **limits)

    def own_everywhere(self) -> dict:
        """Of all nodes, without telling anyone."""
        return own(self.tree, copy.deepcopy(self.ledger), share=0.0)

    def borrow(self, others: dict) -> None:
        borrow(self.tree, self.ledger, others)

    def check(self) -> None:
        self.engine.audit()
        statistics = self.own_everywhere()
        assert statistics[()].visits == self.made
        assert sum(row.visits for row in own_root(self.tree, self.ledger)) == self.made
        check_own(statistics)

    def content(self) -> tuple[dict, dict]:
        return {name: column.tobytes() for name, column in content(self.tree).items()}, dict(self.ledger.borrowed)


def check_own(statistics: dict) -> None:
    """The laws of a tree that nothing was ever borrowed for.

    A simulation that passes a node goes on to a child, but for the one that created it: so visits add up exactly, except where
    the game is over and a node has no children. And one evaluation is worth 1 at most.
    """
    below: dict = {}
    for path, (visits, value_sum) in statistics.items():
        if path:
            so_far = below.get(path[:-1], (0, 0))
            below[path[:-1]] = so_far[0] + visits, so_far[1] + value_sum
    for path, (visits, value_sum) in below.items():
        assert statistics[path].visits == visits + (1 if path else 0)
        assert abs(statistics[path].value_sum + value_sum) <= SCALE  # players take turns
    for visits, value_sum in statistics.values():
        assert abs(value_sum) <= visits * SCALE


def check_extra(tree) -> None:
    """No node has more visits below it than it has itself."""
    for nodes, _ in view.levels(tree):
        for node in nodes.tolist():
            assert view.visits(tree, node) >= sum(child.visits for child in view.children(tree, node))


@pytest.fixture
def group():
    made: list[Machine] = []

    def build(*arguments, **settings) -> Machine:
        made.append(Machine(*arguments, **settings))
        return made[-1]

    yield build
    for machine in made:
        machine.engine.close()


@pytest.mark.parametrize("game", ["tic_tac_toe", "connect_four"])
@pytest.mark.parametrize("seed", range(6))
def test_any_order_of_searching_and_sharing(group, game, seed):
    choose = random.Random(seed)
    machines = [group(game, seed=100 * seed + i, workers=choose.choice([1, 1, 4])) for i in range(choose.randint(2, 5))]
    reports = [{} for _ in machines]  # as they last arrived
    offers = [[{}] for _ in machines]  # all that was ever made for each machine
    for _ in range(25):
        step = choose.choice(["search", "search", "report", "exchange", "mixed", "late", "lost"])
        at = choose.randrange(len(machines))
        machine = machines[at]
        if step == "search":
            machine.run(choose.randint(1, 150))
        elif step == "report":
            reports[at] = machine.own(share=choose.choice(SHARES), depth=choose.choice([None, None, 1, 2]))
        elif step == "exchange":
            share = choose.choice(SHARES)
            reports = [each.own(share=share) for each in machines]
            for each, offered, report in zip(machines, offers, reports, strict=True):
                offered.append(without(combine(reports), report))
                each.borrow(offered[-1])
        elif step == "mixed":  # reports of different times
            offers[at].append(without(combine(reports), reports[at]))
            machine.borrow(offers[at][-1])
        elif step == "late":
            machine.borrow(choose.choice(offers[at]))
        else:  # one machine's report is lost
            machine.borrow(combine(report for i, report in enumerate(reports) if i not in (at, (at + 1) % len(machines))))
        for each in machines:
            each.check()
    total = combine(machine.own_everywhere() for machine in machines)
    assert total[()].visits == sum(machine.made for machine in machines)
    for machine in machines:
        check_extra(machine.tree)


def exchanged(machines: list[Machine], **limits) -> list[dict]:
    """One exchange among all; what each was offered."""
    reports = [machine.own(**limits) for machine in machines]
    offers = [without(combine(reports), report) for report in reports]
    for machine, offer in zip(machines, offers, strict=True):
        machine.borrow(offer)
    return offers


def test_a_node_holds_own_and_borrowed(group):
    machines = [group("connect_four", seed=i) for i in range(3)]
    for machine in machines:
        machine.run(400)
    for _ in range(3):
        before = [machine.own_everywhere() for machine in machines]
        offers = exchanged(machines)
        for machine, own_before, offer in zip(machines, before, offers, strict=True):
            assert machine.own_everywhere() == own_before
            assert own(machine.tree, Ledger(), share=0.0) == combine(
                [own_before, {path: told for path, told in offer.items() if path in own_before}]
            )
            assert view.visits(machine.tree) == sum(each.made for each in machines)
        for machine in machines:
            machine.run(300)


def test_the_same_totals_twice_change_nothing(group):
    machines = [group("tic_tac_toe", seed=i) for i in range(3)]
    for machine in machines:
        machine.run(300)
    offers = exchanged(machines)
    for machine, offer in zip(machines, offers, strict=True):
        before = machine.content()
        machine.borrow(offer)
        assert machine.content() == before


def test_the_order_of_machines_does_not_matter(group):
    machines = [group("connect_four", seed=i) for i in range(4)]
    for i, machine in enumerate(machines):
        machine.run(200 + 50 * i)
    reports = [machine.own() for machine in machines]
    total = combine(reports)
    assert combine(reversed(reports)) == total
    for i, report in enumerate(reports):
        others = combine(reports[:i] + reports[i + 1 :])
        assert without(total, report) == others
        assert combine([others, report]) == total


def test_what_does_not_exist_yet_comes_later(group):
    big, small = group("connect_four", seed=1), group("connect_four", seed=2)
    big.run(2000)
    small.run(3)
    small.borrow(big.own())
    small.check()
    assert {len(path) for path in small.ledger.borrowed} <= {0, 1, 2}
    offer = big.own()
    for _ in range(20):
        small.run(100)
        small.borrow(offer)
        small.check()
    assert small.ledger.borrowed == offer
    assert small.own()[()].visits == small.made


def test_who_is_told(group):
    machine = group("connect_four", seed=1)
    machine.run(2000)
    report = machine.own()
    everything = machine.own_everywhere()
    assert report == {path: told for path, told in everything.items() if not path or everything[path[:-1]].visits >= 100}
    assert machine.own(share=0.9) == report  # once told, told ever after
    at_root = own(machine.tree, Ledger(), share=0.0, depth=1)
    assert at_root == {path: told for path, told in everything.items() if len(path) <= 1}
    assert own(machine.tree, Ledger(), share=0.0, depth=0).keys() == {()}


def test_nothing_searched_yet(group):
    idle, busy = group("tic_tac_toe", seed=1), group("tic_tac_toe", seed=2)
    assert idle.own() == {(): Statistic(0, 0)}
    assert own_root(idle.tree, idle.ledger) == []
    busy.run(100)
    idle.borrow(busy.own())
    idle.check()
    assert view.visits(idle.tree) == 100
    idle.run(50)
    exchanged([idle, busy])
    idle.check()
    busy.check()


def test_votes_and_order_at_the_root(group):
    machine = group("connect_four", seed=1)
    machine.run(500)
    rows = own_root(machine.tree, machine.ledger)
    assert [row.votes for row in rows] == [1] + [0] * 6
    assert [row.visits for row in rows] == sorted((row.visits for row in rows), reverse=True)
    assert {row.move: row.visits for row in rows} == {child.move: child.visits for child in view.children(machine.tree)}


def test_more_visits_than_extra_can_count(group):
    machine = group("tic_tac_toe", seed=1)
    machine.run(100)
    for billions in (1, 3, 5, 9):
        visits = billions * 10**9
        machine.borrow({(): Statistic(visits, -visits * SCALE), (0,): Statistic(visits // 4, visits // 4 * SCALE)})
        machine.check()
        assert view.visits(machine.tree) == visits + machine.made
        machine.run(10)
        machine.check()


@pytest.mark.parametrize(
    "others",
    [
        {(): Statistic(10, 0), (0,): Statistic(6, 0), (1,): Statistic(5, 0)},  # children with more visits than their parent
        {(0,): Statistic(1, 0)},  # a child without its parent
        {(): Statistic(10, 0), (0, 1): Statistic(5, 0)},
        {(7, 7, 7): Statistic(5, 0), (99,): Statistic(5, 0)},  # impossible moves
    ],
)
def test_totals_that_do_not_fit_are_left(group, others):
    machine = group("tic_tac_toe", seed=1)
    machine.run(200)
    machine.borrow(others)
    machine.check()
    check_extra(machine.tree)
    assert set(machine.ledger.borrowed) <= {()}


def test_families_of_different_times_must_fit_together(group):
    machine = group("tic_tac_toe", seed=1)
    machine.run(200)
    machine.borrow({(): Statistic(10, 0), (0,): Statistic(6, 0)})
    before = machine.content()
    machine.borrow({(): Statistic(10, 0), (1,): Statistic(5, 0)})
    assert machine.content() == before
    machine.borrow({(): Statistic(11, 0), (1,): Statistic(5, 0)})
    assert set(machine.ledger.borrowed) == {(), (0,), (1,)}
    machine.check()
    check_extra(machine.tree)


def test_nothing_borrowed_is_given_back(group):
    machine = group("tic_tac_toe", seed=1)
    machine.run(200)
    machine.borrow({(): Statistic(10, 0), (0,): Statistic(6, 0)})
    before = machine.content()
    for others in ({}, {(): Statistic(9, 0), (0,): Statistic(5, 0)}, {(): Statistic(10, SCALE)}):
        machine.borrow(others)
        assert machine.content() == before


def test_totals_that_cannot_be_are_refused(group):
    machine = group("tic_tac_toe", seed=1)
    machine.run(200)
    before = machine.content()
    for value_sum in (3 * SCALE + 1, -3 * SCALE - 1):
        with pytest.raises(InputError, match="more than 3 visits allow"):
            machine.borrow({(): Statistic(3, 0), (0,): Statistic(3, value_sum)})
    assert machine.content() == before


def test_tree_reuse(group):
    machines = [group("connect_four", seed=i) for i in range(3)]
    for move in (3, 3, 2):
        for _ in range(2):
            for machine in machines:
                machine.run(200)
            exchanged(machines)
        for machine in machines:
            machine.made = machine.own_everywhere()[move,].visits
            machine.engine.advance(move)
            machine.ledger = machine.ledger.after(move)
            machine.engine.audit()
            check_extra(machine.tree)
            assert machine.own_everywhere()[()].visits == machine.made
    exchanged(machines)
    for machine in machines:
        assert machine.own_everywhere()[()].visits == machine.made
        assert view.visits(machine.tree) == sum(each.made for each in machines)


def test_nothing_borrowed_is_the_same_search(group):
    alone, with_ledger = group("connect_four", seed=3), group("connect_four", seed=3)
    alone.run(600)
    for _ in range(3):
        with_ledger.run(200)
        with_ledger.borrow(without(with_ledger.own(), with_ledger.own()))
    assert equal(contents(alone.engine), contents(with_ledger.engine))
