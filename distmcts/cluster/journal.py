"""The coordinator's journal: what was asked, what nodes have reported, what was answered. A coordinator goes on from it.

Times in it are by the wall clock: it outlives the machine's other clocks.
"""

import time
from pathlib import Path
from typing import Any

import msgspec

from distmcts.cluster.coordinator import Coordinator
from distmcts.cluster.messages import Answer, Statistics, SubmitBatch, SubmitSearch
from distmcts.cluster.search_job import SearchJob
from distmcts.errors import InputError
from distmcts.records import Records

TYPED = {"statistics": Statistics, "answer": Answer, "message": SubmitSearch | SubmitBatch}


class Journal:
    """Owns the file; without a path there is none, and nothing survives."""

    def __init__(self, path: Path | None):
        self._records = None if path is None else Records(path, keep=False)

    def note(self, entry: dict[str, Any], durable: bool) -> None:
        if self._records is not None:
            self._records.append({"at": round(time.time(), 3), **msgspec.to_builtins(entry, str_keys=True)}, durable)

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
                raise InputError(f"{self._records.path}: not a journal of this version of distmcts: {error}") from None
            if entry["kind"] == "started":
                started[name] = entry["at"]
            elif entry["kind"] == "suspended":
                started.pop(name, None)
        for name, job in coordinator.jobs.items():
            if job.is_over:
                continue
            if isinstance(job, SearchJob) and name in started:
                job.resume(now, max(0.0, time.time() - started[name]))
            else:
                job.after_restart(now)
        if self._records is not None:
            self._records.all.clear()

    def close(self) -> None:
        if self._records is not None:
            self._records.close()
