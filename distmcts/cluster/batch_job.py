"""A batch of independent units, as the coordinator sees it: handed out one at a time, each counted once.

A unit whose node is lost goes back to the front of the queue. If that node comes back with it done, the first result
counts. A unit that fails is tried again elsewhere; after MAX_TRIES its failure is its result.
"""

from collections import Counter, OrderedDict
from typing import Any

from distmcts.cluster.members import MAX_REASON, no_node_came, no_node_could
from distmcts.cluster.merging import Source
from distmcts.cluster.messages import NodeRow, Stop, SubmitBatch, Work
from distmcts.cluster.search_job import GATHER_S, RETURN_S, Note, Send

MAX_TRIES = 3
WAIT_S = 60.0  # for the first node that can do it


class BatchJob:
    kind = "batch"

    def __init__(self, batch: SubmitBatch, send: Send, note: Note):
        self.name = batch.job
        self.batch = batch
        self.units = list(dict.fromkeys(batch.units))
        self.state = "waiting"
        self.why = ""
        self.results: list[tuple[str, str, bool]] = []
        self.doing: dict[Source, str] = {}
        self.done_by: Counter[Source] = Counter()
        self._queue = OrderedDict.fromkeys(self.units)  # units are also looked up and removed by name
        self._known = frozenset(self.units)
        self._done: set[str] = set()
        self._failures: Counter[str] = Counter()
        self._refused: dict[Source, str] = {}
        self._workers: dict[Source, int] = {}
        self._away: dict[Source, str] = {}  # lost, or left
        self._send, self._note = send, note
        self._began_at: float | None = None
        self._alone_since: float | None = None
        self._quiet_until = 0.0  # after a restart: until then nobody is missed

    @property
    def is_over(self) -> bool:
        return self.state in ("done", "failed")

    @property
    def about(self) -> str:
        return f"{len(self.units):,} units of {self.batch.kind}"

    def begin(self, now: float) -> None:
        self.state = "working"
        self._began_at = now

    def wants(self, source: Source) -> bool:
        return self.state == "working" and source not in self._refused and (bool(self._queue) or source in self.doing)

    def invite(self, source: Source, workers: int) -> None:
        """Give an idle node a unit; the same one again if it did not hear of it."""
        self._workers[source] = workers
        self._away.pop(source, None)
        if source not in self.doing:
            self.doing[source] = self._queue.popitem(last=False)[0]
        self._send(source, Work(self.name, self.doing[source], self.batch.kind, self.batch.context))

    def heard(self, source: Source, workers: int, unit: str) -> None:
        """A node says that it is working on this unit."""
        self._workers[source] = workers
        self._away.pop(source, None)
        if self.is_over or unit in self._done:
            self._send(source, Stop(self.name))
        elif source not in self.doing and unit in self._known:
            self.doing[source] = unit  # it had been given this unit before a restart, or before it was lost
            self._queue.pop(unit, None)

    def done(self, source: Source, unit: str, found: str) -> bool:
        """Let a result count; False if there is one already."""
        return self._end_unit(source, unit, found, True)

    def failed(self, source: Source, unit: str, reason: str) -> bool:
        """Let a failure count; False if it is old news: only the node that was given the unit can fail, and only once."""
        if self.doing.get(source) != unit or unit in self._done or self.is_over:
            return False
        self._failures[unit] += 1
        if self._failures[unit] >= MAX_TRIES:
            return self._end_unit(source, unit, reason, False)
        del self.doing[source]
        if unit not in self.doing.values():
            self._queue[unit] = None
        return True

    def _end_unit(self, source: Source, unit: str, found: str, went_well: bool) -> bool:
        if self.doing.get(source) == unit:
            del self.doing[source]
        if unit not in self._known or unit in self._done or self.is_over:
            return False
        self._note({"kind": "result", "job": self.name, "unit": unit, "found": found, "well": went_well}, True)
        self._count(unit, found, went_well)
        self.done_by[source] += 1
        return True

    def _count(self, unit: str, found: str, went_well: bool) -> None:
        self._done.add(unit)
        self.results.append((unit, found, went_well))
        self._queue.pop(unit, None)
        if len(self._done) == len(self.units):
            self.state = "done"

    def refused(self, source: Source, reason: str) -> bool:
        """False if it is old news."""
        if self.is_over or source in self._refused or source not in self._workers:
            return False
        self._refused[source] = reason[:MAX_REASON]
        self._return_unit(source)
        return True

    def _fail(self, reason: str) -> None:
        self.state, self.why = "failed", reason
        self._note({"kind": "failed", "job": self.name, "why": reason}, True)

    def silent(self, source: Source) -> None:
        self._away[source] = "lost: silent"
        self._return_unit(source)

    def left(self, source: Source, reason: str) -> None:
        self._away[source] = f"left: {reason[:MAX_REASON]}"
        self._return_unit(source)

    def _return_unit(self, source: Source) -> None:
        unit = self.doing.pop(source, None)
        if unit is not None and unit not in self._done and unit not in self.doing.values():
            self._queue[unit] = None
            self._queue.move_to_end(unit, last=False)

    def tick(self, now: float) -> None:
        """Fail if nobody can do it: all nodes here refuse, or none comes. Once a unit is done, it waits for ever."""
        here = self._workers.keys() - self._away.keys()
        if self.state != "working" or self._done or here - self._refused.keys():
            self._alone_since = None
            return
        if self._alone_since is None:
            self._alone_since = now
        patience_s = GATHER_S if here else WAIT_S
        if now >= self._quiet_until and now - self._alone_since >= patience_s:
            self._fail(no_node_could(self._refused.values()) if self._refused else no_node_came(WAIT_S))

    def awaits_reports(self) -> bool:
        """A unit is done as a whole or not at all."""
        return False

    def cancel(self, now: float) -> None:
        if not self.is_over:
            self._fail("interrupted")
            for source in self.doing:
                self._send(source, Stop(self.name))

    def suspend(self, now: float) -> None:
        """Every result is in the recovery file already."""

    def restore(self, entry: dict[str, Any]) -> None:
        if entry["kind"] == "result":
            self._count(entry["unit"], entry["found"], entry["well"])
        elif entry["kind"] == "failed":
            self.state, self.why = "failed", entry["why"]

    def after_restart(self, now: float) -> None:
        self._quiet_until = now + RETURN_S

    def elapsed_s(self, now: float) -> float:
        return 0.0 if self._began_at is None else now - self._began_at

    def node_rows(self, now: float) -> list[NodeRow]:
        rows = []
        for source, workers in self._workers.items():
            if source in self._refused:
                state = f"refused: {self._refused[source]}"
            elif source in self._away:
                state = self._away[source]
            else:
                state = f"at {self.doing[source]}" if source in self.doing else "idle"
            rows.append(NodeRow(source[0], f"{state}; {self.done_by[source]} units done", workers, 0, 0.0, 0, 0.0))
        return rows
