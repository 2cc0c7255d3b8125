"""Workers that lose their core: for a moment, on a machine that is busy with other things; or for seconds, stopped by a signal.

Whatever a worker was at when it stood still, the others go on, and no node starves: the better move is played.
"""

import contextlib
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pytest

import distmcts
from tests.support.dice_race import DiceRace, exact
from tests.support.laws import check_trees

RACE = DiceRace(7)
SIMULATIONS = 60_000
BUSY = 4  # processes beside the search


@contextlib.contextmanager
def busy_machine() -> Iterator[None]:
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(BUSY)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


class Stopper(threading.Thread):
    """Stops random workers of an engine with SIGSTOP, each for some time, and lets them go on."""

    def __init__(self, engine: distmcts.Engine, stops: int, length_s: float, seed: int):
        super().__init__(daemon=True)
        self.pids = engine.worker_pids()
        self.left = stops
        self.length_s = length_s
        self.chooser = random.Random(seed)

    def run(self) -> None:
        while self.left > 0:
            time.sleep(self.chooser.uniform(0, 0.02))
            pid = self.chooser.choice(self.pids)
            os.kill(pid, signal.SIGSTOP)
            time.sleep(self.length_s)
            os.kill(pid, signal.SIGCONT)
            self.left -= 1


def races(count: int) -> list[str]:
    """Search the race again and again, with 2 to 16 workers and both ways to add outcomes; where the worse move was played."""
    values = exact(RACE.length, RACE.length)
    best = values.index(max(values))
    wrong = []
    for seed in range(count):
        settings = {"workers": 2 + seed % 15, "chance": ("enumerated", "hashed")[seed % 2], "seed": seed}
        with distmcts.Engine(RACE, parallel="tree", memory="64MiB", **settings) as engine:
            result = engine.search(simulations=SIMULATIONS)
            assert engine.audit()[0].visits == SIMULATIONS
            if result.best_move != best:
                wrong.append(f"{settings}: {[(row.move, row.visits) for row in result.moves]}")
    return wrong


def test_the_better_move_is_played_by_more_workers_than_cores():
    assert races(15) == []


@pytest.mark.long  # and apart from other tests, which mind the busy processes
@pytest.mark.timeout(3600)
def test_it_is_played_in_400_searches_on_a_busy_machine():
    with busy_machine():
        assert races(400) == []


def stop_and_count(stops: int, length_s: float, seed: int) -> None:
    with distmcts.Engine("connect_four", workers=3, memory="512MiB", seed=seed) as engine:
        stopper = Stopper(engine, stops, length_s, seed)
        stopper.start()
        total = 0
        while stopper.is_alive():
            assert engine.search(simulations=200_000).simulations == 200_000
            total += 200_000
            assert engine.audit()[0].visits == total
            if total > 4_000_000:
                engine.set_position(engine.game.initial_state())
                total = 0
        stopper.join()
        engine.search(simulations=1_000)
        check_trees(engine)


def test_stopped_workers_lose_nothing():
    stop_and_count(8, 0.05, seed=1)


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_200_stops_of_three_seconds():
    stop_and_count(200, 3.0, seed=2)
