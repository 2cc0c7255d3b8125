"""The whole coordinator against a plain reference: nodes come, go, die and return, links are cut, it is itself started again.

Whatever happens: what is merged is exactly what was reported, each node's row tells the truth, a search ends by its deadline,
and every unit of a batch has exactly one result.
"""

import random
import re

import pytest

from distmcts.cluster.messages import Answer, SubmitBatch, SubmitSearch, UnitResults
from distmcts.cluster.rules import RULES
from distmcts.cluster.search_job import RETURN_S
from tests.cluster.simulated import TICK_S, Weather, World, a_search

SEARCHES, BATCHES = 2_400, 1_000
AT_ONCE = 200  # schedules of one test
LATE_S = 1.0  # after its deadline a search is over
HORIZON_S = 100.0  # after which everything must be over
TROUBLE_S = 8.0  # during which things go wrong

CALM = ["join"]
FAULTS = ["join", "kill", "restart", "leave", "short cut", "cut", "long cut", "coordinator", "checkpoint"]


def make_world(choose: random.Random, is_calm: bool) -> World:
    loss, twice = choose.choice([(0.0, 0.0), (0.0, 0.3), (0.02, 0.0), (0.1, 0.1), (0.3, 0.3)])
    weather = Weather(0.0 if is_calm else loss, twice, choose.choice([0.0, 0.02, 0.02, 0.2]))
    return World(choose.randrange(1 << 30), weather)


def add_node(world: World, choose: random.Random, **ways) -> None:
    ways = {"rate": choose.choice([500.0, 1000.0, 4000.0]), "prepare_s": choose.choice([0.0, 0.1, 0.5, 2.0]), **ways}
    world.join(f"n{len(world.nodes)}", choose.randint(1, 10**6), **ways)


def plan_trouble(world: World, choose: random.Random, kinds: list[str], make) -> None:
    within_s = choose.choice([3.0, TROUBLE_S])
    for _ in range(choose.randint(0, 5)):
        kind = choose.choice(kinds)
        world.after(choose.random() * within_s, lambda kind=kind: trouble(world, choose, kind, make))


def trouble(world: World, choose: random.Random, kind: str, make) -> None:
    living = world.living()
    if kind == "join":
        make()
    elif kind == "coordinator":
        if world.coordinator is not None:
            world.kill_coordinator()
            world.after(choose.choice([0.05, 0.5, 3.0]), world.start_coordinator)
    elif kind == "checkpoint":
        if world.coordinator is not None and not world.coordinator.is_ending:
            world.checkpoint(choose.choice([0.3, 2.0]), choose.choice([0.1, 3.0]))
            world.after(4.0, make)
    elif living:
        node = choose.choice(living)
        if kind == "kill":
            node.kill()
        elif kind == "restart":
            world.restart(node)
        elif kind == "leave":
            node.leave()
        else:
            world.cut(node, {"short cut": 1.0, "cut": 3.0, "long cut": 10.0}[kind])


def each(schedule, first: int) -> None:
    for seed in range(first, first + AT_ONCE):
        try:
            schedule(seed)
        except Exception as error:
            raise AssertionError(f"schedule {seed}: {error}") from error


# ---- searches ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", range(0, SEARCHES, AT_ONCE))
def test_searches(first):
    each(run_search, first)


def run_search(seed: int) -> None:
    choose = random.Random(seed)
    is_calm = choose.random() < 0.25
    world = make_world(choose, is_calm)
    seconds = choose.choice([None, 0.5, 1.5, 4.0])
    simulations = choose.randint(1, 12_000) if seconds is None or choose.random() < 0.3 else None
    merge = choose.choice(RULES)
    search = a_search(seconds, simulations, merge, merge_s=choose.choice([0.1, 1 / 3, 1.0]), wait_s=3.0)
    with world.open():
        rooms = [None] if is_calm else [None, None, None, 700]
        for _ in range(choose.randint(1, 4)):
            add_node(world, choose, room=choose.choice(rooms))
        plan_trouble(world, choose, CALM if is_calm else FAULTS, lambda: add_node(world, choose))
        started = world.now
        submit = SubmitSearch("job", search)

        def is_over() -> bool:
            return (job := world.job("job")) is not None and job.is_over

        world.after(choose.random() * 2, lambda: world.ask(submit))
        while not is_over() and world.now < started + HORIZON_S:
            world.run(world.now + 1.0, is_over)
            if world.coordinator is not None and not is_over():
                world.ask(submit)
        assert is_over(), "the search never ended"
        check_search(world, search, is_calm)


