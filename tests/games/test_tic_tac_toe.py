"""Tic-tac-toe: known counts and odds, OpenSpiel, and the rules as plain Python."""

import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from distmcts.errors import InputError
from distmcts.kernels.layout import MAX_PLAYERS
from distmcts.kernels.referee import bare_playouts
from distmcts.kernels.rng import seeded
from games.tic_tac_toe import TicTacToe

GAME = TicTacToe()
BY_PLAYOUT, BY_RULES = -1, 1000  # cutoff of bare_playouts: none, or one that no game reaches


def positions(games: int, seed: int) -> Iterator[np.ndarray]:
    """Every position of random games."""
    choose = random.Random(seed)
    for _ in range(games):
        state = GAME.initial_state()
        yield state
        while moves := GAME.legal_moves(state):
            state = GAME.apply(state, choose.choice(moves))
            yield state


def play_out(start: np.ndarray, cutoff: int, rng: np.ndarray) -> tuple[np.ndarray, float]:
    """The last position of a random game from `start`, and player 0's result."""
    end = np.zeros(GAME.state_words, np.uint64)
    results, totals = np.zeros(MAX_PLAYERS), np.zeros(MAX_PLAYERS)
    bare_playouts(GAME, start, end, np.zeros(GAME.max_moves, np.int64), results, totals, rng, cutoff, 1)
    return end, results[0]


def trace() -> list[str]:
    """What the rules say about random games; the same compiled and as plain Python."""
    rng = seeded(3, 0)
    lines = []
    for state in positions(20, seed=3):
        end, result = play_out(state, BY_PLAYOUT, rng)
        lines.append(f"{state.tolist()} {GAME.look(state)} {end.tolist()} {float(result)}")
    return lines


def test_perft():
    assert [GAME.perft(depth + 1) for depth in range(7)] == [9, 72, 504, 3024, 15120, 54720, 148176]


def test_same_as_open_spiel():
    pyspiel = pytest.importorskip("pyspiel", reason="needs the interop extra")
    choose = random.Random(1)
    for _ in range(300):
        theirs = pyspiel.load_game("tic_tac_toe").new_initial_state()
        state = GAME.initial_state()
        while not theirs.is_terminal():
            assert GAME.look(state)[:2] == (theirs.current_player(), theirs.legal_actions())
            move = choose.choice(theirs.legal_actions())
            theirs.apply_action(move)
            state = GAME.apply(state, move)
        assert GAME.is_over(state)
        assert GAME.returns(state) == theirs.returns()


@pytest.mark.parametrize("cutoff", [BY_PLAYOUT, BY_RULES])
def test_odds_of_random_play(cutoff):
    rng = seeded(5, 0)
    results = np.array([play_out(GAME.initial_state(), cutoff, rng)[1] for _ in range(20_000)])
    for result, chance in ((1, 0.584921), (0, 0.126984), (-1, 1 - 0.584921 - 0.126984)):
        assert abs(np.mean(results == result) - chance) < 4.5 * np.sqrt(chance * (1 - chance) / results.size)


def test_playout_ends_the_game():
    rng = seeded(6, 0)
    for state in positions(100, seed=6):
        end, result = play_out(state, BY_PLAYOUT, rng)
        assert GAME.is_over(end)
        assert GAME.returns(end) == [result, -result]
        assert not (state & ~end).any()
        assert not GAME.is_over(state) or (state == end).all()


def test_text_round_trip():
    for state in positions(100, seed=2):
        assert (GAME.parse(GAME.format(state)) == state).all()
        for move in GAME.legal_moves(state):
            assert GAME.parse_move(state, GAME.move_name(state, move)) == move


def test_pictures():
    state = GAME.parse("xo./.x./...")
    assert GAME.draw(state) == "  a b c\n1 x o .\n2 . x .\n3 . . ."
    assert GAME.svg(state).count("<circle") == 1


@pytest.mark.parametrize(
    "text",
    [
        "",
        "xo.",
        "xo./.../..",
        "xo./.../..?",
        "xo./.../.../...",
        "oo./x../...",
        "xx./x../...",
        "xxx/ooo/...",
        "xxx/oo./o..",
        "ooo/xx./xx.",
    ],
)
def test_impossible_positions(text):
    with pytest.raises(InputError, match="tic_tac_toe position") as error:
        GAME.parse(text)
    assert "\n" not in str(error.value)


def test_plain_python_says_the_same():
    root = Path(__file__).parents[2]
    plain = subprocess.run(
        [sys.executable, __file__],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert plain.stdout.splitlines() == trace()


if __name__ == "__main__":
    with np.errstate(over="ignore"):
        print("\n".join(trace()))
