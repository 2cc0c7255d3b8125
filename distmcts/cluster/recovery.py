"""The coordinator's recovery file: what was asked, what nodes have reported, what was answered. A coordinator goes on from it.

Times in it are by the wall clock: it outlives the machine's other clocks.
"""

import logging
import time
from pathlib import Path
from typing import Any

import msgspec

from distmcts.cluster.coordinator import Coordinator
from distmcts.cluster.messages import Answer, Statistics, SubmitBatch, SubmitSearch
from distmcts.cluster.search_job import SearchJob
from distmcts.errors import InputError, SearchError
from distmcts.records import Records

TYPED = {"statistics": Statistics, "answer": Answer, "message": SubmitSearch | SubmitBatch}


log = logging.getLogger("distmcts.coordinator")


class RecoveryFile:
    """Owns the file; without a path there is none, and nothing survives."""

    def __init__(self, path: Path | None):
        self._records = None if path is None else Records(path, keep=False)
        self._is_whole = True

    def note(self, entry: dict[str, Any], durable: bool) -> None:
        """A full disk must not end a search: it is logged once, and a restart will know less."""
        if self._records is None:
            return
        try:
            self._records.append({"at": round(time.time(), 3), **msgspec.to_builtins(entry, str_keys=True)}, durable)
            self._is_whole = True
        except SearchError as error:
            if self._is_whole:
                log.error("the recovery file cannot be written: %s", error)
            self._is_whole = False

    def replay(self, coordinator: Coordinator, now: float) -> None:
        """Bring a new coordinator to where the one before it was."""
        started: dict[str, float] = {}
        for record in self._records.all if self._records is not None else ():
            try:
                entry = {key: msgspec.convert(value, TYPED[key]) if key in TYPED else value for key, value in record.items()}
                name = entry["job"]
                if entry["kind"] == "submitted":
                    coordinator.add(entry["message"])
                elif name in coordinator.jobs:
                    coordinator.jobs[name].restore(entry)
            except (msgspec.ValidationError, KeyError, InputError) as error:
                raise InputError(f"{self._records.path}: not a recovery file of this version of distmcts: {error}") from None
            if entry["kind"] == "started":
                started[name] = entry["at"]
            elif entry["kind"] in ("suspended", "submitted"):
                started.pop(name, None)
        for name, job in coordinator.jobs.items():
            if job.is_over:
                continue
            if isinstance(job, SearchJob) and name in started:
                job.resume(now, max(0.0, time.time() - started[name]))
            else:
                job.after_restart(now)
        if self._records is not None:
            self._compact(coordinator)

    def _compact(self, coordinator: Coordinator) -> None:
        """Leave out what nobody will ask for: reports of finished searches, and jobs that were forgotten."""
        coordinator.forget_old()
        newest = {_source(record): i for i, record in enumerate(self._records.all) if record["kind"] == "report"}
        kept = []
        for i, record in enumerate(self._records.all):
            job = coordinator.jobs.get(record["job"])
            is_old = record["kind"] == "report" and (newest[_source(record)] != i or job is not None and job.is_over)
            if job is not None and not is_old:
                kept.append(record)
        if len(kept) < len(self._records.all):
            try:
                self._records.rewrite(kept)
            except OSError as error:  # it stays as long as it is
                log.warning("the recovery file cannot be shortened: %s", error.strerror)
        self._records.all.clear()

    def close(self) -> None:
        if self._records is not None:
            self._records.close()


def _source(record: dict[str, Any]) -> tuple[str, str, int]:
    """Whose report it is."""
    return record["job"], record["node"], record["epoch"]
