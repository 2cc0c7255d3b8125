"""Every feature of a search has an effect that is not there without it."""

import math
from collections import Counter

import numpy as np
import pytest

import distmcts
from distmcts.kernels.layout import CACHE_HITS, EVALUATIONS, ROOT, SCALE, Tree
from distmcts.kernels.rules import OVER
from distmcts.tree import view
from tests.support import trees
from tests.support.dice_race import DiceRace, exact
from tests.support.laws import check_chance
from tests.support.trees import contents, equal

# Few kinds: each is compiled anew.
UR = distmcts.load_game("ur", pieces=3)
HEX = distmcts.load_game("hex", size=7)


def grown(game, simulations: int, state=None, **settings) -> distmcts.Engine:
    """An engine after a search; the caller closes it."""
    engine = distmcts.Engine(game, state, **{"parallel": "serial", "memory": "64MiB", "seed": 1, **settings})
    engine.search(simulations=simulations)
    engine.audit()
    return engine


def families(tree: Tree) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of all nodes with children: visits, number of children, and whether those are outcomes of chance."""
    nodes = np.concatenate([nodes for nodes, _ in view.levels(tree)])
    children, by_chance = trees.families(tree, nodes)
    has_some = children > 0
    return trees.visits(tree)[nodes][has_some], children[has_some], by_chance[has_some]


# ---- when a node gets another child ------------------------------------------------------------------------------------


def test_first_play_urgency_lets_good_moves_be_searched_before_all_are_tried():
    with grown(HEX, 200) as plain, grown(HEX, 200, first_play_urgency=0.5, c=0.5) as urgent:
        assert len(view.children(plain.trees[0])) == 49
        assert len(view.children(urgent.trees[0])) < 40


def test_an_urgency_above_all_scores_is_none_at_all_and_one_below_all_ends_expansion():
    with grown(HEX, 3000) as plain, grown(HEX, 3000, first_play_urgency=1e9) as urgent:
        assert equal(contents(plain), contents(urgent))
    with grown(HEX, 50, first_play_urgency=-1e9) as narrow:
        assert families(narrow.trees[0])[1].max() == 1


def test_progressive_widening_limits_children_by_visits():
    k, power = 1.5, 0.4
    with grown(HEX, 5000, widening=k, widening_power=power) as engine:
        visits, children, _ = families(engine.trees[0])
        assert (children <= np.ceil(k * visits**power)).all()
        assert children[0] == math.ceil(k * 5000**power)
    with grown(HEX, 5000) as engine:
        visits, children, _ = families(engine.trees[0])
        assert (children > np.ceil(k * visits**power)).any()


def test_double_progressive_widening_limits_outcomes_too():
    k, power = 1.0, 0.2
    with grown(UR, 20_000, chance="hashed", chance_widening=k, chance_widening_power=power) as engine:
        visits, children, by_chance = families(engine.trees[0])
        assert (children <= np.ceil(k * visits**power))[by_chance].all()
        assert by_chance.sum() > 500
    with grown(UR, 20_000, chance="hashed") as engine:
        visits, children, by_chance = families(engine.trees[0])
        assert (children > np.ceil(k * visits**power))[by_chance].any()


# ---- which child -------------------------------------------------------------------------------------------------------


def first_children(samples: int, seeds: int = 400) -> Counter:
    """The first move that is expanded, over many seeds."""
    game = distmcts.load_game("awale")
    found = Counter()
    for seed in range(seeds):
        with distmcts.Engine(game, "0,3,1,0,8,1/2,1,3,2,0,5 11-11 0", parallel="serial", memory="1MiB", seed=seed,
                             samples=samples) as engine:  # fmt: skip
            engine.run(simulations=1)
            found[view.children(engine.trees[0])[0].move] += 1
    return found


def test_sampled_expansion_takes_the_best_of_some():
    game = distmcts.load_game("awale")
    state = game.parse("0,3,1,0,8,1/2,1,3,2,0,5 11-11 0")
    moves = game.legal_moves(state)
    worth = {move: game.evaluate(game.apply(state, move))[0] for move in moves}
    best = max(worth, key=worth.get)
    assert sum(value == worth[best] for value in worth.values()) == 1
    u = len(moves)
    for samples in (1, 2, 100):
        taken = samples if samples <= u // 2 else max(u // 2, 1)  # the rule of the last half
        share = taken / u  # that the best is among so many, drawn without repetition
        found = first_children(samples)
        assert abs(found[best] - 400 * share) < 5 * math.sqrt(400 * share * (1 - share))


def test_rave_credits_moves_made_later():
    with grown(HEX, 3000, rave=300) as engine:
        tree = engine.trees[0]
        for child in view.children(tree):
            credits, total = tree.rave[2 * child.node], tree.rave[2 * child.node + 1]
            assert credits > child.visits  # each of its own simulations, and those of others that came to it later
            assert abs(total) <= credits * SCALE


def test_rave_plays_better_hex_with_few_simulations():
    wins = 0
    settings = {"parallel": "serial", "memory": "4MiB", "c": 0.5}
    for seed in range(20):
        with (
            distmcts.Engine(HEX, seed=seed, rave=300, **settings) as with_rave,
            distmcts.Engine(HEX, seed=seed, **settings) as without,
        ):
            game, state, rave_plays = with_rave.game, with_rave.game.initial_state(), seed % 2
            while (player := game.player(state)) != OVER:
                engine = with_rave if player == rave_plays else without
                engine.set_position(state)
                engine.run(simulations=400)
                state = game.apply(state, engine.best_move())
            wins += game.returns(state)[rave_plays] > 0
    assert wins >= 15


def test_puct_follows_the_priors():
    """With a large c nothing but the priors counts: visits are in proportion to them."""
    position = "1 3,7 0 / 1 4,9 0 / 0 2"
    with grown(UR, 5000, position, selection="puct", c=1e6) as engine:
        tree = engine.trees[0]
        children = view.children(tree)
        for child in children:
            assert child.visits / 5000 == pytest.approx(tree.priors[child.node], abs=0.01)
    with grown(UR, 5000, position, c=1e6) as engine:
        visits = [child.visits for child in view.children(engine.trees[0])]
        assert max(visits) - min(visits) < 100


def tuned_scores(tree: Tree, c: float) -> np.ndarray:
    """UCB1-Tuned of the root's children, from the statistics that every search has; results are 1 and -1 here."""
    children = view.children(tree)
    n = np.array([child.visits for child in children], float)
    mean = np.array([child.value for child in children])
    log = math.log(view.visits(tree))
    variance = 1 - mean**2
    return mean + c * np.sqrt(log / n * np.minimum(1, variance + 4 * np.sqrt(2 * log / n)))


