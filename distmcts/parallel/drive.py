"""The loop of the owner of a search: hands out work, watches, stops, and sees to the dead."""

import time
from collections.abc import Callable
from typing import NamedTuple, Protocol

from distmcts.errors import SearchError
from distmcts.kernels.layout import ABANDON, ALLOCATED, BREACH, BROKEN, CAPACITY, FINE, HEARTBEAT, PAUSE
from distmcts.parallel.scheme import Scheme
from distmcts.parallel.stoppers import Progress, Stopper, first_reason
from distmcts.parallel.workers import Event
from distmcts.tree import merge
from distmcts.tree.audit import is_idle

LOOK_S = 0.02  # how often the owner looks at stoppers
HANG_S = 5.0  # a worker whose heart has stood still for so long is ended
PYTHON_HANG_S = 60.0  # where one step of a game is Python code, which may be slow
DEATHS_WITHOUT_PROGRESS = 50


class Crew(Protocol):
    """Who does the work: processes, threads, or the caller itself."""

    busy: frozenset[int]

    def begin(self, index: int) -> None: ...
    def wait(self, timeout_s: float) -> list[Event]: ...
    def replace(self, index: int) -> None: ...
    def kill(self, index: int) -> None: ...
    def pids(self) -> list[int]: ...
    def close(self) -> None: ...


class Effort(NamedTuple):
    """What a search took."""

    simulations: int
    elapsed_s: float
    stopped_by: str
    replaced: int  # workers that died and were replaced
    longest_stall_s: float  # the longest time the search stood still because of a death


