"""A coordinator on a bench: messages are handed to it one by one, time passes when it is told to, and all it sends is kept."""

import json

import msgspec

from distmcts.cluster import messages as m
from distmcts.cluster.coordinator import Coordinator
from distmcts.cluster.recovery import RecoveryFile
from tests.cluster.simulated import MemoryRecords, a_search

TICK_S = 0.05
CLIENT = b"client"


class Bench:
    """Whatever the coordinator sends must be readable, and what it notes must be JSON.

    To be opened with `patch.object(recovery, "time", bench)` if the recovery file's times matter.
    """

    def __init__(self) -> None:
        self.now = 1000.0
        self.sent: list[tuple[bytes, m.Message]] = []
        self.lines: list[str] = []  # of the recovery file
        self._to_nodes, self._to_clients = m.Reader(m.TO_NODES), m.Reader(m.TO_CLIENTS)
        self.coordinator = Coordinator(self._send, self._note, self.now)

    def time(self) -> float:
        """The wall clock."""
        return self.now

    def _send(self, identity: bytes, message: m.Message) -> None:
        to_client = isinstance(message, m.TO_CLIENTS) and not isinstance(message, m.TO_NODES)
        assert (self._to_clients if to_client else self._to_nodes).read(m.write(message)) == message
        self.sent.append((identity, message))

    def _note(self, entry: dict, durable: bool) -> None:
        self.lines.append(json.dumps({"at": self.now, **msgspec.to_builtins(entry, str_keys=True)}, allow_nan=False))

    def start_again(self) -> None:
        """Another coordinator goes on from the recovery file."""
        recovery = RecoveryFile(None)
        recovery._records = MemoryRecords(self.lines)
        self.coordinator = Coordinator(self._send, self._note, self.now)
        recovery.replay(self.coordinator, self.now)

    # ---- what comes in ----------------------------------------------------------------------------------------------------

    def hear(self, identity: bytes, *messages: m.Message) -> list[m.Message]:
        """What it answers the sender."""
        before = len(self.sent)
        for message in messages:
            self.coordinator.handle(identity, message, self.now)
        return [message for to, message in self.sent[before:] if to == identity]

    def ask(self, message: m.Message) -> m.Message:
        return self.hear(CLIENT, message)[-1]

    def join(self, *names: str) -> None:
        for name in names:
            self.hear(name.encode(), m.Hello(name, 1, 4, "test"), m.Beat("", "", "idle", 0, 0))

    def beat(self, name: str, state: str, simulations: int = 0, granted: int = 0, job: str = "job") -> list[m.Message]:
        return self.hear(name.encode(), m.Beat(job, "", state, simulations, granted))

    def report(self, name: str, sequence: int, visits: int, stopped_by: str = "", job: str = "job") -> list[m.Message]:
        """All visits at one move."""
        move = 1
        statistics = m.Statistics([visits, visits], [0, 0], [0], [move])
        ending = m.Ending(stopped_by, 1.0, 0, 1, 1, 0.0, [[move]]) if stopped_by else None
        return self.hear(name.encode(), m.Report(job, name, 1, sequence, statistics, {}, ending))

    def wait(self, seconds: float, *alive: tuple[str, str] | str) -> None:
        """Time passes; `alive`: nodes that send heartbeats meanwhile, idle or in the state given."""
        end, beat_at = self.now + seconds, self.now
        while self.now < end - 1e-9:
            self.now += min(TICK_S, end - self.now)
            if self.now >= beat_at + 0.5:
                beat_at = self.now
                for node in alive:
                    name, state = (node, "idle") if isinstance(node, str) else node
                    self.hear(name.encode(), m.Beat("" if state == "idle" else "job", "", state, 0, 0))
            self.coordinator.tick(self.now)

    # ---- what goes out ----------------------------------------------------------------------------------------------------

    def to(self, name: str, kind: type) -> list[m.Message]:
        """All of a kind that was ever sent to a node."""
        return [message for identity, message in self.sent if identity == name.encode() and isinstance(message, kind)]

    def job(self, name: str = "job"):
        return self.coordinator.jobs[name]


# ---- one search, of one name ---------------------------------------------------------------------------------------------


def submit(bench: Bench, seconds: float | None = None, simulations: int | None = None, name: str = "job", **changes) -> None:
    bench.hear(CLIENT, m.SubmitSearch(name, a_search(seconds, simulations, **changes)))


def begin(bench: Bench, *names: str) -> None:
    """Nodes join, and begin to search."""
    bench.join(*names)
    for name in names:
        bench.hear(name.encode(), m.Ready("job"))
    bench.wait(TICK_S)
    assert bench.job().state == "searching"
    assert all(bench.to(name, m.Go) for name in names)


def answer(bench: Bench, job: str = "job") -> m.Message:
    return bench.ask(m.Ask(job, 0))
