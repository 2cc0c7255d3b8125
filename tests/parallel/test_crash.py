"""Workers are killed with SIGKILL, at random moments, again and again. Every search ends, and counts exactly."""

import os
import signal
import threading

import pytest

import distmcts
from tests.support.every_feature import FEATURES, PUCT
from tests.support.kills import KINDS, MAX_STALL_S, Killer, survive


@pytest.mark.parametrize(("parallel", "synchronisation"), KINDS)
def test_survives_kills(parallel, synchronisation):
    assert survive(parallel, synchronisation, kills=30, seed=1) >= 30


@pytest.mark.parametrize(("parallel", "synchronisation"), KINDS)
@pytest.mark.parametrize("features", [{}, FEATURES, PUCT], ids=["plain", "features", "puct"])
def test_survives_kills_with_chance_and_every_feature(parallel, synchronisation, features):
    game = distmcts.load_game("ur", pieces=3)
    assert survive(parallel, synchronisation, kills=12, seed=4, game=game, **features) >= 12


@pytest.mark.parametrize("workers", [2, 8])
def test_survives_kills_with_few_workers_and_with_many(workers):
    assert survive("tree", "lockfree", kills=20, seed=2, workers=workers) >= 20


def test_a_lone_worker_is_replaced():
    with distmcts.Engine("connect_four", workers=1, memory="64MiB", seed=1) as engine:
        timer = threading.Timer(0.15, lambda: os.kill(engine.worker_pids()[0], signal.SIGKILL))
        timer.start()
        result = engine.search(seconds=0.6)
        timer.join()
        assert result.replaced_workers == 1
        assert result.longest_stall_s < MAX_STALL_S
        assert engine.audit()[0].visits == result.simulations > 0


@pytest.mark.parametrize(("parallel", "synchronisation"), KINDS)
def test_time_budgets_survive_too(parallel, synchronisation):
    with distmcts.Engine(
        "awale", parallel=parallel, synchronisation=synchronisation, workers=2, memory="128MiB", seed=1
    ) as engine:
        killer = Killer(engine, 3, pause_s=0.1)
        killer.start()
        result = engine.search(seconds=0.8)
        killer.stop.set()
        killer.join()
        engine.search(simulations=100)
        assert sum(audit.visits for audit in engine.audit()) == result.simulations + 100
        assert result.replaced_workers > 0
        assert 0.7 < result.elapsed_s < 0.8 + 2 * MAX_STALL_S


def test_a_worker_that_hangs_is_ended(monkeypatch):
    """SIGSTOP: the worker lives, holds what it holds, and answers nothing."""
    monkeypatch.setattr("distmcts.parallel.drive.HANG_S", 0.5)
    with distmcts.Engine("connect_four", workers=2, synchronisation="node-locks", memory="64MiB", seed=1) as engine:
        timer = threading.Timer(0.1, lambda: os.kill(engine.worker_pids()[1], signal.SIGSTOP))
        timer.start()
        result = engine.search(seconds=0.3)
        timer.join()
        assert engine.audit()[0].visits == result.simulations > 0
        assert engine.search(simulations=1000).simulations == 1000


def test_all_workers_killed_while_idle():
    with distmcts.Engine("connect_four", workers=3, memory="64MiB", seed=1) as engine:
        engine.search(simulations=1000)
        for pid in engine.worker_pids():
            os.kill(pid, signal.SIGKILL)
        result = engine.search(simulations=20_000)
        assert result.simulations == 20_000
        assert engine.audit()[0].visits == 21_000


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("parallel", "synchronisation"), KINDS)
def test_survives_a_thousand_kills(parallel, synchronisation, seed):
    assert survive(parallel, synchronisation, kills=250, seed=seed, workers=2 + seed) >= 250
