"""Connect four: known counts, OpenSpiel, and the rules as plain Python."""

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
from games.connect_four import ConnectFour

GAME = ConnectFour()
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
    assert [GAME.perft(depth + 1) for depth in range(7)] == [7, 49, 343, 2401, 16807, 117649, 823536]


def test_same_as_open_spiel():
    pyspiel = pytest.importorskip("pyspiel", reason="needs the interop extra")
    choose = random.Random(1)
    for _ in range(300):
        theirs = pyspiel.load_game("connect_four").new_initial_state()
        state = GAME.initial_state()
        while not theirs.is_terminal():
            assert GAME.look(state)[:2] == (theirs.current_player(), theirs.legal_actions())
            move = choose.choice(theirs.legal_actions())
            theirs.apply_action(move)
            state = GAME.apply(state, move)
        assert GAME.is_over(state)
        assert GAME.returns(state) == theirs.returns()


@pytest.mark.parametrize("opening", ["", "4", "44444", "112233"])
def test_playout_is_random_play(opening):
    start = GAME.parse(opening) if opening else GAME.initial_state()
    rng = seeded(5, 0)
    means = [np.mean([play_out(start, cutoff, rng)[1] for _ in range(20_000)]) for cutoff in (BY_PLAYOUT, BY_RULES)]
    assert abs(means[0] - means[1]) < 4.5 * np.sqrt(2 / 20_000)


def test_playout_ends_the_game():
    rng = seeded(6, 0)
    for state in positions(50, seed=6):
        end, result = play_out(state, BY_PLAYOUT, rng)
        assert GAME.is_over(end)
        assert GAME.returns(end) == [result, -result]
        assert not (state & ~end).any()
        assert not GAME.is_over(state) or (state == end).all()


def test_text_round_trip():
    for state in positions(50, seed=2):
        assert (GAME.parse(GAME.format(state)) == state).all()
        for move in GAME.legal_moves(state):
            assert GAME.parse_move(state, GAME.move_name(state, move)) == move


def test_moves_as_digits():
    assert GAME.format(GAME.parse("4453")) == "......./......./......./......./...o.../..oxx.."


def test_picture():
    assert GAME.draw(GAME.parse("4")).splitlines()[-2:] == [". . . x . . .", "1 2 3 4 5 6 7"]


@pytest.mark.parametrize(
    "text",
    [
        "......./......./......./......./.......",
        "......./......./......./......./......./......",
        "......./......./......./......./......./...?...",
        "......./......./......./......./...x.../.......",
        "......./......./......./......./......./...o...",
        "......./......./......./......./......./.x.x...",
        "8",
        "4444444",
        "12121212",
    ],
)
def test_impossible_positions(text):
    with pytest.raises(InputError, match="connect_four position") as error:
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
