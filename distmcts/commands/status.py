"""`distmcts status`: who is in a cluster and what it is doing, refreshed in the terminal."""

import json
import sys
import time
from typing import Annotated

import typer

from distmcts.commands import interrupts
from distmcts.commands.options import Keys
from distmcts.result import some

RATE_S = 0.7  # between the two looks that give a rate; nodes report twice a second
SHOWN_JOBS = 4


def run(
    where: Annotated[str, typer.Argument(help="Address of a coordinator, an invitation, or a run folder.", metavar="ADDRESS")],
    keys: Keys = None,
    every: Annotated[float, typer.Option(help="Seconds between two looks.", min=0.1)] = 1.0,
    once: Annotated[bool, typer.Option("--once", help="Look once, also on a terminal.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, once.")] = False,
) -> None:
    """Show nodes, rates, jobs and the merged moves so far. On a terminal until Ctrl-C, otherwise once."""
    import msgspec

    from distmcts.cluster.client import Cluster

    with Cluster(where, keys=keys, contact_s=5.0) as cluster:
        if as_json:
            print(json.dumps(msgspec.to_builtins(_named(cluster.status()))))
        elif once or not sys.stdout.isatty():
            from rich.console import Console

            before, looked = {node.name: node.simulations for node in cluster.status().nodes}, time.monotonic()
            time.sleep(RATE_S)
            page = _page(cluster.status(), before, time.monotonic() - looked)
            Console(width=None if sys.stdout.isatty() else 120).print(page)
        else:
            _watch(cluster, every)


def _named(status) -> dict:
    """Fields by name: on the wire they are known by their place."""
    from distmcts.cluster.merging import unpack_row

    return {
        "coordinator": status.coordinator,
        "uptime_s": status.uptime_s,
        "nodes": [{key: getattr(node, key) for key in node.__struct_fields__} for node in status.nodes],
        "jobs": [
            {
                **{key: getattr(job, key) for key in ("job", "about", "state", "done", "wanted")},
                "moves": [
                    {
                        "move": row.move,
                        "name": job.names.get(str(row.move), str(row.move)),
                        "visits": row.visits,
                        "value": unpack_row(row).value,
                    }
                    for row in job.rows
                ],
            }
            for job in status.jobs
        ],
        "dropped": status.dropped,
    }


def _watch(cluster, every: float) -> None:
    from rich.live import Live

    before: dict[str, int] = {}
    looked = time.monotonic()
    with Live(auto_refresh=False) as live:
        while True:
            interrupts.check()
            status = cluster.status()
            now = time.monotonic()
            live.update(_page(status, before, now - looked), refresh=True)
            before, looked = {node.name: node.simulations for node in status.nodes}, now
            time.sleep(every)


def _page(status, before: dict[str, int], passed_s: float):
    from rich.console import Group
    from rich.markup import escape  # texts of other machines may look like markup
    from rich.table import Table

    nodes = Table(title=f"{some(len(status.nodes), 'node')}, coordinator up {status.uptime_s:,.0f} s", title_justify="left")
    for column, side in (
        ("node", "left"),
        ("workers", "right"),
        ("simulations", "right"),
        ("a second", "right"),
        ("state", "left"),
    ):
        nodes.add_column(column, justify=side)
    for node in status.nodes:
        made = node.simulations - before.get(node.name, node.simulations)
        rate = f"{made / passed_s:,.0f}" if passed_s > 0 and made > 0 else ""
        nodes.add_row(escape(node.name), str(node.workers), f"{node.simulations:,}", rate, escape(node.state))
    jobs = Table(title=some(len(status.jobs), "job"), title_justify="left")
    for column, side in (("job", "left"), ("what", "left"), ("state", "left"), ("done", "right")):
        jobs.add_column(column, justify=side)
    for job in status.jobs[-SHOWN_JOBS:]:
        done = f"{job.done:,}" + (f" of {job.wanted:,}" if job.wanted is not None else "")
        jobs.add_row(escape(job.job), escape(job.about), escape(job.state), done)
    parts = [nodes, jobs]
    running = next((job for job in reversed(status.jobs) if job.rows), None)
    if running is not None:
        parts.append(_moves(running))
    if status.dropped:
        parts.append(escape("dropped messages: " + ", ".join(f"{what}: {count}" for what, count in status.dropped.items())))
    return Group(*parts)


def _moves(job):
    from rich.markup import escape
    from rich.table import Table

    from distmcts.cluster.merging import unpack_row

    total = max(1, sum(row.visits for row in job.rows))
    moves = Table(title=f"merged so far: {escape(job.job)}", title_justify="left")
    for column in ("move", "visits", "share", "value"):
        moves.add_column(column, justify="left" if column == "move" else "right")
    for row in job.rows[:10]:
        moves.add_row(
            escape(job.names.get(str(row.move), str(row.move))),
            f"{row.visits:,}",
            f"{row.visits / total:.1%}",
            f"{unpack_row(row).value:+.3f}",
        )
    return moves
