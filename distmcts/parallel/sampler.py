"""What the workers spend their time on, found by looking at them many times a second. Costs them nothing."""

import threading
from collections import Counter

from distmcts.kernels.layout import (
    BACKING_UP,
    DOING,
    EXPANDING_NODE,
    NOTHING,
    PAUSE,
    PLAYING,
    SELECTING,
    WAITING,
    Shared,
    Worker,
)

LOOK_S = 0.0005
STAGES = {SELECTING: "select", PLAYING: "playout", BACKING_UP: "backup", WAITING: "waiting"}
NAMES = ("select", "expand", "playout", "backup", "waiting")


class Sampler:
    """Looks at workers while it is entered: `with sampler: engine.search(...)`."""

    def __init__(self, shared: Shared, workers: list[Worker]):
        self._shared = shared
        self._workers = workers
        self._seen: Counter[str] = Counter()
        self._stop = threading.Event()

    def __enter__(self) -> "Sampler":
        for worker in self._workers:
            worker.slot[DOING] = NOTHING  # what was left from an earlier search
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._stop.wait(LOOK_S):
            if self._shared.control[PAUSE] != 0:
                continue
            for worker in self._workers:
                stage = STAGES.get(int(worker.slot[DOING]))
                if stage == "select" and worker.slot[EXPANDING_NODE]:
                    stage = "expand"
                if stage:
                    self._seen[stage] += 1

    def shares(self) -> dict[str, float]:
        """The share of each stage, all together 1; empty if there was nothing to see."""
        total = sum(self._seen.values())
        return {name: self._seen[name] / total for name in NAMES} if total else {}
