"""Daemons as children of the test: found, given free ports, waited for, and ended by their own pids."""

import os
import random
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import psutil

ADMINISTRATOR = os.pathsep.join(["/usr/local/sbin", "/usr/sbin", "/sbin"])  # where daemons live; not on everyone's PATH
PORTS = range(20_000, 32_000)  # below those that the system gives to outgoing connections, which could take one before the daemon
LONGEST_TAIL = 2_000  # characters of each log, in the message of a daemon that did not start


def program(name: str) -> str | None:
    """The absolute path of a program; None if it is not installed."""
    return shutil.which(name, path=os.pathsep.join([os.environ.get("PATH", os.defpath), ADMINISTRATOR]))


def free_ports(count: int) -> list[int]:
    """Different ports of 127.0.0.1 on which nobody listens."""
    found: list[int] = []
    with ExitStack() as held:
        for port in random.SystemRandom().sample(PORTS, len(PORTS)):
            if len(found) == count:
                return found
            probe = held.enter_context(socket.socket())
            with suppress(OSError):
                probe.bind(("127.0.0.1", port))
                found.append(port)
    raise RuntimeError(f"{count} free ports were wanted, {len(found)} found from {PORTS.start} to {PORTS.stop}")


@contextmanager
def daemon(arguments: Sequence[str | Path], grace_s: float = 5, **options) -> Iterator[subprocess.Popen]:
    """Run a program that stays in the foreground. At exit it gets SIGTERM and, if it outlives the grace, SIGKILL.

    The kernel kills it as well if the thread that started it ends first: nothing outlives a test run that was killed.
    """
    with subprocess.Popen([program("setpriv"), "--pdeathsig", "KILL", "--", *map(str, arguments)], **options) as process:
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.wait(grace_s)
            except subprocess.TimeoutExpired:
                process.kill()


def wait_until(
    ready: Callable[[], bool], what: str, daemons: Sequence[subprocess.Popen], logs: Path, timeout_s: float = 60
) -> None:
    """Block until it is ready. A daemon that ended, or too long a wait, raises with the last words of the logs."""
    deadline = time.monotonic() + timeout_s
    while not ready():
        ended = [process for process in daemons if process.poll() is not None]
        if not ended and time.monotonic() < deadline:
            time.sleep(0.05)
            continue
        why = f"{' '.join(ended[0].args)} ended with {ended[0].returncode}" if ended else f"not within {timeout_s} s"
        tails = [f"{log.name}:\n{log.read_text(errors='replace')[-LONGEST_TAIL:]}" for log in sorted(logs.glob("*.log"))]
        raise RuntimeError("\n".join([f"{what}: {why}", *tails]))


def end_all(ours: Callable[[psutil.Process], bool]) -> None:
    """SIGKILL to every process that is ours, and to its children: what logins and jobs left running."""
    spared = {os.getpid(), *(parent.pid for parent in psutil.Process().parents())}
    for _ in range(100):  # again, for one that was starting another meanwhile
        left: set[psutil.Process] = set()
        for process in psutil.process_iter():
            with suppress(psutil.Error):  # it has ended, though it may still be listed
                if process.pid not in spared and ours(process):
                    left |= {process, *process.children(recursive=True)}
        if not left:
            return
        for process in left:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        time.sleep(0.05)
