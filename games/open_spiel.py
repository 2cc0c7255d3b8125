"""Games of OpenSpiel, by its Python module: every one with perfect information and players who move in turn.

    distmcts.search("open_spiel:backgammon", seconds=5)          distmcts search "open_spiel:hex(board_size=5)"

The rules are OpenSpiel's own, called from the workers; random playouts run in its C++. States are pyspiel.State objects.
"""

import os
import re
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any

from distmcts.errors import InputError, unknown
from distmcts.kernels.rules import CHANCE, OVER
from distmcts.python_game import PythonGame, draw_outcome

PREFIX = "open_spiel:"
PLAYOUTS = ("c++", "python")
NEWLINE = re.compile(r"\s*[\n;]\s*")
FEN = re.compile(r"^[A-Z]*FEN:\s*")  # chess and its relatives write it before their start
NUMBERS = re.compile(r"[-+\d\s]*")


class OpenSpielGame(PythonGame):
    """A game of OpenSpiel."""

    def __init__(self, source: Any, parameters: dict[str, Any] | None = None, *, playout: str = "c++", evaluator: Any = None):
        """`source`: a name with or without parameters, a pyspiel.Game, or a pyspiel.State to begin with.

        playout: random moves by OpenSpiel's C++, or one by one from Python, as other games in Python are played.
        """
        self.spiel = _module(source)
        start = source if isinstance(source, self.spiel.State) else None
        self.game = source if isinstance(source, self.spiel.Game) else None
        if start is not None:
            self.game = start.get_game()
        elif self.game is None:
            self.game = _load(self.spiel, source, parameters or {})
        kind = self.game.get_type()
        _check_kind(self.spiel, kind)
        if playout not in PLAYOUTS:
            raise unknown("playout", playout, PLAYOUTS)
        self._is_deterministic = kind.chance_mode == self.spiel.GameType.ChanceMode.DETERMINISTIC
        utility = self.spiel.GameType.Utility
        one_tells_all = kind.utility in (utility.ZERO_SUM, utility.CONSTANT_SUM) and self.game.num_players() == 2
        chosen = {"c++": self._quick_playout if one_tells_all else self._playout, "python": None}[playout]
        super().__init__(self.game, start=start, playout=chosen, evaluator=evaluator)
        self.name = PREFIX + self.game.to_string().removesuffix("()")

    def _knows_chance(self) -> bool:
        return not self._is_deterministic

    def player(self, state: Any) -> int:
        player = state.current_player()
        if player >= 0:
            return player
        if player == self.spiel.PlayerId.TERMINAL:
            return OVER
        if player == self.spiel.PlayerId.CHANCE:
            return CHANCE
        raise self.broken(f"current_player() is {player}", state)

    # ---- playouts ----------------------------------------------------------------------------------------------------------

    def _quick_playout(self, state: Any, random_word: Callable[[], int]) -> Sequence[float]:
        """A search of one simulation is one random playout from its root, and tells what it was worth to the player to move."""
        while state.is_chance_node():  # there is no player there whose value the search could tell
            state.apply_action(draw_outcome(state.chance_outcomes(), random_word()))
        if state.is_terminal():
            return state.returns()
        evaluator = self.spiel.RandomRolloutEvaluator(1, random_word() >> 33)
        bot = self.spiel.MCTSBot(self.game, evaluator, 1.0, 1, 1, False, 0, False)
        value = bot.mcts_search(state).total_reward
        other = self.game.utility_sum() - value
        return [value, other] if state.current_player() == 0 else [other, value]

    def _playout(self, state: Any, random_word: Callable[[], int]) -> Sequence[float]:
        """A match of random bots: for any number of players and any results; somewhat slower."""
        bots = [self.spiel.make_uniform_random_bot(player, random_word() >> 33) for player in range(self.players)]
        return self.spiel.evaluate_bots(state, bots, random_word() >> 33)

    # ---- for people ----------------------------------------------------------------------------------------------------------

    def format(self, state: Any) -> str:
        """The moves so far, as `parse` reads them; before them what the game was set up with, if it was."""
        setup, moves = self.setup(state), " ".join(map(str, state.history()))
        return f"{setup}; {moves}" if setup else moves

    def setup(self, state: Any) -> str:
        """What the game was set up with before the first move; nothing if it began as usual."""
        usual = self.game.new_initial_state()
        for move in state.history():
            if move not in usual.legal_actions():
                break
            usual.apply_action(move)
        written = state.serialize()
        return "" if usual.serialize() == written else "; ".join(line for line in _lines(written) if not line.isdigit())

    def parse(self, text: str) -> Any:
        """A history of moves, "3 4 1", what `serialize` writes, or a start that the game understands (chess: FEN)."""
        lines = _lines(text)
        moves: list[str] = []
        while lines and all(word.isdigit() for word in lines[-1].split()):
            moves = [*lines.pop().split(), *moves]
        setup = FEN.sub("", "; ".join(lines))
        if not setup:
            return self._replay(self.game.new_initial_state(), moves, text)
        with suppress(Exception):  # each game has its own way to refuse
            return self._replay(_quietly(lambda: self.game.new_initial_state(setup)), moves, text)
        if not moves and not NUMBERS.fullmatch(text):  # numbers would be played without checking that they are legal
            with suppress(Exception):
                return _quietly(lambda: self.game.deserialize_state(text))
        raise InputError(f"{self.name} position {text!r}: expected legal moves, as in '3 4 1', or a start that the game knows")

    def _replay(self, state: Any, moves: Sequence[str], text: str) -> Any:
        for word in moves:
            legal = state.legal_actions()
            if int(word) not in legal:
                shown = ", ".join(map(str, legal[:20])) + (" ..." if len(legal) > 20 else "")
                raise InputError(f"{self.name} position {text!r}: {word} is not a legal move; legal: {shown or 'none'}")
            state.apply_action(int(word))
        return state

    def pack(self, state: Any) -> str:
        return state.serialize()

    def state(self, packed: str) -> Any:
        return self.game.deserialize_state(packed)

    def check_state(self, state: Any) -> None:
        if not isinstance(state, self.spiel.State) or state.get_game().to_string() != self.game.to_string():
            raise InputError(f"position {state!r}: expected text, or a state of {self.name}")


