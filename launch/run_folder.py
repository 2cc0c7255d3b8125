"""The folder of a launched run: what was asked for, how to get in, what happened, what was found.

runs/awale-20261117-190000/
    config.yaml        what was asked for, complete; written once
    invitation.json    address and keys while the coordinator runs; private
    recovery.jsonl     the coordinator's: a stopped run is resumed from it
    logs/              one file for the coordinator, one for each cluster node
    job.sh             Slurm: the script that was submitted; slurm_job_id: the id it got
    result.json        what was found; there is none before the end
"""

import fcntl
import json
import os
import shlex
import warnings
from pathlib import Path
from typing import Any

import yaml

from distmcts.errors import InputError
from distmcts.files import free_run_folder, write_whole
from distmcts.result import Move, NodeResult, Result
from launch.config import LaunchConfig, make_config

LONGEST_TAIL = 4096  # bytes of a log that are looked at for its last line


class RunFolder:
    """Paths in the folder of a run, and what is in them."""

    def __init__(self, path: Path):
        self.path = path.absolute()  # processes elsewhere have other working folders
        self.config = self.path / "config.yaml"
        self.invitation = self.path / "invitation.json"
        self.recovery = self.path / "recovery.jsonl"
        self.logs = self.path / "logs"
        self.result = self.path / "result.json"
        self.keys = self.path / "keys"  # the coordinator's, if it should not make its own
        self.script = self.path / "job.sh"
        self.job_id = self.path / "slurm_job_id"

    def log(self, name: str) -> Path:
        return self.logs / f"{name}.log"

    def claim(self) -> int:
        """The run is ours until this file descriptor is closed, or our process ends: a second launch is refused."""
        descriptor = os.open(self.config, os.O_RDWR)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            raise InputError(f"{self.path}: another process is working on this run") from None
        return descriptor

    @staticmethod
    def give_back(claim: int) -> None:
        os.close(claim)

    @property
    def resume_command(self) -> str:
        return f"distmcts launch --resume {shlex.quote(str(self.path))}"

    def last_line(self, name: str) -> str:
        """Of a log: it usually says why a process ended."""
        try:
            with open(self.log(name), "rb") as file:
                file.seek(max(0, self.log(name).stat().st_size - LONGEST_TAIL))
                lines = file.read().decode(errors="replace").split("\n")
        except OSError:
            return "(no log)"
        said = [line.strip() for line in lines if line.strip()]
        return said[-1].removeprefix("distmcts: ") if said else "(its log is empty)"

    def write_result(self, result: Result) -> None:
        """A full disk must not cost the result: it is still printed."""
        try:
            write_whole(self.result, json.dumps(result.as_dict(), indent=1) + "\n")
        except OSError as error:
            warnings.warn(f"{self.result}: could not be written: {error.strerror}", stacklevel=1)

    def read_result(self) -> Result | None:
        """What was found; None if the run has not finished."""
        try:
            found = json.loads(self.result.read_text())
            rows: dict[str, Any] = {
                "moves": tuple(Move(**{**row, "line": tuple(row["line"])}) for row in found["moves"]),
                "cluster_nodes": tuple(NodeResult(**row) for row in found["cluster_nodes"]),
                "longest_stall_s": 0.0,
            }
            return Result(**{key: rows.get(key, found.get(key)) for key in Result.__dataclass_fields__})
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError, KeyError):
            raise InputError(f"{self.result}: cannot be read") from None


def planned_folder(config: LaunchConfig, out: Path | None) -> Path:
    """Where a run would go; nothing is made."""
    if out is not None:
        if out.exists() and (not out.is_dir() or any(out.iterdir())):
            hint = f"; resume it: {RunFolder(out).resume_command}" if (out / "config.yaml").is_file() else ""
            raise InputError(f"{out}: already exists; a run needs a folder of its own{hint}")
        return out
    game = "".join(letter if letter.isalnum() or letter in "_-" else "-" for letter in config.name)
    return free_run_folder(game[:60].strip("-") or "run")


def new_run(config: LaunchConfig, out: Path | None) -> RunFolder:
    """Make the folder of a new run; an existing one is never written over."""
    while True:
        path = planned_folder(config, out)
        try:
            path.mkdir(parents=True, exist_ok=out is not None)
            folder = RunFolder(path)
            folder.logs.mkdir()
            write_whole(folder.config, yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False))
        except FileExistsError:  # another launch in the same second
            if out is not None:
                raise InputError(f"{out}: already exists; a run needs a folder of its own") from None
            continue
        except OSError as error:
            raise InputError(f"{error.filename or path}: {error.strerror}") from None
        return folder


def open_run(path: Path) -> tuple[RunFolder, LaunchConfig]:
    """An existing run, to resume or to look at."""
    folder = RunFolder(path)
    if not folder.config.is_file() or not folder.logs.is_dir():
        raise InputError(f"{path}: is not a launched run: it has no config.yaml and logs")
    try:
        given = yaml.safe_load(folder.config.read_text())
    except (OSError, UnicodeDecodeError, yaml.YAMLError):
        given = None
    if not isinstance(given, dict):
        raise InputError(f"{folder.config}: cannot be read")
    return folder, make_config(given, str(folder.config))
