"""The coordinator: knows which nodes are alive, hands out one job after another, answers clients.

It neither waits, nor looks at a clock, nor knows about sockets: messages and the time are given to it, and what it sends goes to
a function (serve.py has all of these). So every order of events can be tried in a test.

With every heartbeat nodes say what they are doing, and are told again what they should be doing. So an order that is lost costs
half a second, and a coordinator that was restarted finds out by itself who is doing what.
"""

import logging
import secrets
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from typing import Any

from distmcts.cluster.batch_job import BatchJob
from distmcts.cluster.merging import Source
from distmcts.cluster.messages import (
    Ask,
    AskStatus,
    Beat,
    Cancel,
    Goodbye,
    Hello,
    JobRow,
    JobStatus,
    Leave,
    Message,
    NodeRow,
    Pulse,
    Ready,
    Received,
    Refused,
    Rejected,
    Report,
    Shutdown,
    Status,
    Stop,
    SubmitBatch,
    SubmitSearch,
    UnitDone,
    UnitFailed,
    UnitResults,
    Welcome,
    Who,
)
from distmcts.cluster.rules import check_rule
from distmcts.cluster.search_job import SearchJob
from distmcts.errors import InputError

BEAT_S = 0.5  # between heartbeats, both ways
LOST_S = 2.5  # a node that has been silent for this long is lost, until it is heard again
FORGET_S = 60.0  # how long a lost node is shown in a status
HICCUP_S = 1.0  # if we ourselves slept longer than this, nodes are not blamed for the silence
KEPT_JOBS = 100  # that are over, and can still be asked about
MAX_WAITING = 100  # jobs
SHOWN_JOBS = 20  # in a status: the newest, and the one under way
RESULT_BYTES = 1 << 20  # of results of units in one message

log = logging.getLogger("distmcts.coordinator")

Job = SearchJob | BatchJob


@dataclass
class Peer:
    """A node, as the coordinator sees it."""

    identity: bytes
    source: Source
    workers: int
    heard_at: float
    is_lost: bool = False
    beat: Beat = Beat("", "", "idle", 0, 0)


