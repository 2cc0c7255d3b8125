"""A crew of one that works in the caller's own thread, a slice at a time: for schemes without worker processes."""

import time

from distmcts.errors import DistmctsError, SearchError
from distmcts.kernels.layout import BROKEN, SLICE_OVER
from distmcts.parallel.workers import Event, Loop

SLICE_S = 0.02  # how often the caller looks up from the kernel: time, progress, Ctrl-C
LEAST_SLICE = 16  # simulations; games in Python take so long that one is enough


class Inline:
    def __init__(self, loops: list[Loop], least_slice: int = LEAST_SLICE):
        self._loops = loops
        self._least_slice = least_slice
        self._loop: Loop | None = None
        self._rate = 0.0  # simulations a second in the last slice

    def begin(self, index: int) -> None:
        self._loop = self._loops[index]

    def wait(self, timeout_s: float) -> list[Event]:
        """Work for about the time given, at most SLICE_S."""
        if self._loop is None:
            time.sleep(timeout_s)
            return []
        now = time.perf_counter()
        deadline = now + min(timeout_s, SLICE_S)
        while True:
            # Half of the time left, by the last rate: slices shrink towards the deadline, so it is hardly passed.
            length = max(self._least_slice, int(self._rate * (deadline - now) / 2))
            try:
                status = self._loop(length)
            except DistmctsError as error:
                self._loop = None
                return [Event(0, BROKEN, error)]
            if status != SLICE_OVER:
                self._loop = None
                return [Event(0, status)]
            start, now = now, time.perf_counter()
            self._rate = length / max(now - start, 1e-9)
            if now >= deadline:
                return []

    @property
    def busy(self) -> frozenset[int]:
        return frozenset() if self._loop is None else frozenset([0])

    def replace(self, index: int) -> None:
        raise SearchError("this worker is the calling process itself")

    def kill(self, index: int) -> None:
        raise SearchError("this worker is the calling process itself")

    def pids(self) -> list[int]:
        return []

    def close(self) -> None:
        pass
