"""A cluster node: one machine that takes part in searches with all its cores, or carries out units, one after another."""

import json
import logging
import os
import signal
import threading
import time
from typing import Any

from distmcts.cluster.keys import Invitation
from distmcts.cluster.link import IDLE, LEFT_ALONE, Link
from distmcts.cluster.members import MAX_REASON
from distmcts.cluster.messages import (
    MAX_FOUND,
    Beat,
    Go,
    Hello,
    Message,
    Others,
    Prepare,
    Ready,
    Refused,
    Stop,
    UnitDone,
    UnitFailed,
    Work,
)
from distmcts.cluster.order import open_order
from distmcts.cluster.part import Part, place_seed
from distmcts.cluster.rules import check_rule
from distmcts.cluster.work import CarryOut, load_kind
from distmcts.engine import Engine
from distmcts.errors import DistmctsError, InputError, SearchError
from distmcts.version import __version__

SILENCE_S = 30.0  # a node whose coordinator has been silent for this long ends by itself
SLICE_S = 0.5  # how long a search runs before it looks for orders
IDLE_S = 0.5  # how long to wait for orders at a time
KEPT = 100  # results of units, and names of jobs, in case they are asked for twice
HARD_END_S = 10.0  # a node that was told to end is killed after this long

log = logging.getLogger("distmcts.node")


