"""A comparison whose units are carried out by the nodes of a cluster.

Only units whose result does not depend on the machine go there: a rate, or what is found in a given time, says something about
one machine only, and a mixture would compare machines.
"""

import json
from collections.abc import Callable, Iterator
from typing import Any

from distmcts.cluster.client import Cluster
from distmcts.errors import InputError, SearchError
from distmcts.experiments.config import CompareConfig, make_config
from distmcts.experiments.measure import Measurements
from distmcts.experiments.plan import Plan
from distmcts.experiments.units import Unit
from distmcts.records import Record

KIND = "compare"  # in cluster/work.py


def check_remote(config: CompareConfig) -> None:
    """An InputError if something is to be measured that depends on the machine."""
    depends = {
        "speed.repeats": config.speed.positions and config.speed.repeats,
        "quality.at": config.quality.positions and "time" in config.quality.at,
        "matches.at": config.matches.pairs and "time" in config.matches.at,
    }
    for key, is_set in depends.items():
        if is_set:
            value = "0" if key == "speed.repeats" else "[simulations]"
            raise InputError(f"{key}: what depends on the machine is not measured on a cluster; set {key}={value}")


def units(context: dict[str, Any]) -> Callable[[str], Record]:
    """On a node: what carries out the units of one comparison."""
    config = make_config(context["config"], "the batch")
    measurements = Measurements(config)
    measurements.compile()
    known = Plan(config, len(measurements.solved), len(measurements.positions)).by_name()
    return lambda name: measurements.measure(known[name], context["tuned"])


def measured_by(cluster: Cluster, config: CompareConfig, batch: list[Unit], tuned: dict[str, float]) -> Iterator[Record]:
    """The records of a batch of units, as nodes finish them."""
    context = {"config": json.loads(config.model_dump_json()), "tuned": tuned}
    for result in cluster.map(KIND, context, [unit.name for unit in batch]):
        if result.error:
            raise SearchError(f"unit {result.unit} failed: {result.error}")
        yield result.found
