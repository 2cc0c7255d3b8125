"""Emulated hosts: network namespaces on a bridge, each with its own address and a link that can be cut; this side has one too.

    this side ── dm<pid>n<subnet> ── port0 ─┐
    host 0 ───── eth0 ────────────── port1 ─┼─ bridge, in a namespace of its own
    host 1 ───── eth0 ────────────── port2 ─┘

Names carry the pid of the test, so that what a killed one left behind is known by it, and removed by the next to start.
"""

import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from tests.support.daemons import program

NAMESPACES = Path("/run/netns")
INTERFACES = Path("/sys/class/net")
# Of an interface, in at most 13 characters where 15 are allowed; with more to it, of a namespace. Pid, number of the subnet.
NAME = re.compile(r"(dm(\d+)n(\d+))(-\w+)?")
MOST_HOSTS = 250  # in a subnet of 256 addresses


@dataclass
class Host:
    """A machine as far as the network goes: it shares files and processes with this side. Whoever connects it sets `link`."""

    namespace: str
    address: str
    link: Callable[[bool], None] | None = None
    started: list[subprocess.Popen] = field(default_factory=list)

    def popen(self, arguments: Sequence[str | Path], **options) -> subprocess.Popen:
        """Start a process on this host, and go on. Its pid is that of the program; it is killed with the network."""
        enter = [program("nsenter"), f"--net={NAMESPACES / self.namespace}", "--"]
        process = subprocess.Popen([*enter, *map(str, arguments)], **options)
        self.started.append(process)
        return process

    def cut(self) -> None:
        """From now on nothing arrives here and nothing leaves: silence on both sides, as neither sees its own link go down."""
        self.link(False)

    def heal(self) -> None:
        """Undo a cut."""
        self.link(True)


@dataclass
class Network:
    """This side's interface and address, and the hosts."""

    name: str
    address: str
    host: list[Host]

    def configure(self) -> None:
        """Give every interface its address, and set it up."""
        places = [([], self.name, self.address), *((["-n", host.namespace], "eth0", host.address) for host in self.host)]
        for where, interface, address in places:
            ip(*where, "address", "add", f"{address}/24", "dev", interface)
            ip(*where, "link", "set", interface, "addrgenmode", "none", "up")  # no chatter of IPv6 among the frames
        for host in self.host:
            ip("-n", host.namespace, "link", "set", "lo", "up")


@contextmanager
def start_hosts(count: int) -> Iterator[Network]:
    """Hosts that reach each other and this side, and nothing else. Everything is removed at exit, processes on hosts first."""
    with unconnected_hosts(count) as network:
        bridge = f"{network.name}-bridge"
        ip("netns", "add", bridge)
        ip("-n", bridge, "link", "add", "bridge", "type", "bridge")
        ip("-n", bridge, "link", "set", "bridge", "up")
        places = [([], network.name), *((["-n", host.namespace], "eth0") for host in network.host)]
        for number, (where, interface) in enumerate(places):
            port = f"port{number}"
            ip(*where, "link", "add", interface, "type", "veth", "peer", "name", port, "netns", bridge)
            ip("-n", bridge, "link", "set", port, "master", "bridge", "up")
        for number, host in enumerate(network.host, 1):
            host.link = partial(_plug, bridge, f"port{number}")
        network.configure()
        yield network


def _plug(bridge: str, port: str, whole: bool) -> None:
    ip("-n", bridge, "link", "set", port, *(["master", "bridge"] if whole else ["nomaster"]))


@contextmanager
def unconnected_hosts(count: int) -> Iterator[Network]:
    """Namespaces without interfaces, and the names and addresses that these are to get."""
    if not 1 <= count <= MOST_HOSTS:
        raise ValueError(f"count: {count} hosts; from 1 to {MOST_HOSTS} fit")
    remove_leftovers()
    with _subnet() as number:
        name = f"dm{os.getpid()}n{number}"
        hosts = [Host(f"{name}-host{index}", f"10.99.{number}.{index + 1}") for index in range(count)]
        try:
            end_traffic(name)  # of whoever had this subnet before
            _remove(name)  # of another process with this pid, long ago
            for host in hosts:
                ip("netns", "add", host.namespace)
            yield Network(name, f"10.99.{number}.254", hosts)
        finally:
            end_traffic(name)
            _remove(name)
            for process in [process for host in hosts for process in host.started]:
                process.wait(60)


@contextmanager
def _subnet() -> Iterator[int]:
    """The number of a subnet that nobody uses. The claim is the name of a socket, which the kernel frees with its owner."""
    addresses = ip("-oneline", "address")
    for number in range(256):
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as claim:
            try:
                claim.bind(f"\0distmcts-10.99.{number}")
            except OSError:
                continue
            if f" 10.99.{number}." not in addresses:
                yield number
                return
    raise RuntimeError("all subnets from 10.99.0.0/24 to 10.99.255.0/24 are in use")


def remove_leftovers() -> None:
    """Remove the networks of processes that have ended without doing so, and kill what still runs on their hosts."""
    places = [place for place in (NAMESPACES, INTERFACES) if place.is_dir()]
    names = [found for place in places for path in place.iterdir() if (found := NAME.fullmatch(path.name))]
    for name in sorted({found[1] for found in names if not Path("/proc", found[2]).exists()}):
        _remove(name)


def _remove(name: str) -> None:
    """All of one network. Another process may be doing the same at the same time, so what is gone already is no failure."""
    _end_processes(name)
    for path in sorted(NAMESPACES.glob(f"{name}-*")):
        ip("netns", "delete", path.name, gone=lambda path=path: not path.exists())
    interface = INTERFACES / name
    if interface.exists():
        ip("link", "delete", name, gone=lambda: not interface.exists())


def end_traffic(name: str) -> None:
    """Kill what runs on the hosts of one's own network, and drop this side's connections with them; before the interfaces go.

    Else the kernel goes on for minutes to say farewell on connections that were closed when nobody heard it: by the way to
    the rest of the world, and later to the host that has the same address in the next network.
    """
    _end_processes(name)
    subnet = f"10.99.{NAME.fullmatch(name)[3]}.0/24"
    subprocess.run([program("ss"), "--kill", "--tcp", "dst", subnet], capture_output=True, timeout=60)


def _end_processes(name: str, timeout_s: float = 30) -> None:
    """SIGKILL to every process on the hosts of a network, until there is none: one may be starting another meanwhile."""
    deadline = time.monotonic() + timeout_s
    for path in sorted(NAMESPACES.glob(f"{name}-*")):
        while pids := ip("netns", "pids", path.name, gone=lambda path=path: not path.exists()).split():
            if time.monotonic() > deadline:
                raise TimeoutError(f"still on {path.name} after {timeout_s} s of SIGKILL: processes {' '.join(pids)}")
            for pid in pids:
                with suppress(ProcessLookupError):
                    os.kill(int(pid), signal.SIGKILL)
            time.sleep(0.01)


def ip(*arguments: str, gone: Callable[[], bool] = lambda: False) -> str:
    """What `ip` printed. It raises if it failed, unless that was because its object is gone."""
    done = subprocess.run([program("ip"), *arguments], capture_output=True, text=True, timeout=60)
    if done.returncode and not gone():
        raise RuntimeError(f"ip {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout
