"""What must hold also at the edges: full trees, torn entries, games that are nearly right."""

import numpy as np
import pytest

import distmcts
from distmcts.errors import GameError, InputError
from distmcts.kernels.evaluation import value_position
from distmcts.kernels.jit import kernel
from distmcts.kernels.layout import ALONE, CACHE_HITS, CAPACITY
from distmcts.kernels.modes import Mode
from distmcts.kernels.rules import CHANCE, OVER
from distmcts.tree import view
from tests.support import broken_games
from tests.support.dice_race import BOLD, SAFE, DiceRace, exact
from tests.support.kills import Killer

RACE = DiceRace(7)


def exact_value(game: DiceRace, state: np.ndarray, seen_by: int) -> float:
    """What a position is worth to a player."""
    mine, theirs, mover, die = (int(word) for word in state)
    if mine == 0 or theirs == 0:
        return 1.0 if (mine, theirs)[seen_by] == 0 else -1.0
    left = (mine, theirs) if mover == 0 else (theirs, mine)
    values = exact(*left)
    value = max(values) if die == 0 else values[SAFE if die == 1 else BOLD]
    return value if mover == seen_by else -value


@pytest.mark.parametrize("chance", ["enumerated", "hashed"])
@pytest.mark.parametrize(("parallel", "memory"), [("serial", "150KiB"), ("serial", "16MiB"), ("tree", "300KiB")])
def test_every_proof_is_true(parallel, memory, chance):
    """Also where outcomes could not be added because memory is full."""
    with distmcts.Engine(RACE, parallel=parallel, workers=2, memory=memory, chance=chance, solver=True, seed=1) as engine:
        engine.search(simulations=60_000)
        tree = engine.trees[0]
        proofs = 0
        open_nodes = [(0, engine.state, 1)]
        while open_nodes:
            node, state, seen_by = open_nodes.pop()
            proof = view.proven_value(tree, node)
            if proof is not None:
                proofs += 1
                assert proof == pytest.approx(exact_value(RACE, state, seen_by), abs=1e-5), RACE.format(state)
            player = RACE.player(state)
            for child in view.children(tree, node) if player != OVER else []:
                open_nodes.append((child.node, RACE.apply(state, child.move), seen_by if player == CHANCE else player))
        assert proofs > 50


@kernel
def evaluated(game, mode, worker, shared, state):
    value_position(game, mode, worker, shared, state)


def test_an_entry_of_the_cache_with_another_positions_values_is_not_believed():
    mode = Mode(ALONE, frozenset({"cache"}))
    with distmcts.Engine(RACE, parallel="serial", cutoff=1, evaluation_cache="1KiB", memory="1MiB", seed=1) as engine:
        shared, worker = engine._arrays.shared, engine._arrays.workers[0]
        cache = shared.cache[:3]  # one entry: every position falls on it
        shared = shared._replace(cache=cache)
        ahead, behind = RACE.state([2, 6, 0, 0]), RACE.state([6, 2, 0, 0])
        evaluated(RACE, mode, worker, shared, ahead)
        values = worker.results[:2].copy()
        first_word = cache[0]
        evaluated(RACE, mode, worker, shared, behind)
        cache[0] = first_word  # as if two workers had written at once
        evaluated(RACE, mode, worker, shared, ahead)
        assert worker.results[:2].tolist() == values.tolist()


# ---- games that are nearly right ---------------------------------------------------------------------------------------------


def not_a_number(game, state, rewards):
    rewards[0] = np.nan
    rewards[1] = np.nan


def wins_for_both(game, state, rewards):
    rewards[0] = 1.0
    rewards[1] = 1.0


def negative_chance(game, state, moves, probabilities):
    moves[0] = 1
    moves[1] = 2
    probabilities[0] = -0.5
    probabilities[1] = 1.5
    return 2


def far_outcomes(game, state, moves, probabilities):
    moves[0] = 1
    moves[1] = 1 << 33
    probabilities[0] = 0.5
    probabilities[1] = 0.5
    return 2


def no_priors(game, state, moves, count, priors):
    for i in range(count):
        priors[i] = np.nan


@pytest.mark.parametrize(
    ("rule", "settings", "message"),
    [
        ({"evaluate": not_a_number}, {"cutoff": 2}, "a result is not a number"),
        ({"returns": wins_for_both}, {"solver": True}, "results do not sum to 0"),
        ({"chance_outcomes": negative_chance}, {}, "probabilities do not sum to 1"),
        pytest.param({"chance_outcomes": far_outcomes}, {}, "a move is outside", marks=pytest.mark.long),
        ({"priors": no_priors}, {"selection": "puct"}, "probabilities do not sum to 1"),
    ],
    ids=["nan result", "not zero-sum", "negative probability", "outcome too large", "nan priors"],
)
def test_it_ends_the_search(rule, settings, message):
    class Nearly(DiceRace):
        rules = DiceRace.rules._replace(**rule)

    with distmcts.Engine(Nearly(5), parallel="serial", memory="4MiB", seed=1, **settings) as engine:
        with pytest.raises(GameError) as caught:
            engine.search(simulations=5_000)
        assert f"dice_race: {message}" in str(caught.value) or message in str(caught.value)
        engine.audit()


