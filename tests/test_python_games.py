"""Games in plain Python: the same trees as compiled games, bit for bit; the laws under every scheme; kills; errors."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import distmcts
from distmcts.kernels.rules import CHANCE, OVER
from distmcts.python_game import PythonGame
from tests.support import dice_race
from tests.support.compiled_twins import PlainDiceRace, PlainTicTacToe
from tests.support.kills import Killer, survive
from tests.support.laws import check_values
from tests.support.python_games import DiceRace, Judge, LastStone, Slow, TicTacToe
from tests.support.trees import equal, trees_of

ROOT = Path(__file__).parents[1]
SCHEMES = [
    {"parallel": "serial"},
    {"parallel": "root", "workers": 2},
    {"parallel": "leaf", "workers": 2},
    {"parallel": "simulated", "workers": 8},
    *({"parallel": "tree", "workers": 3, "synchronisation": name} for name in ("lockfree", "node-locks", "global-lock")),
    {"parallel": "tree", "workers": 3, "backend": "thread"},
    {"parallel": "tree", "workers": 3, "in_flight": "wu_uct"},
    {"parallel": "tree", "workers": 3, "in_flight": "none"},
]
EACH_SCHEME = pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: "-".join(map(str, scheme.values())))


TWINS = {"tic_tac_toe": (TicTacToe, PlainTicTacToe), "dice_race": (DiceRace, PlainDiceRace)}
EVERY_SCHEME = [
    {"parallel": "serial"},
    {"parallel": "root", "workers": 2},
    {"parallel": "leaf", "workers": 2},
    {"parallel": "simulated", "workers": 8},
]
FEATURES = [
    {"parallel": "serial", "rave": 100.0, "solver": True},
    {"parallel": "serial", "selection": "ucb1_tuned", "first_play_urgency": 0.5, "widening": 2.0},
]


@pytest.mark.parametrize(
    ("twins", "settings"),
    [
        *(("tic_tac_toe", settings) for settings in EVERY_SCHEME),
        *(("dice_race", settings) for settings in [EVERY_SCHEME[0], *FEATURES]),
        # Compiling takes most of the time, so the rest is for those who have it.
        *(pytest.param("tic_tac_toe", settings, marks=pytest.mark.long) for settings in FEATURES),
        *(pytest.param("dice_race", settings, marks=pytest.mark.long) for settings in EVERY_SCHEME[1:]),
    ],
    ids=lambda given: given if isinstance(given, str) else "-".join(map(str, given.values())),
)
def test_the_same_trees_as_a_compiled_game(twins, settings):
    in_python, compiled = TWINS[twins]
    ours = trees_of(in_python(), 2000, 2000, seed=3, **settings)
    theirs = trees_of(compiled(), 2000, 2000, seed=3, **settings)
    assert equal(ours, theirs)


def test_the_same_trees_with_an_evaluation():
    """A game of chance that is judged after two moves, and expanded by the best of three."""

    class Judged(DiceRace):
        def clone(self):
            return Judged(self.left, self.mover, self.die)

        def evaluate(self):
            ahead = (self.left[1] - self.left[0]) / 9
            return [ahead, -ahead]

        def prior(self):
            return [(0, 0.25), (1, 0.75)]

    for settings in ({"cutoff": 2, "samples": 3}, {"cutoff": 0, "selection": "puct"}):
        ours = trees_of(Judged(), 1000, 1000, seed=4, parallel="serial", **settings)
        theirs = trees_of(PlainDiceRace(), 1000, 1000, seed=4, parallel="serial", **settings)
        assert equal(ours, theirs)


@EACH_SCHEME
@pytest.mark.parametrize("game", [TicTacToe, DiceRace])
def test_nothing_is_lost(game, scheme):
    with distmcts.Engine(game(), memory="64MiB", seed=1, **scheme) as engine:
        for total in (1500, 3000):
            result = engine.search(simulations=1500)
            assert result.simulations == 1500
            assert sum(audit.visits for audit in engine.audit()) == total
        if game is TicTacToe:
            for tree in engine.trees:
                check_values(tree, draws=True)
            assert result.best_move == 4


@pytest.mark.parametrize("scheme", [{"parallel": "serial"}, {"workers": 2}], ids=["serial", "tree"])
def test_a_game_of_chance_is_solved(scheme):
    """Values as expectation says, with the solver exactly; and what is found at a chance event."""
    race = DiceRace(left=(4, 4))
    safe, bold = dice_race.exact(4, 4)
    assert bold > safe + 0.05
    result = distmcts.search(race, simulations=20_000, solver=True, seed=2, memory="64MiB", **scheme)
    assert result.best_move == 1
    assert all(row.proven in (None, pytest.approx((safe, bold)[row.move], abs=1e-5)) for row in result.moves)
    result = distmcts.search(race, simulations=10_000, seed=2, memory="64MiB", **scheme)
    assert result.value == pytest.approx(max(safe, bold), abs=0.06)
    race.apply_action(1)
    result = distmcts.search(race, simulations=10_000, seed=2, memory="64MiB", **scheme)
    assert result.best_move is None
    assert result.value == pytest.approx(bold, abs=0.06)
    assert [row.name for row in result.moves] == ["roll 1", "roll 4"]
    assert result.moves[0].visits == pytest.approx(7500, abs=250)


def test_three_players_and_scaled_results():
    """With three stones left their player takes all; 12 of 12 is worth 1. From five on, nobody can be stopped so simply."""
    game = distmcts.load_game(LastStone(3))
    assert (game.players, game.has_chance) == (3, False)
    result = distmcts.search(game, simulations=3000, workers=2, seed=1, memory="64MiB")
    assert (result.best_move, result.value) == (3, 1.0)
    end = game.apply(game.initial_state(), 3)
    assert game.returns(end) == [1.0, -1.0, pytest.approx(-1 / 3)]


def test_an_evaluator_of_its_own():
    with distmcts.Engine(Judge(), cutoff=0, selection="puct", parallel="serial", seed=1, memory="64MiB") as engine:
        result = engine.search(simulations=200)
        assert result.best_move == 4
        assert result.value > 0.3

    class Evaluator:
        def evaluate(self, state):
            return [0.25, -0.25]

    game = PythonGame(TicTacToe(), evaluator=Evaluator())
    assert distmcts.search(game, simulations=1, parallel="serial", cutoff=0, memory="64MiB").value == 0.25
    assert game.has_evaluation and not game.has_priors


def test_a_playout_of_its_own():
    asked = []

    def playout(state, random_word):
        asked.append(random_word())
        return [1.0, -1.0]

    game = PythonGame(TicTacToe(), playout=playout)
    result = distmcts.search(game, simulations=9, parallel="serial", seed=1, memory="64MiB")
    assert result.value == 1.0
    assert len(set(asked)) == 9 and all(0 <= word < 1 << 64 for word in asked)


# ---- from one position to the next ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", [{"parallel": "serial"}, {"workers": 2}, {"parallel": "root", "workers": 2}], ids=str)
def test_positions_change(scheme):
    with distmcts.Engine(TicTacToe(), memory="64MiB", seed=1, **scheme) as engine:
        engine.search(simulations=3000)
        kept = sum(child.visits for child in engine.result().moves if child.move == 4)
        engine.advance(4)
        assert sum(audit.visits for audit in engine.audit()) == kept
        engine.advance(0)
        result = engine.search(simulations=1000)
        assert {row.move for row in result.moves} == {1, 2, 3, 5, 6, 7, 8}
        engine.set_position(TicTacToe("xx.oo...."))
        assert engine.search(simulations=500).best_move == 2
        engine.set_position("0 3 1 4")
        assert engine.search(simulations=500).best_move == 2
        engine.audit()


def test_the_object_itself_is_left_alone():
    state = TicTacToe()
    distmcts.search(state, simulations=100, parallel="serial", memory="64MiB")
    assert str(state) == "...\n...\n..."


def test_what_people_can_do_with_it():
    game = distmcts.load_game(TicTacToe())
    assert game.perft(3) == 504
    state = game.initial_state()
    after = game.apply(state, 4)
    assert (game.player(state), game.player(after), str(state)) == (0, 1, "...\n...\n...")
    assert game.legal_moves(after) == [0, 1, 2, 3, 5, 6, 7, 8]
    assert game.format(after) == "... / .x. / ..."
    assert game.draw(game.parse("4 0")) == "o..\n.x.\n..."
    assert game.svg(after).startswith("<svg")
    end = game.parse("0 3 1 4 2")
    assert game.look(end) == (OVER, [], [1.0, -1.0])
    race = distmcts.load_game(DiceRace())
    rolled = race.apply(race.initial_state(), 1)
    assert race.look(rolled) == (CHANCE, [1, 4], [0.0, 0.0])
    assert race.chance_outcomes(rolled) == [(1, 0.75), (4, 0.25)]
    assert race.chance_outcomes(race.initial_state()) == []
    assert (race.move_name(rolled, 4), race.parse_move(race.initial_state(), "bold")) == ("roll 4", 1)
    assert race.perft(3) == 8


def test_a_class_typed_into_a_program():
    """Defined in __main__, searched by processes; nothing of it can be imported."""
    source = (ROOT / "tests" / "support" / "python_games.py").read_text()
    script = f"""{source}