class Coordinator:
    """`send(identity, message)`; `note(entry, durable)` writes an entry to the recovery file."""

    def __init__(self, send: Callable[[bytes, Message], None], note: Callable[[dict[str, Any], bool], None], now: float):
        self.name = secrets.token_hex(8)
        self.jobs: dict[str, Job] = {}  # in the order in which they came
        self.peers: dict[bytes, Peer] = {}
        self.dropped: Counter[str] = Counter()
        self.is_ending = False
        self._send = send
        self._note = note
        self._started_at = now
        self._ticked_at = now
        self._pulsed_at = float("-inf")
        self._complained: set[tuple[bytes, str]] = set()

    # ---- what comes in ----------------------------------------------------------------------------------------------------

    def handle(self, identity: bytes, message: Message, now: float) -> None:
        """Any message of a node or a client."""
        match message:
            case Hello():
                self._hello(identity, message, now)
            case SubmitSearch() | SubmitBatch() | Ask() | Cancel() | AskStatus() | Shutdown():
                self._client(identity, message, now)
            case _:
                peer = self.peers.get(identity)
                if peer is None:
                    self._send(identity, Who())
                    if isinstance(message, Beat):
                        return  # the usual thing after a restart
                    self.drop(identity, "out of order: before Hello")
                    return
                self._alive(peer, now)
                self._node(peer, message, now)

    def drop(self, identity: bytes, what: str) -> None:
        """Count a message that cannot be used; say so once for each peer and kind."""
        self.dropped[what] += 1
        if (identity, what) not in self._complained and len(self._complained) < 10_000:
            self._complained.add((identity, what))
            log.warning("a message of %s was dropped: %s", self._name_of(identity), what)

    def _name_of(self, identity: bytes) -> str:
        return self.peers[identity].source[0] if identity in self.peers else identity.hex()[:16]

    def _hello(self, identity: bytes, hello: Hello, now: float) -> None:
        source = (hello.node, hello.epoch)
        for other in [peer for peer in self.peers.values() if peer.source == source and peer.identity != identity]:
            del self.peers[other.identity]  # the same process with a new connection
        if identity not in self.peers:
            self.peers[identity] = Peer(identity, source, hello.workers, now)
            log.info("node %s is here, %d workers, distmcts %s", hello.node, hello.workers, hello.software)
        self._alive(self.peers[identity], now)
        self._send(identity, Welcome(self.name))

    def _alive(self, peer: Peer, now: float) -> None:
        peer.heard_at = now
        if peer.is_lost:
            peer.is_lost = False
            log.info("node %s is back", peer.source[0])

    # ---- nodes ------------------------------------------------------------------------------------------------------------

    def _node(self, peer: Peer, message: Message, now: float) -> None:
        match message:
            case Beat():
                peer.beat = message
                self._reconcile(peer, now)
            case Goodbye():
                log.info("node %s leaves: %s", peer.source[0], message.reason)
                self._for_active(lambda job: job.left(peer.source, message.reason))
                del self.peers[peer.identity]
            case Ready() | Refused() | Report():
                job = self.jobs.get(message.job)
                if not isinstance(job, SearchJob) and not (isinstance(job, BatchJob) and isinstance(message, Refused)):
                    self.drop(peer.identity, "out of order: of no such job")
                    self._send(peer.identity, Received(message.job, ""))
                    return
                self._of_search(peer, job, message, now)
            case UnitDone() | UnitFailed():
                self._of_batch(peer, self.jobs.get(message.job), message)
                self._send(peer.identity, Received(message.job, message.unit))
        self._next(now)

    def _of_search(self, peer: Peer, job: Job, message: Ready | Refused | Report, now: float) -> None:
        match message:
            case Ready():
                if peer.source in job.members:
                    job.ready(peer.source, now)
            case Refused():
                if job.refused(peer.source, message.reason):
                    log.warning("node %s refuses %s: %s", peer.source[0], job.name, message.reason)
                self._send(peer.identity, Received(job.name, ""))
            case Report():
                if (message.node, message.epoch) != peer.source:
                    self.drop(peer.identity, "out of order: a report in another node's name")
                    return
                try:
                    if not job.report(message, now):
                        self.dropped["old news"] += 1
                except InputError as error:
                    self.drop(peer.identity, f"malformed {error}")
                if message.ending is not None:
                    self._send(peer.identity, Received(job.name, ""))

    def _of_batch(self, peer: Peer, job: Job | None, message: UnitDone | UnitFailed) -> None:
        if not isinstance(job, BatchJob):
            self.drop(peer.identity, "out of order: of no such job")
            return
        if isinstance(message, UnitDone):
            counted = job.done(peer.source, message.unit, message.found)
        else:
            counted = job.failed(peer.source, message.unit, message.reason)
            if counted:
                log.warning("node %s, unit %s: %s", peer.source[0], message.unit, message.reason)
        if not counted:
            self.dropped["old news"] += 1

    def _reconcile(self, peer: Peer, now: float) -> None:
        """Compare what a node is doing with what it should be doing."""
        beat = peer.beat
        job = self.jobs.get(beat.job)
        if self.is_ending:
            self._send(peer.identity, Leave("the coordinator ends"))
        elif beat.job and (job is None or job.is_over):
            self._send(peer.identity, Stop(beat.job))
        elif isinstance(job, SearchJob):
            job.heard(peer.source, peer.workers, beat.state, beat.simulations, beat.granted, now)
        elif isinstance(job, BatchJob):
            job.heard(peer.source, peer.workers, beat.unit)

    # ---- jobs -------------------------------------------------------------------------------------------------------------

    @property
    def active(self) -> Job | None:
        """The first job that is not over: all nodes work on it."""
        return next((job for job in self.jobs.values() if not job.is_over), None)

    def _for_active(self, act: Callable[[Job], None]) -> None:
        if (job := self.active) is not None:
            act(job)

    def _next(self, now: float) -> None:
        """See to it that the first job is under way, and that idle nodes know about it."""
        job = self.active
        if job is None or self.is_ending:
            return
        if job.state == "waiting":
            job.begin(now)
            log.info("%s begins: %s", job.name, job.about)
        for peer in self.peers.values():
            if not peer.is_lost and peer.beat.state == "idle" and job.wants(peer.source):
                job.invite(peer.source, peer.workers)
                # Until its next heartbeat it counts as busy, so that it is not told twice.
                peer.beat = Beat(job.name, "", "told", 0, 0)

    def tick(self, now: float) -> None:
        """Time passes. To be called every few hundredths of a second."""
        if now - self._ticked_at > HICCUP_S:
            for peer in self.peers.values():
                peer.heard_at += now - self._ticked_at
        self._ticked_at = now
        for peer in list(self.peers.values()):
            silent_s = now - peer.heard_at
            if silent_s > LOST_S and not peer.is_lost:
                peer.is_lost = True
                log.warning("node %s is lost: silent for %.1f s", peer.source[0], silent_s)
                self._for_active(lambda job, source=peer.source: job.silent(source))
            if silent_s > FORGET_S:
                del self.peers[peer.identity]
        if now - self._pulsed_at >= BEAT_S:
            self._pulsed_at = now
            for identity in list(self.peers):
                self._send(identity, Pulse(self.name))
        job = self.active
        if job is not None and not self.is_ending:  # after a checkpoint nodes have stopped, which must not end the search
            job.tick(now)
            if job.is_over:
                log.info("%s is %s%s", job.name, job.state, f": {job.why}" if job.why else "")
        self._next(now)

    def forget_old(self) -> None:
        """Of the jobs that are over, only the newest can still be asked about."""
        over = [name for name, job in self.jobs.items() if job.is_over]
        for name in over[: max(0, len(over) - KEPT_JOBS)]:
            del self.jobs[name]

    def _make_room(self) -> None:
        """For another job."""
        self.forget_old()
        if sum(not job.is_over for job in self.jobs.values()) >= MAX_WAITING:
            raise InputError(f"{MAX_WAITING} jobs are waiting already; hand it in later")

    # ---- clients ----------------------------------------------------------------------------------------------------------

    def _client(self, identity: bytes, message: Message, now: float) -> None:
        match message:
            case SubmitSearch() | SubmitBatch():
                self._submit(identity, message, now)
            case Ask():
                self._tell(identity, message, now)
            case Cancel():
                if message.job in self.jobs:
                    self.jobs[message.job].cancel(now)
            case AskStatus():
                self._send(identity, self.status(now))
            case Shutdown():
                self.end("asked to")

    def _submit(self, identity: bytes, message: SubmitSearch | SubmitBatch, now: float) -> None:
        if message.job not in self.jobs or self.jobs[message.job].state == "failed":  # what was wrong may have been put right
            try:
                self._check(message)
                self._make_room()
            except InputError as error:
                self._send(identity, Rejected(str(error)))
                return
            self._note({"kind": "submitted", "job": message.job, "message": message}, True)
            self.add(message)
        self._next(now)
        self._tell(identity, Ask(message.job, 0), now)

    def _check(self, message: SubmitSearch | SubmitBatch) -> None:
        if isinstance(message, SubmitSearch):
            check_rule(message.search.merge)
            if message.search.seconds is None and message.search.simulations is None:
                raise InputError("a search needs a budget: seconds or simulations")
            for key, value in [*message.search.settings.items(), *message.search.parameters.items()]:
                if isinstance(value, float) and not isfinite(value):
                    raise InputError(f"{key[:100]}={value}: must be a finite number")

    def add(self, message: SubmitSearch | SubmitBatch) -> Job:
        def send(source: Source, order: Message) -> None:
            for peer in self.peers.values():
                if peer.source == source:
                    self._send(peer.identity, order)

        if isinstance(message, SubmitSearch):
            job: Job = SearchJob(message.job, message.search, send, self._note)
        else:
            job = BatchJob(message, send, self._note)
        self.jobs.pop(message.job, None)  # one that failed
        self.jobs[message.job] = job
        return job

    def _tell(self, identity: bytes, ask: Ask, now: float) -> None:
        """How far along a job is, or what it has found."""
        job = self.jobs.get(ask.job)
        if job is None:
            self._send(identity, JobStatus(ask.job, "unknown", "", 0.0, 0, []))
        elif isinstance(job, SearchJob) and job.answer is not None:
            self._send(identity, job.answer)
        elif isinstance(job, BatchJob) and job.state != "failed":
            self._send(identity, self._unit_results(job, ask.start, now))
        else:
            visits = job.visits if isinstance(job, SearchJob) else 0
            waiting = [other for other in self.jobs.values() if not other.is_over]
            before = waiting.index(job) if job in waiting else 0
            first = f"{before} {'job comes' if before == 1 else 'jobs come'} first"
            note = job.why or (first if job.state == "waiting" else self._who_is_missing())
            self._send(identity, JobStatus(job.name, job.state, note, job.elapsed_s(now), visits, job.node_rows(now)))

    def _who_is_missing(self) -> str:
        return "" if any(not peer.is_lost for peer in self.peers.values()) else "no nodes yet"

    def _unit_results(self, job: BatchJob, start: int, now: float) -> UnitResults:
        some, size = [], 0
        for result in job.results[start:]:
            size += sum(len(text.encode()) for text in result[:2]) + 16  # and what MessagePack adds
            if some and size > RESULT_BYTES:
                break
            some.append(result)
        return UnitResults(job.name, start, some, len(job.units), len(job.results), job.node_rows(now))

    def status(self, now: float) -> Status:
        nodes = [
            NodeRow(
                name=peer.source[0],
                state="lost: silent" if peer.is_lost else peer.beat.state,
                workers=peer.workers,
                simulations=peer.beat.simulations,
                elapsed_s=max(0.0, now - peer.heard_at),
                replaced=0,
                merging_s=0.0,
            )
            for peer in self.peers.values()
        ]
        newest = list(self.jobs.values())[-SHOWN_JOBS:]
        active = self.active
        jobs = [*([active] if active is not None and active not in newest else []), *newest]
        return Status(self.name, max(0.0, now - self._started_at), nodes, [*map(self._job_row, jobs)], dict(self.dropped))

    def _job_row(self, job: Job) -> JobRow:
        state = f"{job.state}: {job.why}" if job.why else job.state
        if isinstance(job, BatchJob):
            return JobRow(job.name, job.about, state, len(job.results), len(job.units), [], {})
        rows = job.top_rows()
        names = {str(row.move): job.search.names[str(row.move)] for row in rows if str(row.move) in job.search.names}
        return JobRow(job.name, job.about, state, job.visits, job.search.simulations, rows, names)

    # ---- ending -----------------------------------------------------------------------------------------------------------

    def end(self, reason: str) -> None:
        """Send all nodes home."""
        self.is_ending = True
        for identity in self.peers:
            self._send(identity, Leave(reason))

    def suspend(self, now: float) -> None:
        """Write to the recovery file what is needed to go on later."""
        for job in self.jobs.values():
            job.suspend(now)
