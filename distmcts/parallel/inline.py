"""A crew of one that works in the caller's own thread, a slice at a time: for schemes without worker processes."""

import time

from distmcts.errors import SearchError
from distmcts.kernels.layout import SLICE_OVER
from distmcts.parallel.workers import Event, Job

SLICE_S = 0.02  # how often the caller looks up from the kernel: time, progress, Ctrl-C
FIRST_SLICE = 64


class Inline:
    def __init__(self, jobs: list[dict[str, Job]]):
        self._jobs = jobs
        self._job: Job | None = None
        self._length = FIRST_SLICE

    def begin(self, index: int, job: str) -> None:
        self._job = self._jobs[index][job]

    def wait(self, timeout_s: float) -> list[Event]:
        """Work for about the time given, at most SLICE_S."""
        if self._job is None:
            time.sleep(timeout_s)
            return []
        aim = max(1e-4, min(timeout_s, SLICE_S))
        deadline = time.perf_counter() + aim
        while True:
            start = time.perf_counter()
            status = self._job(self._length)
            if status != SLICE_OVER:
                self._job = None
                return [Event(0, status)]
            now = time.perf_counter()
            if now - start < aim / 4:
                self._length *= 2
            elif now - start > aim:
                self._length = max(1, self._length // 2)
            if now >= deadline:
                return []

    @property
    def busy(self) -> frozenset[int]:
        return frozenset() if self._job is None else frozenset([0])

    def replace(self, index: int) -> None:
        raise SearchError("this worker is the calling process itself")

    def kill(self, index: int) -> None:
        raise SearchError("this worker is the calling process itself")

    def pids(self) -> list[int]:
        return []

    def close(self) -> None:
        pass
