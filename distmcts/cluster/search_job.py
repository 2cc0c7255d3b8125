"""One search on many cluster nodes, as the coordinator sees it.

    waiting -> preparing -> searching -> ending -> done, or failed

Time begins when the nodes are ready (compiling is not searching) and ends by the coordinator's clock; nodes keep time by their
own clocks, so one that is cut off ends by itself. A node whose last report has not come by then is named in the answer, with what
it last told.
Nodes may come and go at any time; what they reported counts.

Simulations are granted to nodes bit by bit, half of what is left at a time, so that fast ones get more and what a lost node did
not do goes to others. If it comes back after that, what it did counts as well.

Nothing here waits, sends or looks at a clock: time is given, and orders go to `send`.
"""

from collections.abc import Callable
from typing import Any

from distmcts.cluster.members import MAX_REASON, Member, best_lines, grant, no_node_came, no_node_could, node_rows
from distmcts.cluster.merging import Source, Tally, pack, pack_row, unpack_report
from distmcts.cluster.messages import (
    MAX_ENTRIES,
    Answer,
    Go,
    Message,
    MoveRow,
    NodeRow,
    Others,
    Prepare,
    Report,
    Search,
    Stop,
)
from distmcts.cluster.rules import TABLE
from distmcts.parallel.stoppers import Decided, Progress

GATHER_S = 1.0  # how long others are waited for once a node is ready; at least as long as that one took: it may have compiled
GRACE_S = 0.7  # how long last reports are waited for when time is up
RETURN_S = 2.0  # how long nodes have to come back after a restart
RECOVERY_S = 1.0  # between two entries of one node in the recovery file
SHOWN = 20  # rows in a status

Send = Callable[[Source, Message], None]
Note = Callable[..., None]  # an entry in the recovery file: a dictionary, and whether it must be on the disk


