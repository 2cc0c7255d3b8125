"""Messages: each arrives as it was sent, and whatever else arrives is refused, counted, and forgotten."""

import logging
import random
from collections import Counter
from typing import get_args

import msgspec
import psutil
import pytest

from distmcts.cluster import messages as m
from distmcts.cluster.coordinator import KEPT_JOBS, MAX_WAITING, Coordinator
from tests.cluster.bench import CLIENT, Bench
from tests.cluster.frames import EXAMPLES, FRAMES, mutants

AT_DECODER, AT_COORDINATOR = 1_000_000, 300_000  # mutated frames; with those over the wire (test_live_frames.py) over a million
GROWTH_BYTES = 40 << 20
KINDS = {
    "too large",
    "not of this protocol",
    "of another version of the protocol",
    "not a message the sender may send",
    "not MessagePack",
}
SIDES = ["from nodes", "from clients", "to nodes", "to clients"]


def rss() -> int:
    return psutil.Process().memory_info().rss


def test_every_message_has_an_example():
    for side, examples in EXAMPLES.items():
        assert {type(message) for message in examples} == set(get_args(side))


@pytest.mark.parametrize("side", EXAMPLES, ids=SIDES)
def test_round_trip(side):
    reader = m.Reader(side)
    for message in EXAMPLES[side]:
        assert reader.read(m.write(message)) == message
        assert reader.read(memoryview(m.write(message))) == message


@pytest.mark.parametrize("side", EXAMPLES, ids=SIDES)
def test_others_may_not_send_it(side):
    reader = m.Reader(side)
    for other, examples in EXAMPLES.items():
        for message in examples:
            if type(message) not in get_args(side):
                assert other != side
                with pytest.raises(m.BadFrame, match="not a message the sender may send"):
                    reader.read(m.write(message))


@pytest.mark.parametrize(
    "frame, what",
    [
        (b"", "not of this protocol"),
        (b"GET / HTTP/1.1\r\n", "not of this protocol"),
        (m.MAGIC[:-1], "of another version"),
        (m.MAGIC[:-1] + bytes([m.VERSION + 1]) + m.write(m.AskStatus())[len(m.MAGIC) :], "of another version"),
        (m.MAGIC, "not MessagePack"),
        (m.write(m.AskStatus()) + b"\0", "not MessagePack"),
        (m.write(m.AskStatus()) + b"\0" * m.MAX_BYTES, "too large"),
        (m.MAGIC + b"\x92\xa3Ask" + b"\x91" * 5000 + b"\x90", "not"),  # deep
        (m.MAGIC + b"\xdd\xff\xff\xff\xff", "not"),  # a list of four billion
        (m.MAGIC + msgspec.msgpack.encode(["Ask", "job", 0, "more"]), "not a message"),
        (m.MAGIC + msgspec.msgpack.encode(["Ask", "job"]), "not a message"),
        (m.MAGIC + msgspec.msgpack.encode({"type": "Ask", "job": "job", "start": 0}), "not a message"),
        (m.MAGIC + msgspec.msgpack.encode(["Ask", "", 0]), "not a message"),
        (m.MAGIC + msgspec.msgpack.encode(["Ask", "job", -1]), "not a message"),
        (m.MAGIC + msgspec.msgpack.encode(["Ask", "job", (1 << 62) + 1]), "not a message"),
        (m.MAGIC + msgspec.msgpack.encode(["Ask", "job", 1.5]), "not a message"),
        (m.MAGIC + msgspec.msgpack.encode(["Ask", "j" * 201, 0]), "not a message"),
        (m.MAGIC + b"\x93\xa3Ask\xa2\xff\xfe\x00", "not"),  # no text
    ],
)
def test_what_is_no_message(frame, what):
    with pytest.raises(m.BadFrame, match=what):
        m.Reader(m.FROM_CLIENTS).read(frame)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -0.001, 1e10])
def test_impossible_times_are_refused(number):
    for message, side in [(m.Go("job", number, None), m.TO_NODES), (m.JobStatus("job", "done", "", number, 0, []), m.TO_CLIENTS)]:
        with pytest.raises(m.BadFrame):
            m.Reader(side).read(m.write(message))


@pytest.mark.parametrize("side", EXAMPLES, ids=SIDES)
def test_mutants_at_the_decoder(side):
    """Nothing but a message of that side, or BadFrame; and nothing stays in memory."""
    read = m.Reader(side).read
    frames = [frame for each in FRAMES.values() for frame in each] + 3 * FRAMES[side]
    found: Counter[str] = Counter()
    before = 0
    for number, frame in enumerate(mutants(list(EXAMPLES).index(side), AT_DECODER // 4, frames)):
        if number == 10_000:
            before = rss()
        try:
            found["messages"] += isinstance(read(frame), m.Message)
        except m.BadFrame as error:
            found[str(error)] += 1
    assert found.keys() <= KINDS | {"messages"}
    assert sum(found.values()) == AT_DECODER // 4
    assert min(found["messages"], found["not MessagePack"], found["not a message the sender may send"]) > 1000
    assert rss() - before < GROWTH_BYTES


def test_mutants_at_the_coordinator(caplog):
    """In the middle of jobs. It neither breaks nor grows, says once what is wrong, and what it sends can be read."""
    caplog.set_level(logging.WARNING, "distmcts.coordinator")
    bench = Bench()
    read = m.Reader(m.FROM_NODES | m.FROM_CLIENTS).read
    choose = random.Random(1)
    peers = [f"peer{i}".encode() for i in range(8)]
    frames = FRAMES[m.FROM_NODES] * 3 + FRAMES[m.FROM_CLIENTS]
    bad: Counter[str] = Counter()
    answers: Counter[str] = Counter()
    before = total_bad = 0
    coordinators = 1
    for number, frame in enumerate(mutants(2, AT_COORDINATOR, frames)):
        peer = peers[int(choose.random() * len(peers))]
        bench.now += 0.001
        if number == AT_COORDINATOR // 5:
            before = rss()
        if number % 50 == 0:
            bench.sent.clear()
            bench.lines.clear()
            bench.coordinator.tick(bench.now)
            bench.hear(peer, *EXAMPLES[m.FROM_NODES][:3])
            answers.update(type(answer).__name__ for answer in bench.hear(CLIENT, *EXAMPLES[m.FROM_CLIENTS][:-1]))
        try:
            message = read(frame)
        except m.BadFrame as error:
            bad[str(error)] += 1
            bench.coordinator.drop(peer, str(error))
            continue
        bench.hear(peer, message)
        if bench.coordinator.is_ending:  # a Shutdown that came through
            assert all(bench.coordinator.dropped[kind] == count for kind, count in bad.items())
            total_bad += bad.total()
            bad.clear()
            coordinators += 1
            bench.coordinator = Coordinator(bench._send, bench._note, bench.now)
    assert all(bench.coordinator.dropped[kind] == count for kind, count in bad.items())
    assert total_bad + bad.total() > AT_COORDINATOR // 2
    assert rss() - before < GROWTH_BYTES
    assert len(bench.coordinator.jobs) <= KEPT_JOBS + MAX_WAITING + 1
    assert len(bench.coordinator.peers) <= len(peers)
    assert {"Status", "JobStatus", "UnitResults"} <= answers.keys()
    said = Counter(record.args[1] for record in caplog.records if "was dropped" in record.msg)
    assert said.keys() >= {"not MessagePack", "out of order: of no such job", "malformed statistics: a node before its parent"}
    assert max(said.values()) <= len(peers) * coordinators