class Drive:
    """One search. `run` blocks until it is over; the trees are at rest then, also after an exception or Ctrl-C."""

    def __init__(
        self,
        scheme: Scheme,
        crew: Crew,
        wanted: int | None,
        seconds: float | None,
        stoppers: list[Stopper],
        on_progress: Callable[[Progress], None] | None = None,
    ):
        self.scheme = scheme
        self.crew = crew
        self.wanted = wanted
        self.seconds = seconds
        self.stoppers = stoppers
        self.on_progress = on_progress
        self.replaced = 0
        self.longest_stall_s = 0.0
        self._beats: dict[int, tuple[int | None, float]] = {}  # last heartbeat of each worker, and when it was first seen
        self._broken: Event | None = None  # the game is broken, as a worker found while others were being waited for
        self._deaths_at = (0, 0)  # (simulations, deaths since there were so many)
        self._all = range(1 if scheme.in_process else len(scheme.workers))

    def run(self) -> Effort:
        self._before = self.scheme.visits()
        self._start = time.perf_counter()
        self.scheme.reset_counters()
        reason = None
        try:
            self._send_out()
            while True:
                self._handle(self.crew.wait(self._patience()))
                self._end_the_hung()
                if not self.crew.busy:
                    if reason or self._done() == self.wanted:
                        break
                    self._send_out()  # a death has cost some; they are searched again
                    continue
                progress = self._progress()
                if self.on_progress:
                    self.on_progress(progress)
                if not reason:
                    reason = first_reason(self.stoppers, progress)
                    if reason:
                        self.scheme.shared.control[PAUSE] = 1
        finally:
            self._come_to_rest()
        return self.effort(reason or f"{self.wanted} simulations")

    def effort(self, reason: str) -> Effort:
        elapsed = time.perf_counter() - self._start
        return Effort(self._done(), elapsed, reason, self.replaced, self.longest_stall_s)

    def _send_out(self) -> None:
        self.scheme.deal(None if self.wanted is None else self.wanted - self._done())
        self.scheme.shared.control[PAUSE] = 0
        for index in self._all:
            self.crew.begin(index)

    def _done(self) -> int:
        return self.scheme.visits() - self._before

    def _patience(self) -> float:
        if self.seconds is None:
            return LOOK_S
        left = self.seconds - (time.perf_counter() - self._start)
        return min(LOOK_S, max(left, 0.0001))

    def _progress(self) -> Progress:
        trees = self.scheme.trees
        return Progress(
            simulations=self.scheme.finished(),
            wanted=self.wanted,
            elapsed_s=time.perf_counter() - self._start,
            seconds=self.seconds,
            memory_used=min(int(tree.heap[ALLOCATED]) / int(tree.heap[CAPACITY]) for tree in trees),
            root_visits=lambda: [row.visits for row in merge.merged(trees)],
        )

    # ---- deaths -----------------------------------------------------------------------------------------------------------

    def _handle(self, events: list[Event]) -> None:
        for event in events:
            if event.status == BROKEN:
                raise event.error or self.scheme.breach(event.worker)
        dead = [event.worker for event in events if event.status is None]
        if not dead:
            return
        start = time.perf_counter()
        for index in dead:
            self.scheme.release(index)
        if self.scheme.pauses_for_repair():
            stopping = int(self.scheme.shared.control[PAUSE])
            self.scheme.shared.control[PAUSE] = ABANDON
            dead = self._wait_for_all(dead)
            if self._broken:  # all that is under way is taken back on the way out
                raise self._broken.error or self.scheme.breach(self._broken.worker)
            self.scheme.repair(dead)
            self.scheme.shared.control[PAUSE] = stopping
        else:
            self.scheme.repair(dead)
        for index in dead:
            self.crew.replace(index)
            if self.scheme.shared.control[PAUSE] == 0 and self.scheme.resume(index):
                self.crew.begin(index)
        self._count_deaths(len(dead))
        self.longest_stall_s = max(self.longest_stall_s, time.perf_counter() - start)

    def _count_deaths(self, deaths: int) -> None:
        self.replaced += deaths
        done = self.scheme.finished()
        simulations, so_far = self._deaths_at
        self._deaths_at = (done, deaths + (so_far if done == simulations else 0))
        if self._deaths_at[1] > DEATHS_WITHOUT_PROGRESS:
            raise SearchError(f"workers die as soon as they start: {self._deaths_at[1]} deaths without a simulation")

    def _wait_for_all(self, dead: list[int]) -> list[int]:
        """Wait until nobody works; end those that do not answer. Returns all dead, the given ones included."""
        dead = list(dict.fromkeys(dead))
        while self.crew.busy:
            self._end_the_hung()
            for event in self.crew.wait(LOOK_S):
                if event.status == BROKEN:
                    self._broken = self._broken or event
                if event.status is None and event.worker not in dead:
                    self.scheme.release(event.worker)
                    dead.append(event.worker)
        return dead

    def _end_the_hung(self) -> None:
        """Kill workers that should be at work and whose heart has stood still for too long. Their death is seen to later."""
        if not self.crew.pids():
            return  # threads cannot hang alone
        now = time.monotonic()
        patience_s = PYTHON_HANG_S if self.scheme.game.in_python else HANG_S
        for index in self.crew.busy:
            beat = int(self.scheme.workers[index].slot[HEARTBEAT])
            seen, since = self._beats.get(index, (None, now))
            if beat != seen:
                self._beats[index] = (beat, now)
            elif now - since > patience_s:
                self._beats[index] = (None, now)
                self.crew.kill(index)

    def _come_to_rest(self) -> None:
        """After this no worker is busy and the trees obey their laws, whatever happened."""
        self.scheme.shared.control[PAUSE] = ABANDON
        dead = self._wait_for_all([])
        for index in dead:
            self.crew.replace(index)
        # A worker that found the game broken lives, and has left its simulation as it was.
        unfinished = [i for i, worker in enumerate(self.scheme.workers) if not is_idle(worker) and i not in dead]
        for index in unfinished:
            self.scheme.release(index)
        if dead or unfinished:
            self.scheme.repair([*dead, *unfinished])
        for worker in self.scheme.workers:
            worker.slot[BREACH] = FINE
