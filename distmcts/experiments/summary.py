"""What the records of a run say: rates, quality, matches, strength, each with its interval. Pure: records in, numbers out."""

import statistics
from collections import defaultdict
from typing import Any

import numpy as np

from distmcts.experiments.config import CompareConfig
from distmcts.experiments.intervals import mean_interval, ratio_interval, share_interval
from distmcts.experiments.plan import (
    pair_counts,
    reference_moves,
    sequential_test,
    tuned_c,
    tuning_agreement,
    tuning_cells,
)
from distmcts.experiments.run_folder import BEGUN, FINISHED, RESUMED
from distmcts.experiments.sides import Side, sides
from distmcts.experiments.units import seed_of
from distmcts.experiments.variants import ONE_SERIAL, Cell
from distmcts.match.elo import EloEstimate
from distmcts.match.pairs import PairCounts
from distmcts.match.strength import strength_speedup
from distmcts.parallel.names import SERIAL
from distmcts.records import Record

Row = dict[str, Any]
UNEQUAL = 0.05  # share by which times may differ at "equal time" before the report says so
DECISIONS = {"H1": "stronger", "H0": "not stronger", None: "undecided"}


def summarise(config: CompareConfig, manifest: Row, records: list[Record]) -> Row:
    """Everything the report shows, as plain JSON."""
    all_sides = sides(config, tuned_c(config, records))
    return {
        "title": f"Parallel search of {config.game}",
        "game": f"{config.game}({', '.join(f'{key}={value}' for key, value in config.game_parameters.items())})",
        "manifest": manifest,
        "finished": any(record["kind"] == FINISHED for record in records),
        "units_done": sum("took_s" in record for record in records),
        "units_planned": next((record["planned"] for record in records if record["kind"] == BEGUN), 0),
        "budgets": config.budgets.model_dump(),
        "tuning": _tuning(config, records),
        "speed": _speed(config, records),
        "quality": _quality(config, records),
        "matches": [row for side in all_sides if side.group == "cells" for row in _match(config, side, records)],
        "curve": [row for side in all_sides if side.group == "curve" for row in _curve(side, records)],
        "strength": _strength(config, all_sides, records),
        "simulated_workers": [row for side in all_sides for row in _simulated_workers(side, records)],
        "simulated_machines": [row for side in all_sides for row in _simulated_machines(side, records)],
        "notes": [*_notes(config, manifest, records), *_time_notes(all_sides, records)],
    }


def _of_cell(cell: Cell) -> Row:
    return {"cell": cell.name, "scheme": cell.variant.name, "backend": cell.variant.backend, "workers": cell.workers}


def _notes(config: CompareConfig, manifest: Row, records: list[Record]) -> list[str]:
    notes = []
    resumed = [record for record in records if record["kind"] == RESUMED]
    if resumed:
        changed = any(record[key] != manifest.get(key) for record in resumed for key in ("distmcts", "git", "cpu", "cores"))
        where = (
            "with another version or on another machine: such results should not be mixed"
            if changed
            else "on the same machine and version"
        )
        notes.append(f"The run was interrupted and resumed {len(resumed)} times, {where}.")
    pairs = [record for record in records if record["kind"] == "pair"]
    openings, numbers = len({pair["opening"] for pair in pairs}), len({pair["number"] for pair in pairs})
    if openings < numbers:
        notes.append(
            f"The game has only {openings} openings of this length for {numbers} pairs of a match: some were played again."
        )
    if config.simulated_workers.pairs or config.simulated_machines.pairs:
        notes.append("The c of simulated workers and machines is the configured one, not tuned.")
    if config.quality.solved:
        few = config.quality.solved_simulations
        notes.append(f"Regret is measured after {few} simulations: with more, all schemes find the best move of small endgames.")
    if config.matches.pairs:
        notes.append(
            f"'Not stronger' means: less than {config.matches.elo1:g} Elo stronger, as far as the sequential test can tell. "
            "A strength speedup at the end of its scale (twice the largest factor, half the smallest) is open on that side."
        )
    cores = manifest.get("cores") or 1
    if max(config.workers) > cores:
        notes.append(f"There were {cores} cores for up to {max(config.workers)} workers: some had to share.")
    if (manifest.get("load_at_start") or 0) > 0.5 * cores:
        notes.append("The machine was busy when the run began; ratios are measured in turns, but intervals are wider for it.")
    if config.matches.pairs:
        notes.append(
            "A match ends when its sequential test is sure; the Elo of a match that ended early is a little too extreme."
        )
    return notes


def _tuning(config: CompareConfig, records: list[Record]) -> Row:
    agreed = tuning_agreement(records)
    chosen = tuned_c(config, records)
    rows = []
    for cell in tuning_cells(config):
        name = cell.variant.name
        tried = sorted((c, hits) for (scheme, c), hits in agreed.items() if scheme == name)
        candidates = [{"c": c, "regret": None, "agreement": sum(hits) / len(hits)} for c, hits in tried]
        rows.append({"scheme": name, "c": chosen[name], "candidates": candidates})
    return {"tuned": len(config.tuning.c) > 1 and bool(agreed), "rows": rows}


