"""What a search found."""

from dataclasses import dataclass
from typing import Any, NamedTuple

SHOWN = 20  # rows of the printed table


class Move(NamedTuple):
    """A row of the result: one move at the root."""

    move: int
    name: str
    visits: int
    value: float  # mean reward for the player to move, from -1 to 1
    line: tuple[str, ...]  # the moves most visited after it, itself first
    proven: float | None = None  # its exact value, if the solver has proven it


class NodeResult(NamedTuple):
    """A row of the result of a cluster: one machine."""

    name: str
    state: str  # finished; or what became of it, and what is missing therefore
    workers: int
    simulations: int  # of its own that are in the result
    elapsed_s: float
    merging_s: float = 0.0  # of it, time in which the search stood still for reports and news


@dataclass(frozen=True)
class Result:
    """What a search found. Prints as a table."""

    game: str
    player: int  # by whom values are seen: the player to move; at a chance event who moved before, or player 0
    best_move: int | None  # None at a chance event
    value: float  # of the best move; at a chance event the mean over its outcomes
    moves: tuple[Move, ...]  # most visits first
    simulations: int  # made in this search
    elapsed_s: float
    stopped_by: str
    nodes: int
    bytes_used: int
    replaced_workers: int
    longest_stall_s: float
    settings: dict[str, Any]
    cluster_nodes: tuple[NodeResult, ...] = ()  # of a search on many machines

    @property
    def simulations_per_second(self) -> float:
        return self.simulations / self.elapsed_s if self.elapsed_s else 0.0

    @property
    def bytes_per_simulation(self) -> float:
        total = sum(move.visits for move in self.moves)
        return self.bytes_used / total if total else 0.0

    def as_dict(self) -> dict[str, Any]:
        return {
            "game": self.game,
            "player": self.player,
            "best_move": self.best_move,
            "best_move_name": next((row.name for row in self.moves if row.move == self.best_move), None),
            "value": self.value,
            "simulations": self.simulations,
            "elapsed_s": self.elapsed_s,
            "simulations_per_second": self.simulations_per_second,
            "stopped_by": self.stopped_by,
            "nodes": self.nodes,
            "bytes_used": self.bytes_used,
            "replaced_workers": self.replaced_workers,
            "settings": self.settings,
            "moves": [{**row._asdict(), "line": list(row.line)} for row in self.moves],
            **({"cluster_nodes": [row._asdict() for row in self.cluster_nodes]} if self.cluster_nodes else {}),
        }

    def __str__(self) -> str:
        total = max(1, sum(row.visits for row in self.moves))
        rows = [("move", "visits", "share", "value", "line")]
        for row in self.moves[:SHOWN]:
            mark = "*" if row.move == self.best_move else " "
            share = f"{row.visits / total:.1%}"
            value = f"{row.value:+.3f}" if row.proven is None else f"={row.proven:+.3f}"  # = exactly
            rows.append((f"{mark} {row.name}", f"{row.visits:,}", share, value, " ".join(row.line)))
        widths = [max(len(row[i]) for row in rows) for i in range(4)]
        lines = []
        for i, row in enumerate(rows):
            name = f"  {row[0]}" if i == 0 else row[0]
            cells = [name.ljust(widths[0] + 2), *(row[k].rjust(widths[k]) for k in range(1, 4)), row[4]]
            lines.append("  ".join(cells).rstrip())
        if len(self.moves) > SHOWN:
            lines.append(f"  ... and {len(self.moves) - SHOWN:,} more")
        if self.best_move is None:
            lines.append(f"a chance event: worth {self.value:+.3f} to player {self.player}")
        lines.append(
            f"{self.simulations:,} simulations in {self.elapsed_s:.2f} s = {self.simulations_per_second:,.0f} a second, "
            f"{self.settings['parallel']}, {self._who()}; ended by: {self.stopped_by}"
        )
        lines.extend(self._cluster_lines())
        if self.replaced_workers:
            lines.append(f"{self.replaced_workers} workers died and were replaced; no simulation was lost")
        return "\n".join(lines)

    def _who(self) -> str:
        workers = some(self.settings["workers"], "worker")
        return f"{some(len(self.cluster_nodes), 'node')} with {workers}" if self.cluster_nodes else workers

    def _cluster_lines(self) -> list[str]:
        width = max((len(node.name) for node in self.cluster_nodes), default=0)
        return [
            f"  {node.name.ljust(width)}  {node.simulations:>15,} simulations{_in(node.elapsed_s)}; {node.state}"
            for node in self.cluster_nodes
        ]


def _in(seconds: float) -> str:
    return f" in {seconds:.2f} s" if seconds else ""


def some(count: int, what: str) -> str:
    """1 node, 2 nodes."""
    return f"{count} {what}{'s' if count != 1 else ''}"
