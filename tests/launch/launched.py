"""Launched runs, as tests see them: in a folder of their own, with processes that can be found."""

import json
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import psutil

from tests.support.command import start

LONG_S = 120  # for what takes seconds on a machine that is not overloaded
SMALL = ("job.game=connect_four", "node.workers=1", "node.memory=64MiB")


def processes_of(run: Path) -> list[psutil.Process]:
    """Coordinator, nodes and workers of a run: the coordinator has the folder in its arguments, the others their logs open."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            is_ours = any(str(run) in word for word in process.cmdline()) or any(
                Path(file.path).is_relative_to(run) for file in process.open_files()
            )
            if is_ours and process.status() != psutil.STATUS_ZOMBIE and process.name() not in ("pytest", "sshd"):
                found.append(process)
    return [process for process in found if process.pid != psutil.Process().pid]


def wait_for(condition, what: str, timeout_s: float = LONG_S):
    """What the condition says, once that is true."""
    deadline = time.monotonic() + timeout_s
    while not (found := condition()):
        assert time.monotonic() < deadline, f"not within {timeout_s} s: {what}"
        time.sleep(0.1)
    return found


def nothing_left(run: Path, launcher: subprocess.Popen | None = None) -> None:
    """Nothing of a run goes on running, at most a moment after its launcher has ended."""
    wait_for(lambda: not processes_of(run), f"all processes of {run} have ended", 20)


def launched(run: Path, *arguments: str, **environment: str) -> subprocess.Popen:
    """A launch into a folder, that is searching."""
    launcher = start("launch", *arguments, "--out", str(run), cwd=run.parent, **environment)
    wait_for(lambda: is_searching(run) or launcher.poll() is not None, "the search has begun")
    assert launcher.poll() is None, launcher.communicate()
    return launcher


def entries(run: Path, kind: str) -> list[dict]:
    """Of the recovery file."""
    with suppress(FileNotFoundError):
        lines = (run / "recovery.jsonl").read_text().split("\n")[:-1]
        return [entry for entry in map(json.loads, lines) if entry["kind"] == kind]
    return []


def is_searching(run: Path) -> bool:
    return bool(entries(run, "report"))


def check_sum(result: dict) -> None:
    """The merged result is what the nodes have searched, no more and no less."""
    assert result["simulations"] == sum(node["simulations"] for node in result["cluster_nodes"]) > 0
    assert sum(row["visits"] for row in result["moves"]) <= result["simulations"]