def _speed(config: CompareConfig, records: list[Record]) -> list[Row]:
    found: dict[str, dict[tuple[int, int], Record]] = defaultdict(dict)
    for record in records:
        if record["kind"] == "speed":
            found[record["cell"]][record["position"], record["repeat"]] = record
    rows = []
    for cell in config.cells():
        mine, serial = found[cell.name], found[ONE_SERIAL.name]
        ratios = [mine[key]["rate"] / serial[key]["rate"] for key in mine if key in serial]
        if not ratios:
            continue
        speedup = ratio_interval(ratios)
        stages = [record["stages"] for record in mine.values() if record["stages"]]
        mean = {name: statistics.fmean(stage[name] for stage in stages) for name in stages[0]} if stages else {}
        rows.append(
            {
                **_of_cell(cell),
                "rate": statistics.median(record["rate"] for record in mine.values()),
                "speedup": speedup.middle,
                "speedup_low": speedup.low,
                "speedup_high": speedup.high,
                "bytes_per_simulation": statistics.fmean(record["bytes_per_simulation"] for record in mine.values()),
                "duplicated": statistics.fmean(record["duplicated"] for record in mine.values()),
                "lock_wait": mean.get("waiting"),
                "stages": mean,
                "repeats": len(mine),
            }
        )
    return rows


def _quality(config: CompareConfig, records: list[Record]) -> list[Row]:
    truth = reference_moves(records)
    agreed: dict[tuple[str, str], list[bool]] = defaultdict(list)
    regrets: dict[str, list[float]] = defaultdict(list)
    for record in records:
        if record["kind"] == "answer" and record["position"] in truth:
            agreed[record["cell"], record["at"]].append(record["move"] == truth[record["position"]])
        elif record["kind"] == "endgame":
            regrets[record["cell"]].append(record["regret"])
    rows = []
    for at in config.quality.at:
        for cell in config.cells():
            hits = agreed[cell.name, at]
            if hits:
                middle, low, high = share_interval(sum(hits), len(hits))
                found = {"agreement": middle, "agreement_low": low, "agreement_high": high}
                amount = config.budgets.seconds if at == "time" else config.budgets.simulations
                rows.append({**_of_cell(cell), "budget": at, "amount": amount, **found, "regret": None, "positions": len(hits)})
    for cell in config.cells():
        lost = regrets[cell.name]
        if lost:
            middle, low, high = mean_interval(lost)
            found = {"regret": middle, "regret_low": max(0.0, low), "regret_high": high}  # nobody gains by a mistake
            about = {"budget": "simulations", "amount": config.quality.solved_simulations, "agreement": None}
            rows.append({**_of_cell(cell), **about, **found, "positions": 0, "solved_positions": len(lost)})
    return rows


def _elo(counts: PairCounts) -> Row:
    estimate = EloEstimate.from_pairs(counts)
    return {"elo": estimate.elo, "elo_low": estimate.low, "elo_high": estimate.high, "score": counts.score, "pairs": counts.pairs}


def _match(config: CompareConfig, side: Side, records: list[Record]) -> list[Row]:
    counts = pair_counts(records, side.match)
    if not counts.pairs:
        return []
    games = {"wins": counts.wins, "draws": counts.draws, "losses": counts.losses}
    return [
        {
            **_of_cell(side.cell),
            "budget": side.at,
            "opponent": SERIAL,
            **games,
            **_elo(counts),
            "los": EloEstimate.from_pairs(counts).likelihood_of_superiority,
            "decision": DECISIONS[sequential_test(config).decide(counts)],
        }
    ]


def _time_factor(side: Side, records: list[Record]) -> float:
    """How many times the opponent's time a side really took for its moves."""
    spent = [record["per_move"] for record in records if record["kind"] == "pair" and record["match"] == side.match]
    return sum(own["seconds"] for own, _ in spent) / max(sum(other["seconds"] for _, other in spent), 1e-9)


def _time_notes(all_sides: list[Side], records: list[Record]) -> list[str]:
    notes = []
    for side in all_sides:
        if side.at == "time" and side.group == "cells" and pair_counts(records, side.match).pairs:
            factor = _time_factor(side, records)
            if abs(factor - 1) > UNEQUAL:
                notes.append(f"At equal time, {side.name} really took {factor:.2f} times as long as serial for a move.")
    return notes


def _curve(side: Side, records: list[Record]) -> list[Row]:
    counts = pair_counts(records, side.match)
    return [{"factor": side.factor, "budget": side.at, **_elo(counts)}] if counts.pairs else []


def _strength(config: CompareConfig, all_sides: list[Side], records: list[Record]) -> list[Row]:
    rows = []
    for at in config.matches.at:
        curve = {}
        for side in all_sides:
            counts = pair_counts(records, side.match)
            if side.group == "curve" and side.at == at and counts.pairs:
                curve[_time_factor(side, records) if at == "time" else side.factor] = counts
        if not curve:
            continue
        for side in all_sides:
            counts = pair_counts(records, side.match)
            if side.group != "cells" or side.at != at or not counts.pairs:
                continue
            found = strength_speedup(curve, counts, np.random.default_rng(seed_of(config.seed, side.match)))
            rows.append(
                {
                    **_of_cell(side.cell),
                    "budget": at,
                    "speedup": found.speedup,
                    "low": found.low,
                    "high": found.high,
                    "beyond": found.is_beyond,
                    "overhead": 1 / found.speedup - 1 if at == "simulations" else None,
                }
            )
    return rows


def _simulated_workers(side: Side, records: list[Record]) -> list[Row]:
    counts = pair_counts(records, side.match)
    if side.group != "simulated_workers" or not counts.pairs:
        return []
    settings = dict(side.settings)
    about = {"reading": settings["in_flight"], "workers": settings["workers"], "simulations": side.budget.simulations}
    return [{**about, **_elo(counts)}]


def _simulated_machines(side: Side, records: list[Record]) -> list[Row]:
    counts = pair_counts(records, side.match)
    if side.group != "simulated_machines" or not counts.pairs:
        return []
    settings = dict(side.settings)
    about = {"rule": settings["rule"], "machines": side.machines, "workers": settings["workers"]}
    return [{**about, "simulations": side.budget.simulations, **_elo(counts)}]
