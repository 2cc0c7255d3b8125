"""Othello: known counts, OpenSpiel, passes, and the rules as plain Python."""

import numpy as np
import pytest

from distmcts.errors import InputError
from distmcts.kernels.rng import seeded
from games.othello import PASS, Othello
from tests.support.playing import BY_PLAYOUT, alongside, both_ways, lockstep, plain_trace, play_out, positions, their_look, trace

GAME = Othello()
START = "......../......../......../...ox.../...xo.../......../......../........ x"
MUST_PASS = "......../......../......../..xxx..o/...xxxoo/.....x.o/......x./........ x"
LATE = "....x.../o.xx..x./.xxx.xx./xxooxxxx/xxooxoxo/x.xxoooo/...ooooo/..oooooo o"


def test_perft():
    assert [GAME.perft(depth + 1) for depth in range(7)] == [4, 12, 56, 244, 1396, 8200, 55092]


def test_same_as_open_spiel():
    import pyspiel

    passes = 0
    for state, theirs in alongside(GAME, pyspiel.load_game("othello"), 300):
        assert GAME.look(state) == their_look(theirs)
        for move in theirs.legal_actions():
            assert GAME.move_name(state, move) == theirs.action_to_string(move).split()[0]
            passes += move == PASS
    assert passes > 100


def test_two_thousand_games_of_open_spiel():
    import pyspiel

    assert lockstep(GAME, pyspiel.load_game("othello"), 2000) > 100_000


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


@pytest.mark.parametrize("start", [START, MUST_PASS, LATE])
def test_playout_is_random_play(start):
    """By the result, and by the number of discs that black is ahead at the end."""
    count = 20_000
    games = both_ways(GAME, GAME.parse(start), count)
    for what in (lambda end, result: result, lambda end, result: int(end[0]).bit_count() - int(end[1]).bit_count()):
        samples = np.array([[what(*ended) for ended in kind] for kind in games])
        assert abs(samples[0].mean() - samples[1].mean()) < 4.5 * np.sqrt(samples.var(axis=1).sum() / count)


def test_playout_ends_the_game():
    rng = seeded(6, 0)
    for state in positions(GAME, 20, seed=6):
        end, result = play_out(GAME, state, BY_PLAYOUT, rng)
        assert GAME.is_over(end)
        assert GAME.returns(end) == [result, -result]
        assert not ((state[0] | state[1]) & ~(end[0] | end[1]))
        assert not GAME.is_over(state) or (state == end).all()
        assert (GAME.parse(GAME.format(end)) == end).all()


def test_evaluation_is_fair_and_tells_something():
    """Swapping the colours swaps the signs; who stands better late in a game mostly wins it."""
    rng = seeded(8, 0)
    guesses, results = [], []
    for state in positions(GAME, 60, seed=8):
        value, opposite = GAME.evaluate(state)
        assert -1 <= value <= 1 and opposite == -value
        assert GAME.evaluate(state[[1, 0, 2, 3]])[0] == -value
        guesses.append(value)
        results.append(np.mean([play_out(GAME, state, BY_PLAYOUT, rng)[1] for _ in range(5)]))
    assert np.corrcoef(guesses, results)[0, 1] > 0.5


def test_text_round_trip():
    for state in positions(GAME, 30, seed=2):
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
    assert plain_trace(GAME, 4) == trace(GAME, 4)
