"""The public test of games: passes for every game that comes along, and names what is wrong with each broken one."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from distmcts import load_game
from distmcts.conformance import check
from tests.support import broken_games

ROOT = Path(__file__).parents[1]
NAMES = {
    "buffers are not overrun",
    "random games end, moves are legal",
    "apply is pure",
    "playouts end the game",
    "outcomes come as often as they are likely",
    "positions are written and read back",
    "Python body equals compiled body",
    "perft",
}


@pytest.mark.parametrize(
    "name, parameters",
    [
        ("connect_four", {}),
        ("othello", {}),
        ("hex", {"size": 5}),
        ("tic_tac_toe", {}),
        ("awale", {}),
        ("ur", {"pieces": 3}),
        ("risk", {"turns": 8}),
    ],
)
def test_built_in_games_pass(name, parameters):
    checks = check(load_game(name, **parameters), games=30)
    assert {item.name for item in checks} == NAMES
    assert [item for item in checks if not item.passed] == []


def test_the_unbroken_game_passes():
    """So that a broken one fails for what was broken, and for nothing else."""
    for game in (broken_games.Nim(), broken_games.Tossed()):
        assert [item for item in check(game, games=20) if not item.passed] == []


@pytest.mark.parametrize(
    "broken, name, detail",
    [
        ("MoveOutOfRange", "random games end, moves are legal", "outside 0 to 1 in 'a 0': [0, 1, 2]"),
        ("NoMovesButNotOver", "random games end, moves are legal", "no legal moves but not over in '5 "),
        ("ResultsOutOfRange", "random games end, moves are legal", "results outside -1 to 1"),
        ("LookingChangesTheState", "apply is pure", ""),
        ("PlayoutStopsEarly", "playouts end the game", "stopped before the end"),
        ("ReadsBackSomethingElse", "positions are written and read back", "'a 0' is read back as '9 0'"),
        ("CannotReadWhatItWrites", "positions are written and read back", "nim position 'a 0': cannot be read"),
        ("PlaysDifferentlyAsPython", "Python body equals compiled body", "play differently"),
        ("ProbabilitiesOverOne", "random games end, moves are legal", "probabilities do not sum to 1 in '5 "),
        ("DrawsAnotherCoin", "outcomes come as often as they are likely", "outcome 0 came 2000 times in 2000"),
        ("WrongPerftCounts", "perft", "perft(3) is 27, should be 28"),
    ],
)
def test_broken_games_fail_by_name(broken, name, detail):
    failed = {item.name: item.detail for item in check(getattr(broken_games, broken)(), games=20) if not item.passed}
    assert name in failed
    assert detail in failed[name]


def test_a_failure_is_told_in_one_line():
    checks = check(broken_games.LookingChangesTheState(), games=1)
    assert [item.name for item in checks if "\n" in item.detail] == []


@pytest.mark.parametrize("broken", ["MoreMovesThanSaid", "ManyMoreMovesThanSaid"])
def test_an_overrun_buffer_is_found(broken):
    """In a process of its own: what lies behind a buffer may be anything."""
    script = (
        "import json; from distmcts.conformance import check; from tests.support import broken_games\n"
        f"print(json.dumps([item._asdict() for item in check(broken_games.{broken}(), games=20)]))"
    )
    answer = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert answer.returncode == 0, f"the check itself crashed: {answer.stdout}{answer.stderr}"
    assert "buffers are not overrun" in [item["name"] for item in json.loads(answer.stdout) if not item["passed"]]


def test_a_game_without_end_is_found(monkeypatch):
    monkeypatch.setattr("distmcts.conformance.MAX_LENGTH", 1000)
    checks = check(broken_games.NeverEnds(), games=1)
    assert [item.name for item in checks if not item.passed] == ["random games end, moves are legal"]
    assert "did not end within 1000 moves" in checks[-1].detail
