"""Tic-tac-toe: known counts and odds, OpenSpiel, and the rules as plain Python."""

import numpy as np
import pytest

from distmcts.errors import InputError
from distmcts.kernels.rng import seeded
from games.tic_tac_toe import TicTacToe
from tests.support.playing import BY_PLAYOUT, BY_RULES, alongside, plain_trace, play_out, positions, their_look, trace

GAME = TicTacToe()


def test_perft():
    assert [GAME.perft(depth + 1) for depth in range(7)] == [9, 72, 504, 3024, 15120, 54720, 148176]


def test_same_as_open_spiel():
    import pyspiel

    for state, theirs in alongside(GAME, pyspiel.load_game("tic_tac_toe"), 300):
        assert GAME.look(state) == their_look(theirs)


@pytest.mark.parametrize("cutoff", [BY_PLAYOUT, BY_RULES])
def test_odds_of_random_play(cutoff):
    rng = seeded(5, 0)
    results = np.array([play_out(GAME, GAME.initial_state(), cutoff, rng)[1] for _ in range(20_000)])
    for result, chance in ((1, 0.584921), (0, 0.126984), (-1, 1 - 0.584921 - 0.126984)):
        assert abs(np.mean(results == result) - chance) < 4.5 * np.sqrt(chance * (1 - chance) / results.size)


def test_playout_ends_the_game():
    rng = seeded(6, 0)
    for state in positions(GAME, 100, seed=6):
        end, result = play_out(GAME, state, BY_PLAYOUT, rng)
        assert GAME.is_over(end)
        assert GAME.returns(end) == [result, -result]
        assert not (state & ~end).any()
        assert not GAME.is_over(state) or (state == end).all()


def test_text_round_trip():
    for state in positions(GAME, 100, seed=2):
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
    assert plain_trace(GAME, 20) == trace(GAME, 20)
