"""Connect four: known counts, OpenSpiel, and the rules as plain Python."""

import numpy as np
import pytest

from distmcts.errors import InputError
from distmcts.kernels.rng import seeded
from games.connect_four import ConnectFour
from tests.support.playing import BY_PLAYOUT, alongside, both_ways, lockstep, plain_trace, play_out, positions, their_look, trace

GAME = ConnectFour()


def test_perft():
    assert [GAME.perft(depth + 1) for depth in range(7)] == [7, 49, 343, 2401, 16807, 117649, 823536]


def test_same_as_open_spiel():
    import pyspiel

    for state, theirs in alongside(GAME, pyspiel.load_game("connect_four"), 300):
        assert GAME.look(state) == their_look(theirs)


def test_two_thousand_games_of_open_spiel():
    import pyspiel

    assert lockstep(GAME, pyspiel.load_game("connect_four"), 2000) > 40_000


@pytest.mark.parametrize("opening", ["", "4", "44444", "112233"])
def test_playout_is_random_play(opening):
    start = GAME.parse(opening) if opening else GAME.initial_state()
    means = [np.mean([result for _, result in ends]) for ends in both_ways(GAME, start, 20_000)]
    assert abs(means[0] - means[1]) < 4.5 * np.sqrt(2 / 20_000)


def test_playout_ends_the_game():
    rng = seeded(6, 0)
    for state in positions(GAME, 50, seed=6):
        end, result = play_out(GAME, state, BY_PLAYOUT, rng)
        assert GAME.is_over(end)
        assert GAME.returns(end) == [result, -result]
        assert not (state & ~end).any()
        assert not GAME.is_over(state) or (state == end).all()


def test_text_round_trip():
    for state in positions(GAME, 50, seed=2):
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
    assert plain_trace(GAME, 20) == trace(GAME, 20)
