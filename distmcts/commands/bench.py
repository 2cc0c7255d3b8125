"""`distmcts bench`: try the schemes and worker counts on this machine, and recommend a setting."""

import json
import os
import statistics
import sys
from typing import Annotated, Any

import typer

from distmcts.commands.options import AsJson, apply_overrides
from distmcts.errors import InputError
from distmcts.parallel.names import LEAF, ROOT, SERIAL, TREE

ROUNDS = 3


def run(
    game: Annotated[str, typer.Argument(help="Name of a game.")] = "awale",
    overrides: Annotated[list[str] | None, typer.Argument(help="Settings as key=value.")] = None,
    seconds: Annotated[float, typer.Option(help="Time for the whole bench, compiling apart.")] = 30.0,
    workers: Annotated[int | None, typer.Option(help="Most workers to try. Default: one per core.")] = None,
    as_json: AsJson = False,
) -> None:
    """Measure simulations per second of each scheme, side by side, and say which to use."""
    if not 0 < seconds < 3600:
        raise InputError(f"seconds={seconds}: must be between 0 and 3600")
    most = workers if workers is not None else len(os.sched_getaffinity(0))
    if most < 1:
        raise InputError(f"workers={most}: must be at least 1")
    settings = apply_overrides({}, overrides or [])
    rows = _measure(game, settings, _cells(most), seconds)
    serial = rows[0]["simulations_per_second"]
    for row in rows:
        row["speedup"] = row["simulations_per_second"] / serial
    best = max((row for row in rows if row["parallel"] in (SERIAL, TREE, ROOT)), key=lambda row: row["speedup"])
    if as_json:
        print(json.dumps({"game": game, "rows": rows, "recommended": best}))
        return
    print(f"{'scheme':<24}{'workers':>8}{'simulations/s':>16}{'speedup':>10}")
    for row in rows:
        print(f"{_label(row):<24}{row['workers']:>8}{row['simulations_per_second']:>16,.0f}{row['speedup']:>9.2f}x")
    chosen = " ".join(f"{key}={best[key]}" for key in _KEYS if key in best)
    print(f"\nmost simulations per second here: {chosen}")
    print("a rate is not strength: root and leaf parallelization learn less from each simulation than tree does")


_KEYS = ("parallel", "workers", "synchronisation", "stay")  # of a cell


def _label(row: dict[str, Any]) -> str:
    names = [row["parallel"]]
    if row["parallel"] == TREE:
        names.append(row["synchronisation"])
    return " ".join([*names, "textbook"] if "stay" in row else names)


def _cells(most: int) -> list[dict[str, Any]]:
    from distmcts.kernels.layout import LOCK_FREE, SHARING

    counts = sorted({1, max(1, most // 2), most})
    cells: list[dict[str, Any]] = [{"parallel": SERIAL, "workers": 1, "synchronisation": LOCK_FREE}]
    cells.append({**cells[0], "stay": 0.0})
    for count in counts:
        cells.append({"parallel": TREE, "workers": count, "synchronisation": LOCK_FREE, "stay": 0.0})
        for synchronisation in SHARING:
            cells.append({"parallel": TREE, "workers": count, "synchronisation": synchronisation})
        for parallel in (ROOT, LEAF):
            cells.append({"parallel": parallel, "workers": count, "synchronisation": LOCK_FREE})
    return cells


def _measure(game: str, settings: dict[str, Any], cells: list[dict[str, Any]], seconds: float) -> list[dict[str, Any]]:
    """Median rate of each cell over rounds in which every cell has its turn, so that a busy moment hits all alike."""
    from distmcts.engine import Engine

    share = seconds / (ROUNDS * len(cells))
    rates: list[list[float]] = [[] for _ in cells]
    for turn in range(ROUNDS):
        for rate, cell in zip(rates, cells, strict=True):
            if sys.stderr.isatty():
                print(f"\rround {turn + 1} of {ROUNDS}: {cell['parallel']:<8}", end="", file=sys.stderr)
            with Engine(game, **{"memory": "1GiB", **settings, **cell}) as engine:
                rate.append(engine.search(seconds=share).simulations_per_second)
    if sys.stderr.isatty():
        print("\r" + " " * 40 + "\r", end="", file=sys.stderr)
    return [{**cell, "simulations_per_second": statistics.median(rate)} for cell, rate in zip(cells, rates, strict=True)]
