"""A comparison from start to end: unit after unit, each recorded before the next. Can be stopped and resumed."""

import hashlib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from distmcts.cluster.client import Cluster
from distmcts.errors import InputError
from distmcts.experiments.config import CompareConfig
from distmcts.experiments.measure import Measurements
from distmcts.experiments.plan import Plan, tuned_c
from distmcts.experiments.remote import measured_by
from distmcts.experiments.run_folder import BEGUN, CONFIG, FINISHED, RECORDS, RESUMED, conditions
from distmcts.records import Record, Records


class RunStatus(NamedTuple):
    """How far along a comparison is."""

    done: int
    most: int | None  # units there can be, None: not known yet; fewer if matches are decided early
    left_s: float | None  # None: not known yet
    unit: str  # what is measured now


def run_comparison(
    folder: Path,
    config: CompareConfig,
    on_progress: Callable[[RunStatus], None] | None = None,
    cluster: Cluster | None = None,
) -> None:
    """Measure what is missing in a run, here or on a cluster. Blocks until it is done; raises what a unit or `on_progress`
    raises."""
    with Records(folder / RECORDS) as records:
        if records.all and records.all[0].get("config") not in (None, digest(config)):
            raise InputError(f"{folder / CONFIG}: was changed after the run began; start a new run for another configuration")
        if any(record["kind"] == FINISHED for record in records.all):
            return
        measurements = Measurements(config)
        say = on_progress or (lambda status: None)
        say(RunStatus(0, None, None, "compiling"))
        measurements.compile()
        say(RunStatus(0, None, None, "finding positions"))
        plan = Plan(config, len(measurements.solved), len(measurements.positions))
        planned = plan.counts()
        clock = Clock(records.all, planned)
        if not records.all:
            records.append({"unit": BEGUN, "kind": BEGUN, "planned": planned.total(), "config": digest(config)})
        else:
            records.append({"unit": f"{RESUMED}/{len(records.all)}", "kind": RESUMED, **conditions()})
        for batch in plan.batches(records.all):
            tuned = tuned_c(config, records.all)
            if cluster is not None and batch:
                found = measured_by(cluster, config, batch, tuned)
            else:
                found = (measurements.measure(unit, tuned) for unit in batch)
            for unit in batch:
                left_s = clock.left_s() if cluster is None else None
                say(RunStatus(clock.done, planned.total(), left_s, unit.name if cluster is None else "on the cluster"))
                record = next(found)
                records.append(record)
                clock.add(record)
        records.append({"unit": FINISHED, "kind": FINISHED})


def digest(config: CompareConfig) -> str:
    """A short hash of everything that was asked for."""
    return hashlib.sha256(config.model_dump_json().encode()).hexdigest()[:16]


class Clock:
    """Guesses how long the rest takes, from what units of the same kind have taken."""

    def __init__(self, records: list[Record], planned: Counter[str]):
        self._planned = planned
        self._count: Counter[str] = Counter()
        self._took_s: Counter[str] = Counter()
        for record in records:
            if record["kind"] in planned:
                self.add(record)

    def add(self, record: Record) -> None:
        self._count[record["kind"]] += 1
        self._took_s[record["kind"]] += record["took_s"]

    @property
    def done(self) -> int:
        return self._count.total()

    def left_s(self) -> float | None:
        """None as long as nothing is known about some kind."""
        left = {kind: most - self._count[kind] for kind, most in self._planned.items()}
        if any(count > 0 and not self._count[kind] for kind, count in left.items()):
            return None
        return sum(count * self._took_s[kind] / self._count[kind] for kind, count in left.items() if count > 0)
