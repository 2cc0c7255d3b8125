"""Processes that a launch starts: each with a log of its own, ended by its own pid, and never left behind."""

import ctypes
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from distmcts.errors import InputError

PR_SET_PDEATHSIG = 1  # linux/prctl.h
TERMINATE_S = 5.0  # after SIGTERM


class Process:
    """Owns a process. It has no terminal: Ctrl-C reaches only us, and we decide in which order things end."""

    def __init__(self, name: str, arguments: list[str], log: Path, line: str | None = None, at_our_death: int | None = None):
        """`line`: the first of its standard input, which stays open as long as we live. `at_our_death`: a signal it gets then."""
        self.name = name
        log.parent.mkdir(exist_ok=True)
        try:
            with open(log, "ab") as output:
                self._process = subprocess.Popen(
                    arguments,
                    stdin=subprocess.DEVNULL if line is None else subprocess.PIPE,
                    stdout=output,
                    stderr=output,
                    start_new_session=True,
                    preexec_fn=_signal_at_our_death(at_our_death) if at_our_death is not None else None,
                )
        except OSError as error:
            raise InputError(f"cannot run {shlex.join(arguments[:1])}: {error.strerror}") from None
        if line is not None:
            with suppress(BrokenPipeError):  # it has ended already, as the next look will show
                self._process.stdin.write(line.encode() + b"\n")
                self._process.stdin.flush()

    @property
    def pid(self) -> int:
        return self._process.pid

    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def how_it_ended(self) -> str:
        code = self._process.poll()
        return f"killed by signal {-code}" if code is not None and code < 0 else f"exit code {code}"

    def send(self, number: int) -> None:
        self._process.send_signal(number)

    def hang_up(self) -> None:
        """End its input: a cluster node ends with it."""
        if self._process.stdin is not None:
            with suppress(BrokenPipeError):
                self._process.stdin.close()

    def end(self, patience_s: float) -> None:
        """Blocks until it has ended: by itself, by SIGTERM, or by SIGKILL."""
        self._wait(patience_s)
        self._process.terminate()
        self._wait(TERMINATE_S)
        self._process.kill()
        self._process.wait()

    def _wait(self, timeout_s: float) -> None:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout_s)


def _signal_at_our_death(number: int) -> Callable[[], None]:
    """To be called in the child: the kernel sends it a signal if we end without one, for example by SIGKILL."""
    prctl = ctypes.CDLL(None).prctl if sys.platform == "linux" else None
    parent = os.getpid()

    def arrange() -> None:
        if prctl is not None:
            prctl(PR_SET_PDEATHSIG, number, 0, 0, 0)
            if os.getppid() != parent:  # we were gone before it was arranged
                os._exit(1)

    return arrange


@contextmanager
def undisturbed() -> Iterator[None]:
    """Neither Ctrl-C nor SIGTERM interrupts what must be finished, such as ending processes; it takes seconds at most."""
    before = {number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
