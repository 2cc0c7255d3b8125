"""Cluster nodes on the machines of an existing Ray cluster: a placement group puts one actor on each, and the actor starts the
same node command as everywhere, with the invitation on its standard input. Ray carries nothing else.

A node ends with its actor, and actors end with us.
"""

import logging
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from distmcts.cluster.sockets import is_everywhere
from distmcts.errors import InputError, SearchError
from launch.commands import different_names, node_arguments
from launch.config import LaunchConfig, NodeOptions
from launch.processes import Process
from launch.run_folder import RunFolder

PLACE_S = 60.0  # for Ray to find the machines
ANSWER_S = 10.0  # for an actor to answer
LOOK_S = 1.0
CHUNK_BYTES = 1 << 20


class Keeper:
    """The actor: owns one node on its machine."""

    def __init__(self) -> None:
        self._log = tempfile.NamedTemporaryFile()  # noqa: SIM115  it lives as long as the actor
        self._process: Process | None = None

    def hostname(self) -> str:
        return socket.gethostname()

    def start(self, name: str, arguments: list[str], invitation: str) -> None:
        self._process = Process(name, [sys.executable, *arguments], Path(self._log.name), line=invitation)

    def look(self, start: int) -> tuple[bool, bytes]:
        """Whether the node has ended, and its log from a place on."""
        has_ended = self._process.has_ended()
        with open(self._log.name, "rb") as log:
            log.seek(start)
            return has_ended, log.read(CHUNK_BYTES)

    def hang_up(self) -> None:
        self._process.hang_up()

    def end(self, patience_s: float) -> None:
        self._process.end(patience_s)


class RayNode:
    """A node as seen from here; its log is fetched now and then."""

    def __init__(self, name: str, keeper: Any, folder: RunFolder):
        self.name = name
        self._keeper = keeper
        self._log = folder.log(name)
        self._log.touch()
        self._fetched = 0
        self._has_ended = False
        self._looked_at = float("-inf")

    def how_it_ended(self) -> str:
        return "on its machine"

    def has_ended(self) -> bool:
        if not self._has_ended and time.monotonic() - self._looked_at >= LOOK_S:
            self._look()
            self._looked_at = time.monotonic()
        return self._has_ended

    def _look(self) -> None:
        import ray

        try:
            ended, text = ray.get(self._keeper.look.remote(self._fetched), timeout=ANSWER_S)
        except (ray.exceptions.GetTimeoutError, ray.exceptions.ActorUnavailableError):
            return  # the coordinator's heartbeats say whether the node lives
        except ray.exceptions.RayError as error:
            ended, text = True, f"the actor is gone: {type(error).__name__}\n".encode()
        with open(self._log, "ab") as log:
            log.write(text)
        self._fetched += len(text)
        self._has_ended = ended and len(text) < CHUNK_BYTES

    def hang_up(self) -> None:
        self._call("hang_up")

    def end(self, patience_s: float) -> None:
        self._call("end", patience_s)
        if not self._has_ended:
            self._look()

    def _call(self, method: str, *arguments: Any) -> None:
        import ray

        with suppress(ray.exceptions.RayError):  # gone with its machine
            ray.get(getattr(self._keeper, method).remote(*arguments), timeout=ANSWER_S + sum(arguments))


class Ray:
    """As many nodes as were asked for, or one on every machine; each with all CPUs that Ray gives it."""

    def __init__(self, config: LaunchConfig):
        try:
            import ray
        except ImportError as error:
            raise InputError(f"ray cannot be imported ({error}): pip install 'distmcts[ray]'") from None
        self._config = config
        self._group: Any = None
        self.bind = config.ray.bind
        self.reach = config.ray.reach
        if self.reach is None and is_everywhere(self.bind):
            self.reach = f"tcp://{ray.util.get_node_ip_address()}:*"

    def preview(self) -> list[str]:
        count = self._config.ray.nodes or "all"
        command = shlex.join(["python", *node_arguments("HOSTNAME", self._config.node)])
        where = f"on {count} machines of the Ray cluster {self._config.ray.address!r}, one actor each, spread strictly"
        return [f"# {where}; the invitation on standard input:", command]

    def start(self, folder: RunFolder, invitation: str) -> Sequence[RayNode]:
        import ray

        self._connect()
        machines = [int(node["Resources"].get("CPU", 0)) for node in ray.nodes() if node["Alive"]]
        able = [cpus for cpus in machines if cpus >= (self._config.node.workers or 1)]
        count = self._config.ray.nodes or len(able)
        if not 0 < count <= len(able):
            raise SearchError(f"Ray has {len(able)} machines that could take a node; {count or 'some'} are wanted")
        workers = self._config.node.workers or min(sorted(able)[-count:])
        options = self._config.node.model_copy(update={"workers": workers})
        try:
            return self._start(count, options, folder, invitation)
        except ray.exceptions.RayError as error:
            said = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
            raise SearchError(f"Ray could not start the nodes: {said[-1]}; is distmcts installed on all its machines?") from None

    def _start(self, count: int, options: NodeOptions, folder: RunFolder, invitation: str) -> list[RayNode]:
        import ray

        keepers = self._place(count, options.workers)
        names = different_names(ray.get([keeper.hostname.remote() for keeper in keepers], timeout=PLACE_S))
        pairs = list(zip(names, keepers, strict=True))
        calls = [keeper.start.remote(name, node_arguments(name, options), invitation) for name, keeper in pairs]
        ray.get(calls, timeout=PLACE_S)
        return [RayNode(name, keeper, folder) for name, keeper in pairs]

    def _connect(self) -> None:
        import ray

        _check_reachable(self._config.ray.address)
        kept = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            ray.init(address=self._config.ray.address, log_to_driver=False, logging_level=logging.ERROR)
        except (ray.exceptions.RayError, ValueError, RuntimeError, OSError, subprocess.SubprocessError) as error:
            said = " ".join(str(error).split()) or type(error).__name__
            raise SearchError(f"cannot join the Ray cluster {self._config.ray.address!r}: {said}") from None
        finally:
            for number, handler in kept.items():  # Ray sets its own, and with those we would not end in order
                signal.signal(number, handler)

    def _place(self, count: int, workers: int) -> list[Any]:
        """An actor on each of so many machines."""
        import ray
        from ray.util.placement_group import placement_group
        from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

        self._group = placement_group([{"CPU": workers}] * count, strategy="STRICT_SPREAD")
        if not self._group.wait(timeout_seconds=PLACE_S):
            raise SearchError(f"Ray did not have {count} machines with {workers} free CPUs each within {PLACE_S:g} s")
        actor = ray.remote(Keeper)
        return [
            actor.options(
                num_cpus=workers,
                scheduling_strategy=PlacementGroupSchedulingStrategy(self._group, placement_group_bundle_index=place),
            ).remote()
            for place in range(count)
        ]

    def close(self) -> None:
        import ray

        if self._group is not None:
            from ray.util.placement_group import remove_placement_group

            with suppress(ray.exceptions.RayError):
                remove_placement_group(self._group)
            self._group = None
        ray.shutdown()


def _check_reachable(address: str) -> None:
    """Ray itself tries for minutes before it says that nothing is there."""
    host, colon, port = address.rpartition("//")[2].rpartition(":")
    if not colon:
        return  # auto, local: Ray knows at once
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=ANSWER_S).close()
    except ValueError:
        raise InputError(f"ray.address={address!r}: expected auto, local or HOST:PORT") from None
    except OSError as error:
        raise SearchError(f"cannot join the Ray cluster {address!r}: {error.strerror or error}") from None