def test_ucb1_tuned_evens_out_its_own_scores():
    """A search visits the child with the highest score until it is no longer: in the end all scores are about equal."""
    position = "1 4,8 0 / 2 3 0 / 0 2"
    with grown(UR, 50_000, position, selection="ucb1_tuned", c=1.0, stay=0.0) as engine:
        assert engine.trees[0].squares[ROOT] == 50_000 * SCALE  # every result is 1 or -1
        assert np.ptp(tuned_scores(engine.trees[0], 1.0)) < 0.01
    with grown(UR, 50_000, position, c=1.0) as engine:
        uct = np.ptp(tuned_scores(engine.trees[0], 1.0))
    with grown(UR, 50_000, position, selection="ucb1_tuned", c=0.5) as engine:
        other = np.ptp(tuned_scores(engine.trees[0], 1.0))
    assert uct > 0.002 and other > 0.02


# ---- what is known -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("parallel", ["serial", "tree", "root", "leaf"])
def test_the_solver_proves_a_draw(parallel):
    settings = {"parallel": parallel, "workers": 2, "memory": "64MiB", "seed": 1}
    with distmcts.Engine("tic_tac_toe", solver=True, **settings) as engine:
        result = engine.search(simulations=3_000_000)
        assert result.stopped_by == "proven"
        assert result.simulations < 3_000_000
        assert view.proven_value(engine.trees[0] if parallel != "root" else _proven(engine)) == 0.0
        assert engine.audit()[0].visits <= result.simulations
    with distmcts.Engine("tic_tac_toe", **settings) as engine:
        assert engine.search(simulations=100_000).stopped_by == "100000 simulations"


def _proven(engine: distmcts.Engine) -> Tree:
    return next(tree for tree in engine.trees if view.proven_value(tree) is not None)


def test_a_proven_win_is_played_and_a_proven_loss_is_not():
    """Centre row: x completes it at once. With a search that is far too short to see it in visits."""
    result = distmcts.search("tic_tac_toe", "xx./oo./...", parallel="serial", solver=True, simulations=500, memory="1MiB", seed=1)
    winning = result.moves[[row.move for row in result.moves].index(2)]
    assert result.best_move == 2 and winning.proven == 1.0
    forced = distmcts.search("tic_tac_toe", "x../oo./..x", parallel="serial", solver=True, simulations=300, memory="1MiB", seed=1)
    assert forced.best_move == 5
    assert {row.proven for row in forced.moves if row.move != 5} == {-1.0}


