"""The `distmcts` command as a person runs it: in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "distmcts"]


def distmcts(*arguments: str, cwd: Path = ROOT, timeout_s: float = 300, **environment: str) -> subprocess.CompletedProcess:
    """Run it to its end."""
    return subprocess.run(
        [*COMMAND, *arguments], cwd=cwd, env=_environment(environment), capture_output=True, text=True, timeout=timeout_s
    )


def start(*arguments: str, cwd: Path = ROOT, **environment: str) -> subprocess.Popen:
    """Start it, and go on."""
    pipe = subprocess.PIPE
    return subprocess.Popen([*COMMAND, *arguments], cwd=cwd, env=_environment(environment), stdout=pipe, stderr=pipe, text=True)


def _environment(changes: dict[str, str]) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), **changes}