def test_half_a_chance_is_refused():
    class Half(DiceRace):
        rules = broken_games.Nim.rules._replace(chance_outcomes=DiceRace.rules.chance_outcomes)

    with pytest.raises(InputError, match="chance_outcomes and sample_outcome go together"):
        Half(5)


def count_moves(game, state):
    return 50


class Ranked(broken_games.Tossed):
    """More moves than can be listed, but fewer than there are outcomes."""

    rules = broken_games.Tossed.rules._replace(move_count=count_moves)
    max_outcomes = 100


def test_ranks_are_ranks_also_where_outcomes_are_many():
    game = Ranked()
    state = game.apply(game.initial_state(), 0)
    assert game.legal_moves(state) == range(50)
    with pytest.raises(InputError, match="rave: nim has more moves than can be kept apart"):
        distmcts.Engine(game, rave=300)


def test_a_breach_that_comes_with_a_death_is_not_lost():
    """One worker dies, and while the others are waited for, one of them reports that the game is broken."""
    with distmcts.Engine(broken_games.NoMovesButNotOver(), workers=3, memory="4MiB", seed=1) as engine:
        killer = Killer(engine, 1, pause_s=0.002)
        killer.start()
        try:
            for _ in range(30):
                with pytest.raises(GameError) as caught:
                    engine.search(simulations=20_000)
                assert "no legal moves, but not over, in position '5 " in str(caught.value)
                engine.audit()
        finally:
            killer.stop.set()
            killer.join()


# ---- settings and positions ----------------------------------------------------------------------------------------------------


def test_nothing_is_decided_at_a_chance_event():
    result = distmcts.search("ur", simulations=5_000, stop_when_decided=True, parallel="serial", memory="16MiB", seed=1)
    assert result.stopped_by == "5000 simulations"


def test_what_is_proven_is_told_as_it_is():
    result = distmcts.search("tic_tac_toe", "xx./oo./...", parallel="serial", solver=True, simulations=300, memory="1MiB", seed=1)
    assert result.value == 1.0


def test_a_tree_of_one_selection_is_not_gone_on_with_by_puct(tmp_path):
    with distmcts.Engine("ur", parallel="serial", solver=True, memory="4MiB", seed=1) as engine:
        engine.search(simulations=100)
        engine.save(tmp_path / "tree.dmcts")
    with pytest.raises(InputError, match="was saved with selection='uct'"):
        distmcts.Engine.load(tmp_path / "tree.dmcts", selection="puct")
    with distmcts.Engine.load(tmp_path / "tree.dmcts") as engine:
        engine.search(simulations=100)
        assert engine.audit()[0].visits == 200


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"chance_widening": 1.0, "chance": "hashed"}, "chance_widening: awale knows no chance"),
        ({"evaluation_cache": 0, "cutoff": 1}, "evaluation_cache=0: input should be greater than or equal to 1024"),
        (
            {"evaluation_cache": "1MiB"},
            "evaluation_cache: nothing asks for evaluations; it goes with cutoff, samples or progressive_bias",
        ),
        ({"selection": "puct"}, "selection='puct': awale has no priors"),
        ({"selection": "puckt"}, "unknown selection 'puckt': did you mean 'puct'? allowed: puct, random, ucb1_tuned, uct"),
        ({"selection": "random", "first_play_urgency": 0.0}, "first_play_urgency: has no meaning with selection='random'"),
        ({"parallel": 3}, "unknown parallel 3: allowed: leaf, root, serial, simulated, tree"),
        ({"parallel": "threads", "workers": 0}, "unknown parallel 'threads': "),
        ({"rave": 10, "parallel": "simulated"}, "rave: is not delayed as it would be with many workers; parallel='simulated'"),
    ],
)
def test_settings_that_make_no_sense(settings, message):
    with pytest.raises(InputError) as caught:
        distmcts.Engine("awale", memory="4MiB", **settings)
    assert message in str(caught.value)


def test_evaluations_that_a_hint_asks_for_can_be_cached():
    settings = {"progressive_bias": 1.0, "evaluation_cache": "1MiB", "parallel": "serial", "memory": "8MiB", "seed": 1}
    with distmcts.Engine(RACE, **settings) as engine:
        engine.search(simulations=2000)
        engine.audit()
        assert engine._arrays.workers[0].slot[CACHE_HITS] > 0


def test_many_simulated_workers_take_no_room_from_the_tree():
    capacities = set()
    for workers in (1, 1024):
        with distmcts.Engine("tic_tac_toe", parallel="simulated", workers=workers, memory="8MiB", seed=1) as engine:
            engine.search(simulations=3000)
            assert engine.audit()[0].visits == 3000
            capacities.add(int(engine.trees[0].heap[CAPACITY]))
    assert len(capacities) == 1
