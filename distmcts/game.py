"""The contract of a compiled game, and what the host side can do with one.

A game file gives rules as plain functions on a state, which is an array of uint64 words, and a class that names them:

    class Nim(CompiledGame):
        name = "nim"
        rules = Rules(initial, legal_moves, apply, player, returns)
        state_words, max_moves, move_limit = 1, 3, 4

Rules take the game first, so `game.size` is its parameter; numbers and arrays are constants in compiled code. Their argument
names must be those of distmcts/kernels/rules.py. They are compiled by numba, and must also run as plain Python.

Chance: `player` says CHANCE, `chance_outcomes` and `sample_outcome` say what can happen, `apply` plays an outcome like a move.
Huge action spaces: `move_count` says how many moves there are; where they are more than `max_moves`, the moves are 0, 1, ...,
count - 1, and nothing ever lists them.
"""

import ast
import inspect
import sys
from collections.abc import Sequence
from importlib.util import resolve_name
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar
from xml.sax.saxutils import escape

import numpy as np

from distmcts.errors import InputError
from distmcts.kernels import referee
from distmcts.kernels.jit import fingerprint
from distmcts.kernels.layout import MAX_PLAYERS
from distmcts.kernels.rules import CHANCE, OVER, Rules, brings
from distmcts.kernels.tags import Tag

State = np.ndarray


class Game(Tag):
    """What compiled games and games in Python (python_game.py) have in common: limits for the kernels, words for people."""

    name: str
    players: int = 2
    state_words: int
    max_moves: int  # no list of legal moves is longer
    move_limit: int  # listed moves are 0 <= move < move_limit
    max_outcomes: int = 1  # no chance event has more

    @property
    def list_length(self) -> int:
        """Room for every list of moves or outcomes."""
        return max(self.max_moves, self.max_outcomes)

    @property
    def mark_count(self) -> int:
        """Room for a mark on every listed move: a power of two."""
        return 1 << (self.move_limit - 1).bit_length()

    @property
    def rave_keys(self) -> int:
        return self.move_limit

    # ---- where a search begins -------------------------------------------------------------------------------------------------

    def start_position(self, given: State | str | None = None) -> State:
        """The position to search: the first one, or one given as text or state. InputError if it is none, or has no move."""
        state = self.initial_state() if given is None else self.parse(given) if isinstance(given, str) else given
        self.check_state(state)
        self.check_not_over(state)
        return state

    def check_not_over(self, state: State) -> None:
        if self.is_over(state):
            raise self.no_move(state)

    def no_move(self, state: State) -> InputError:
        """What to raise where a move is wanted, and the game is over."""
        return InputError(f"no legal move: the game is over in {self.name} position {self.format(state)!r}")

    # ---- for people: a game overrides these ------------------------------------------------------------------------------------

    def draw(self, state: State) -> str:
        return self.format(state)

    def svg(self, state: State) -> str:
        """A picture of the position, as the text of a self-contained SVG."""
        lines = self.draw(state).splitlines()
        width = 9 * max(map(len, lines)) + 10
        texts = [f'<text x="5" y="{18 * (i + 1)}" xml:space="preserve">{escape(line)}</text>' for i, line in enumerate(lines)]
        size = f'width="{width}" height="{18 * len(lines) + 10}"'
        return f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="monospace" font-size="15">{"".join(texts)}</svg>'

    def move_name(self, state: State, move: int) -> str:
        return str(move)

    def parse_move(self, state: State, text: str) -> int:
        """The legal move that a person typed, by its name or number."""
        legal = self.legal_moves(state)
        if isinstance(legal, range):
            if text.strip().isdigit() and int(text) in legal:
                return int(text)
            raise InputError(f"{text!r} is not a legal move here; legal: 0 to {len(legal) - 1}")
        by_name = {self.move_name(state, move).lower(): move for move in legal}
        wanted = text.strip().lower()
        if wanted in by_name:
            return by_name[wanted]
        if wanted.isdigit() and int(wanted) in by_name.values():
            return int(wanted)
        raise InputError(f"{text!r} is not a legal move here; legal: {', '.join(by_name) or 'none'}")


