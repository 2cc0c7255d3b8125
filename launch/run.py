"""The life of a launched run: coordinator, cluster nodes, search, result, end. The same for every launcher but Slurm, where a job
script does it (slurm.py).

Whatever ends it early, the coordinator first writes a checkpoint to its recovery file, and the run can be resumed from there.
"""

import shlex
import signal
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from distmcts.cluster.client import Cluster
from distmcts.cluster.keys import read_invitation
from distmcts.cluster.order import Order
from distmcts.errors import SearchError
from distmcts.result import Result
from launch.commands import coordinator_arguments
from launch.config import LaunchConfig
from launch.processes import Process, undisturbed
from launch.run_folder import RunFolder

JOB = "search"  # a run has one job; handing it in again finds it
BIND_S = 60.0  # how long a coordinator may take to start
GATHER_S = 60.0  # how long the search waits for nodes; later ones still join
CONTACT_S = 5.0  # how long a coordinator may be silent
LOOK_S = 0.1
CHECKPOINT_S = 10.0
HOME_S = 5.0  # for a node that was sent home

Show = Callable[[Any], None] | None


class Node(Protocol):
    """A cluster node as its launcher sees it."""

    name: str

    def has_ended(self) -> bool: ...

    def how_it_ended(self) -> str:
        """By an exit code or a signal, as far as that is known."""

    def hang_up(self) -> None:
        """Tell it to go, without waiting for it."""

    def end(self, patience_s: float) -> None:
        """Block until it has gone; by force when patience runs out."""


class Launcher(Protocol):
    """A way to start cluster nodes. Making one checks what can be checked, and starts nothing."""

    bind: str  # where the coordinator listens
    reach: str | None  # by what address nodes reach it, if by another

    def preview(self) -> list[str]:
        """What `start` would run, one command a line."""

    def start(self, folder: RunFolder, invitation: str) -> Sequence[Node]:
        """Start all nodes, without waiting for them. The invitation, one line, is a secret: never an argument, never in a log."""

    def close(self) -> None:
        """Release what all nodes share."""


class Stopped(SearchError):
    """The run cannot go on now, but can be resumed."""


