"""A cluster of real processes for tests: a coordinator and nodes, here or on emulated hosts. Nothing is left when it ends."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import psutil

from distmcts.cluster.client import Cluster
from distmcts.cluster.keys import read_invitation
from distmcts.result import NodeResult, Result
from tests.support.command import COMMAND, ROOT

START_S = 60  # patience with processes on a busy machine
SLACK_S = 0.5  # a busy machine is late; the promise is deadline + 1 s

Popen = Callable[..., subprocess.Popen]


class Told(NamedTuple):
    """One line of what a node has reported."""

    sequence: int
    visits: int
    is_last: bool


class RealCluster:
    """Owns the processes. `folder` has the invitation, the recovery file, a log of each process, and what each node reported."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.invitation = folder / "invitation.json"
        self.processes: dict[str, subprocess.Popen] = {}
        self._bind: list[str] = []

    # ---- starting ----------------------------------------------------------------------------------------------------------

    def start_coordinator(self, *options: str, popen: Popen = subprocess.Popen, **environment: str) -> None:
        """Start it, or start it again; options are those of the first time then."""
        self._bind = list(options) or self._bind or ["--bind", "tcp://127.0.0.1:*"]
        if self.invitation.exists() and "tcp://127.0.0.1:*" in self._bind:
            self._bind = ["--bind", read_invitation(self.invitation).address]
        files = ["--recovery", str(self.folder / "recovery.jsonl"), "--invite", str(self.invitation)]
        self._start("coordinator", [*COMMAND, "coordinator", *self._bind, *files], popen, **environment)
        self._wait(self.invitation.exists, "the coordinator has not started")

    def start_node(
        self,
        name: str,
        *options: str,
        twice: bool = False,
        popen: Popen = subprocess.Popen,
        cwd: Path = ROOT,  # what lies there is imported before all else
        **environment: str,
    ) -> None:
        told = self.folder / f"{name}.told"
        command = [sys.executable, "-m", "tests.support.telling_node", str(told), *(["--twice"] if twice else [])]
        has_way = any(option == "--invitation" or "://" in option for option in options)
        given = [] if has_way else ["--invitation", str(self.invitation)]
        self._start(name, [*command, "node", *given, "--name", name, "--workers", "1", *options], popen, cwd, **environment)

    def _start(self, name: str, arguments: list[str], popen: Popen, cwd: Path = ROOT, **environment: str) -> None:
        with (self.folder / f"{name}.log").open("a") as log:
            self.processes[name] = popen(
                arguments,
                cwd=cwd,
                env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                text=True,
            )

    def wait_for_nodes(self, *names: str) -> None:
        with self.client() as cluster:
            self._wait(lambda: set(names) <= {node.name for node in cluster.status().nodes}, f"{names} have not joined")

    def wait_for_job(self, *states: str) -> None:
        """Until the newest job is in one of these states."""
        with self.client() as cluster:
            self._wait(lambda: any(job.state in states for job in cluster.status().jobs[-1:]), f"no job is {states}")

    def wait_for_log(self, name: str, text: str, times: int = 1) -> None:
        self._wait(lambda: self.log(name).count(text) >= times, f"{name} has not said {text!r}")

    def _wait(self, condition: Callable[[], bool], message: str) -> None:
        deadline = time.monotonic() + START_S
        while not condition():
            assert time.monotonic() < deadline, f"{message}; {self.logs()}"
            time.sleep(0.05)

    # ---- using ---------------------------------------------------------------------------------------------------------------

    def client(self) -> Cluster:
        return Cluster(self.invitation, contact_s=START_S)

    def search_until_all_finish(self, at: dict[float, Callable[[], None]] | None = None, **given) -> Result:
        """On a machine that is overloaded a last report may come too late, and the result says so: then once more."""
        for _ in range(3):
            result = self.search(at=at, **given)
            if all(node.state == "finished" for node in result.cluster_nodes):
                break
        return result

    def search(self, game: str = "connect_four", at: dict[float, Callable[[], None]] | None = None, **given) -> Result:
        """Search, and do something at some times after it began; it must end in time."""
        todo = sorted((at or {}).items())
        began: list[float] = []

        def on_progress(progress) -> None:
            began or began.append(time.monotonic() - progress.elapsed_s)
            while todo and time.monotonic() - began[0] >= todo[0][0]:
                todo.pop(0)[1]()

        with self.client() as cluster:
            result = cluster.search(game, on_progress=on_progress, memory="256MiB", **given)
        if given.get("seconds") and began:
            assert time.monotonic() - began[0] <= given["seconds"] + 1.0 + SLACK_S
        assert not todo
        self.check(result)
        return result

    def check(self, result: Result) -> None:
        """Merged visits are what was searched, once: by the rows, and by what nodes told before they told the coordinator."""
        assert sum(row.visits for row in result.moves) == result.simulations
        assert sum(node.simulations for node in result.cluster_nodes) == result.simulations
        for node in result.cluster_nodes:
            told = self.told(node.name)
            if node.state == "finished":
                assert told[-1].is_last and node.simulations == told[-1].visits
            elif node.simulations:
                assert node.simulations in [line.visits for line in told], (node, told)

    def told(self, name: str) -> list[Told]:
        """What a node has reported, in the order in which it did; a node that was started again begins anew at sequence 1."""
        path = self.folder / f"{name}.told"
        lines = path.read_text().splitlines() if path.exists() else []
        return [Told(int(sequence), int(visits), last == "1") for sequence, visits, last in map(str.split, lines)]

    def log(self, name: str) -> str:
        return (self.folder / f"{name}.log").read_text()

    def logs(self) -> str:
        return "\n".join(f"--- {name}\n{self.log(name)}" for name in self.processes)

    # ---- faults ----------------------------------------------------------------------------------------------------------------

    def signal(self, name: str, number: int) -> None:
        self.processes[name].send_signal(number)

    def kill(self, name: str) -> None:
        self.signal(name, signal.SIGKILL)
        self.processes[name].wait(10)

    # ---- ending ----------------------------------------------------------------------------------------------------------------

    def end(self) -> None:
        """Send everybody home; who does not go is killed, and that is a failure."""
        family = [child for process in self.processes.values() for child in _family(process)]
        try:
            if self.processes["coordinator"].poll() is None:
                with self.client() as cluster:
                    cluster.shut_down()
            left = psutil.wait_procs(family, timeout=15)[1]
            assert left == [], f"still running: {left}; {self.logs()}"
        finally:
            for process in family:
                if process.is_running():
                    process.kill()
            for process in self.processes.values():
                process.kill()
                process.wait(10)


def _family(process: subprocess.Popen) -> list[psutil.Process]:
    try:
        parent = psutil.Process(process.pid)
        return [parent, *parent.children(recursive=True)] if process.poll() is None else []
    except psutil.NoSuchProcess:
        return []


@contextmanager
def real_cluster(folder: Path, nodes: tuple[str, ...] = ("alpha", "beta")) -> Iterator[RealCluster]:
    """A coordinator on loopback, and nodes with one worker each that have joined it."""
    cluster = RealCluster(folder)
    try:
        cluster.start_coordinator()
        for name in nodes:
            cluster.start_node(name)
        cluster.wait_for_nodes(*nodes)
        yield cluster
    finally:
        cluster.end()


def row_of(result: Result, name: str) -> NodeResult:
    [row] = [node for node in result.cluster_nodes if node.name == name]
    return row
