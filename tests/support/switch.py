"""Emulated hosts on a switch that delays and loses: a process that carries ethernet frames between them.

Each host, and this side, has a TAP interface whose other end is a file of the switch. A frame is read, waits until it is
due, and is written to the host with its address. (The kernel can do the same, by tc netem, but not every kernel has that.)
"""

import fcntl
import os
import random
import select
import struct
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path

from tests.support.daemons import daemon
from tests.support.hosts import Network, end_traffic, ip, unconnected_hosts

ROOT = Path(__file__).parents[2]
TUN = Path("/dev/net/tun")
TUNSETIFF, IFF_TAP, IFF_NO_PI = 0x400454CA, 0x0002, 0x1000  # from linux/if_tun.h
LARGEST_FRAME = 65_536  # bytes
MOST_WAITING = 50_000  # frames; more are lost, as in any switch whose buffers are full
AT_ONCE = 64  # frames read from one host before the others have their turn
IPV4 = b"\x08\x00"


@contextmanager
def start_switch(count: int, delay_s: float = 0.0, loss: float = 0.0, seed: int = 0) -> Iterator[Network]:
    """Like start_hosts, but each packet takes `delay_s` to any other side and is lost with probability `loss`.

    Which packets of a host are lost depends only on the seed, the host, and how many it has sent before. Only IPv4 is lost.
    """
    with unconnected_hosts(count) as network, ExitStack() as stack:
        taps = []
        with ExitStack() as handed_over:  # these files are the switch's alone: the interfaces go when it ends
            for host in [*network.host, None]:
                taps.append(_open_tap(network.name))
                handed_over.callback(os.close, taps[-1])
                if host:  # the name is free again for the next; the last one stays on this side
                    ip("link", "set", network.name, "netns", host.namespace, "name", "eth0")
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "bufsize": 1}
            command = [sys.executable, "-m", __name__, *map(str, [delay_s, loss, seed, *taps])]
            switch = stack.enter_context(daemon(command, cwd=ROOT, pass_fds=taps, **pipes))
        for port, host in enumerate(network.host):
            host.link = partial(_tell, switch, port)
        stack.callback(end_traffic, network.name)  # before the interfaces go, as they do with the switch
        network.configure()
        _tell(switch, 0, True)  # answered when it is at work
        yield network


def _open_tap(name: str) -> int:
    tap = os.open(TUN, os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(tap, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TAP | IFF_NO_PI))
    return tap


def _tell(switch: subprocess.Popen, port: int, whole: bool) -> None:
    """Have a link cut or healed, and wait until it is."""
    switch.stdin.write(f"{'heal' if whole else 'cut'} {port}\n")
    if switch.stdout.readline() != "done\n":
        raise RuntimeError(f"the switch ended with {switch.wait(60)}")


class Relay:
    """The switch itself, in its own process."""

    def __init__(self, taps: list[int], delay_s: float, loss: float, seed: int):
        self.taps = taps
        self.delay_s = delay_s
        self.loss = loss
        self.chance = [random.Random(f"{seed}/{port}") for port in range(len(taps))]
        self.cut: set[int] = set()
        self.port_of: dict[bytes, int] = {}  # learnt from the senders of frames
        # In the order of their due times, as the delay is the same for all: due time, sender's port, frame.
        self.waiting: deque[tuple[float, int, bytes]] = deque()

    def run(self, orders: int) -> None:
        """Carry frames until the other end of `orders` is closed, or its owner is dead, which closes it."""
        unread = b""
        while True:
            pause_s = max(0.0, self.waiting[0][0] - time.monotonic()) if self.waiting else None
            ready, _, _ = select.select([orders, *self.taps], [], [], pause_s)
            if orders in ready:
                more = os.read(orders, 4096)
                if not more:
                    return
                *lines, unread = (unread + more).split(b"\n")
                for line in lines:
                    self.obey(line.decode())
            for port, tap in enumerate(self.taps):
                if tap in ready:
                    self.read(port)
            while self.waiting and self.waiting[0][0] <= time.monotonic():
                self.deliver(*self.waiting.popleft()[1:])

    def obey(self, order: str) -> None:
        verb, port = order.split()
        (self.cut.add if verb == "cut" else self.cut.discard)(int(port))
        print("done", flush=True)

    def read(self, port: int) -> None:
        """Take what a host has sent; what is not lost waits until it is due."""
        for _ in range(AT_ONCE):
            try:
                frame = os.read(self.taps[port], LARGEST_FRAME)
            except OSError:  # no more for now, or the interface is down
                return
            self.port_of[frame[6:12]] = port
            # ARP is spared: it gives up after three tries, long before TCP would. So is what the kernel says of itself in IPv6,
            # at moments of its own: it would change which of the packets that follow are lost.
            lost = frame[12:14] == IPV4 and self.chance[port].random() < self.loss
            if not lost and port not in self.cut and len(self.waiting) < MOST_WAITING:
                self.waiting.append((time.monotonic() + self.delay_s, port, frame))

    def deliver(self, sender: int, frame: bytes) -> None:
        known = self.port_of.get(frame[:6])
        for port in range(len(self.taps)) if known is None else [known]:
            if port != sender and not self.cut & {port, sender}:  # what was on its way when the link was cut is lost too
                with suppress(OSError):  # the interface is down
                    os.write(self.taps[port], frame)


if __name__ == "__main__":
    delay, loss, seed, *taps = sys.argv[1:]
    Relay([int(tap) for tap in taps], float(delay), float(loss), int(seed)).run(sys.stdin.fileno())
