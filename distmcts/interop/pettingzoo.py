"""Moves for PettingZoo's board games.

    from pettingzoo.classic import connect_four_v3
    from distmcts.interop.pettingzoo import choose_move
    env = connect_four_v3.env()
    env.reset()
    for agent in env.agent_iter():
        env.step(choose_move(env, seconds=0.5))

The position is read from what the agent to move observes, and searched with the compiled game.
"""

from typing import Any

import numpy as np

from distmcts.engine import search
from distmcts.errors import InputError, unknown

# Both show two planes of cells, those of the agent and those of the other; moves have the same numbers as ours.
GAMES = {"connect_four_v3": "connect_four", "tictactoe_v3": "tic_tac_toe"}


def choose_move(env: Any, *, simulations: int | None = None, seconds: float | None = None, **settings: Any) -> int | None:
    """The move to play for the agent whose turn it is; None where PettingZoo wants None, because the game is over. Blocks for the
    budget. Settings are those of `distmcts.search`."""
    name = getattr(env, "metadata", {}).get("name", type(env).__name__)
    if name not in GAMES:
        raise unknown("PettingZoo environment", name, GAMES)
    if not hasattr(env, "agent_selection"):
        raise InputError(f"{name}: call env.reset() before the first move")
    agent = env.agent_selection
    if env.terminations[agent] or env.truncations[agent]:
        return None
    position = read_board(env.observe(agent)["observation"])
    return search(GAMES[name], position, simulations=simulations, seconds=seconds, **settings).best_move


def read_board(planes: np.ndarray) -> str:
    """The cells row by row, as connect_four and tic_tac_toe read them: x began, o came second."""
    own, other = planes[:, :, 0], planes[:, :, 1]
    began, second = (own, other) if own.sum() == other.sum() else (other, own)
    return "/".join(
        "".join("x" if x else "o" if o else "." for x, o in zip(*rows, strict=True)) for rows in zip(began, second, strict=True)
    )
