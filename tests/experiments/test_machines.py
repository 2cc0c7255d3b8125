"""Simulated machines: exact counts by every rule, the same again with a seed, and a plain search when there is only one."""

import pytest

from distmcts.cluster.rules import RULES
from distmcts.engine import Engine
from distmcts.errors import InputError, SearchError
from distmcts.experiments.machines import FIRST_ROOM, MERGES, Machines, machine_seed
from distmcts.kernels.layout import FULL
from distmcts.registry import load_game
from distmcts.tree.share import Ledger, own_root
from tests.reference.positions import CONNECT_FOUR_ONLY_MOVES

GAME = load_game("connect_four")
START = GAME.initial_state()


def searched(simulations: int, position=START, **settings) -> list:
    with Machines(GAME, **settings) as machines:
        rows = machines.search(position, simulations)
        for engine in machines._engines:
            engine.audit()
        return rows


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("machines, workers, simulations", [(1, 1, 500), (3, 1, 1000), (8, 4, 2001), (8, 1, 5), (5, 2, 1)])
def test_visits_are_the_simulations_asked_for(rule, machines, workers, simulations):
    rows = searched(simulations, machines=machines, workers=workers, rule=rule, seed=1)
    assert sum(row.visits for row in rows) == simulations
    assert all(-1 <= row.value <= 1 for row in rows)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", ["tic_tac_toe", "othello", "awale", "hex"])
def test_every_game(name, rule):
    game = load_game(name)
    with Machines(game, machines=4, rule=rule, seed=2) as machines:
        rows = machines.search(game.initial_state(), 999)
        assert sum(row.visits for row in rows) == 999


@pytest.mark.parametrize("rule", RULES)
def test_same_seed_same_answer(rule):
    settings = {"machines": 4, "workers": 3, "rule": rule}
    first = searched(2000, seed=5, **settings)
    assert first == searched(2000, seed=5, **settings)
    assert first != searched(2000, seed=6, **settings)


def test_rules_differ():
    found = {rule: searched(4000, machines=8, rule=rule, seed=3) for rule in RULES}
    assert sorted(found["sum"]) == sorted(found["vote"])  # the same search, another way to choose
    assert sorted(found["sum"]) != sorted(found["share"])
    assert sorted(found["periodic"]) != sorted(found["share"])


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("workers", [1, 4])
def test_one_machine_is_a_plain_search(rule, workers):
    with Engine(GAME, parallel="simulated", workers=workers, seed=machine_seed(7, 0), memory="4MiB") as engine:
        plain = engine.search(simulations=3000)
    rows = searched(3000, machines=1, workers=workers, rule=rule, seed=7, merge_every=100)
    assert [tuple(row) for row in rows] == [(row.move, row.visits, row.value) for row in plain.moves]


@pytest.mark.parametrize("rule", RULES)
def test_the_chosen_move_is_the_first(rule):
    with Machines(GAME, machines=5, rule=rule, seed=9) as machines:
        move = machines.choose(START, 700)
    assert searched(700, machines=5, rule=rule, seed=9)[0].move == move


def test_a_vote_is_a_majority():
    """In positions where machines with few simulations disagree."""
    for seed in range(5):
        with Machines(GAME, machines=7, rule="vote", seed=seed) as machines:
            move = machines.choose(START, 7 * 30)
            best = [own_root(engine.trees[0], Ledger())[0].move for engine in machines._engines]
            assert best.count(move) == max(map(best.count, best))


@pytest.mark.parametrize("rule", RULES)
def test_only_moves_are_found(rule):
    with Machines(GAME, machines=4, rule=rule, seed=1) as machines:
        for position in CONNECT_FOUR_ONLY_MOVES[:6]:
            assert machines.choose(position.columns, 20_000) == position.winning_column - 1


def test_borrowing_concentrates_the_search():
    """What others know is used: the best move gets a larger share than where everybody starts from nothing."""
    apart, shared = (searched(8000, machines=16, rule=rule, seed=4)[0].visits for rule in ("sum", "share"))
    assert shared > 1.2 * apart


@pytest.mark.parametrize(
    "rule, simulations, merge_every, merges",
    [
        ("share", 4000, None, MERGES),
        ("periodic", 44, None, MERGES),
        ("share", 12, None, 2),  # three each
        ("share", 4000, 300, 3),
        ("share", 4000, 250, 3),  # none at the end: nobody would search on with it
        ("share", 4000, 1000, 0),
        ("sum", 4000, 100, 0),
        ("vote", 4000, 100, 0),
    ],
)
def test_how_often_they_exchange(monkeypatch, rule, simulations, merge_every, merges):
    counted = []
    exchange = Machines._exchange
    monkeypatch.setattr(Machines, "_exchange", lambda self, ledgers: (counted.append(1), exchange(self, ledgers)))
    rows = searched(simulations, machines=4, rule=rule, merge_every=merge_every, seed=1)
    assert len(counted) == merges
    assert sum(row.visits for row in rows) == simulations


def test_memory_grows_with_the_search():
    with Machines(GAME, machines=2, rule="share", seed=1) as machines:
        for simulations in (100, 2 * FIRST_ROOM + 1, 4 * FIRST_ROOM, 100):
            rows = machines.search(START, simulations)
            assert sum(row.visits for row in rows) == simulations
            for engine in machines._engines:
                assert engine._arrays.workers[0].slot[FULL] == 0  # no node was left out for want of room


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"rule": "shared"}, "unknown merge rule 'shared': did you mean 'share'"),
        ({"machines": 0}, "machines=0: must be a whole number from 1 to 4096"),
        ({"machines": 2.0}, "machines=2.0"),
        ({"machines": True}, "machines=True"),
        ({"workers": 0}, "workers=0"),
        ({"merge_every": 0}, "merge_every=0"),
        ({"share": 1.5}, "share=1.5: must be a number from 0 to 1"),
        ({"share": float("nan")}, "share=nan"),
        ({"seed": -1}, "seed=-1"),
        ({"c": -1}, "c=-1"),
        ({"in_flight": "loss"}, "unknown in_flight 'loss'"),
        ({"cutoff": 5}, "has no evaluation"),
        ({"parallel": "tree"}, "unknown setting of simulated machines 'parallel'"),
        ({"stop_when_decided": True}, "unknown setting of simulated machines"),
        ({"game": "conect_four"}, "unknown game"),
    ],
)
def test_bad_arguments(settings, message):
    game = settings.pop("game", "tic_tac_toe")
    with pytest.raises(InputError, match=message):
        Machines(game, **settings)


@pytest.mark.parametrize("simulations", [0, -1, 1.5, None, "many", True])
def test_bad_budgets(simulations):
    with Machines("tic_tac_toe", machines=2) as machines, pytest.raises(InputError, match="simulations="):
        machines.choose(machines.game.initial_state(), simulations)


def test_a_finished_game():
    with Machines(GAME, machines=2) as machines, pytest.raises(InputError, match="the game is over"):
        machines.choose("1212121", 100)


def test_closed():
    machines = Machines("tic_tac_toe", machines=2)
    machines.close()
    machines.close()
    with pytest.raises(SearchError, match="closed"):
        machines.choose(machines.game.initial_state(), 10)
