"""What becomes of a search when nodes are through with it before its time: full, gone, silent, or with nothing to add."""

from unittest.mock import patch

import pytest

from distmcts.cluster import messages as m
from distmcts.cluster import recovery
from distmcts.cluster.coordinator import LOST_S, SHOWN_JOBS
from distmcts.cluster.search_job import RETURN_S
from tests.cluster.bench import TICK_S, Bench, answer, begin, submit


@pytest.fixture
def bench():
    bench = Bench()
    with patch.object(recovery, "time", bench):
        yield bench


def test_a_full_memory_ends_nothing_while_somebody_is_silent(bench):
    submit(bench, 60.0)
    begin(bench, "full", "cut")
    bench.report("full", 1, 100, "memory is full")
    bench.report("cut", 1, 50)
    bench.wait(LOST_S + 1, "full")
    assert bench.job().state == "searching"
    bench.report("cut", 2, 80)
    bench.wait(1, "full", ("cut", "searching"))
    bench.report("cut", 3, 90, "memory is full")
    bench.wait(TICK_S)
    assert (answer(bench).stopped_by, answer(bench).simulations) == ("memory is full", 190)


def test_for_a_node_that_left_another_may_come(bench):
    submit(bench, simulations=1000, wait_s=10.0)
    begin(bench, "a")
    bench.report("a", 1, 100, "the node left")
    bench.hear(b"a", m.Goodbye("interrupted"))
    bench.wait(5)
    assert bench.job().state == "searching"
    bench.join("b")
    bench.hear(b"b", m.Ready("job"))
    granted = bench.to("b", m.Go)[-1].granted
    assert 0 < granted <= 900


def test_a_node_that_had_its_part_says_so(bench):
    """After a restart without a recovery file the client hands its job in again; nodes would contradict their own reports."""
    submit(bench, 5.0)
    bench.join("a")
    bench.hear(b"a", m.Refused("job", "a: has had its part in a search of this name already"))
    bench.wait(2, "a")
    assert answer(bench).note == "no node could do it: a: has had its part in a search of this name already"


def test_what_failed_can_be_handed_in_again(bench):
    submit(bench, 1.0, wait_s=1.0)
    bench.wait(2)
    assert answer(bench).state == "failed"
    submit(bench, 1.0, wait_s=1.0)
    bench.start_again()
    bench.join("a")
    bench.hear(b"a", m.Ready("job"))
    bench.wait(RETURN_S + TICK_S, ("a", "ready"))
    assert bench.to("a", m.Go)


def test_the_job_under_way_is_in_every_status(bench):
    submit(bench, 100.0)
    begin(bench, "a")
    for number in range(SHOWN_JOBS + 5):
        submit(bench, 1.0, name=f"later{number}")
    jobs = [row.job for row in bench.coordinator.status(bench.now).jobs]
    assert jobs[0] == "job" and len(jobs) == SHOWN_JOBS + 1
    assert answer(bench, "later3").note == "4 jobs come first"
