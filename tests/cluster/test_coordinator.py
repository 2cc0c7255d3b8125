"""What the coordinator decides: who takes part, for how long, and what becomes of it when somebody is lost."""

from unittest.mock import patch

import pytest

from distmcts.cluster import messages as m
from distmcts.cluster import recovery
from distmcts.cluster.coordinator import FORGET_S, LOST_S
from distmcts.cluster.search_job import GATHER_S, GRACE_S, RETURN_S
from tests.cluster.bench import CLIENT, TICK_S, Bench, answer, begin, submit


@pytest.fixture
def bench():
    bench = Bench()
    with patch.object(recovery, "time", bench):
        yield bench


def states(bench: Bench, job: str = "job") -> dict[str, str]:
    return {row.name: row.state for row in answer(bench, job).nodes}


def searching(*names: str) -> list[tuple[str, str]]:
    return [(name, "searching") for name in names]


# ---- who takes part ------------------------------------------------------------------------------------------------------


def test_no_node_at_all(bench):
    submit(bench, 1.0, wait_s=3.0)
    bench.wait(2.9)
    assert answer(bench).state == "preparing" and answer(bench).note == "no nodes yet"
    bench.wait(0.2)
    assert answer(bench).state == "failed" and answer(bench).note.startswith("no node came within 3 s")


def test_nodes_are_waited_for_a_moment(bench):
    submit(bench, 2.0)
    bench.join("quick", "slow")
    bench.hear(b"quick", m.Ready("job"))
    bench.wait(GATHER_S - 0.1, ("quick", "ready"), ("slow", "preparing"))
    assert not bench.to("quick", m.Go)
    bench.wait(0.2, ("quick", "ready"), ("slow", "preparing"))
    assert bench.to("quick", m.Go)[0] == m.Go("job", 2.0, None)
    assert not bench.to("slow", m.Go)


def test_who_comes_late_gets_the_rest_of_the_time(bench):
    submit(bench, 4.0)
    begin(bench, "a")
    bench.wait(1.5, ("a", "searching"))
    bench.join("late")
    assert bench.to("late", m.Prepare)[0].place == 1
    bench.hear(b"late", m.Ready("job"))
    assert bench.to("late", m.Go)[0].seconds == pytest.approx(2.5, abs=2 * TICK_S)


def test_who_is_not_ready_in_time_is_named(bench):
    submit(bench, 1.0)
    begin(bench, "a")
    bench.join("slow")
    bench.wait(0.9, ("a", "searching"), ("slow", "preparing"))
    bench.report("a", 1, 50, "time")
    bench.wait(GRACE_S + 0.2)
    assert states(bench) == {"a": "finished", "slow": "late: was not ready before the search was over"}


def test_one_of_two_refuses(bench):
    submit(bench, 1.0)
    bench.join("a", "b")
    bench.hear(b"b", m.Refused("job", "b: has no such game"))
    bench.hear(b"a", m.Ready("job"))
    bench.wait(TICK_S)
    assert bench.to("a", m.Go) and not bench.to("b", m.Go)
    bench.report("a", 1, 50, "time")
    bench.wait(2.0, "b")
    assert states(bench) == {"a": "finished", "b": "refused: b: has no such game"}
    assert len(bench.to("b", m.Prepare)) == 1


def test_all_refuse(bench):
    submit(bench, 1.0, wait_s=60.0)
    bench.join("a", "b")
    for name in ("a", "b"):
        bench.hear(name.encode(), m.Refused("job", f"{name}: has no such game"))
    bench.wait(GATHER_S + 0.1, "a", "b")
    assert answer(bench).note == "no node could do it: a: has no such game; b: has no such game"


def test_a_refused_node_that_is_lost_still_has_refused(bench):
    submit(bench, 5.0)
    begin(bench, "a", "b")
    bench.hear(b"b", m.Refused("job", "b: the game is broken"))
    bench.wait(LOST_S + 0.5, ("a", "searching"))
    assert states(bench)["b"] == "refused: b: the game is broken"


# ---- lost and found ------------------------------------------------------------------------------------------------------


def test_a_node_is_lost_after_a_while_and_may_come_back(bench):
    submit(bench, 20.0)
    begin(bench, "a", "b")
    bench.beat("b", "searching", 70)
    bench.report("b", 1, 50)
    bench.wait(LOST_S - 0.1, *searching("a"))
    assert states(bench)["b"] == "searching"
    bench.wait(0.2, *searching("a"))
    assert states(bench)["b"] == "lost: silent; at least 20 simulations after its last report are not counted"
    assert {row.name: row.state for row in bench.ask(m.AskStatus()).nodes}["b"] == "lost: silent"
    bench.report("b", 2, 400)
    assert states(bench)["b"] == "searching"
    assert bench.job().tally.visits == 400


