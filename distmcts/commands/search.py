"""`distmcts search`: search one position and print the table of moves."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from distmcts.budget import DEFAULT_SECONDS, make_budget
from distmcts.cluster.rules import CLUSTER_KEYS, RULES
from distmcts.commands import interrupts
from distmcts.commands.options import AsJson, KeysForCluster, apply_overrides, live_progress, one_of, read_config, split_overrides
from distmcts.errors import InputError


def run(
    game: Annotated[str, typer.Argument(help="Name of a game, see `distmcts games`.")] = "",
    overrides: Annotated[list[str] | None, typer.Argument(help="Settings as key=value, e.g. c=1.0 in_flight=wu_uct.")] = None,
    position: Annotated[str | None, typer.Option(help="Position to search, as the game writes it. Default: the start.")] = None,
    simulations: Annotated[int | None, typer.Option(help="Simulations to make.")] = None,
    seconds: Annotated[
        float | None, typer.Option(help=f"Time to search. Default without simulations: {DEFAULT_SECONDS:g}.")
    ] = None,
    workers: Annotated[int | None, typer.Option(help="Worker processes. Default: one per core.")] = None,
    parallel: Annotated[str | None, typer.Option(help="serial, leaf, root, tree or simulated.")] = None,
    memory: Annotated[str | None, typer.Option(help="Memory budget, e.g. 2GiB.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of all random numbers.")] = None,
    config: Annotated[Path | None, typer.Option(help="YAML file with any of these and other settings.")] = None,
    cluster: Annotated[
        str | None,
        typer.Option(help="Search on a cluster: a coordinator's address, an invitation, or a run folder.", metavar="ADDRESS"),
    ] = None,
    keys: KeysForCluster = None,
    merge: Annotated[str | None, typer.Option(help=f"How a cluster merges: {one_of(RULES)}.")] = None,
    audit: Annotated[bool, typer.Option("--audit", help="Check the conservation laws of the tree afterwards.")] = False,
    as_json: AsJson = False,
) -> int:
    """Search a position and print the moves, most visited first."""
    game, overrides = split_overrides(game, overrides)
    options = apply_overrides(read_config(config), overrides)
    given = {
        "game": game or None,
        "position": position,
        "simulations": simulations,
        "seconds": seconds,
        "workers": workers,
        "parallel": parallel,
        "memory": memory,
        "seed": seed,
        "merge": merge,
    }
    options |= {key: value for key, value in given.items() if value is not None}
    if cluster is None and "merge" in options:
        raise InputError(f"merge={options['merge']}: needs --cluster; one machine has nothing to merge")
    if cluster is not None and audit:
        raise InputError("--audit looks at the trees of this machine; with --cluster there are none")
    from distmcts.settings import check_keys

    check_keys(options, CLUSTER_KEYS if cluster is not None else ())
    name = options.pop("game", None)
    if not name:
        raise InputError("which game? e.g. `distmcts search awale`; `distmcts games` lists them")
    wanted = options.pop("simulations", None)
    limit = options.pop("seconds", None)
    if cluster is not None:
        return _search_on(cluster, keys, name, wanted, limit, options, as_json)

    from distmcts.engine import Engine

    wanted, limit = make_budget(wanted, limit)
    state = options.pop("position", None)
    is_interrupted = False
    with live_progress(wanted, limit) as (on_status, on_progress):
        engine = Engine(name, state, on_status=on_status, **options)
        with engine:
            try:
                result = engine.search(simulations=wanted, seconds=limit, on_progress=on_progress)
            except KeyboardInterrupt:
                result, is_interrupted = engine.result(), True
            audits = engine.audit() if audit else []
            drawing = engine.game.draw(engine.state)
    if as_json:
        print(json.dumps({**result.as_dict(), "audited_nodes": sum(a.nodes for a in audits)} if audit else result.as_dict()))
    else:
        print(f"{drawing}\n\n{result}")
        if audit:
            print(f"audit: {sum(a.nodes for a in audits):,} nodes, all conservation laws hold")
    return _interrupted() if is_interrupted else 0


def _search_on(where: str, keys: Path | None, game: str, wanted: Any, limit: Any, options: dict[str, Any], as_json: bool) -> int:
    """The same on a cluster."""
    from distmcts.cluster.client import Cluster
    from distmcts.cluster.order import make_order

    order = make_order(game, options.pop("position", None), simulations=wanted, seconds=limit, **options)
    with (
        Cluster(where, keys=keys) as cluster,
        live_progress(order.search.simulations, order.search.seconds) as (on_status, on_progress),
    ):
        result = cluster.run(order, on_progress=on_progress, on_status=on_status, on_cancel=interrupts.taken)
    print(json.dumps(result.as_dict()) if as_json else f"{order.game.draw(order.state)}\n\n{result}")
    return _interrupted() if result.stopped_by == "interrupted" else 0


def _interrupted() -> int:
    """Says so, and is the exit code for it."""
    print("distmcts: interrupted; this is what was found so far", file=sys.stderr)
    return 130