class ClusterNode:
    """Owns the link, and engines while there is work. `run` blocks until the node ends, and says why.

    It belongs in the main thread: when the link or the end of standard input ends it, SIGTERM is raised there, even in the middle
    of compiling or searching.
    """

    def __init__(
        self,
        invitation: Invitation,
        name: str,
        *,
        workers: int | None = None,
        memory: str | int | None = None,
        silence_s: float = SILENCE_S,
    ):
        self.name = name
        self.end: tuple[str, int] | None = None  # why the node ends, and its exit code
        self._own_settings: dict[str, Any] = {
            key: value for key, value in (("workers", workers), ("memory", memory)) if value is not None
        }
        self._epoch = time.time_ns() // 1000
        self._finished: dict[tuple[str, str], Message] = {}  # results of units
        self._searched: dict[str, None] = {}  # jobs it has had its part in: a new tree would contradict its reports
        self._batch: tuple[str, CarryOut] | None = None
        cores = workers or len(os.sched_getaffinity(0))
        hello = Hello(name, self._epoch, cores, __version__)
        self._link = Link(invitation, hello, silence_s, self._on_end)

    # ---- ending -----------------------------------------------------------------------------------------------------------

    def _on_end(self, reason: str, code: int) -> None:
        """Called from other threads."""
        if self.end is None:
            self.end = reason, code
            os.kill(os.getpid(), signal.SIGTERM)
            timer = threading.Timer(HARD_END_S, os._exit, (1,))
            timer.daemon = True
            timer.start()

    def end_with(self, stream) -> None:
        """End when a stream ends: over ssh, that is when the other side is gone."""

        def watch() -> None:
            # Not through the stream's buffer: its lock would be held while workers are forked, and they close the stream.
            while os.read(stream.fileno(), 4096):
                pass
            self._on_end("standard input is closed", LEFT_ALONE)

        threading.Thread(target=watch, daemon=True).start()

    def run(self) -> tuple[str, int]:
        """Take orders until it is time to end; returns why, and the exit code for it.

        SIGTERM and Ctrl-C from elsewhere are raised again, after everything that was searched has been reported.
        """
        reason = "ended"
        try:
            while True:
                message = self._link.receive(IDLE_S)
                if isinstance(message, Prepare) and message.job in self._searched:
                    self._link.send(Refused(message.job, f"{self.name}: has had its part in a search of this name already"))
                elif isinstance(message, Prepare):
                    self._search(message)
                elif isinstance(message, Work):
                    self._work(message)
        except (KeyboardInterrupt, SystemExit):
            reason = self.end[0] if self.end else "interrupted"
            if self.end is None:
                raise
            return self.end
        finally:
            self._link.close(reason)

    # ---- searching --------------------------------------------------------------------------------------------------------

    def _search(self, prepare: Prepare) -> None:
        """Take part in a search from its preparation to its last report."""
        job = prepare.job
        self._say(job, "preparing")
        try:
            engine = self._engine(prepare)
        except Exception as error:  # a game may fail in its own ways; the node lives on
            log.warning("%s is refused: %s", job, error)
            self._link.send(Refused(job, self._complaint(error)))
            self._link.beat = IDLE
            return
        try:
            with engine:
                self._take_part(Part(engine, prepare.search, job, (self.name, self._epoch)), prepare)
        finally:
            self._link.beat = IDLE

    def _engine(self, prepare: Prepare) -> Engine:
        check_rule(prepare.search.merge)
        game, state, settings = open_order(prepare.search, self._own_settings)
        if settings.get("seed") is not None:
            settings["seed"] = place_seed(int(settings["seed"]), prepare.place)
        return Engine(game, state, **settings)

    def _take_part(self, part: Part, prepare: Prepare) -> None:
        job = prepare.job
        self._say(job, "ready")
        self._link.send(Ready(job))
        clock = _Budget()
        reason = None
        log.info("%s: ready", job)
        try:
            while reason is None:
                reason = self._orders(part, clock, IDLE_S if clock.is_waiting(part.simulations) else 0.0)
                if reason is None and not clock.is_waiting(part.simulations):
                    reason = self._slice(part, clock, prepare.search.merge_s)
                elif reason is None and clock.has_begun and part.since_report_s >= IDLE_S:
                    self._link.send(part.report())  # the last one may have been lost, and more is granted only after it
            if clock.has_begun and not part.simulations:  # time was up before it began, but there should be an answer
                part.run(None, 1, lambda done: None)
        except (KeyboardInterrupt, SystemExit):
            if clock.has_begun:
                self._link.send(part.report(self.end[0] if self.end else "the node left"))
            raise
        except SearchError as error:
            log.error("%s: %s", job, error)
            reason = str(error)
        except Exception as error:  # the game is broken
            log.error("%s: %s", job, error)
            self._link.send(Refused(job, self._complaint(error)))
            return
        if clock.has_begun:
            self._link.send(part.report(reason))
        log.info("%s: %d simulations; ended by: %s", job, part.simulations, reason)

    def _orders(self, part: Part, clock: "_Budget", timeout_s: float) -> str | None:
        """Take all orders that have come; returns why the search ends, if it does."""
        news: Others | None = None
        message = self._link.receive(timeout_s)
        while message is not None:
            match message:
                case Stop(job=part.job):
                    return "stopped by the coordinator"
                case Go(job=part.job):
                    if not clock.has_begun:
                        part.begin()
                        _keep(self._searched, part.job, None)
                    clock.go(message)
                    self._say(part.job, "searching", part.simulations, clock.granted or 0)
                case Others(job=part.job):
                    news = message
            message = self._link.receive(0.0)
        if news is not None:
            part.take(news)
        return None

    def _slice(self, part: Part, clock: "_Budget", merge_s: float) -> str | None:
        """Search for a moment, and report if it is time; returns why the search ends, if it does."""
        left_s = clock.left_s()
        if left_s is not None and left_s <= 0 and part.simulations:
            return "time"
        seconds = min(merge_s, SLICE_S) if left_s is None else max(0.001, min(merge_s, SLICE_S, left_s))
        simulations = None if clock.granted is None else clock.granted - part.simulations

        def on_progress(done: int) -> None:
            self._say(part.job, "searching", done, clock.granted or 0)

        part.run(seconds, simulations, on_progress)
        if part.stopped_by:
            return part.stopped_by
        left_s = clock.left_s()
        if left_s is not None and left_s <= 0:
            return "time"
        if part.since_report_s >= 0.9 * merge_s or part.simulations == clock.granted:
            self._link.send(part.report())
        return None

    def _say(self, job: str, state: str, simulations: int = 0, granted: int = 0, unit: str = "") -> None:
        self._link.beat = Beat(job, unit, state, simulations, granted)

    # ---- units ------------------------------------------------------------------------------------------------------------

    def _work(self, work: Work) -> None:
        """Carry out a unit; if it was done before, say so again."""
        key = (work.job, work.unit)
        message = self._finished.get(key)
        if message is None:
            self._say(work.job, "working", unit=work.unit)
            message = self._carry_out(work)
            if isinstance(message, UnitDone):  # what failed is tried again
                _keep(self._finished, key, message)
        self._link.send(message)
        self._link.beat = IDLE

    def _carry_out(self, work: Work) -> Message:
        try:
            if self._batch is None or self._batch[0] != work.job:
                self._batch = work.job, load_kind(work.kind, json.loads(work.context))
        except Exception as error:
            self._batch = None
            return Refused(work.job, self._complaint(error))
        try:
            found = json.dumps(self._batch[1](work.unit), allow_nan=False)
            if len(found) > MAX_FOUND:
                raise InputError(f"a result of {len(found)} characters is too long; at most {MAX_FOUND} are sent")
            return UnitDone(work.job, work.unit, found)
        except Exception as error:  # whatever is wrong with a unit, the node lives on
            log.warning("unit %s: %s", work.unit, error)
            return UnitFailed(work.job, work.unit, self._complaint(error))

    def _complaint(self, error: Exception) -> str:
        """What went wrong, in one line; for errors that are not meant for users, also their kind."""
        kind = "" if isinstance(error, DistmctsError) else f"{type(error).__name__}: "
        return f"{self.name}: {kind}{' '.join(str(error).split())}"[:MAX_REASON]


def _keep(kept: dict, key: Any, value: Any) -> None:
    """Put something into a dictionary that does not grow for ever."""
    kept[key] = value
    while len(kept) > KEPT:
        del kept[next(iter(kept))]


class _Budget:
    """What a node may still do: time by its own clock, and simulations granted."""

    def __init__(self) -> None:
        self.has_begun = False
        self.granted: int | None = None
        self._deadline: float | None = None

    def go(self, order: Go) -> None:
        if not self.has_begun:
            self.has_begun = True
            self._deadline = None if order.seconds is None else time.monotonic() + order.seconds
        if order.granted is not None:
            self.granted = max(self.granted or 0, order.granted)

    def left_s(self) -> float | None:
        return None if self._deadline is None else self._deadline - time.monotonic()

    def is_waiting(self, simulations: int) -> bool:
        """Whether there is nothing to do until the next order."""
        if not self.has_begun:
            return True
        is_over = self._deadline is not None and time.monotonic() >= self._deadline
        return not is_over and self.granted is not None and simulations >= self.granted