class Run:
    """Owns the coordinator and all nodes: use it with `with`. At exit nothing is left running."""

    def __init__(self, folder: RunFolder, launcher: Launcher):
        self._folder = folder
        self._launcher = launcher
        self._coordinator: Process | None = None
        self._nodes: Sequence[Node] = ()
        self._missed: set[str] = set()
        self._is_complete = False
        self._claim: int | None = None

    def __enter__(self) -> "Run":
        try:
            self._claim = self._folder.claim()
            self._folder.invitation.unlink(missing_ok=True)  # of an earlier coordinator
            arguments = coordinator_command(self._folder, self._launcher)
            # A checkpoint is made even if we are killed: the coordinator gets a signal, and sends the nodes home.
            self._coordinator = Process("coordinator", arguments, self._folder.log("coordinator"), at_our_death=signal.SIGUSR1)
            self._await_invitation()
            self._nodes = self._launcher.start(self._folder, read_invitation(self._folder.invitation).to_line())
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def search(self, order: Order, on_status: Show = None, on_progress: Show = None) -> Result:
        """Carry the job out, or resume it; the result is then in the folder, too. Blocks."""
        try:
            with Cluster(self._folder.invitation, contact_s=CONTACT_S) as cluster:
                gather(cluster, lambda: sum(not node.has_ended() for node in self._nodes), self._looking(on_status))
                looks = {"on_status": self._looking(on_status), "on_progress": self._looking(on_progress)}
                result = cluster.run(order, JOB, **looks, keep=True)
        except SearchError:
            self._look()  # if the coordinator has ended, the last line of its log says more
            raise
        self._folder.write_result(result)
        self._is_complete = True
        return result

    def wait_for_nodes(self, on_status: Show = None) -> None:
        """Blocks until all have joined, or it is clear that some never will."""
        with Cluster(self._folder.invitation, contact_s=CONTACT_S) as cluster:
            gather(cluster, lambda: sum(not node.has_ended() for node in self._nodes), self._looking(on_status))

    def stay(self) -> None:
        """Keep the cluster up, for whoever has the invitation. Blocks until a signal or the last node's end raises something."""
        while True:
            self._look()
            time.sleep(LOOK_S)

    # ---- beginning --------------------------------------------------------------------------------------------------------

    def _await_invitation(self) -> None:
        deadline = time.monotonic() + BIND_S
        while not self._folder.invitation.exists():
            self._look()
            if time.monotonic() > deadline:
                raise Stopped(f"the coordinator is not ready after {BIND_S:g} s: {self._folder.last_line('coordinator')}")
            time.sleep(LOOK_S)

    # ---- watching ---------------------------------------------------------------------------------------------------------

    def _looking(self, show: Show) -> Callable[[Any], None]:
        def look(news: Any) -> None:
            self._look()
            if show is not None:
                show(news)

        return look

    def _look(self) -> None:
        """Raise if there is nothing left to wait for; warn about nodes that have ended too early."""
        if self._coordinator.has_ended():
            raise Stopped(f"the coordinator has ended {self._last_line(self._coordinator)}")
        if self._nodes and all(node.has_ended() for node in self._nodes):
            said = {node.name: self._last_line(node) for node in self._nodes}
            raise Stopped("all nodes have ended: " + "; ".join(f"{name}: {line}" for name, line in said.items()))
        for node in self._nodes:
            if node.name not in self._missed and node.has_ended():
                self._missed.add(node.name)
                warnings.warn(f"node {node.name} has ended {self._last_line(node)}", stacklevel=1)

    def _last_line(self, process: "Node | Process") -> str:
        """How it ended, and the last line of its log, which usually says why."""
        return f"({process.how_it_ended()}), its log: {self._folder.last_line(process.name)}"

    # ---- ending -----------------------------------------------------------------------------------------------------------

    def _end(self) -> None:
        """Can be called twice."""
        with undisturbed():
            if self._coordinator is not None and not self._coordinator.has_ended():
                self._send_home()
            for node in self._nodes:
                node.hang_up()
            deadline = time.monotonic() + HOME_S
            for node in self._nodes:
                node.end(max(0.0, deadline - time.monotonic()))
            self._launcher.close()
            if self._claim is not None:
                self._folder.invitation.unlink(missing_ok=True)
                self._folder.give_back(self._claim)
                self._claim = None

    def _send_home(self) -> None:
        """End the coordinator, and give nodes time to leave as it told them."""
        if self._is_complete:
            with Cluster(self._folder.invitation) as cluster:
                cluster.shut_down()
        else:
            self._coordinator.send(signal.SIGUSR1)
        self._coordinator.end(CHECKPOINT_S)
        deadline = time.monotonic() + HOME_S
        while time.monotonic() < deadline and not all(node.has_ended() for node in self._nodes):
            time.sleep(LOOK_S)


def gather(cluster: Cluster, expected: Callable[[], int], on_status: Callable[[str], None]) -> None:
    """Wait for the nodes: otherwise the search would begin with the first, and time would run while the others start."""
    deadline = time.monotonic() + GATHER_S
    while time.monotonic() < deadline:
        here = sum(not node.state.startswith("lost") for node in cluster.status().nodes)
        wanted = expected()
        if here >= wanted > 0:
            return
        on_status(f"waiting for nodes: {here} of {wanted} are here")
        time.sleep(LOOK_S)


def attach(folder: RunFolder, nodes: int, order: Order, on_status: Show = None, on_progress: Show = None) -> Result:
    """The same search, where somebody else started coordinator and nodes, and will end them. Blocks."""
    with Cluster(folder.invitation) as cluster:
        gather(cluster, lambda: nodes, on_status or _nothing)
        result = cluster.run(order, JOB, on_status=on_status, on_progress=on_progress, keep=True)
    folder.write_result(result)
    return result


def coordinator_command(folder: RunFolder, launcher: Launcher) -> list[str]:
    return [sys.executable, *coordinator_arguments(folder, launcher.bind, launcher.reach)]


def preview(folder: RunFolder, launcher: Launcher) -> list[str]:
    """What a run would start, one command a line."""
    return [shlex.join(coordinator_command(folder, launcher)), *launcher.preview()]


def make_launcher(config: LaunchConfig) -> Launcher:
    """The launcher that the configuration asks for; any but Slurm's."""
    match config.on:
        case "local":
            from launch.local import Local

            return Local(config)
        case "ssh":
            from launch.ssh import Ssh

            return Ssh(config)
        case "ray":
            from launch.ray import Ray

            return Ray(config)
    raise ValueError(config.on)


def _nothing(_: Any) -> None:
    pass