class CompiledGame(Game):
    """A game with its parameters. States are read-only arrays: `apply` returns a new one."""

    name: ClassVar[str]
    rules: ClassVar[Rules]
    perft_counts: Sequence[int] = ()  # known numbers of move sequences from the start, lengths 1, 2, ...

    def __init__(self, **parameters: Any):
        if brings(self.rules, "chance_outcomes") != brings(self.rules, "sample_outcome"):
            raise InputError(f"{self.name}: chance_outcomes and sample_outcome go together")
        self.parameters = parameters
        shown = ",".join(f"{key}={value}" for key, value in parameters.items())
        self.type_name = f"{type(self).__qualname__}({shown})@{_source_fingerprint(type(self))}"

    def __repr__(self) -> str:
        shown = ", ".join(f"{key}={value!r}" for key, value in self.parameters.items())
        return f"{self.name}({shown})"

    # ---- playing ----------------------------------------------------------------------------------------------------------

    def initial_state(self) -> State:
        state = np.zeros(self.state_words, np.uint64)
        referee.begin(self, state)
        return _frozen(state)

    def look(self, state: State) -> tuple[int, list[int], list[float]]:
        """The player to move (CHANCE, or OVER when finished), the legal moves, and each player's result of a finished game.

        At a chance event the moves are its outcomes. Where there are too many moves to list, the list is a range.
        """
        player, moves, _, results = self._look(state)
        return player, moves, results

    def _look(self, state: State) -> tuple[int, Sequence[int], np.ndarray, list[float]]:
        moves = np.zeros(self.list_length, np.int64)
        probabilities = np.zeros(self.max_outcomes)
        results = np.zeros(MAX_PLAYERS)
        player, count = referee.look(self, state, moves, probabilities, results)
        is_ranked = player != CHANCE and count > self.max_moves
        listed = range(count) if is_ranked else moves[:count].tolist()
        return int(player), listed, probabilities, results[: self.players].tolist()

    def player(self, state: State) -> int:
        return self.look(state)[0]

    def is_over(self, state: State) -> bool:
        return self.player(state) == OVER

    def legal_moves(self, state: State) -> Sequence[int]:
        return self.look(state)[1]

    def chance_outcomes(self, state: State) -> list[tuple[int, float]]:
        """The outcomes of a chance event with their probabilities; none elsewhere."""
        player, outcomes, probabilities, _ = self._look(state)
        return list(zip(outcomes, probabilities.tolist(), strict=False)) if player == CHANCE else []

    def returns(self, state: State) -> list[float]:
        return self.look(state)[2]

    def apply(self, state: State, move: int) -> State:
        if move not in self.legal_moves(state):
            raise InputError(f"illegal move {move!r} in {self.name} position {self.format(state)!r}")
        after = state.copy()
        referee.play(self, after, move)
        return _frozen(after)

    def evaluate(self, state: State) -> list[float]:
        """Each player's expected result of an unfinished game, from -1 to 1."""
        results = np.zeros(MAX_PLAYERS)
        referee.assess(self, state, results)
        return results[: self.players].tolist()

    @property
    def has_evaluation(self) -> bool:
        return brings(self.rules, "evaluate")

    @property
    def has_priors(self) -> bool:
        return brings(self.rules, "priors")

    @property
    def has_rave_keys(self) -> bool:
        """Whether moves are told apart in RAVE by something else than their number."""
        return brings(self.rules, "rave_key")

    # Constants of compiled code: what a game does not have costs nothing.

    @property
    def has_chance(self) -> bool:
        return brings(self.rules, "sample_outcome")

    @property
    def has_ranks(self) -> bool:
        """Whether there are positions with more moves than can be listed."""
        return brings(self.rules, "move_count")

    @property
    def own_playout(self) -> bool:
        return brings(self.rules, "playout")

    def perft(self, depth: int, state: State | None = None) -> int:
        """How many different ways there are to play `depth` moves; outcomes of chance count as moves."""
        if depth < 1:
            raise InputError(f"perft depth must be at least 1, not {depth}")
        states = np.zeros((depth + 1, self.state_words), np.uint64)
        states[0] = self.initial_state() if state is None else state
        moves = np.zeros((depth, self.list_length), np.int64)
        counts = np.zeros(depth + 1, np.int64)
        arrays = (states, moves, np.zeros(self.max_outcomes), counts, np.zeros(depth, np.int64))
        return int(referee.perft(self, *arrays, depth))

    # ---- for people: a game overrides these --------------------------------------------------------------------------------

    def format(self, state: State) -> str:
        """The position as one line of text that `parse` reads."""
        return " ".join(f"{int(word):x}" for word in state)

    def parse(self, text: str) -> State:
        """The position that `format` wrote, or one typed by hand; an InputError says what is wrong with it."""
        try:
            words = [int(word, 16) for word in text.split()]
        except ValueError:
            words = []
        if len(words) != self.state_words or any(not 0 <= word < 1 << 64 for word in words):
            raise InputError(f"{self.name} position {text!r}: expected {self.state_words} hexadecimal words")
        return self.state(words)

    def state(self, words: Sequence[int]) -> State:
        """A state of these words."""
        return _frozen(np.array([int(word) for word in words], np.uint64))

    def pack(self, state: State) -> list[int]:
        """What `state` makes it from again."""
        return [int(word) for word in state]

    def check_state(self, state: Any) -> None:
        """An InputError if this is no state of the game."""
        if not isinstance(state, np.ndarray):
            raise InputError(f"position {state!r}: expected text, or a state made by the game")
        if state.shape != (self.state_words,) or state.dtype != np.uint64:
            words = self.state_words
            raise InputError(f"a state of {self.name} has {words} words of uint64, not {state.size} of {state.dtype}")


def _frozen(state: State) -> State:
    state.flags.writeable = False
    return state


def _source_fingerprint(game_class: type) -> str:
    """Of the file a game is defined in, of all files that it imports, directly or not, and of which rules it takes from them."""
    files: set[Path] = set()
    code = " ".join(f"{rule.__module__}.{rule.__qualname__}" for rule in game_class.rules)
    names = {game_class.__module__}
    done = set()
    while names - done:
        name = (names - done).pop()
        done.add(name)
        # The engine's own sources have a fingerprint of their own; libraries come with their version.
        if name.partition(".")[0] in {"distmcts", "llvmlite", "numba", "numpy", *sys.stdlib_module_names} - {"__main__"}:
            continue
        module = sys.modules[name]
        if getattr(module, "__file__", None):
            files.add(Path(module.__file__))
            names |= _imported(module)
        else:  # a notebook or the interactive prompt
            code += "".join(inspect.getsource(rule) for rule in game_class.rules if rule.__module__ == name)
            origins = (getattr(value, "__module__", None) for value in vars(module).values())
            names |= {origin for origin in origins if origin in sys.modules}
    return fingerprint(*sorted(files), text=code)


def _imported(module: ModuleType) -> set[str]:
    """The modules that a module's source imports, or imports something from."""
    path = Path(module.__file__)
    if path.suffix != ".py":
        return set()
    found = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            origin = resolve_name("." * node.level + (node.module or ""), module.__package__)
            found |= {origin, *(f"{origin}.{alias.name}" for alias in node.names)}
    return found & sys.modules.keys()
