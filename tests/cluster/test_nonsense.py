"""Messages that can be read and yet make no sense: they are counted and dropped, and change nothing for anybody else."""

import pytest

from distmcts.cluster import messages as m
from distmcts.cluster.coordinator import KEPT_JOBS, MAX_WAITING
from distmcts.cluster.merging import MAX_VISITS
from distmcts.kernels.layout import SCALE
from tests.cluster.bench import CLIENT, Bench
from tests.cluster.simulated import a_search

NO_JOB = "out of order: of no such job"


@pytest.fixture
def bench():
    """Two nodes at a search; the one called good has reported."""
    bench = Bench()
    bench.hear(CLIENT, m.SubmitSearch("job", a_search(5.0)))
    bench.join("good", "bad")
    for name in ("good", "bad"):
        bench.hear(name.encode(), m.Ready("job"))
    bench.wait(0.1)
    bench.report("good", 1, 100)
    assert bench.job().state == "searching"
    return bench


def report(statistics: m.Statistics, **changes) -> m.Report:
    fields = {"job": "job", "node": "bad", "epoch": 1, "sequence": 1, "proven": {}, "ending": None}
    return m.Report(statistics=statistics, **{**fields, **changes})


ONE = m.Statistics([1], [0], [], [])


@pytest.mark.parametrize(
    "message, kind",
    [
        (report(ONE, node="good"), "out of order: a report in another node's name"),
        (report(ONE, epoch=2), "out of order: a report in another node's name"),
        (report(ONE, job="nothing"), NO_JOB),
        (report(ONE, proven={"e4": 1.0}), "malformed statistics: a move that is no number"),
        (report(ONE, proven={"9" * 5000: 1.0}), "malformed statistics: a move that is no number"),
        (report(m.Statistics([1, 1], [0], [0], [0])), "malformed statistics: lists of different lengths"),
        (report(m.Statistics([1, 1], [0, 0], [5], [0])), "malformed statistics: a node before its parent"),
        (
            report(m.Statistics([1, 1, 1], [0, 0, 0], [0, 0], [0, 1])),
            "malformed statistics: more visits below a node than it has",
        ),
        (report(m.Statistics([2], [-3 * SCALE], [], [])), "malformed statistics: a value sum beyond its visits"),
        (report(m.Statistics([MAX_VISITS + 1], [0], [], [])), "malformed statistics: more simulations than can be added up"),
        (report(m.Statistics([1 << 62], [1 << 62], [], [])), "malformed statistics: more simulations than can be added up"),
        (m.Ready("nothing"), NO_JOB),
        (m.Refused("nothing", "why"), NO_JOB),
        (m.UnitDone("nothing", "u", "1"), NO_JOB),
        (m.UnitDone("job", "u", "1"), NO_JOB),
        (m.UnitFailed("job", "u", "why"), NO_JOB),
    ],
)
def test_it_is_counted_and_changes_nothing(bench, message, kind):
    bench.hear(b"bad", message)
    assert bench.coordinator.dropped == {kind: 1}
    assert bench.job().tally.visits == 100
    bench.hear(b"bad", message)
    assert bench.coordinator.dropped == {kind: 2}
    assert bench.ask(m.AskStatus()).dropped == {kind: 2}
    bench.report("good", 2, 200, "time")
    bench.wait(6.0)
    assert bench.ask(m.Ask("job", 0)).simulations == 200


def test_whoever_has_not_said_hello_is_asked_to(bench):
    assert bench.hear(b"stranger", report(ONE, node="stranger")) == [m.Who()]
    assert bench.coordinator.dropped == {"out of order: before Hello": 1}
    assert bench.hear(b"stranger", m.Beat("job", "", "searching", 5, 5)) == [m.Who()]  # the usual thing after a restart
    assert bench.coordinator.dropped == {"out of order: before Hello": 1}
    assert len(bench.job().members) == 2


def test_a_flood_of_hellos_makes_one_peer(bench, caplog):
    caplog.set_level("INFO")
    for number in range(5000):
        bench.hear(b"flood", m.Hello(f"n{number % 7}", number, 1 << 62, "x"))
    assert len(bench.coordinator.peers) == 3
    assert sum("is here" in record.message for record in caplog.records) == 1
    assert isinstance(bench.ask(m.AskStatus()), m.Status)


def test_what_is_said_in_anothers_name_does_not_count(bench):
    """Nor does a Hello with another one's identity change who that is."""
    bench.hear(b"bad", m.Hello("good", 1, 4, "x"), report(ONE, node="good", sequence=99))
    assert bench.job().tally.entries.keys() == {("good", 1)}
    bench.hear(b"bad", report(ONE))
    assert bench.job().tally.visits == 101


