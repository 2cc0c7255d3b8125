"""A cluster without sockets, engines or waiting: the real coordinator and its jobs, simulated nodes, network, clock and disk.

Everything that happens follows from one seed.
"""

import heapq
import json
import random
from collections import defaultdict
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from unittest.mock import patch

import msgspec

from distmcts.cluster import recovery as recovery_module
from distmcts.cluster.coordinator import Coordinator
from distmcts.cluster.merging import unpack
from distmcts.cluster.messages import (
    FROM_CLIENTS,
    FROM_NODES,
    TO_CLIENTS,
    TO_NODES,
    Ask,
    Goodbye,
    Hello,
    Message,
    Others,
    Reader,
    Report,
    Search,
    Statistics,
    Stop,
    write,
)
from distmcts.cluster.recovery import RecoveryFile
from distmcts.cluster.search_job import RECOVERY_S
from tests.cluster.simulated_node import GrowingTree, SimulatedNode
from tests.reference.merging import Book, Delivered

TICK_S = 0.05
CLIENT = b"client"
READERS = {side: Reader(side) for side in (FROM_NODES, FROM_CLIENTS, TO_NODES, TO_CLIENTS)}


def a_search(seconds: float | None = None, simulations: int | None = None, merge: str = "sum", **changes) -> Search:
    fields = {"game": "made_up", "parameters": {}, "fingerprint": "1", "position": [0], "settings": {}, "share": 0.05}
    fields |= {"merge_s": 1 / 3, "wait_s": 5.0, "names": {}, "seconds": seconds, "simulations": simulations, "merge": merge}
    return Search(**{**fields, **changes})


@dataclass
class Weather:
    """Of the network."""

    loss: float = 0.0
    twice: float = 0.0
    delay_s: float = 0.0  # at most; messages overtake each other


class MemoryRecords:
    """Of a recovery file; its lines outlive the coordinator, and go through JSON as on a disk."""

    path = "memory"

    def __init__(self, lines: list[str]):
        self._lines = lines
        self.all = [json.loads(line) for line in lines]

    def append(self, record: dict, durable: bool = True) -> None:
        self._lines.append(json.dumps(record, allow_nan=False))

    def rewrite(self, records: list[dict]) -> None:
        self._lines[:] = [json.dumps(record) for record in records]

    def close(self) -> None:
        pass


