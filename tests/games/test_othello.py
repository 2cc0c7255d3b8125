"""Othello: known counts, OpenSpiel, passes, and the rules as plain Python."""

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
from games.othello import PASS, Othello

GAME = Othello()
MUST_PASS = "......../......../......../..xxx..o/...xxxoo/.....x.o/......x./........ x"
LATE = "....x.../o.xx..x./.xxx.xx./xxooxxxx/xxooxoxo/x.xxoooo/...ooooo/..oooooo o"
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
    for state in positions(4, seed=3):
        end, result = play_out(state, BY_PLAYOUT, rng)
        lines.append(f"{state.tolist()} {GAME.look(state)} {GAME.evaluate(state)} {end.tolist()} {float(result)}")
    return lines


def test_perft():
    assert [GAME.perft(depth + 1) for depth in range(7)] == [4, 12, 56, 244, 1396, 8200, 55092]


def test_same_as_open_spiel():
    pyspiel = pytest.importorskip("pyspiel", reason="needs the interop extra")
    choose = random.Random(1)
    passes = 0
    for _ in range(300):
        theirs = pyspiel.load_game("othello").new_initial_state()
        state = GAME.initial_state()
        while not theirs.is_terminal():
            assert GAME.look(state)[:2] == (theirs.current_player(), theirs.legal_actions())
            move = choose.choice(theirs.legal_actions())
            assert GAME.move_name(state, move) == theirs.action_to_string(move).split()[0]
            theirs.apply_action(move)
            passes += move == PASS
            state = GAME.apply(state, move)
        assert GAME.is_over(state)
        assert GAME.returns(state) == theirs.returns()
    assert passes > 100


def test_shortest_game_takes_every_disc():
    state = GAME.initial_state()
    for name in ["e6", "f4", "e3", "f6", "g5", "d6", "e7", "f5", "c5"]:
        assert not GAME.is_over(state)
        state = GAME.apply(state, GAME.parse_move(state, name))
    assert GAME.is_over(state)
    assert GAME.returns(state) == [1, -1]
    assert state[1] == 0


def test_pass_only_without_another_move():
    state = GAME.parse(MUST_PASS)
    assert GAME.look(state)[:2] == (0, [PASS])
    after = GAME.apply(state, PASS)
    assert (after[:2] == state[:2]).all()
    assert GAME.player(after) == 1
    assert PASS not in GAME.legal_moves(after)


@pytest.mark.parametrize("start", ["......../......../......../...ox.../...xo.../......../......../........ x", MUST_PASS, LATE])
def test_playout_is_random_play(start):
    """By the result, and by the number of discs that black is ahead at the end."""
    count = 20_000
    rng = seeded(5, 0)
    games = [[play_out(GAME.parse(start), cutoff, rng) for _ in range(count)] for cutoff in (BY_PLAYOUT, BY_RULES)]
    for what in (lambda end, result: result, lambda end, result: int(end[0]).bit_count() - int(end[1]).bit_count()):
        samples = np.array([[what(*ended) for ended in kind] for kind in games])
        assert abs(samples[0].mean() - samples[1].mean()) < 4.5 * np.sqrt(samples.var(axis=1).sum() / count)


def test_playout_ends_the_game():
    rng = seeded(6, 0)
    for state in positions(20, seed=6):
        end, result = play_out(state, BY_PLAYOUT, rng)
        assert GAME.is_over(end)
        assert GAME.returns(end) == [result, -result]
        assert not ((state[0] | state[1]) & ~(end[0] | end[1]))
        assert not GAME.is_over(state) or (state == end).all()
        assert (GAME.parse(GAME.format(end)) == end).all()


def test_evaluation_is_fair_and_tells_something():
    """Swapping the colours swaps the signs; who stands better late in a game mostly wins it."""
    rng = seeded(8, 0)
    guesses, results = [], []
    for state in positions(60, seed=8):
        value, opposite = GAME.evaluate(state)
        assert -1 <= value <= 1 and opposite == -value
        assert GAME.evaluate(state[[1, 0, 2, 3]])[0] == -value
        guesses.append(value)
        results.append(np.mean([play_out(state, BY_PLAYOUT, rng)[1] for _ in range(5)]))
    assert np.corrcoef(guesses, results)[0, 1] > 0.5


def test_text_round_trip():
    for state in positions(30, seed=2):
        assert (GAME.parse(GAME.format(state)) == state).all()
        for move in GAME.legal_moves(state):
            assert GAME.parse_move(state, GAME.move_name(state, move)) == move


def test_pictures():
    state = GAME.initial_state()
    assert GAME.draw(state).splitlines()[4:6] == ["4 . . . o x . . .", "5 . . . x o . . ."]
    assert GAME.svg(state).count("<circle") == 8


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "......../......../......../...ox.../...xo.../......../......../........",
        "......../......../......../...ox.../...xo.../......../......../........ z",
        "......../......../......../...ox.../...xo.../......../......../........ -",
        "......../......../......../...ox.../...x..../......../......../........ x",
        "......../......../......../...ox.../...xo.../......../......../....... x",
        "......../......../......../...ox.../...xo.../......../......../.......? x",
        "......../......../......../...ox.../...xo.../......../........ x",
    ],
)
def test_impossible_positions(text):
    with pytest.raises(InputError, match="othello position") as error:
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