def test_the_largest_numbers_of_many_nodes_can_be_told():
    bench = Bench()
    bench.hear(CLIENT, m.SubmitSearch("job", a_search(1.0)))
    most = 1 << 48
    names = [f"n{i}" for i in range(200)]
    bench.join(*names)
    for name in names:
        bench.hear(name.encode(), m.Ready("job"))
    bench.wait(0.1)
    share = MAX_VISITS // len(names)
    for name in names:
        ending = m.Ending("time", 1e9, most, most, most, 1e9, [[1 << 62] * 64] * 50)
        statistics = m.Statistics([share, share], [share * SCALE] * 2, [0], [1 << 62])
        bench.hear(name.encode(), report(statistics, node=name, ending=ending))
    bench.wait(2.0)
    answer = bench.ask(m.Ask("job", 0))
    assert answer.simulations == len(names) * share == answer.rows[0].visits
    assert answer.bytes_used == len(names) * most


@pytest.mark.parametrize("kind", ["search", "batch"])
def test_many_long_refusals_can_be_told(kind):
    bench = Bench()
    batch = m.SubmitBatch("job", "kind", "{}", [f"u{i}" for i in range(300)])
    bench.hear(CLIENT, m.SubmitSearch("job", a_search(1.0)) if kind == "search" else batch)
    names = [f"n{i}" for i in range(200)]
    bench.join(*names)
    for name in names:
        reply = bench.hear(name.encode(), m.Refused("job", f"{name}: {'x' * 19_000}"))
        assert m.Received("job", "") in reply
    bench.wait(2.0)
    status = bench.ask(m.Ask("job", 0))
    assert status.state == "failed" and status.note.startswith("no node could do it: n0: xxx")
    assert status.note.endswith("and 195 more")
    assert bench.ask(m.AskStatus()).jobs[0].state.startswith("failed: no node could do it")


def test_results_of_many_units_come_in_pieces():
    """A frame is never too large, however many are ready at once."""
    bench = Bench()
    units = [f"{i:06}{'ü' * 20}" for i in range(30_000)]
    bench.hear(CLIENT, m.SubmitBatch("job", "kind", "{}", units))
    bench.join("a")
    for unit in units:
        bench.job().done(("a", 1), unit, '"ü"')
    found: list[str] = []
    while len(found) < len(units):
        reply = bench.ask(m.Ask("job", len(found)))
        assert reply.results and len(m.write(reply)) < m.MAX_BYTES
        found += [unit for unit, _, _ in reply.results]
    assert found == units


def test_a_result_may_be_long():
    bench = Bench()
    bench.hear(CLIENT, m.SubmitBatch("job", "kind", "{}", ["u"]))
    bench.join("a")
    found = '"' + "x" * (m.MAX_FOUND - 2) + '"'
    message = m.Reader(m.FROM_NODES).read(m.write(m.UnitDone("job", "u", found)))
    assert bench.hear(b"a", message) == [m.Received("job", "u")]
    assert bench.ask(m.Ask("job", 0)).results == [("u", found, True)]


@pytest.mark.parametrize(
    "search, why",
    [
        (a_search(), "a search needs a budget"),
        (a_search(1.0, merge="mean"), "unknown merge rule 'mean'"),
        (a_search(1.0, settings={"exploration": float("nan")}), "exploration=nan: must be a finite number"),
        (a_search(1.0, parameters={"width": float("inf")}), "width=inf: must be a finite number"),
    ],
)
def test_impossible_searches_are_rejected(search, why):
    bench = Bench()
    reply = bench.ask(m.Reader(m.FROM_CLIENTS).read(m.write(m.SubmitSearch("job", search))))
    assert isinstance(reply, m.Rejected) and reply.reason.startswith(why)
    assert not bench.coordinator.jobs and not bench.lines


def test_jobs_do_not_pile_up():
    bench = Bench()
    for number in range(MAX_WAITING):
        assert isinstance(bench.ask(m.SubmitSearch(f"job{number}", a_search(1.0))), m.JobStatus)
    rejected = bench.ask(m.SubmitSearch("one more", a_search(1.0)))
    assert isinstance(rejected, m.Rejected) and "jobs are waiting already" in rejected.reason
    for number in range(MAX_WAITING):
        bench.hear(CLIENT, m.Cancel(f"job{number}"))
    bench.wait(1.0)
    for number in range(3 * KEPT_JOBS):
        bench.hear(CLIENT, m.SubmitBatch(f"batch{number}", "kind", "{}", ["u"]), m.Cancel(f"batch{number}"))
    assert len(bench.coordinator.jobs) <= KEPT_JOBS + 1
