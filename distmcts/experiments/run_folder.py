"""The folder of a run: what was asked for (config.yaml), where and by what it was measured (manifest.json), and the records.

runs/connect_four-20261116-070000/
    config.yaml  overrides.txt  manifest.json      written once, when the run begins
    records.jsonl                                   one line for each finished unit; the only truth
    results.csv  report.html                        computed from the records, any number of times
"""

import json
import os
import platform
import shlex
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil
import yaml

from distmcts.errors import InputError, file_errors
from distmcts.experiments.config import CompareConfig, make_config
from distmcts.files import free_run_folder, write_whole
from distmcts.version import __version__

CONFIG = "config.yaml"
MANIFEST = "manifest.json"
RECORDS = "records.jsonl"
REPORT = "report.html"
RESULTS = "results.csv"

# Kinds of records that are no units:
BEGUN = "begun"  # the first: how many units the run has, if no match ends early
RESUMED = "resumed"  # where the run was resumed, and on what machine
FINISHED = "finished"  # the last


def new_run(config: CompareConfig, overrides: list[str], folder: Path | None) -> Path:
    """Make the folder of a new run; an existing one is never written over."""
    if folder is None:
        folder = free_run_folder(config.game)
    if (folder / RECORDS).exists():
        raise InputError(f"{folder}: already holds a run; resume it: distmcts compare --resume {shlex.quote(str(folder))}")
    if folder.is_dir() and any(folder.iterdir()):
        raise InputError(f"{folder}: is not empty; a run needs a folder of its own")
    with file_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / "overrides.txt", "".join(f"{line}\n" for line in overrides))
        write_whole(folder / MANIFEST, json.dumps(_manifest(config), indent=1) + "\n")
        write_whole(folder / CONFIG, yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False))
        (folder / RECORDS).touch()
    return folder


def open_run(folder: Path) -> tuple[CompareConfig, dict[str, Any]]:
    """Configuration and manifest of an existing run."""
    for name in (CONFIG, MANIFEST, RECORDS):
        if not (folder / name).is_file():
            raise InputError(f"{folder}: is not a run: it has no {name}")
    try:
        given = yaml.safe_load((folder / CONFIG).read_text())
        manifest = json.loads((folder / MANIFEST).read_text())
    except (OSError, ValueError, yaml.YAMLError):
        raise InputError(f"{folder}: its configuration or manifest cannot be read") from None
    if not isinstance(given, dict) or not isinstance(manifest, dict):
        raise InputError(f"{folder}: its configuration or manifest cannot be read")
    return make_config(given, str(folder / CONFIG)), manifest


def conditions() -> dict[str, Any]:
    """What may have changed when a run is resumed."""
    return {
        "distmcts": __version__,
        "git": _git_revision(),
        "cpu": _cpu_name(),
        "cores": len(os.sched_getaffinity(0)),
        "load_at_start": round(os.getloadavg()[0], 2),
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _manifest(config: CompareConfig) -> dict[str, Any]:
    import numba
    import numpy

    return {
        **conditions(),
        "python": platform.python_version(),
        "numpy": numpy.__version__,
        "numba": numba.__version__,
        "system": f"{platform.system()} {platform.release()}",
        "memory_gib": round(psutil.virtual_memory().total / 2**30, 1),
        "seed": config.seed,
        "command": shlex.join(["distmcts", *sys.argv[1:]]),
    }


def _git_revision() -> str:
    """Of the working copy this code runs from; empty if it was installed."""
    command = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty"]
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=5, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""


def _cpu_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.processor())
