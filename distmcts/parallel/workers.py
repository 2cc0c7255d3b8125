"""Worker processes: started once, kept between searches, replaced when they die.

Each worker has a pipe to its owner. It waits there for the word to begin, calls its kernel until that says it is through, and
reports. While the kernel runs, owner and worker talk only through shared memory.

Workers are forked: the compiled code and the shared memory are simply there, also those of a game typed into a notebook, and a
dead worker is replaced within milliseconds.
"""

import contextlib
import os
import signal
import threading
import time
import warnings
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import NamedTuple

import multiprocess
from multiprocess.connection import wait

from distmcts.errors import DistmctsError, SearchError
from distmcts.kernels.layout import BROKEN, SLICE_OVER

STOP_S = 2.0  # patience with a worker that was asked to end
WATCH_S = 0.5  # how often a worker looks whether its owner lives
WHOLE = 1 << 40  # a slice that does not end before the search does

# What a worker does: called with a number of simulations, returns a status of kernels/layout.py.
Loop = Callable[[int], int]


class Event(NamedTuple):
    worker: int
    status: int | None  # what the kernel returned; None: the worker died
    error: DistmctsError | None = None  # what the loop raised; the status is BROKEN then


def run_loop(loop: Loop) -> tuple[int, DistmctsError | None]:
    """Call a kernel until it is through; what it returned, and what it raised."""
    try:
        while True:
            status = loop(WHOLE)
            if status != SLICE_OVER:
                return status, None
    except DistmctsError as error:
        return BROKEN, error
    except (Exception, KeyboardInterrupt, SystemExit) as error:  # rules in Python may raise these, too
        return BROKEN, SearchError(f"a worker failed: {type(error).__name__}: {' '.join(str(error).split())}")


class Processes:
    """A crew of processes. Owns them; `close` ends them. Loops are given when the crew is made: a worker knows its own."""

    def __init__(self, loops: list[Loop], on_orphaned: Callable[[], None], pin: bool = False):
        self._context = multiprocess.get_context("fork")
        self._loops = loops
        self._on_orphaned = on_orphaned
        self._pin = pin
        self._pipes: list[Connection | None] = [None] * len(loops)
        self._processes: list = [None] * len(loops)
        self._busy: set[int] = set()
        for index in range(len(loops)):
            self.replace(index)

    def replace(self, index: int) -> None:
        """Start a worker in the place of a dead one."""
        ours, theirs = self._context.Pipe()
        if self._pipes[index] is not None:
            self._pipes[index].close()
        self._pipes[index] = ours
        self._busy.discard(index)
        process = self._context.Process(
            target=_live,
            args=(index, theirs, self._pipes, self._loops[index], os.getpid(), self._on_orphaned, self._pin),
            daemon=True,
        )
        with warnings.catch_warnings(), signals_later():
            # Python runs hooks around a fork, and throws away what a signal raises in them. It also warns of forks while threads
            # run; but a worker touches nothing of theirs: a pipe, shared memory, compiled code.
            warnings.simplefilter("ignore", DeprecationWarning)
            process.start()
        theirs.close()
        self._processes[index] = process

    def begin(self, index: int) -> None:
        """Send an idle worker to work. If it has died, `wait` says so."""
        self._busy.add(index)
        with contextlib.suppress(OSError):
            self._pipes[index].send(True)

    def wait(self, timeout_s: float) -> list[Event]:
        """Reports and deaths, as soon as there is one. Blocks for at most `timeout_s`."""
        sources = {self._pipes[index]: index for index in self._busy}
        sources |= {process.sentinel: index for index, process in enumerate(self._processes)}
        events: dict[int, Event] = {}
        for source in wait(list(sources), timeout_s):
            index = sources[source]
            if isinstance(source, int):
                events[index] = Event(index, None)
            elif index not in events:
                try:
                    events[index] = Event(index, *source.recv())
                except (EOFError, OSError):
                    events[index] = Event(index, None)
        for event in events.values():
            self._busy.discard(event.worker)
            if event.status is None:
                self._processes[event.worker].join(STOP_S)
        return list(events.values())

    @property
    def busy(self) -> frozenset[int]:
        return frozenset(self._busy)

    def pids(self) -> list[int]:
        return [process.pid for process in self._processes]

    def kill(self, index: int) -> None:
        """End a worker that no longer answers; `wait` reports its death."""
        self._processes[index].kill()

    def close(self) -> None:
        for pipe in self._pipes:
            try:
                pipe.send(False)
                pipe.close()
            except OSError:
                pass
        deadline = time.monotonic() + STOP_S
        for process in self._processes:
            process.join(max(0.0, deadline - time.monotonic()))
            if process.is_alive():
                process.kill()
                process.join()
            process.close()
        self._processes = []
        self._pipes = []


@contextlib.contextmanager
def signals_later():
    """Ctrl-C and SIGTERM wait until this is over, if all other threads have them blocked."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _live(index: int, pipe: Connection, owners_ends: list, loop: Loop, owner: int, on_orphaned, pin: bool) -> None:
    """The life of a worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the owner's business
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    for end in owners_ends:  # while these copies are open, the end of the owner would go unnoticed
        if end is not None:
            end.close()
    threading.Thread(target=_watch, args=(owner, on_orphaned), daemon=True).start()
    if pin:
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cores[index % len(cores)]})
    while True:
        try:
            if not pipe.recv():
                return
            pipe.send(run_loop(loop))
        except (EOFError, OSError):
            break
    on_orphaned()


def _watch(owner: int, on_orphaned: Callable[[], None]) -> None:
    """End this process when its owner is gone, even from within a kernel that waits for a lock nobody will release."""
    while os.getppid() == owner:
        time.sleep(WATCH_S)
    on_orphaned()
    os._exit(1)
