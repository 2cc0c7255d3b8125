"""Mutated frames thrown at a coordinator that runs, over real sockets, while a client goes on asking it."""

import logging
import re
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
import zmq

from distmcts.cluster import messages as m
from distmcts.cluster.client import Cluster
from distmcts.cluster.serve import CoordinatorServer
from tests.cluster.frames import FRAMES, mutants
from tests.support.command import ROOT, start

SENDERS = 4
FRAMES_EACH = 60_000
GROWTH_BYTES = 60 << 20
LONG_S = 120  # for what takes seconds on a machine that is not overloaded
READER = m.Reader(m.FROM_NODES | m.FROM_CLIENTS)
SHUTDOWN = m.write(m.Shutdown())


class RunningCoordinator:
    def __init__(self, process: subprocess.Popen, address: str, log: Path):
        self.process, self.address, self.log = process, address, log

    def rss(self) -> int:
        return psutil.Process(self.process.pid).memory_info().rss


@contextmanager
def coordinator(folder: Path):
    log = folder / "coordinator.log"
    process = start("coordinator", "--bind", "tcp://127.0.0.1:*", "--recovery", str(folder / "recovery.jsonl"))
    lines: list[str] = []
    reading = threading.Thread(target=lambda: lines.extend(process.stderr), daemon=True)
    reading.start()
    try:
        yield RunningCoordinator(process, process.stdout.readline().strip(), log)
    finally:
        process.kill()
        process.wait()
        reading.join(LONG_S)
        log.write_text("".join(lines))
        process.stdout.close()
        process.stderr.close()


class Sender(threading.Thread):
    """Sends its frames as fast as they are taken, and knows what is wrong with each."""

    def __init__(self, address: str, seed: int):
        super().__init__(daemon=True)
        self.address, self.seed = address, seed
        self.expected: Counter[str] = Counter()
        self.error: Exception | None = None

    def run(self) -> None:
        context = zmq.Context()
        dealer = context.socket(zmq.DEALER)
        dealer.setsockopt(zmq.SNDTIMEO, LONG_S * 1000)
        if self.seed % 2:  # as nodes do; the others are as bad as can be
            dealer.setsockopt(zmq.HEARTBEAT_IVL, 100)
            dealer.setsockopt(zmq.HEARTBEAT_TIMEOUT, LONG_S * 1000)  # no connection is to end before its frames are read
            dealer.setsockopt(zmq.RCVHWM, 0)
        dealer.connect(self.address)
        frames = [frame for side in (m.FROM_NODES, m.FROM_CLIENTS) for frame in FRAMES[side] if frame != SHUTDOWN]
        try:
            for number, frame in enumerate(mutants(self.seed, FRAMES_EACH, frames)):
                if number % 100 == 0:
                    dealer.send_multipart([frame, b"more"])
                    self.expected["not one frame"] += 1
                    continue
                try:
                    READER.read(frame)
                except m.BadFrame as error:
                    self.expected[str(error)] += 1
                dealer.send(frame)
            self._wait(dealer)
        except Exception as error:
            self.error = error
        finally:
            dealer.close(linger=0)
            context.term()

    def _wait(self, dealer: zmq.Socket) -> None:
        """Until everything has been read: the coordinator answers a question that comes last."""
        question = m.Ask(f"last of {self.seed}", 0)
        replies = m.Reader(m.TO_CLIENTS | m.TO_NODES)
        deadline = time.monotonic() + LONG_S
        while time.monotonic() < deadline:
            dealer.send(m.write(question))
            while dealer.poll(1000):
                if getattr(replies.read(dealer.recv()), "job", None) == question.job:
                    return
        raise TimeoutError("the coordinator does not answer a sender")