def _lines(text: str) -> list[str]:
    return [line for line in NEWLINE.split(text.strip()) if line]


# ---- finding a game ------------------------------------------------------------------------------------------------------------


def _module(source: Any) -> Any:
    try:
        return import_module("pyspiel")
    except ModuleNotFoundError:
        raise InputError(f"{PREFIX}{source}: OpenSpiel is not installed: pip install 'distmcts[interop]'") from None


def _load(spiel: Any, text: str, parameters: dict[str, Any]) -> Any:
    name = text.partition("(")[0].strip()
    if name.startswith("python_"):
        with suppress(ImportError):
            import_module("open_spiel.python.games")
    kinds = {kind.short_name: kind for kind in spiel.registered_games()}
    if name not in kinds:
        raise unknown("OpenSpiel game", name, [name for name, kind in kinds.items() if not _objection(spiel, kind)])
    try:
        return _quietly(lambda: spiel.load_game(text, parameters) if parameters else spiel.load_game(text))
    except Exception as error:
        allowed = ", ".join(kinds[name].parameter_specification) or "none"
        said = " ".join(str(error).split()).partition(" Available parameters")[0].rstrip(".")
        raise InputError(f"{PREFIX}{text}: {said}; its parameters: {allowed}") from None


def _objection(spiel: Any, kind: Any) -> str | None:
    """Why a game cannot be searched."""
    if kind.dynamics != spiel.GameType.Dynamics.SEQUENTIAL:
        return "players move at the same time"
    if kind.information != spiel.GameType.Information.PERFECT_INFORMATION:
        return "information is hidden from players"
    if kind.chance_mode == spiel.GameType.ChanceMode.SAMPLED_STOCHASTIC:
        return "outcomes of chance cannot be listed"
    return None


def _check_kind(spiel: Any, kind: Any) -> None:
    if objection := _objection(spiel, kind):
        raise InputError(
            f"{PREFIX}{kind.short_name}: cannot be searched: {objection}; games need perfect information and moves in turn"
        )


def _quietly(call: Callable[[], Any]) -> Any:
    """Call OpenSpiel, which prints errors before it raises them; whatever else it prints is passed on."""
    with tempfile.TemporaryFile() as kept:
        before = os.dup(2)
        os.dup2(kept.fileno(), 2)
        try:
            result = call()
        finally:
            os.dup2(before, 2)
            os.close(before)
        kept.seek(0)
        sys.stderr.write(kept.read().decode(errors="replace"))
        return result
