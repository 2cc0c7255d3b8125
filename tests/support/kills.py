"""Searches whose workers are killed with SIGKILL, at random moments, again and again."""

import os
import random
import signal
import threading
import time

import distmcts
from tests.support.laws import check_trees

KINDS = [("tree", "lockfree"), ("tree", "node-locks"), ("tree", "global-lock"), ("root", None), ("leaf", None)]
MAX_STALL_S = 10.0  # some milliseconds on a quiet machine; what would be a bug is a search that waits for the dead


class Killer(threading.Thread):
    """Kills random workers of an engine until it is told to stop."""

    def __init__(self, engine: distmcts.Engine, seed: int, pause_s: float):
        super().__init__(daemon=True)
        self.engine = engine
        self.chooser = random.Random(seed)
        self.pause_s = pause_s
        self.killed: set[int] = set()
        self.stop = threading.Event()

    def run(self):
        while not self.stop.wait(self.chooser.uniform(0, self.pause_s)):
            victims = self.engine.worker_pids()
            if self.chooser.random() < 0.2:  # now and then several at once
                victims = self.chooser.sample(victims, 2)
            else:
                victims = [self.chooser.choice(victims)]
            for pid in set(victims) - self.killed:  # one that is dead and not yet buried can be killed again, to no effect
                os.kill(pid, signal.SIGKILL)
                self.killed.add(pid)

    @property
    def kills(self) -> int:
        return len(self.killed)


def names_of_ours() -> list[str]:
    """The named segments of this process; other tests, beside this one, have their own."""
    return [name for name in os.listdir("/dev/shm") if name.startswith(f"distmcts-{os.getpid()}-")]


def survive(
    parallel, synchronisation, kills, seed, workers=3, game="connect_four", state=None, simulations=(10_000, 60_000), **settings
):
    chooser = random.Random(seed)
    replaced = 0
    with distmcts.Engine(
        game,
        state,
        parallel=parallel,
        synchronisation=synchronisation,
        workers=workers,
        memory="512MiB",
        backing="named",  # the kind that could leave something behind
        seed=seed,
        **settings,
    ) as engine:
        assert names_of_ours() != []
        # A leaf round needs all workers at once: killed faster than they are replaced, they would get nowhere.
        killer = Killer(engine, seed, pause_s=0.3 if parallel == "leaf" else 0.06)
        killer.start()
        asked = 0
        deadline = time.monotonic() + 20 + kills
        try:
            while killer.kills < kills:
                assert time.monotonic() < deadline, "the searches make no headway"
                wanted = chooser.randrange(*simulations)
                result = engine.search(simulations=wanted)
                asked += wanted
                replaced += result.replaced_workers
                assert result.simulations == wanted
                assert result.longest_stall_s < MAX_STALL_S
                assert sum(audit.visits for audit in engine.audit()) == asked
        finally:
            killer.stop.set()
            killer.join()
        engine.search(simulations=1_000)  # workers killed after the last search are replaced in the next
        assert sum(audit.visits for audit in engine.audit()) == asked + 1_000
        check_trees(engine)
        assert len(set(engine.worker_pids())) == workers
    assert replaced >= killer.kills // 2
    assert names_of_ours() == []
    return killer.kills
