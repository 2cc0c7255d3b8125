"""A run's numbers as a table for other programs: one row for each cell, budget and measure."""

import csv
import io
from typing import Any

COLUMNS = ("section", "name", "workers", "budget", "amount", "measure", "value", "low", "high", "count")


def results_csv(summary: dict[str, Any]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(_rows(summary))
    return text.getvalue()


def _rows(summary: dict[str, Any]):
    amounts = {"time": summary["budgets"]["seconds"], "simulations": summary["budgets"]["simulations"]}
    for row in summary["speed"]:
        about = ("speed", row["scheme"], row["workers"], "", "")
        yield *about, "simulations_per_second", row["rate"], "", "", row["repeats"]
        yield *about, "speedup", row["speedup"], row["speedup_low"], row["speedup_high"], row["repeats"]
        for measure in ("bytes_per_simulation", "duplicated", "lock_wait"):
            yield *about, measure, row[measure], "", "", row["repeats"]
        for stage, share in row["stages"].items():
            yield *about, f"time_{stage}", share, "", "", row["repeats"]
    for row in summary["quality"]:
        about = ("quality", row["scheme"], row["workers"], row["budget"], row["amount"])
        if row["agreement"] is not None:
            yield *about, "agreement", row["agreement"], row["agreement_low"], row["agreement_high"], row["positions"]
        if row["regret"] is not None:
            yield *about, "regret", row["regret"], row["regret_low"], row["regret_high"], row["solved_positions"]
    for row in summary["matches"]:
        about = ("match", row["scheme"], row["workers"], row["budget"], amounts[row["budget"]])
        yield *about, "elo", row["elo"], row["elo_low"], row["elo_high"], row["pairs"]
        yield *about, "likelihood_of_superiority", row["los"], "", "", row["pairs"]
    for row in summary["curve"]:
        yield "curve", f"serial x{row['factor']:g}", 1, row["budget"], amounts[row["budget"]], "elo", *_elo(row)
    for row in summary["strength"]:
        about = ("strength", row["scheme"], row["workers"], row["budget"], amounts[row["budget"]])
        yield *about, "strength_speedup", row["speedup"], row["low"], row["high"], ""
    for row in summary["simulated_workers"]:
        yield "simulated_workers", row["reading"], row["workers"], "simulations", row["simulations"], "elo", *_elo(row)
    for row in summary["simulated_machines"]:
        yield "simulated_machines", row["rule"], row["machines"], "simulations", row["simulations"], "elo", *_elo(row)


def _elo(row: dict[str, Any]) -> tuple:
    return row["elo"], row["elo_low"], row["elo_high"], row["pairs"]
