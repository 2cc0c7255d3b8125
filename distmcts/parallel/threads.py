"""Workers as threads of this process: the kernels release the GIL, so the comparison with processes is a fair one.

A thread cannot be killed and never dies alone, so there is nothing to replace.
"""

from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for

from distmcts.errors import SearchError
from distmcts.parallel.workers import Event, Loop, run_loop


class Threads:
    """A crew with the interface of Processes. `close` waits for the threads to end."""

    def __init__(self, loops: list[Loop]):
        self._loops = loops
        self._pool = ThreadPoolExecutor(len(loops), thread_name_prefix="distmcts")
        self._running: dict[Future, int] = {}

    def begin(self, index: int) -> None:
        self._running[self._pool.submit(run_loop, self._loops[index])] = index

    def wait(self, timeout_s: float) -> list[Event]:
        done, _ = wait_for(self._running, timeout_s, FIRST_COMPLETED)
        return [Event(self._running.pop(future), *future.result()) for future in done]

    @property
    def busy(self) -> frozenset[int]:
        return frozenset(self._running.values())

    def replace(self, index: int) -> None:
        raise SearchError("a thread cannot be replaced")

    def pids(self) -> list[int]:
        return []

    def kill(self, index: int) -> None:
        raise SearchError("a thread cannot be killed")

    def close(self) -> None:
        self._pool.shutdown()
