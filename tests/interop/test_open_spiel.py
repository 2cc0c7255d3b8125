"""The bot for OpenSpiel: in its own matches, with chance, with compiled games and with OpenSpiel's rules."""

import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms.evaluate_bots import evaluate_bots
from open_spiel.python.bots.uniform_random import UniformRandomBot

from distmcts.errors import InputError
from distmcts.interop.open_spiel import TWINS, Bot, compiled_twin
from games.open_spiel import OpenSpielGame
from tests.support.playing import lockstep

SETTINGS = {"workers": 2, "seed": 1, "memory": "64MiB"}


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize(
    ("name", "simulations"),
    [("tic_tac_toe", 500), ("connect_four", 500), pytest.param("backgammon", 10, marks=pytest.mark.long)],
)
def test_beats_random_play(name, simulations, compiled):
    """Whole games by OpenSpiel's own referee, from both sides."""
    game = pyspiel.load_game(name)
    chance = np.random.RandomState(2)
    with Bot(game, simulations=simulations, compiled=compiled, **SETTINGS) as bot:
        for seat in (0, 1):
            other = UniformRandomBot(1 - seat, chance)
            players = [bot, other] if seat == 0 else [other, bot]
            result = evaluate_bots(game.new_initial_state(), players, chance)
            assert result[seat] >= (1 if name == "connect_four" else 0 if name == "tic_tac_toe" else -1)


def test_plays_as_their_bots_do():
    """Against OpenSpiel's own search, by the loop in C++ that plays their bots."""
    game = pyspiel.load_game("tic_tac_toe")
    theirs = pyspiel.MCTSBot(game, pyspiel.RandomRolloutEvaluator(1, 3), 1.4, 500, 10, True, 3, False)
    with Bot(game, simulations=2000, **SETTINGS) as bot:
        assert pyspiel.evaluate_bots(game.new_initial_state(), [bot, theirs], 1) == [0.0, 0.0]


@pytest.mark.parametrize("compiled", [True, False])
def test_the_tree_is_kept(compiled):
    game = pyspiel.load_game("connect_four")
    state = game.new_initial_state()
    with Bot(game, simulations=2000, compiled=compiled, **SETTINGS) as bot:
        first = bot.search(state)
        state.apply_action(first.best_move)
        state.apply_action(3)
        second = bot.search(state)
        kept = sum(row.visits for row in second.moves) - 2000
        assert kept > 20
        again = bot.search(state)  # the same position: everything is kept
        assert sum(row.visits for row in again.moves) == kept + 4000
        bot.restart_at(game.new_initial_state())
        fresh = bot.search(game.new_initial_state())
        assert sum(row.visits for row in fresh.moves) == 2000


def test_policy():
    game = pyspiel.load_game("tic_tac_toe")
    with Bot(game, simulations=1000, **SETTINGS) as bot:
        state = game.new_initial_state()
        policy, action = bot.step_with_policy(state)
        assert [move for move, _ in policy] == state.legal_actions()
        assert sum(share for _, share in policy) == pytest.approx(1)
        assert action == max(policy, key=lambda pair: pair[1])[0]
        assert bot.provides_policy()
        assert dict(bot.get_policy(state)).keys() == dict(policy).keys()
        dice = pyspiel.load_game("pig").new_initial_state()
        dice.apply_action(0)
        assert dice.is_chance_node()
        assert bot.step(dice) == pyspiel.INVALID_ACTION


def test_positions_that_were_set_up():
    chess = pyspiel.load_game("chess")
    with Bot(chess, simulations=500, **SETTINGS) as bot:
        bot.search(chess.new_initial_state())
        state = chess.new_initial_state("7k/5Q2/6K1/8/8/8/8/8 w - - 0 1")
        assert state.action_to_string(bot.step(state)).endswith("#")


@pytest.mark.parametrize("name", TWINS)
def test_twins_are_the_same_game(name):
    game = pyspiel.load_game(name)
    assert lockstep(compiled_twin(game), game, 50) > 300


@pytest.mark.parametrize(
    ("name", "twin"),
    [
        ("hex(board_size=5)", "hex(size=5)"),
        ("hex(num_cols=5,num_rows=4)", None),
        ("connect_four(rows=7)", None),
        ("oware(num_houses_per_player=4,num_seeds_per_house=3)", "awale(pits=4, seeds=3, rules='oware')"),
        ("chess", None),
    ],
)
def test_which_twin(name, twin):
    found = compiled_twin(pyspiel.load_game(name))
    assert (None if found is None else repr(found)) == twin


def test_hidden_information_is_refused():
    with pytest.raises(InputError, match="open_spiel:kuhn_poker: cannot be searched"):
        Bot(pyspiel.load_game("kuhn_poker"))
    assert OpenSpielGame("chess").name == "open_spiel:chess"
