"""Visit quotas: workers stay below nodes, and nothing is lost, counted twice or biased by it."""

import math

import numpy as np
import pytest

import distmcts
from distmcts.tree import view
from tests.support.compiled_twins import PlainTicTacToe
from tests.support.dice_race import DiceRace
from tests.support.kills import survive
from tests.support.laws import check_chance, check_values
from tests.support.python_games import TicTacToe
from tests.support.trees import equal, trees_of

UR = distmcts.load_game("ur", pieces=3)
SCHEMES = {
    "serial": {"parallel": "serial"},
    "root": {"parallel": "root", "workers": 2},
    "leaf": {"parallel": "leaf", "workers": 2},
    "simulated": {"parallel": "simulated", "workers": 7},
    "tree": {"parallel": "tree", "workers": 3},
    "threads": {"parallel": "tree", "workers": 2, "backend": "thread"},
}
EACH_SCHEME = pytest.mark.parametrize("scheme", SCHEMES)
NEVER = 1e-12  # a share so small that every quota is 1


@EACH_SCHEME
@pytest.mark.parametrize("stay", [1 / 32, 0.5])
def test_every_simulation_is_counted_once(scheme, stay):
    with distmcts.Engine("connect_four", stay=stay, memory="64MiB", seed=2, **SCHEMES[scheme]) as engine:
        total = 0
        for simulations in (30_000, 1, 70, 4_000):
            assert engine.search(simulations=simulations).simulations == simulations
            total += simulations
            assert sum(audit.visits for audit in engine.audit()) == total
        for tree in engine.trees:
            check_values(tree, draws=True)


@EACH_SCHEME
@pytest.mark.parametrize("chance", ["enumerated", "hashed"])
def test_chance_nodes_keep_their_means(scheme, chance):
    with distmcts.Engine(UR, stay=0.25, chance=chance, memory="64MiB", seed=2, **SCHEMES[scheme]) as engine:
        engine.search(simulations=20_000)
        assert sum(audit.visits for audit in engine.audit()) == 20_000
        assert sum(check_chance(tree) for tree in engine.trees) > 100


@pytest.mark.parametrize("chance", ["enumerated", "hashed"])
@pytest.mark.parametrize("scheme", ["serial", "tree", "simulated"])
def test_outcomes_come_by_their_probabilities(scheme, chance):
    """At the root, where workers stay longest: all that was drawn beforehand has been served when a budget is used up."""
    with distmcts.Engine(UR, stay=0.25, chance=chance, memory="64MiB", seed=5, **SCHEMES[scheme]) as engine:
        simulations = 100_000
        engine.search(simulations=simulations)
        tree = engine.trees[0]
        chances = dict(UR.chance_outcomes(engine.state))
        found = {child.move: child.visits for child in view.children(tree)}
    assert found.keys() == chances.keys()
    total = sum((found[move] - simulations * chance) ** 2 / (simulations * chance) for move, chance in chances.items())
    assert total < 25  # chi-square with 4 degrees of freedom: 1 in 20,000


@pytest.mark.parametrize("scheme", ["serial", "root", "leaf", "simulated"])
def test_quotas_of_one_are_the_textbook(scheme):
    for game in ("connect_four", UR):
        settings = {**SCHEMES[scheme], "apart": 0.0, "seed": 4}
        assert equal(trees_of(game, 8_000, 500, stay=NEVER, **settings), trees_of(game, 8_000, 500, stay=0, **settings))


@pytest.mark.parametrize("scheme", ["serial", "root", "leaf", "simulated"])
def test_same_seed_same_trees(scheme):
    settings = {**SCHEMES[scheme], "stay": 1 / 32}
    first = trees_of("connect_four", 20_000, seed=9, **settings)
    assert equal(first, trees_of("connect_four", 20_000, seed=9, **settings))
    assert not equal(first, trees_of("connect_four", 20_000, seed=10, **settings))
    assert not equal(first, trees_of("connect_four", 20_000, seed=9, **{**settings, "stay": 0}))


def test_rules_in_python_grow_the_same_tree():
    settings = {"parallel": "serial", "stay": 0.25, "seed": 3}
    assert equal(trees_of(TicTacToe(), 3_000, **settings), trees_of(PlainTicTacToe(), 3_000, **settings))


@pytest.mark.parametrize(("parallel", "synchronisation"), [("tree", "lockfree"), ("root", "lockfree"), ("leaf", "lockfree")])
def test_survives_kills(parallel, synchronisation):
    assert survive(parallel, synchronisation, kills=20, seed=3, stay=0.25) >= 20


@pytest.mark.parametrize("synchronisation", ["node-locks", "global-lock"])
def test_locks_keep_to_the_textbook(synchronisation):
    settings = {"parallel": "tree", "workers": 1, "synchronisation": synchronisation, "seed": 3}
    assert equal(trees_of("connect_four", 3_000, stay=0.25, **settings), trees_of("connect_four", 3_000, stay=0, **settings))


FEATURES_OF_BATCHES = [
    {"widening": 2.0, "first_play_urgency": 1.1},
    {"selection": "puct"},
    {"selection": "ucb1_tuned"},
    {"progressive_bias": 1.0},
    {"rave": 100},
    {"solver": True, "simulations": 300},  # more, and it is proven
    {"chance": "hashed"},
    {"chance": "hashed", "chance_widening": 1.0},
    {"in_flight": "wu_uct"},
]


@pytest.mark.parametrize("settings", FEATURES_OF_BATCHES, ids=str)
def test_other_features_work_with_it(settings):
    simulations = settings.get("simulations", 20_000)
    settings = {key: value for key, value in settings.items() if key != "simulations"}
    with distmcts.Engine(DiceRace(6), stay=0.25, workers=2, memory="16MiB", seed=3, **settings) as engine:
        engine.search(simulations=simulations)
        assert engine.audit()[0].visits == simulations
        check_chance(engine.trees[0])


def test_a_full_tree_is_searched_on():
    with distmcts.Engine("connect_four", stay=0.25, workers=2, memory="1MiB", seed=3) as engine:
        engine.search(simulations=100_000)
        assert engine.audit()[0].visits == 100_000


def test_it_finds_the_clear_move():
    result = distmcts.search("connect_four", "73655546311257667", stay=1 / 32, simulations=60_000, memory="64MiB", seed=1)
    assert result.best_move == 3
    assert math.isclose(sum(row.visits for row in result.moves), 60_000)
    assert np.isfinite(result.value)