def test_a_lost_node_is_not_waited_for(bench):
    submit(bench, 3.0)
    begin(bench, "a", "b")
    bench.report("b", 1, 50)
    bench.wait(3.0, *searching("a"))
    bench.report("a", 1, 60, "time")
    bench.wait(2 * TICK_S)
    assert answer(bench).simulations == 110
    assert states(bench)["b"] == "lost: silent"


def test_who_does_not_send_the_last_report_is_waited_for_but_not_long(bench):
    submit(bench, 2.0)
    begin(bench, "a", "b")
    bench.report("a", 1, 60)
    bench.wait(2.0 + GRACE_S - 0.1, *searching("a", "b"))
    assert bench.job().state == "ending" and bench.to("b", m.Stop)
    bench.wait(0.2, *searching("a", "b"))
    assert answer(bench).simulations == 60 and answer(bench).stopped_by == "2 seconds"
    assert states(bench)["a"] == "late: its last report did not come in time"


def test_a_coordinator_that_slept_blames_nobody(bench):
    submit(bench, 60.0)
    begin(bench, "a")
    bench.now += 20.0
    bench.coordinator.tick(bench.now)
    assert states(bench)["a"] == "searching"


def test_the_dead_are_forgotten_in_a_status(bench):
    bench.join("a")
    bench.wait(FORGET_S + 0.2)
    assert bench.ask(m.AskStatus()).nodes == []
    assert bench.beat("a", "idle", job="") == [m.Who()]


def test_who_leaves_is_not_lost(bench):
    submit(bench, 2.0)
    begin(bench, "a", "b")
    bench.report("b", 1, 40, "the node left")
    bench.hear(b"b", m.Goodbye("interrupted"))
    bench.wait(2.0, *searching("a"))
    bench.report("a", 1, 60, "time")
    bench.wait(2 * TICK_S)
    assert states(bench) == {"a": "finished", "b": "finished"} and answer(bench).simulations == 100


# ---- simulations ---------------------------------------------------------------------------------------------------------


def granted(bench: Bench, name: str) -> int:
    return max(go.granted for go in bench.to(name, m.Go))


def test_what_is_granted_adds_up(bench):
    submit(bench, simulations=10_000)
    begin(bench, "a", "b")
    done = dict.fromkeys("ab", 0)
    for sequence in range(1, 200):
        for name in "ab":
            done[name] = min(granted(bench, name), done[name] + 700)
            bench.report(name, sequence, done[name])
        assert granted(bench, "a") + granted(bench, "b") <= 10_000
    bench.wait(TICK_S)
    assert sum(done.values()) == 10_000
    assert bench.job().state == "ending" and bench.to("a", m.Stop)


def test_what_a_lost_node_did_not_do_goes_to_others(bench):
    submit(bench, simulations=10_000)
    begin(bench, "a", "b")
    bench.report("b", 1, 300)
    bench.wait(LOST_S + 0.5, *searching("a"))
    done = 0
    for sequence in range(1, 100):
        done = min(granted(bench, "a"), done + 700)
        bench.report("a", sequence, done)
    assert done == 9_700


def test_an_order_to_search_that_got_lost_is_given_again(bench):
    submit(bench, simulations=10_000)
    begin(bench, "a")
    first = granted(bench, "a")
    assert bench.beat("a", "ready") == [m.Go("job", None, first)]
    bench.report("a", 1, first)
    second = granted(bench, "a")
    assert second > first
    assert bench.beat("a", "searching", first, first) == [m.Go("job", None, second)]
    assert bench.beat("a", "searching", first, second) == []


def test_old_news_of_a_finished_node_does_not_bring_it_back(bench):
    submit(bench, simulations=10_000)
    begin(bench, "a", "b")
    bench.report("b", 1, 300, "memory is full")
    before = len(bench.to("b", m.Go))
    bench.hear(b"b", m.Ready("job"))
    bench.beat("b", "ready")
    bench.join("b")
    assert len(bench.to("b", m.Go)) == before and len(bench.to("b", m.Prepare)) == 1
    assert states(bench)["b"] == "finished"


# ---- ends ----------------------------------------------------------------------------------------------------------------


def test_cancel(bench):
    submit(bench, 100.0)
    submit(bench, 100.0, name="second")
    begin(bench, "a")
    bench.report("a", 1, 60)
    bench.hear(CLIENT, m.Cancel("second"), m.Cancel("job"), m.Cancel("unknown"))
    assert bench.to("a", m.Stop)
    bench.report("a", 2, 70, "stopped by the coordinator")
    bench.wait(2 * TICK_S, "a")
    assert answer(bench).simulations == 70 and answer(bench).stopped_by == "interrupted"
    assert answer(bench, "second").note == "interrupted before it began"


