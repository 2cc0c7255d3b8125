"""The nodes that take part in a search, as the coordinator sees them, and what an answer tells about them."""

from collections.abc import Iterable
from dataclasses import dataclass

from distmcts.cluster.merging import Source, Tally
from distmcts.cluster.messages import MAX_LINES, Ending, NodeRow
from distmcts.tree.share import NOTHING

MAX_REASON = 1000  # characters of why a node does not take part; many of them must fit into a message
TOLD_REASONS = 5

ENDS = ("proven", "memory is full")  # why a node's search ends for good, though its time is not over
LEAST_GRANT = 1000  # simulations: fewer are not worth a message


@dataclass
class Member:
    """A node's part in the search."""

    place: int
    workers: int
    state: str = "preparing"  # then ready, searching, finished; or refused, left
    why: str = ""
    is_silent: bool = False
    granted: int = 0
    last_grant: int = 0
    told: int = 0  # simulations, as its last heartbeat says
    began: float | None = None
    reported: float | None = None  # when its last report came
    noted: float = float("-inf")  # when its report was last put into the recovery file
    ending: Ending | None = None

    @property
    def is_active(self) -> bool:
        return self.state in ("preparing", "ready", "searching") and not self.is_silent

    def elapsed_s(self, now: float) -> float:
        """How long it has searched, as far as it has told; if it was lost, until then."""
        until = self.reported if self.is_silent or self.why else now
        return 0.0 if self.began is None or until is None else max(0.0, until - self.began)

    @property
    def is_through(self) -> bool:
        """Whether nothing more can come from it. A silent node may come back, and one that left may be replaced by another."""
        return self.state == "refused" or self.ending is not None and self.ending.stopped_by in ENDS

    def state_after(self, reported: int, is_over: bool) -> str:
        """What became of it, as text; `reported`: simulations in its last report."""
        if self.state == "finished":
            return "finished"
        unreported = self.told - reported
        missing = f"; at least {unreported:,} simulations after its last report are not counted" if unreported > 0 else ""
        if self.why:
            return f"{self.state}: {self.why}{missing}"
        if self.is_silent:
            return f"lost: silent{missing}"
        return f"late: its last report did not come in time{missing}" if is_over else self.state


def no_node_came(wait_s: float) -> str:
    return f"no node came within {wait_s:g} s; start some with `distmcts node ADDRESS`"


def node_rows(
    members: dict[Source, Member], tally: Tally, finished_before: set[Source], is_over: bool, now: float
) -> list[NodeRow]:
    """`finished_before`: nodes whose last reports an earlier coordinator received."""
    rows = []
    for source, member in members.items():
        ending = member.ending
        reported = tally.visits_of(source)
        rows.append(
            NodeRow(
                name=source[0],
                state=member.state_after(reported, is_over),
                workers=(ending and ending.workers) or member.workers,
                simulations=reported,
                elapsed_s=ending.elapsed_s if ending else member.elapsed_s(now),
                replaced=ending.replaced if ending else 0,
                merging_s=ending.merging_s if ending else 0.0,
            )
        )
    gone = sorted(tally.entries.keys() - members.keys())
    for source in gone:
        lost = "lost: has not come back since the coordinator was restarted"
        state = "finished before the coordinator was restarted" if source in finished_before else lost
        rows.append(NodeRow(source[0], state, 0, tally.visits_of(source), 0.0, 0, 0.0))
    return rows


def no_node_could(reasons: Iterable[str]) -> str:
    """Why nobody takes part: some of the reasons, since many nodes have many."""
    told = sorted(set(reasons))
    more = [f"and {len(told) - TOLD_REASONS} more"] if len(told) > TOLD_REASONS else []
    return "no node could do it: " + "; ".join(told[:TOLD_REASONS] + more)


def grant(members: dict[Source, Member], tally: Tally, source: Source, wanted: int) -> bool:
    """Give a node more simulations before it runs out; False if it has enough, or nothing is left of those wanted.

    Half of what is left is divided among all, so that fast nodes come back for more. What a lost node was granted and did not
    report goes to others.
    """
    member = members[source]
    reported = tally.visits_of(source)
    if member.granted - reported > member.last_grant / 2:
        return False
    taken = sum(
        max(other.granted, tally.visits_of(at)) if other.is_active else tally.visits_of(at) for at, other in members.items()
    )
    taken += sum(tally.visits_of(at) for at in tally.entries.keys() - members.keys())  # from before a restart
    left = wanted - taken
    share = left // (2 * max(1, sum(other.is_active for other in members.values())))
    more = min(left, max(LEAST_GRANT, share))
    if more <= 0:
        return False
    member.granted = max(member.granted, reported) + more
    member.last_grant = more
    return True


def best_lines(members: dict[Source, Member], tally: Tally) -> list[list[int]]:
    """For each move at the root the line of the node that visited it most."""
    best: dict[int, tuple[int, list[int]]] = {}
    for source, member in members.items():
        for line in member.ending.lines if member.ending else ():
            visits = tally.entries[source].told.get(tuple(line[:1]), NOTHING).visits
            if line and visits > best.get(line[0], (0, []))[0]:
                best[line[0]] = visits, line
    return [line for _, line in sorted(best.values(), reverse=True)[:MAX_LINES]]