def check_search(world: World, search, is_calm: bool) -> None:
    job, book = world.job("job"), world.books["job"]
    answer = world.ask(SubmitSearch("job", search))
    if search.seconds is not None:
        check_time(world, search.seconds)
    if not isinstance(answer, Answer):
        assert job.state == "failed" and not book.visits(), f"failed although {book.visits()} simulations were reported"
        assert not is_calm
        return
    assert answer.simulations == book.visits()
    assert [(row.move, row.visits, row.value_sum, row.votes) for row in answer.rows] == book.rows(search.merge)
    check_rows(world, answer)
    if search.simulations is not None and answer.stopped_by == f"{search.simulations} simulations":
        assert answer.simulations >= search.simulations
    if is_calm:
        assert {row.state.split(":")[0] for row in answer.nodes} <= {"finished", "late"}
        made = sum(tree.visits for tree in world.trees.values())
        assert answer.simulations == made
        if search.seconds is None:
            assert made == search.simulations
        elif search.simulations is not None:
            assert made <= search.simulations


def check_time(world: World, seconds: float) -> None:
    """A search lasts as long as it should, in one or several pieces."""
    began, left = None, seconds
    for entry in world.entries():
        if entry["kind"] == "started" and began is None:
            began = entry["at"]
            assert entry["seconds_left"] == left
        elif entry["kind"] == "suspended":
            if began is not None:
                searched_s = world.suspended_at[entry["at"]] - began
                assert entry["seconds_left"] == pytest.approx(max(0.0, left - searched_s), abs=0.01)
            began, left = None, entry["seconds_left"]
    if began is not None:
        deadline = began + left
        by = world.started_at + RETURN_S if world.started_at > deadline else deadline + LATE_S  # it was away at the deadline
        by = max(by, *world.suspended_at, 0.0)
        assert world.now <= by + TICK_S, f"over {world.now - by:.2f} s too late"


def check_rows(world: World, answer: Answer) -> None:
    newest = world.books["job"].newest()
    for name in {row.name for row in answer.nodes} | {source[0] for source in newest}:
        told = sorted(row.simulations for row in answer.nodes if row.name == name and row.simulations)
        assert told == sorted(report.told[()][0] for source, report in newest.items() if source[0] == name and report.told[()][0])
    for row in answer.nodes:
        mine = [source for source in world.trees if source[0] == row.name]
        reports = [newest[source] for source in mine if source in newest and newest[source].told[()][0] == row.simulations]
        if row.state.startswith("finished"):
            assert any(report.is_last and world.trees[report.source].visits == row.simulations for report in reports)
        else:
            assert not row.simulations or any(not report.is_last for report in reports), f"{row} has sent its last report"
        if found := re.search(r"at least ([\d,]+) simulations", row.state):
            missing = int(found[1].replace(",", ""))
            assert any(world.trees[source].visits - row.simulations >= missing for source in mine)
        if row.workers:
            assert row.workers == 4


# ---- batches -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", range(0, BATCHES, AT_ONCE))
def test_batches(first):
    each(run_batch, first)


def run_batch(seed: int) -> None:
    choose = random.Random(seed)
    is_calm = choose.random() < 0.25
    world = make_world(choose, is_calm)
    units = [f"u{i}" for i in range(choose.randint(1, 15))]
    breaks = frozenset(unit for unit in units if choose.random() < 0.1)  # on every node
    submit = SubmitBatch("job", "made_up", "{}", units)

    def add() -> None:
        add_node(world, choose, unit_s=choose.choice([0.0, 0.1, 0.5, 1.5]), breaks=breaks)

    with world.open():
        for _ in range(choose.randint(1, 4)):
            add()
        plan_trouble(world, choose, CALM if is_calm else FAULTS, add)
        world.after(TROUBLE_S + 4, add)  # somebody is left in the end
        end = world.now + HORIZON_S

        def is_over() -> bool:
            return (job := world.job("job")) is not None and job.is_over

        results: list[tuple[str, str, bool]] = []
        while world.now < end:
            question = submit if world.job("job") is None else world.ask_for("job", len(results))
            reply = world.ask(question)
            if isinstance(reply, UnitResults):
                assert reply.start == len(results)
                results += reply.results
                if len(results) == reply.total:
                    break
            world.run(world.now + 1.0, is_over)
        tried = [unit for node in world.nodes.values() for unit in node.tried]
        assert sorted(unit for unit, _, _ in results) == sorted(units), "a unit is missing, or was counted twice"
        for unit, found, went_well in results:
            assert went_well == (unit not in breaks)
            if went_well:
                name = found.strip('"').removeprefix(f"{unit} by ")
                assert any(node.source[0] == name and unit in node.tried for node in world.nodes.values())
            else:
                assert found.endswith("broken") and unit in tried
        if is_calm:
            assert all(tried.count(unit) == 1 for unit in units if unit not in breaks)
