"""Moves for PettingZoo: whole games of its environments, with moves that win when they can."""

import warnings

import numpy as np
import pytest

from distmcts.errors import InputError
from distmcts.interop.pettingzoo import choose_move, read_board

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from pettingzoo.classic import connect_four_v3, rps_v2, tictactoe_v3

SETTINGS = {"simulations": 2000, "workers": 1, "memory": "16MiB", "seed": 1}


@pytest.mark.parametrize(("module", "least"), [(connect_four_v3, 1), (tictactoe_v3, 0)])
@pytest.mark.parametrize("seat", [0, 1])
def test_a_game_against_random_play(module, least, seat):
    env = module.env()
    env.reset(seed=seat)
    random = np.random.default_rng(seat)
    scores = dict.fromkeys(env.possible_agents, 0)
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, _ = env.last()
        scores[agent] = reward
        if env.possible_agents.index(agent) == seat:
            move = choose_move(env, **SETTINGS)
            assert (move is None) == (terminated or truncated)
        else:
            move = None if terminated else int(random.choice(np.flatnonzero(observation["action_mask"])))
        env.step(move)
    assert scores[env.possible_agents[seat]] >= least


def test_a_win_is_seen():
    env = connect_four_v3.env()
    env.reset()
    for column in (0, 6, 0, 6, 0, 6):
        env.step(column)
    assert choose_move(env, **SETTINGS) == 0


def test_the_board_is_read_from_both_sides():
    env = connect_four_v3.env()
    env.reset()
    for column in (3, 3, 2):
        env.step(column)
    seen = read_board(env.observe(env.agent_selection)["observation"])
    assert seen == "......./......./......./......./...o.../..xx..."


def test_environments_that_are_not_known():
    with pytest.raises(InputError, match="unknown PettingZoo environment 'rps_v2': .*connect_four_v3"):
        choose_move(rps_v2.env())
    with pytest.raises(InputError, match="unknown PettingZoo environment"):
        choose_move(object())
