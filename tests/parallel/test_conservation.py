"""Nothing is lost: any scheme, any synchronisation, more workers than cores."""

import pytest

import distmcts
from tests.support.every_feature import FEATURES, PUCT
from tests.support.laws import check_values, search_and_count

SHARED = [("tree", sync, backend) for sync in ("lockfree", "node-locks", "global-lock") for backend in ("process", "thread")]
OTHERS = [("root", None, "process"), ("root", None, "thread"), ("leaf", None, "process"), ("leaf", None, "thread")]


@pytest.mark.parametrize("workers", [1, 2, 3, 8])
@pytest.mark.parametrize(("parallel", "synchronisation", "backend"), SHARED + OTHERS)
def test_exact_counts(parallel, synchronisation, backend, workers):
    many = 60_001 if synchronisation != "global-lock" else 20_001
    if parallel == "leaf" and workers > 2:
        many = 5_001  # followers take turns on two cores
    search_and_count(
        "connect_four",
        many,
        parallel=parallel,
        synchronisation=synchronisation,
        backend=backend,
        workers=workers,
        seed=1,
    )


@pytest.mark.parametrize("game", ["tic_tac_toe", "awale", "othello", "hex"])
def test_every_game(game):
    search_and_count(game, 20_000, parallel="tree", workers=2, seed=2)


@pytest.mark.parametrize(("parallel", "synchronisation", "backend"), [*SHARED, *OTHERS, ("serial", None, None)])
@pytest.mark.parametrize("features", [{}, FEATURES, PUCT], ids=["plain", "features", "puct"])
def test_exact_counts_with_chance_and_every_feature(parallel, synchronisation, backend, features):
    search_and_count(
        distmcts.load_game("ur", pieces=3),
        4_001 if parallel == "leaf" else 20_001,
        parallel=parallel,
        synchronisation=synchronisation,
        backend=backend,
        workers=3,
        seed=1,
        **features,
    )


@pytest.mark.parametrize("workers", [1, 7, 64, 1024])
@pytest.mark.parametrize("in_flight", ["virtual_loss", "wu_uct", "none"])
def test_simulated_workers(workers, in_flight):
    search_and_count("connect_four", 20_000, parallel="simulated", workers=workers, in_flight=in_flight, seed=3)


def test_two_million_simulations_lose_none():
    with distmcts.Engine("connect_four", parallel="tree", workers=2, memory="512MiB", seed=4) as engine:
        engine.search(simulations=2_000_000)
        [audit] = engine.audit()
        assert audit.visits == 2_000_000
        check_values(engine.trees[0], draws=True)


@pytest.mark.parametrize("parallel", ["serial", "tree", "root", "leaf"])
def test_a_full_tree_goes_on(parallel):
    with distmcts.Engine("connect_four", parallel=parallel, workers=2, memory="200KiB", seed=5) as engine:
        result = engine.search(simulations=100_000)
        audits = engine.audit()
        assert sum(audit.visits for audit in audits) == 100_000
        assert sum(audit.nodes for audit in audits) < 6_000
        assert result.best_move == 3
        before = [audit.nodes for audit in audits]
        engine.search(simulations=10_000)
        assert [audit.nodes for audit in engine.audit()] == pytest.approx(before, abs=50)


def test_a_full_tree_stops_if_asked_to():
    with distmcts.Engine("connect_four", workers=2, memory="400KiB", when_full="stop", seed=6) as engine:
        result = engine.search(seconds=60)
        assert result.stopped_by == "memory is full"
        assert engine.audit()[0].visits == result.simulations < 5_000_000  # the owner looks every 20 ms


def test_a_terminal_root_child_keeps_all_its_visits():
    """One move from the end nearly all simulations end in nodes that exist already."""
    with distmcts.Engine("tic_tac_toe", "xx./oo./...", workers=2, memory="1MiB", seed=7) as engine:
        result = engine.search(simulations=50_000)
        [audit] = engine.audit()
        assert audit.visits == 50_000
        assert audit.nodes < 1_000
        assert result.best_move == 2 and result.value == 1.0