def test_one_job_after_another(bench):
    submit(bench, 1.0)
    submit(bench, 1.0, name="second")
    begin(bench, "a")
    assert answer(bench, "second").note == "1 job comes first"
    bench.report("a", 1, 60)
    bench.wait(1.0, ("a", "searching"))
    bench.report("a", 2, 60, "time")
    bench.wait(0.6, "a")
    assert [prepare.job for prepare in bench.to("a", m.Prepare)] == ["job", "second"]
    assert answer(bench, "second").state == "preparing"


def test_decided(bench):
    submit(bench, simulations=10_000, settings={"stop_when_decided": True})
    begin(bench, "a")
    bench.report("a", 1, 4_000)
    bench.wait(TICK_S)
    assert bench.job().state == "searching"
    bench.report("a", 2, 5_001)
    bench.wait(TICK_S)
    bench.report("a", 3, 5_500, "stopped by the coordinator")
    bench.wait(TICK_S)
    assert answer(bench).stopped_by.startswith("decided") and answer(bench).simulations == 5_500


def test_shutdown(bench):
    bench.join("a", "b")
    bench.hear(CLIENT, m.Shutdown())
    assert bench.coordinator.is_ending and bench.to("a", m.Leave) and bench.to("b", m.Leave)
    assert isinstance(bench.beat("a", "idle", job="")[-1], m.Leave)
    submit(bench, 1.0)
    bench.wait(1.0, "a")
    assert not bench.to("a", m.Prepare)


# ---- another coordinator goes on -----------------------------------------------------------------------------------------


def test_after_a_kill_time_goes_on(bench):
    submit(bench, 10.0)
    begin(bench, "a", "b")
    bench.report("a", 1, 60)
    bench.report("b", 1, 50, "memory is full")
    bench.wait(3.0, *searching("a"))
    bench.now += 2.0
    bench.start_again()
    assert answer(bench).state == "searching" and answer(bench).elapsed_s == pytest.approx(5.0, abs=0.1)
    assert answer(bench).simulations == 110
    bench.hear(b"a", m.Hello("a", 1, 4, "test"), m.Beat("job", "", "searching", 90, 0))
    bench.join("b")
    assert not bench.to("b", m.Prepare)[1:]  # it has had its part
    bench.wait(5.0, ("a", "searching"), "b")
    bench.report("a", 7, 160, "time")
    bench.wait(2 * TICK_S)
    rows = {row.name: (row.state, row.simulations, row.workers) for row in answer(bench).nodes}
    assert rows["a"] == ("finished", 160, 4)
    assert rows["b"][:2] == ("finished before the coordinator was restarted", 50)


def test_after_a_kill_nobody_is_missed_at_once(bench):
    submit(bench, simulations=10_000, wait_s=0.0)
    begin(bench, "a")
    bench.report("a", 1, 60)
    bench.start_again()
    bench.wait(RETURN_S - 0.1)
    assert answer(bench).state == "searching"
    bench.wait(0.3)
    assert answer(bench).stopped_by == "no node is left" and answer(bench).simulations == 60


def test_a_checkpoint_stops_the_clock(bench):
    submit(bench, 10.0)
    begin(bench, "a")
    bench.report("a", 1, 60)
    bench.wait(4.0, *searching("a"))
    bench.report("a", 2, 90, "stopped by the coordinator")
    bench.coordinator.suspend(bench.now)
    bench.now += 3600.0
    bench.start_again()
    bench.join("c")
    bench.hear(b"c", m.Ready("job"))
    bench.wait(RETURN_S + TICK_S, ("c", "ready"))
    assert bench.to("c", m.Go)[0].seconds == pytest.approx(6.0, abs=0.1)
    bench.wait(6.0, ("c", "searching"))
    bench.report("c", 1, 10, "time")
    bench.wait(2 * TICK_S)
    assert answer(bench).simulations == 100 and answer(bench).elapsed_s == pytest.approx(10.0, abs=0.2)


def test_a_checkpoint_after_the_end_of_time_is_the_end(bench):
    submit(bench, 2.0)
    begin(bench, "a")
    bench.report("a", 1, 60)
    bench.wait(2.1, *searching("a"))
    assert bench.job().state == "ending"
    bench.coordinator.suspend(bench.now)
    bench.start_again()
    assert answer(bench).simulations == 60 and answer(bench).stopped_by == "2 seconds"
