"""Batches, as the coordinator hands them out: every unit is done once, whoever is lost, fails, refuses or comes back."""

from distmcts.cluster import messages as m
from distmcts.cluster.batch_job import MAX_TRIES, WAIT_S
from distmcts.cluster.coordinator import LOST_S
from distmcts.cluster.search_job import GATHER_S
from tests.cluster.bench import CLIENT, Bench


def states(bench: Bench) -> dict[str, str]:
    return {row.name: row.state for row in bench.ask(m.Ask("job", 0)).nodes}


def submit(*units: str) -> Bench:
    bench = Bench()
    bench.hear(CLIENT, m.SubmitBatch("job", "kind", "{}", list(units)))
    return bench


def works(bench: Bench, name: str) -> list[str]:
    return [work.unit for work in bench.to(name, m.Work)]


def test_a_unit_of_a_lost_node_is_done_by_another():
    bench = submit("u0", "u1", "u2")
    bench.join("a", "b")
    assert works(bench, "a") == ["u0"] and works(bench, "b") == ["u1"]
    bench.hear(b"b", m.UnitDone("job", "u1", "1"))
    bench.wait(LOST_S + 0.2, "b")
    assert works(bench, "b")[:2] == ["u1", "u2"]
    bench.hear(b"b", m.UnitDone("job", "u2", "2"), m.Beat("", "", "idle", 0, 0))
    assert works(bench, "b")[-1] == "u0"
    bench.hear(b"a", m.Beat("job", "u0", "working", 0, 0), m.UnitDone("job", "u0", '"a"'))
    bench.hear(b"b", m.UnitDone("job", "u0", '"b"'))
    assert bench.ask(m.Ask("job", 0)).results == [("u1", "1", True), ("u2", "2", True), ("u0", '"a"', True)]


def test_a_failure_that_comes_twice_counts_once_and_loses_no_other_unit():
    bench = submit("u0", "u1")
    bench.join("a")
    for _ in range(MAX_TRIES):
        bench.hear(b"a", m.UnitFailed("job", "u0", "broken"))
    assert bench.ask(m.Ask("job", 0)).results == []
    bench.hear(b"a", m.Beat("", "", "idle", 0, 0), m.UnitFailed("job", "u0", "broken"))  # late; it is at u1 now
    bench.hear(b"a", m.Goodbye("interrupted"))
    bench.join("b")
    for _ in range(2):
        bench.hear(b"b", m.UnitDone("job", works(bench, "b")[-1], "1"), m.Beat("", "", "idle", 0, 0))
    assert sorted(unit for unit, _, _ in bench.ask(m.Ask("job", 0)).results) == ["u0", "u1"]


def test_rows_of_a_batch_say_who_left():
    bench = submit("u0", "u1", "u2")
    bench.join("a", "b", "c")
    bench.hear(b"a", m.UnitDone("job", "u0", "1"), m.Goodbye("interrupted"))
    bench.hear(b"b", m.Refused("job", "b: cannot"))
    assert states(bench) == {
        "a": "left: interrupted; 1 units done",
        "b": "refused: b: cannot; 0 units done",
        "c": "at u2; 0 units done",
    }


def test_a_late_refusal_does_not_undo_what_is_done():
    bench = submit("u0")
    bench.join("a")
    bench.hear(b"a", m.UnitDone("job", "u0", "1"), m.Refused("job", "a: cannot"))
    assert bench.ask(m.Ask("job", 0)).results == [("u0", "1", True)]


def test_after_a_restart_who_works_counts():
    """Somebody who refuses is not everybody."""
    bench = submit("u0", "u1")
    bench.join("a")
    bench.start_again()
    bench.hear(b"a", m.Hello("a", 1, 4, "test"), m.Beat("job", "u0", "working", 0, 0))
    bench.join("b")
    bench.hear(b"b", m.Refused("job", "b: cannot"))
    assert bench.job().state == "working"
    assert states(bench)["a"] == "at u0; 0 units done"


def test_a_refusal_right_after_a_restart_ends_no_batch():
    """Whoever has done units comes back a moment later."""
    bench = submit("u0", "u1", "u2")
    bench.join("bad", "good")
    bench.hear(b"bad", m.Refused("job", "bad: cannot"))
    bench.hear(b"good", m.UnitDone("job", works(bench, "good")[-1], "1"))
    bench.start_again()
    bench.join("bad")
    bench.hear(b"bad", m.Refused("job", "bad: cannot"))
    bench.wait(5.0, "bad")
    assert bench.job().state == "working"
    bench.join("good")
    assert works(bench, "good")[-1] in ("u0", "u2")


def test_nobody_who_could_do_it_is_not_waited_for_for_ever():
    """One is lost, the other refuses: the next job has its turn."""
    bench = submit("u0", "u1")
    bench.join("a", "b")
    bench.hear(b"b", m.Refused("job", "b: cannot"))
    bench.wait(LOST_S + GATHER_S + 0.5, "b")
    assert bench.ask(m.Ask("job", 0)).note == "no node could do it: b: cannot"
    alone = submit("u0")
    alone.wait(WAIT_S - 1)
    assert alone.job().state == "working"
    alone.wait(2)
    assert alone.ask(m.Ask("job", 0)).note.startswith("no node came within 60 s")
