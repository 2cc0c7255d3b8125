"""With a seed, serial, root and simulated search give the same trees, bit for bit; tree search gives the same answer."""

import pytest

import distmcts
from tests.support.trees import equal, trees_of


@pytest.mark.parametrize("game", ["connect_four", "awale"])
@pytest.mark.parametrize(
    "settings",
    [
        {"parallel": "serial"},
        {"parallel": "root", "workers": 3},
        {"parallel": "simulated", "workers": 16},
        {"parallel": "leaf", "workers": 2},
    ],
    ids=lambda settings: settings["parallel"],
)
def test_same_seed_same_trees(game, settings):
    first = trees_of(game, 30_000, seed=9, **settings)
    assert equal(first, trees_of(game, 30_000, seed=9, **settings))
    assert not equal(first, trees_of(game, 30_000, seed=10, **settings))


def test_root_with_one_worker_is_serial():
    assert equal(
        trees_of("connect_four", 20_000, seed=3, parallel="root", workers=1),
        trees_of("connect_four", 20_000, seed=3, parallel="serial"),
    )


def test_root_in_threads_is_root_in_processes():
    settings = {"seed": 3, "parallel": "root", "workers": 2}
    assert equal(
        trees_of("connect_four", 20_000, backend="thread", **settings),
        trees_of("connect_four", 20_000, backend="process", **settings),
    )


def test_one_textbook_search_or_many_make_the_same_tree():
    """With quotas workers come back up between searches, and then begin at the root."""
    assert equal(
        trees_of("awale", 30_000, seed=5, parallel="serial", stay=0.0),
        trees_of("awale", 10_000, 10_000, 10_000, seed=5, parallel="serial", stay=0.0),
    )


def test_trees_of_root_workers_differ_from_each_other():
    first, second = trees_of("connect_four", 20_000, seed=3, parallel="root", workers=2)
    assert not equal([first], [second])


@pytest.mark.parametrize("workers", [1, 2, 4, 8])
def test_any_number_of_workers_gives_the_clear_answer(workers):
    for columns, move in (("73655546311257667", 3), ("23736551626627146", 3), ("22725522564375634332", 6)):
        result = distmcts.search("connect_four", columns, simulations=60_000, workers=workers, memory="64MiB", seed=workers)
        assert result.best_move == move