class SearchJob:
    kind = "search"

    def __init__(self, name: str, search: Search, send: Send, note: Note):
        self.name = name
        self.search = search
        self.state = "waiting"
        self.why = ""
        self.tally = Tally()
        self.members: dict[Source, Member] = {}
        self.answer: Answer | None = None
        self.seconds_left = search.seconds  # less after a checkpoint
        self.deadline: float | None = None
        self._send, self._note = send, note
        self._began_at: float | None = None
        self._searched_before_s = 0.0
        self._prepares_since = 0.0
        self._first_ready: float | None = None
        self._alone_since: float | None = None
        self._end_by = 0.0
        self._stopped_by = ""
        self._ended_at = 0.0
        self._quiet_until = 0.0  # after a restart: until then nobody is granted anything, and nobody is missed
        self._finished_before: set[Source] = set()  # sources whose last reports an earlier coordinator has received

    @property
    def is_over(self) -> bool:
        return self.state in ("done", "failed")

    @property
    def about(self) -> str:
        budget = [f"{self.search.seconds:g} s"] if self.search.seconds is not None else []
        budget += [f"{self.search.simulations:,} simulations"] if self.search.simulations is not None else []
        return f"search of {self.search.game}, {', '.join(budget)}, {self.search.merge}"

    # ---- nodes come and go ------------------------------------------------------------------------------------------------

    def begin(self, now: float) -> None:
        self.state = "preparing"
        self._prepares_since = now
        self._alone_since = now

    def wants(self, source: Source) -> bool:
        """Whether an idle node has something to do here."""
        if self.state not in ("preparing", "searching") or source in self.tally.entries:  # it has had its part
            return False
        return source not in self.members or self.members[source].state == "preparing"

    def invite(self, source: Source, workers: int) -> None:
        """Have a node take part; may be repeated."""
        if source not in self.members:
            self.members[source] = Member(len(self.members), workers)
        self._send(source, Prepare(self.name, self.search, self.members[source].place))

    def heard(self, source: Source, workers: int, state: str, simulations: int, granted: int, now: float) -> None:
        """A node says that it is working on this job. Orders that may have been lost are given again."""
        if self.is_over:
            self._send(source, Stop(self.name))
            return
        member = self.members.setdefault(source, Member(len(self.members), workers))
        member.workers = workers
        member.is_silent = False
        member.told = max(member.told, simulations)
        member.granted = max(member.granted, granted)
        if self.state == "ending":
            self._send(source, Stop(self.name))
        elif state == "ready":
            self.ready(source, now)
        elif state == "searching" and member.state in ("preparing", "ready", "searching"):
            if member.began is None:
                member.began = now
            member.state = "searching"
            if member.granted > granted:
                self._send_go(source, now)
            self._grant(source, now)

    def ready(self, source: Source, now: float) -> None:
        """May be said twice, for instance if the order to search was lost."""
        member = self.members[source]
        if member.state == "preparing":
            member.state = "ready"
        if self.state == "searching" and member.state in ("ready", "searching"):
            self._go(source, now)

    def refused(self, source: Source, reason: str) -> bool:
        """False if it is old news."""
        member = self.members.get(source)
        if self.is_over or not member or member.state in ("finished", "refused"):
            return False
        member.state, member.why = "refused", reason[:MAX_REASON]
        return True

    def silent(self, source: Source) -> None:
        """A node is lost. Should the coordinator be restarted as well, the node's last report is still known."""
        if source in self.members:
            self.members[source].is_silent = True
            if source in self.tally.entries:
                self._note_report(source, whole=False)

    def left(self, source: Source, reason: str) -> None:
        member = self.members.get(source)
        if member and member.state not in ("finished", "refused"):
            member.state, member.why = "left", reason[:MAX_REASON]

    # ---- searching --------------------------------------------------------------------------------------------------------

    def report(self, report: Report, now: float) -> bool:
        """Let a report count; False if it is old news. InputError if it is impossible."""
        if self.is_over:
            return False
        source = (report.node, report.epoch)
        if not self.tally.take(source, *unpack_report(report.sequence, report.statistics, report.proven)):
            return False
        member = self.members.setdefault(source, Member(len(self.members), 0))
        member.is_silent, member.reported = False, now
        if report.ending is not None and member.state != "finished":
            member.state, member.ending = "finished", report.ending
        # With many nodes, each is written less often: the file must be read within seconds after a restart.
        if report.ending is not None or now - member.noted >= RECOVERY_S * max(1.0, len(self.members) / 20):
            self._note_report(source, whole=False)
            member.noted = now
        if TABLE[self.search.merge].exchanges and member.state == "searching" and len(self.tally.entries) > 1:
            self._send(source, Others(self.name, report.sequence, pack(self.tally.others(source, self.search.share))))
        if member.state == "searching":
            self._grant(source, now)
        return True

    def _note_report(self, source: Source, whole: bool) -> None:
        """Put a node's newest report into the recovery file: all of it, or what the answer needs."""
        entry = self.tally.entries[source]
        told = entry.told if whole else {path: statistic for path, statistic in entry.told.items() if len(path) <= 1}
        is_last = source in self._finished_before or source in self.members and self.members[source].ending is not None
        fields = {"node": source[0], "epoch": source[1], "sequence": entry.sequence, "last": is_last}
        found = {"statistics": pack(told), "proven": entry.packed_proven()}
        self._note({"kind": "report", "job": self.name, **fields, **found}, False)

    def _go(self, source: Source, now: float) -> None:
        if self.search.simulations is None or self.members[source].granted:
            self._send_go(source, now)
        self._grant(source, now)

    def _send_go(self, source: Source, now: float) -> None:
        member = self.members[source]
        if member.began is None:
            member.began = now
        member.state = "searching"
        granted = None if self.search.simulations is None else member.granted
        self._send(source, Go(self.name, self._left(now), granted))

    def _left(self, now: float) -> float | None:
        return None if self.deadline is None else max(0.0, self.deadline - now)

    def _grant(self, source: Source, now: float) -> None:
        """Give a node more to do before it runs out."""
        if self.search.simulations is None or self.state != "searching" or now < self._quiet_until:
            return
        if grant(self.members, self.tally, source, self.search.simulations):
            self._send_go(source, now)

    # ---- time -------------------------------------------------------------------------------------------------------------

    def tick(self, now: float) -> None:
        """Move on to the next state if it is time."""
        if self.state == "preparing":
            self._see_to_start(now)
        if self.state == "searching":
            self._see_to_end(now)
        if self.state == "ending" and (now >= self._end_by or now >= self._quiet_until and not self.awaits_reports()):
            self._finish(now)

    def awaits_reports(self) -> bool:
        return any(member.state == "searching" and not member.is_silent for member in self.members.values())

    def _see_to_start(self, now: float) -> None:
        waited_for = [member for member in self.members.values() if member.is_active]
        # One that is searching already was cut off when its coordinator ended with a checkpoint.
        ready = [source for source, member in self.members.items() if member.is_active and member.state != "preparing"]
        if ready and self._first_ready is None:
            self._first_ready = now
        if ready and (len(ready) == len(waited_for) or self._has_gathered(now)) and now >= self._quiet_until:
            self._start(now)
            for source in ready:
                self._go(source, now)
        elif self._nobody_for(self.search.wait_s, now):
            refusals = {member.why for member in self.members.values() if member.state == "refused"}
            if self.tally.visits:
                self._end(now, "no node is left")
            else:
                self._fail(no_node_could(refusals) if refusals else no_node_came(self.search.wait_s))

    def _has_gathered(self, now: float) -> bool:
        return now - self._first_ready >= max(GATHER_S, self._first_ready - self._prepares_since)

    def _nobody_for(self, patience_s: float, now: float) -> bool:
        """Whether there has been no node for this long. Where all refuse there is nothing to wait for."""
        if any(member.is_active for member in self.members.values()):
            self._alone_since = None
            return False
        if self._alone_since is None:
            self._alone_since = now
        if now < self._quiet_until:
            return False
        refused = [member.state == "refused" for member in self.members.values()]
        return now - self._alone_since >= (GATHER_S if refused and all(refused) else patience_s)

    def _start(self, now: float) -> None:
        self.state = "searching"
        self._began_at = now
        self.deadline = None if self.seconds_left is None else now + self.seconds_left
        self._note({"kind": "started", "job": self.name, "seconds_left": self.seconds_left}, True)

    def _see_to_end(self, now: float) -> None:
        finished = [member.ending for member in self.members.values() if member.ending]
        wanted = self.search.simulations
        if self.deadline is not None and now >= self.deadline:
            self._end(now, f"{self.search.seconds:g} seconds")
        elif wanted is not None and self.tally.visits >= wanted:
            self._end(now, f"{wanted} simulations")
        elif any(ending.stopped_by == "proven" for ending in finished):
            self._end(now, "proven")
        elif finished and all(member.is_through for member in self.members.values()) and now >= self._quiet_until:
            self._end(now, finished[0].stopped_by)
        elif self.search.settings.get("stop_when_decided") and (reason := Decided().reached(self._progress(now))):
            self._end(now, reason)
        elif self.deadline is None and self._nobody_for(self.search.wait_s, now):
            self._end(now, "no node is left")

    def _progress(self, now: float) -> Progress:
        rows = [row.visits for row in self.tally.rows("sum")]
        elapsed = self.elapsed_s(now)
        return Progress(self.tally.visits, self.search.simulations, elapsed, self.search.seconds, 0.0, lambda: rows)

    def _end(self, now: float, reason: str) -> None:
        self.state = "ending"
        self._stopped_by = reason
        self._ended_at = now
        # If there was no coordinator at the deadline, nodes could not report.
        was_away = self.deadline is not None and self._quiet_until - RETURN_S > self.deadline
        self._end_by = self._quiet_until if was_away else now + GRACE_S
        for source, member in self.members.items():
            if member.is_active:
                self._send(source, Stop(self.name))

    def cancel(self, now: float) -> None:
        """End now, with what there is."""
        if self.state in ("preparing", "searching"):
            self._end(now, "interrupted")
        elif self.state == "waiting":
            self._fail("interrupted before it began")

    def suspend(self, now: float) -> None:
        """A checkpoint: what was found and the time left go into the recovery file, and the search can be resumed from there."""
        if self.state == "ending":  # nothing is left to resume
            self._finish(now)
        if self.is_over:
            return
        left = self._left(now) if self.state == "searching" else self.seconds_left
        for source in self.tally.entries:
            self._note_report(source, whole=True)
        fields = {"seconds_left": left, "searched_s": self.elapsed_s(now)}
        self._note({"kind": "suspended", "job": self.name, **fields}, True)

    def _finish(self, now: float) -> None:
        for member in self.members.values():
            if member.state in ("preparing", "ready") and not member.is_silent:
                member.why = (
                    "was not ready before the search was over" if member.state == "preparing" else "nothing was left to do"
                )
                member.state = "late"
        if not self.tally.visits:
            self._fail(f"ended by: {self._stopped_by}, before any node had reported")
            return
        self.state = "done"
        rows = self.tally.rows(self.search.merge)[:MAX_ENTRIES]
        endings = [member.ending for member in self.members.values() if member.ending]
        self.answer = Answer(
            job=self.name,
            stopped_by=self._stopped_by,
            elapsed_s=self.elapsed_s(self._ended_at),
            simulations=self.tally.visits,
            rows=[*map(pack_row, rows)],
            lines=best_lines(self.members, self.tally),
            nodes=self.node_rows(now),
            tree_nodes=sum(ending.nodes for ending in endings),
            bytes_used=sum(ending.bytes_used for ending in endings),
        )
        self._note({"kind": "answer", "job": self.name, "answer": self.answer}, True)
        self._forget()

    def _forget(self) -> None:
        """All that can be asked about a finished job is in its answer; the reports of many nodes would add up."""
        self.tally = Tally()
        self.members = {}

    def _fail(self, reason: str) -> None:
        self.state, self.why = "failed", reason
        self._note({"kind": "failed", "job": self.name, "why": reason}, True)
        self._forget()

    # ---- after a restart --------------------------------------------------------------------------------------------------

    def restore(self, entry: dict[str, Any]) -> None:
        """Take an entry of the recovery file back."""
        kind = entry["kind"]
        if kind == "report":
            source = (entry["node"], entry["epoch"])
            report = unpack_report(entry["sequence"], entry["statistics"], entry["proven"])
            self.tally.take(source, *report, is_fuller=True)  # those of a checkpoint are
            if entry["last"]:
                self._finished_before.add(source)
        elif kind == "suspended":
            self.seconds_left = entry["seconds_left"]
            self._searched_before_s = entry["searched_s"]
            self.state, self.deadline = "waiting", None
        elif kind == "answer":
            self.answer, self.state = entry["answer"], "done"
            self._forget()
        elif kind == "failed":
            self.why, self.state = entry["why"], "failed"

    def resume(self, now: float, ago_s: float) -> None:
        """Resume a search that an earlier coordinator began `ago_s` ago."""
        self.state = "searching"
        self._began_at = now - ago_s
        self.deadline = None if self.seconds_left is None else now - ago_s + self.seconds_left
        self.after_restart(now)

    def after_restart(self, now: float) -> None:
        self._quiet_until = now + RETURN_S

    # ---- status -----------------------------------------------------------------------------------------------------------

    def elapsed_s(self, now: float) -> float:
        return self._searched_before_s + (0.0 if self._began_at is None else max(0.0, now - self._began_at))

    def node_rows(self, now: float) -> list[NodeRow]:
        """A row for each node that took part."""
        if self.answer:
            return self.answer.nodes
        return node_rows(self.members, self.tally, self._finished_before, self.is_over or self.state == "ending", now)

    @property
    def visits(self) -> int:
        return self.answer.simulations if self.answer else self.tally.visits

    def top_rows(self) -> list[MoveRow]:
        if self.answer:
            return self.answer.rows[:SHOWN]
        return [*map(pack_row, self.tally.rows(self.search.merge)[:SHOWN])]
