"""Games in Python that fail, objects that are none, settings they cannot have: one clear line, and nothing is left behind."""

import psutil
import pytest

import distmcts
from distmcts import conformance
from distmcts.errors import GameError, InputError
from tests.support import python_games
from tests.support.python_games import DiceRace, Judge, LastStone, TicTacToe


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Raises", r"Raises: RuntimeError: the board is on fire \(python_games.py, line \d+\) in position '.*[xo].*'"),
        ("RaisesInReturns", r"RaisesInReturns: ZeroDivisionError: division by zero \(python_games.py, line \d+\) in position "),
        ("LeavesProgram", r"bye"),
        ("NoMoves", r"NoMoves: no legal moves, but not over, in position '.*x.*'"),
        ("MoveTooLarge", r"MoveTooLarge: (a move is outside 0 to 65535|IndexError: .*) in position "),
        ("MoveTwice", r"MoveTwice: a move is listed twice in position "),
        ("NobodyMoves", r"NobodyMoves: current_player\(\) is 7, not one of 2 players, in position "),
        ("TooMuch", r"TooMuch: results \[-?10.0, -?10.0\] are not within \(-1, 1\); .* in position "),
        ("NotANumber", r"NotANumber: results \[nan, 0.0\] are not within "),
        ("LoadedDice", r"LoadedDice: probabilities do not sum to 1 in position "),
    ],
)
@pytest.mark.parametrize(
    "scheme", [{"parallel": "serial"}, {"workers": 2}, {"parallel": "leaf", "workers": 2}], ids=["serial", "tree", "leaf"]
)
def test_broken_games(name, said, scheme):
    before = set(psutil.Process().children())
    with distmcts.Engine(getattr(python_games, name)(), seed=1, memory="64MiB", **scheme) as engine:
        leaves = name == "LeavesProgram" and scheme.get("parallel") == "serial"  # the program is the caller's own
        with pytest.raises(SystemExit if leaves else distmcts.DistmctsError, match=said) as error:
            engine.search(simulations=10_000)
        assert "\n" not in str(error.value)
        for audit in engine.audit():  # nothing is in flight, nobody is expanding, all laws hold
            assert audit.visits < 10_000
    assert set(psutil.Process().children()) == before


class Interrupted(TicTacToe):
    """Ctrl-C comes in the middle of a rule; counts how many playouts came to an end."""

    left = 300
    results = 0

    def legal_actions(self):
        Interrupted.left -= 1
        if Interrupted.left == 0:
            raise KeyboardInterrupt
        return super().legal_actions()

    def returns(self):
        Interrupted.results += 1
        return super().returns()


@pytest.mark.parametrize("parallel", ["serial", "simulated"])
def test_an_interrupted_simulation_is_not_counted(parallel, monkeypatch):
    monkeypatch.setattr(Interrupted, "left", 300)
    with distmcts.Engine(Interrupted(), parallel=parallel, workers=8, seed=1, memory="64MiB") as engine:
        monkeypatch.setattr(Interrupted, "results", 0)  # the engine has looked at the game
        with pytest.raises(KeyboardInterrupt):
            engine.search(simulations=10_000)
        assert engine.audit()[0].visits == Interrupted.results > 10


class Blind(Judge):
    def evaluate(self):
        return [float("nan"), float("nan")]


def test_a_hint_that_is_no_number_is_told():
    with pytest.raises(GameError, match="not within|not a number"):
        distmcts.search(Blind(), progressive_bias=1.0, simulations=100, parallel="serial", memory="64MiB")


def test_a_game_without_end(monkeypatch):
    monkeypatch.setattr("distmcts.parallel.hosting.LONGEST", 1000)
    with pytest.raises(GameError, match="Endless: a playout does not end; it is in position"):
        distmcts.search(python_games.Endless(), simulations=10, workers=1, memory="64MiB")


class Nothing:
    pass


class Itself(TicTacToe):
    def clone(self):
        return self


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: distmcts.load_game(Nothing()), "Nothing: is no game: it has no clone and no current_player"),
        (lambda: distmcts.load_game(TicTacToe), "TicTacToe is a class: give one of its objects"),
        (lambda: distmcts.load_game(Itself()), "Itself: clone() must return a copy, not the object itself"),
        (lambda: distmcts.load_game(TicTacToe(), size=3), "parameters can be given for a game's name only"),
        (lambda: distmcts.load_game(TicTacToe()).parse("4 4"), "TicTacToe position '4 4': '4' is not a legal move; legal: 0, 1,"),
        (lambda: distmcts.load_game(TicTacToe()).apply(TicTacToe(), 9), "illegal move 9 in TicTacToe position"),
        (
            lambda: distmcts.search(TicTacToe("xxxoo....")),
            "no legal move: the game is over in TicTacToe position 'xxx / oo. / ...'",
        ),
        (lambda: distmcts.search(TicTacToe(), Nothing()), "expected text, or a state of TicTacToe"),
        (lambda: distmcts.search(DiceRace(), chance="hashed"), "chance='hashed': positions of DiceRace, a game in Python, have"),
        (lambda: distmcts.search(Judge(), cutoff=0, evaluation_cache="1MiB"), "evaluation_cache: positions of Judge"),
        (lambda: distmcts.search(TicTacToe(), cutoff=3), "cutoff=3: TicTacToe has no evaluation"),
        (lambda: distmcts.search(TicTacToe(), samples=3), "samples=3: TicTacToe has no evaluation"),
        (lambda: distmcts.search(TicTacToe(), selection="puct"), "selection='puct': TicTacToe has no priors"),
        (lambda: distmcts.search(LastStone(), solver=True), "solver: LastStone has 3 players"),
    ],
)
def test_what_cannot_be_used(call, said):
    with pytest.raises(InputError) as error:
        call()
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_positions_cannot_be_saved(tmp_path):
    with distmcts.Engine(TicTacToe(), parallel="serial", memory="64MiB") as engine:
        engine.search(simulations=10)
        with pytest.raises(InputError, match="TicTacToe: positions of a game in Python cannot be written to a file"):
            engine.save(tmp_path / "tree.dmcts")
    assert list(tmp_path.iterdir()) == []


def test_the_public_check():
    assert all(check.passed for check in conformance.check(distmcts.load_game(DiceRace()), games=20))

    class Shared(TicTacToe):
        def clone(self):
            other = Shared()
            other.cells = self.cells
            return other

    checks = conformance.check(distmcts.load_game(Shared()), games=20)
    assert not checks[0].passed
    assert "changed the state itself" in checks[0].detail