import distmcts
result = distmcts.search(TicTacToe("xx.oo...."), simulations=2000, workers=2, seed=1, memory="64MiB")
print(result.simulations, result.best_move, result.game)
"""
    for command in ([sys.executable, "-c", script], [sys.executable, "-"]):
        done = subprocess.run(
            command,
            input=script,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            cwd=ROOT,
            capture_output=True,
            text=True,
        )
        assert (done.stdout, done.stderr) == ("2000 2 TicTacToe\n", "")


def test_without_the_compiler():
    """One worker: there are no atomic operations then."""
    script = """
import numpy as np, distmcts
from tests.support.python_games import TicTacToe, DiceRace
np.seterr(over="ignore")
for game in (TicTacToe(), DiceRace()):
    with distmcts.Engine(game, workers=1, seed=1, memory="64MiB") as engine:
        engine.search(simulations=60)
        print(engine.audit()[0].visits)
"""
    environment = os.environ | {"PYTHONPATH": str(ROOT), "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run([sys.executable, "-c", script], env=environment, cwd=ROOT, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("60\n60\n", "")


# ---- deaths and hearts ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parallel", "synchronisation"),
    [("tree", "lockfree"), ("tree", "node-locks"), ("tree", "global-lock"), ("root", None), ("leaf", None)],
)
def test_survives_kills(parallel, synchronisation):
    assert survive(parallel, synchronisation, kills=10, seed=5, game=TicTacToe(), simulations=(1000, 6000)) >= 10


def test_survives_kills_in_a_game_of_chance():
    with distmcts.Engine(DiceRace(), workers=3, seed=1, memory="64MiB") as engine:
        killer = Killer(engine, seed=1, pause_s=0.06)
        killer.start()
        asked = replaced = 0
        while replaced < 10:
            result = engine.search(simulations=2000)
            asked += 2000
            replaced += result.replaced_workers
            assert result.simulations == 2000
            assert engine.audit()[0].visits == asked
        killer.stop.set()
        killer.join()


def test_slow_workers_are_not_taken_for_dead(monkeypatch):
    monkeypatch.setattr("distmcts.parallel.drive.PYTHON_HANG_S", 0.2)
    with distmcts.Engine(Slow(), workers=2, synchronisation="global-lock", seed=1, memory="64MiB") as engine:
        result = engine.search(simulations=6)
        assert (result.replaced_workers, result.simulations) == (0, 6)


class HangsOnce(TicTacToe):
    hung = multiprocessing.get_context("fork").Value("i", 0)

    def legal_actions(self):
        if self.cells.count(".") == 7 and self.hung.value == 0:
            self.hung.value = 1
            while True:
                pass
        return super().legal_actions()


def test_a_worker_that_hangs_is_ended(monkeypatch):
    monkeypatch.setattr("distmcts.parallel.drive.PYTHON_HANG_S", 0.5)
    with distmcts.Engine(HangsOnce(), workers=2, seed=1, memory="64MiB") as engine:
        result = engine.search(simulations=3000)
        assert result.replaced_workers >= 1  # on a busy machine half a second without a sign of life can happen twice
        assert result.simulations == 3000
        assert engine.audit()[0].visits == 3000


def test_ctrl_c_in_the_midst_of_the_rules():
    """In the caller's own process the signal strikes inside the game; the tree stays whole."""
    with distmcts.Engine(Slow(), parallel="serial", seed=1, memory="64MiB") as engine:
        engine.search(simulations=2)
        timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            engine.search(seconds=60)
        timer.join()
        assert engine.audit()[0].visits == 2 + engine.result().simulations
        assert engine.search(simulations=1).simulations == 1
