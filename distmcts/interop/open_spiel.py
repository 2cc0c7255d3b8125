"""A bot for OpenSpiel, to play wherever its own bots do.

    import pyspiel
    from distmcts.interop.open_spiel import Bot
    with Bot(pyspiel.load_game("backgammon"), seconds=1, workers=8) as bot:
        action = bot.step(state)

Games that distmcts knows itself, with the same numbers for moves, are searched with its compiled rules, a hundred times as fast;
all others with OpenSpiel's.
"""

from collections.abc import Callable
from typing import Any

import pyspiel

from distmcts.engine import Engine
from distmcts.game import Game
from distmcts.registry import load_game
from distmcts.result import Result
from games.open_spiel import OpenSpielGame


def _connect_four(given: dict[str, Any]) -> Game | None:
    return load_game("connect_four") if (given["rows"], given["columns"], given["x_in_row"]) == (6, 7, 4) else None


def _hex(given: dict[str, Any]) -> Game | None:
    size = given["num_rows"]
    return load_game("hex", size=size) if size == given["num_cols"] and 2 <= size <= 19 and not given.get("swap") else None


def _oware(given: dict[str, Any]) -> Game | None:
    return load_game("awale", pits=given["num_houses_per_player"], seeds=given["num_seeds_per_house"], rules="oware")


TWINS: dict[str, Callable[[dict[str, Any]], Game | None]] = {
    "connect_four": _connect_four,
    "hex": _hex,
    "othello": lambda given: load_game("othello"),
    "oware": _oware,
    "tic_tac_toe": lambda given: load_game("tic_tac_toe"),
}


def compiled_twin(game: pyspiel.Game) -> Game | None:
    """The compiled game with the same rules and the same numbers for moves, if there is one."""
    make = TWINS.get(game.get_type().short_name)
    return make(game.get_parameters()) if make else None


class Bot(pyspiel.Bot):
    """Searches every position it is asked about, and keeps its tree from one to the next. Owns an engine: use it with `with`,
    or call `close`."""

    def __init__(
        self,
        game: pyspiel.Game,
        *,
        simulations: int | None = None,
        seconds: float | None = None,
        compiled: bool = True,
        **settings: Any,
    ):
        """A budget for each move (5 seconds if none is given), and settings of an Engine. compiled: use a game of distmcts'
        own where there is one with the same moves."""
        pyspiel.Bot.__init__(self)
        self._theirs = OpenSpielGame(game)
        self._budget = {"simulations": simulations, "seconds": seconds}
        self._game = (compiled_twin(game) if compiled else None) or self._theirs
        self._settings = settings
        self._engine: Engine | None = None
        self._setup = ""  # what the engine's position came from,
        self._history: list[int] = []  # and the moves that led to it

    # ---- what OpenSpiel asks of a bot ----------------------------------------------------------------------------------------

    def restart(self) -> None:
        self.restart_at(self._theirs.initial_state())

    def restart_at(self, state: pyspiel.State) -> None:
        """Nothing: the next step sees by itself how its state relates to what is known."""

    def inform_action(self, state: pyspiel.State, player: int, action: int) -> None:
        """Nothing, for the same reason."""

    def step(self, state: pyspiel.State) -> int:
        return self.step_with_policy(state)[1]

    def step_with_policy(self, state: pyspiel.State) -> tuple[list[tuple[int, float]], int]:
        """Blocks for the budget. Each legal move with its share of visits, and the move to play."""
        if state.is_chance_node() or state.is_terminal():
            return [(pyspiel.INVALID_ACTION, 1.0)], pyspiel.INVALID_ACTION
        result = self.search(state)
        visits = {row.move: row.visits for row in result.moves}
        total = max(1, sum(visits.values()))
        return [(move, visits.get(move, 0) / total) for move in state.legal_actions()], result.best_move

    def provides_policy(self) -> bool:
        return True

    def get_policy(self, state: pyspiel.State) -> list[tuple[int, float]]:
        return self.step_with_policy(state)[0]

    # ---- the search ------------------------------------------------------------------------------------------------------------

    def search(self, state: pyspiel.State) -> Result:
        """All that is found about a position. Blocks for the budget."""
        self._go_to(state)
        return self._engine.search(**self._budget)

    def _go_to(self, state: pyspiel.State) -> None:
        """Bring the engine there: by the moves that were made since the last time, if they lead there."""
        setup, history, known = self._theirs.setup(state), state.history(), len(self._history)
        if self._engine is not None and setup == self._setup and history[:known] == self._history:
            for move in history[known:]:
                self._engine.advance(move)
        else:
            start = state.clone() if self._game is self._theirs else self._replayed(history)
            if self._engine is None:
                self._engine = Engine(self._game, start, **self._settings)
            else:
                self._engine.set_position(start)
        self._setup, self._history = setup, history

    def _replayed(self, history: list[int]) -> Any:
        position = self._game.initial_state()
        for move in history:
            position = self._game.apply(position, move)
        return position

    def close(self) -> None:
        if self._engine is not None:
            self._engine.close()
            self._engine = None

    def __enter__(self) -> "Bot":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