@pytest.fixture(scope="module")
def flood(tmp_path_factory):
    """What a coordinator was like before, during and after, and what it logged."""
    with coordinator(tmp_path_factory.mktemp("flood")) as running, Cluster(running.address) as client:
        client.status()
        warm = Sender(running.address, 99)
        warm.run()  # so that what it keeps of peers and jobs is there already
        before = running.rss()
        senders = [Sender(running.address, seed) for seed in range(SENDERS)]
        for sender in senders:
            sender.start()
        longest = asked = 0
        while any(sender.is_alive() for sender in senders):
            began = time.monotonic()
            client.status()
            longest, asked = max(longest, time.monotonic() - began), asked + 1
        expected = sum((sender.expected for sender in [warm, *senders]), Counter())
        status = client.status()
        after = running.rss()
        is_running = running.process.poll() is None
    for sender in [warm, *senders]:
        if sender.error:
            raise sender.error
    return {
        "expected": expected,
        "dropped": status.dropped,
        "growth": after - before,
        "asked": asked,
        "longest": longest,
        "is_running": is_running,
        "log": running.log.read_text(),
    }


def test_it_still_answers(flood):
    assert flood["is_running"]
    assert flood["asked"] > 10
    assert flood["longest"] < 20


def test_it_has_counted_what_it_dropped(flood):
    """Exactly: nothing is lost on the way, and what is wrong with a frame is the same here and there."""
    assert flood["expected"].total() > SENDERS * FRAMES_EACH // 2
    assert {kind: flood["dropped"].get(kind, 0) for kind in flood["expected"]} == flood["expected"]


def test_it_has_not_grown(flood):
    assert flood["growth"] < GROWTH_BYTES


def test_it_has_logged_once_for_each_peer_and_kind(flood):
    said = Counter(re.findall(r"a message of \S+ was dropped: (.*)", flood["log"]))
    assert said.keys() >= {"not MessagePack", "not one frame"}
    assert max(said.values()) <= SENDERS + 1
    assert "Traceback" not in flood["log"]


def test_a_frame_that_is_too_large_ends_its_connection(caplog):
    """Before it is in memory; others do not notice."""
    caplog.set_level(logging.WARNING)
    with CoordinatorServer("tcp://127.0.0.1:*") as server:
        is_over = threading.Event()

        def turn() -> None:
            if is_over.is_set():
                server.coordinator.end("over")

        running = threading.Thread(target=server.run, args=(turn,))
        running.start()
        try:
            host, port = server.address.removeprefix("tcp://").split(":")
            with Cluster(server.address) as client, socket.create_connection((host, int(port)), timeout=LONG_S) as raw:
                client.status()
                raw.sendall(GREETING)
                raw.sendall(READY)
                raw.sendall(b"\x02" + (m.MAX_BYTES + 1).to_bytes(8, "big") + m.MAGIC)
                received = b"."
                while received:  # its greeting, then the end
                    try:
                        received = raw.recv(4096)
                    except ConnectionResetError:
                        break
                assert client.status().dropped == {}
        finally:
            is_over.set()
            running.join(LONG_S)
    assert not running.is_alive()


GREETING = b"\xff" + b"\0" * 8 + b"\x7f" + b"\x03\x00" + b"NULL".ljust(20, b"\0") + b"\0" + b"\0" * 31  # ZMTP 3.0
_METADATA = b"\x05READY" + b"\x0bSocket-Type" + (6).to_bytes(4, "big") + b"DEALER" + b"\x08Identity" + (0).to_bytes(4, "big")
READY = b"\x04" + bytes([len(_METADATA)]) + _METADATA


FLOOD_AND_GO = """
import time, zmq
from distmcts.cluster.sockets import Server
context = zmq.Context()
server = Server(context, "tcp://127.0.0.1:*", None, None)
for _ in range(3):
    dealer = context.socket(zmq.DEALER)
    dealer.setsockopt(zmq.SNDHWM, 0)
    dealer.connect(server.address)
    for _ in range(5000):
        dealer.send(b"x" * 200)
    time.sleep(0.2)
    dealer.close(linger=0)
time.sleep(1.2)
print(sum(1 for _ in iter(lambda: server.socket.poll(100) and server.socket.recv_multipart(), 0)))
context.destroy(linger=0)
"""


def test_a_peer_that_floods_and_goes_does_not_take_the_coordinator_along():
    """Its connection ends while the queue is full."""
    done = subprocess.run([sys.executable, "-c", FLOOD_AND_GO], cwd=ROOT, capture_output=True, text=True, timeout=LONG_S)
    assert (done.returncode, done.stderr) == (0, "")
    assert int(done.stdout) >= 1000