class World:
    """Owns the clock. `recovery.time` is the world while it is `open`."""

    def __init__(self, seed: int, weather: Weather | None = None):
        self.choose = random.Random(seed)
        self.now = 1000.0
        self.weather = weather or Weather()
        self.nodes: dict[bytes, SimulatedNode] = {}
        self.suspended_at: dict[float, float] = {}  # by the recovery file's time: when the checkpoint began
        self.disk: list[str] = []
        self.replies: list[Message] = []
        self.coordinator: Coordinator | None = None
        self.started_at = 0.0  # the present coordinator
        self.books: dict[str, Book] = defaultdict(Book)
        self.trees: dict[tuple[str, int], GrowingTree] = {}  # of the last job of each source
        self._is_at_checkpoint = False
        self._known: set[bytes] = set()  # who has said Hello to the present coordinator
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._serial = 0

    @contextmanager
    def open(self):
        with patch.object(recovery_module, "time", self):
            self.start_coordinator()
            yield self

    def time(self) -> float:
        """The wall clock."""
        return self.now

    # ---- events -----------------------------------------------------------------------------------------------------------

    def after(self, delay_s: float, act: Callable[[], None]) -> None:
        self._serial += 1
        heapq.heappush(self._events, (self.now + delay_s, self._serial, act))

    def run(self, until: float, is_over: Callable[[], bool] = lambda: False) -> None:
        """Let time pass."""
        while self._events and self._events[0][0] <= until and not is_over():
            self.now, _, act = heapq.heappop(self._events)
            act()
        if not is_over():
            self.now = until

    # ---- the coordinator --------------------------------------------------------------------------------------------------

    def start_coordinator(self) -> None:
        if self.coordinator is not None:
            return
        recovery = RecoveryFile(None)
        recovery._records = MemoryRecords(self.disk)
        coordinator = self.coordinator = Coordinator(self._send, recovery.note, self.now)
        self.started_at = self.now
        self._known.clear()
        recovery.replay(coordinator, self.now)
        self._remember()
        self.after(0.0, lambda: self._tick(coordinator))

    def kill_coordinator(self) -> None:
        self.coordinator = None

    def _remember(self) -> None:
        """What a coordinator that is started again may still know: what stands in the recovery file."""
        written: dict[tuple, dict] = {}
        noted_at: dict[tuple, float] = {}
        for entry in self.entries():
            if entry["kind"] == "report":
                source = (entry["job"], entry["node"], entry["epoch"])
                written[*source, entry["sequence"]] = unpack(msgspec.convert(entry["statistics"], Statistics))
                noted_at[source] = entry["at"]
        for job, book in self.books.items():
            for source, newest in book.newest().items():
                assert noted_at[job, *source] > newest.at - RECOVERY_S - 0.01, "the recovery file is more than a second behind"
                assert not newest.is_last or (job, *source, newest.sequence) in written
            kept = []
            for report in book.reports:
                if (noted := written.get((job, *report.source, report.sequence))) is not None:
                    assert noted.items() <= report.told.items()
                    assert {path for path in report.told if len(path) <= 1} <= noted.keys()
                    kept.append(report._replace(told={path: told for path, told in report.told.items() if path in noted}))
            book.reports = kept

    def checkpoint(self, wait_s: float, again_s: float) -> None:
        """As serve.py does it: nodes send their last reports and are sent home; later another coordinator goes on."""
        coordinator, began = self.coordinator, self.now
        self._is_at_checkpoint = True
        if coordinator.active is not None:
            for identity in coordinator.peers:
                self._send(identity, Stop(coordinator.active.name))

        def suspend() -> None:
            self._is_at_checkpoint = False
            if coordinator is self.coordinator:
                self.suspended_at[round(self.now, 3)] = began
                coordinator.suspend(began)
                coordinator.end("checkpoint")
                self.after(0.5, self.kill_coordinator)
                self.after(0.5 + again_s, self.start_coordinator)

        self.after(wait_s, suspend)

    def _tick(self, coordinator: Coordinator) -> None:
        if coordinator is self.coordinator:
            if not self._is_at_checkpoint:
                coordinator.tick(self.now)
            self.after(TICK_S, lambda: self._tick(coordinator))

    def ask(self, message: Message) -> Message | None:
        """As a client whose messages always get through; the last reply, if there is any."""
        if self.coordinator is None:
            return None
        self.replies.clear()
        self.coordinator.handle(CLIENT, READERS[FROM_CLIENTS].read(write(message)), self.now)
        return self.replies[-1] if self.replies else None

    @staticmethod
    def ask_for(job: str, start: int) -> Ask:
        return Ask(job, start)

    def entries(self) -> list[dict]:
        """Of the recovery file."""
        return [json.loads(line) for line in self.disk]

    def job(self, name: str):
        return self.coordinator.jobs.get(name) if self.coordinator else None

    # ---- the network ------------------------------------------------------------------------------------------------------

    def _send(self, identity: bytes, message: Message) -> None:
        if identity == CLIENT:
            self.replies.append(READERS[TO_CLIENTS].read(write(message)))
            return
        node = self.nodes.get(identity)
        if isinstance(message, Others):
            told = {path: tuple(at) for path, at in unpack(message.statistics).items()}
            assert told == self.books[message.job].others(node.source, self.job(message.job).search.share)
        if node is not None:
            message = READERS[TO_NODES].read(write(message))
            self._carry(node, lambda: node.is_alive and node.take(message))

    def to_coordinator(self, node: SimulatedNode, message: Message) -> None:
        message = READERS[FROM_NODES].read(write(message))
        self._carry(node, lambda: self._deliver(node, message))

    def _carry(self, node: SimulatedNode, arrive: Callable[[], None]) -> None:
        weather, choose = self.weather, self.choose
        for _ in range(2 if weather.twice and choose.random() < weather.twice else 1):
            if not node.is_cut and not (weather.loss and choose.random() < weather.loss):
                self.after(choose.random() * weather.delay_s, lambda: None if node.is_cut else arrive())

    def _deliver(self, node: SimulatedNode, message: Message) -> None:
        if self.coordinator is None:
            return
        if isinstance(message, Hello):
            self._known.add(node.identity)
        elif isinstance(message, Goodbye):
            self._known.discard(node.identity)
        elif isinstance(message, Report) and node.identity in self._known:
            job = self.coordinator.jobs.get(message.job)
            if job is not None and not job.is_over:
                told = {path: tuple(at) for path, at in unpack(message.statistics).items()}
                is_last = message.ending is not None
                self.books[message.job].deliver(Delivered(node.source, message.sequence, told, {}, is_last, self.now))
        self.coordinator.handle(node.identity, message, self.now)

    # ---- nodes ------------------------------------------------------------------------------------------------------------

    def join(self, name: str, epoch: int = 1, **ways) -> SimulatedNode:
        node = SimulatedNode(self, name, epoch, **ways)
        node.ways = ways
        self.nodes[node.identity] = node
        node.start()
        return node

    def living(self) -> list[SimulatedNode]:
        return [node for node in self.nodes.values() if node.is_alive]

    def cut(self, node: SimulatedNode, seconds: float) -> None:
        """Nothing gets through, in neither direction."""
        node.is_cut = True

        def mend() -> None:
            node.is_cut = False

        self.after(seconds, mend)

    def restart(self, node: SimulatedNode) -> SimulatedNode:
        """The process is killed, and another one takes its place."""
        node.kill()
        return self.join(node.source[0], node.source[1] + 1, **node.ways)
