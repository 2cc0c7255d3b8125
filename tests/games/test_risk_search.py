"""Searches of Risk: dice in the tree, moves too many to list, conservation and crashes with every feature."""

import numpy as np
import pytest
from scipy.stats import chisquare

import distmcts
from distmcts.game import State
from distmcts.kernels.rules import CHANCE
from distmcts.tree import view
from tests.support.every_feature import FEATURES
from tests.support.kills import KINDS, survive
from tests.support.laws import check_chance, search_and_count

GAME = distmcts.load_game("risk", evaluation="features")
START = GAME.deal(7)

# Dice of attacker and defender: how many of all throws cost the defender two (or his one), each one, the attacker two (or one).
THROWS = {
    (3, 2): [2890, 2611, 2275],
    (2, 2): [295, 420, 581],
    (3, 1): [855, 441],
    (2, 1): [125, 91],
    (1, 2): [55, 161],
    (1, 1): [15, 21],
}


def battles() -> dict[tuple[int, int], State]:
    """A position about to throw, for every pair of numbers of dice: out of games by random moves."""
    chooser = np.random.default_rng(1)
    found: dict[tuple[int, int], State] = {}
    state = START
    while len(found) < len(THROWS):
        player, moves, _ = GAME.look(state)
        if player == CHANCE:
            outcomes = GAME.chance_outcomes(state)
            for dice, throws in THROWS.items():
                expected = [count / sum(throws) for count in throws]
                if [chance for _, chance in outcomes] == pytest.approx(expected, abs=1e-12) or [
                    chance for _, chance in outcomes
                ] == pytest.approx(expected[::-1], abs=1e-12):
                    found.setdefault(dice, state)
            state = GAME.apply(state, int(chooser.choice([outcome for outcome, _ in outcomes], p=[p for _, p in outcomes])))
        else:
            state = START if GAME.is_over(state) else GAME.apply(state, moves[int(chooser.integers(len(moves)))])
    return found


@pytest.mark.parametrize("chance", ["enumerated", "hashed"])
def test_dice_fall_in_the_tree_as_the_table_says(chance):
    for dice, state in battles().items():
        with distmcts.Engine(
            GAME, state, parallel="serial", memory="64MiB", seed=3, chance=chance, samples=4, first_play_urgency=1.2, cutoff=4
        ) as engine:
            engine.run(simulations=4000)
            visits = {child.move: child.visits for child in view.children(engine.trees[0])}
        outcomes = GAME.chance_outcomes(state)
        assert sorted(visits) == sorted(outcome for outcome, _ in outcomes), dice
        total = sum(visits.values())
        seen = [visits[outcome] for outcome, _ in outcomes]
        assert chisquare(seen, [chance * total for _, chance in outcomes]).pvalue > 1e-4, dice


def test_a_recruitment_of_888_030_moves_costs_only_what_is_explored():
    assert len(GAME.legal_moves(START)) == 888_030
    with distmcts.Engine(
        GAME, START, parallel="serial", memory="4MiB", seed=1, samples=4, first_play_urgency=1.2, cutoff=4
    ) as engine:
        result = engine.search(simulations=20_000)
        [audit] = engine.audit()
        children = view.children(engine.trees[0])
        assert len({child.move for child in children}) == len(children)
        assert all(0 <= child.move < 888_030 for child in children)
        assert max(child.move for child in children) > 800_000
        assert audit.nodes < 3 * 20_000  # a move, and the outcomes of a throw
        assert result.bytes_used < 4 << 20


def test_of_samples_the_best_evaluated_recruitment_is_expanded():
    """The first move of many searches: what it is evaluated at, for several K."""
    means = {}
    for samples in (1, 4, 30):
        values = []
        with distmcts.Engine(
            GAME, START, parallel="serial", memory="4MiB", seed=1, samples=samples, first_play_urgency=1.2, cutoff=4
        ) as engine:
            for _ in range(60):
                engine.set_position(START)
                engine.run(simulations=1)
                [child] = view.children(engine.trees[0])
                values.append(GAME.evaluate(GAME.apply(START, child.move))[0])
        means[samples] = np.mean(values)
    assert means[1] < means[4] < means[30]


# Its positions have more moves than can be listed, so PUCT is not for Risk; everything else is on.
@pytest.mark.parametrize(
    ("parallel", "synchronisation"),
    [
        ("tree", "lockfree"),
        ("serial", None),
        *(pytest.param(*kind, marks=pytest.mark.long) for kind in KINDS if kind != ("tree", "lockfree")),
    ],
)
def test_exact_counts(parallel, synchronisation):
    settings = {"parallel": parallel, "synchronisation": synchronisation, "workers": 2, "seed": 1}
    search_and_count(GAME, 3_001, state=START, **settings, **FEATURES)


@pytest.mark.parametrize(("parallel", "synchronisation"), KINDS)
def test_survives_kills(parallel, synchronisation):
    assert (
        survive(parallel, synchronisation, kills=8, seed=4, game=GAME, state=START, simulations=(2_000, 6_000), **FEATURES) >= 8
    )


def test_chance_nodes_are_the_means_of_their_outcomes():
    with distmcts.Engine(GAME, START, parallel="tree", workers=2, memory="64MiB", seed=1, **FEATURES) as engine:
        engine.run(simulations=20_000)
        assert check_chance(engine.trees[0]) > 500


def test_puct_is_refused():
    with pytest.raises(distmcts.InputError) as caught:
        distmcts.Engine(GAME, START, selection="puct")
    assert "risk" in str(caught.value)