@pytest.mark.parametrize("parallel", ["serial", "tree"])
def test_proofs_go_through_chance_when_all_outcomes_are_proven(parallel):
    game = DiceRace(4)
    with grown(game, 1_000_000, parallel=parallel, workers=2, solver=True, c=2.0) as engine:
        result = engine.result()
        proven = {row.move: row.proven for row in result.moves if row.proven is not None}
        assert proven, "nothing was proven"
        for die, value in proven.items():
            assert value == pytest.approx(exact(4, 4)[die], abs=1e-5)
        assert result.stopped_by == "proven"


def test_the_evaluation_cache_saves_evaluations_and_changes_nothing():
    with grown(UR, 20_000, cutoff=2) as plain, grown(UR, 20_000, cutoff=2, evaluation_cache="4MiB") as cached:
        assert equal(contents(plain), contents(cached))
        asked, found = (cached._arrays.workers[0].slot[field] for field in (EVALUATIONS, CACHE_HITS))
        assert asked + found <= 20_000 < asked + found + 2_000  # all but the games that were over
        assert found > 0.3 * (asked + found)
        assert plain._arrays.workers[0].slot[CACHE_HITS] == 0


# ---- chance --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("chance", ["enumerated", "hashed"])
@pytest.mark.parametrize("parallel", ["serial", "leaf", "root", "tree", "simulated"])
def test_outcomes_come_by_their_probabilities(parallel, chance):
    with grown(UR, 20_000, parallel=parallel, workers=2, chance=chance) as engine:
        visits = Counter()
        for tree in engine.trees:
            check_chance(tree)
            visits.update({child.move: child.visits for child in view.children(tree)})
        total = sum(visits.values())
        rounds = 2 if parallel == "leaf" else 1  # two simulations share a throw there
        expected = np.array([1, 4, 6, 4, 1]) / 16 * total
        statistic = sum((visits[roll] - expected[roll]) ** 2 / expected[roll] for roll in range(5)) / rounds
        assert statistic < 23  # chi-square of 4 degrees, one in 10,000


def test_hashed_outcomes_are_told_apart_by_their_position():
    """Two outcomes of the safe die lead to two positions; a die that always shows the same has one child."""
    with grown(DiceRace(9), 2000, chance="hashed") as engine:
        _, children, by_chance = families(engine.trees[0])
        assert set(children[by_chance]) == {1, 2}
    with grown(DiceRace(1), 2000, chance="hashed") as engine:  # both outcomes end the race at once, in the same position
        _, children, by_chance = families(engine.trees[0])
        assert set(children[by_chance]) == {1}
    with grown(DiceRace(1), 2000) as engine:
        _, children, by_chance = families(engine.trees[0])
        assert set(children[by_chance]) == {2}


@pytest.mark.parametrize("chance", ["enumerated", "hashed"])
@pytest.mark.parametrize(("parallel", "synchronisation"),
    [("serial", None), ("leaf", None), ("root", None), ("simulated", None),
     ("tree", "lockfree"), ("tree", "node-locks"), ("tree", "global-lock")])  # fmt: skip
def test_searches_of_chance_come_close_to_the_expectation(parallel, synchronisation, chance):
    settings = {"parallel": parallel, "synchronisation": synchronisation, "workers": 2, "chance": chance, "c": 1.0}
    with grown(DiceRace(7), 60_000, **settings) as engine:
        result = engine.result()
    values = exact(7, 7)
    assert result.best_move == values.index(max(values))
    assert result.value == pytest.approx(max(values), abs=0.05)


def test_visits_to_proven_moves_go_to_open_ones_and_the_value_stays_that_of_good_play():
    """x must not lose its way: the root's own mean stays near a draw while other moves are being refuted."""
    with grown("tic_tac_toe", 60_000, solver=True, c=1.0) as engine:
        proven = [child for child in view.children(engine.trees[0]) if child.proven is not None]
        assert proven and all(child.visits < 30_000 for child in proven)
        mean = view.columns(engine.trees[0]).value_sum[ROOT] / SCALE / 60_000
        assert -0.25 < mean < 0.1  # seen by o, who is worse off at first and has a draw in the end
