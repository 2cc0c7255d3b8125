"""Games written in plain Python: any object with the methods of OpenSpiel's states.

    class Countdown:                       # whoever takes the last stone loses
        def __init__(self, stones=10, mover=0): ...
        def clone(self): ...               # an independent copy
        def current_player(self): ...      # 0, 1, ...
        def legal_actions(self): ...       # whole numbers, 0 or more
        def apply_action(self, action): ...
        def is_terminal(self): ...
        def returns(self): ...             # each player's result, from -1 to 1

    distmcts.search(Countdown(), seconds=1)

Games of chance have `is_chance_node` and `chance_outcomes` (pairs of outcome and probability) too. Understood where there are
any: `num_players`, `num_distinct_actions`, `action_to_string`, `min_utility` and `max_utility` (results are scaled from there to
-1 and 1), `evaluate` and `prior`, `__str__`. A game object has `new_initial_state`.

The tree and its kernels are those of compiled games (kernels/host.py). All games in Python with the same number of players share
one compiled code, with chance or without.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

from distmcts.errors import GameError, InputError
from distmcts.game import Game, Rules
from distmcts.kernels import host
from distmcts.kernels.layout import MAX_PLAYERS
from distmcts.kernels.rules import CHANCE, OVER

NEEDED = ("clone", "current_player", "legal_actions", "apply_action", "is_terminal", "returns")
ROOM = 1 << 16  # for moves and outcomes, the same for all games: its buffers are a few MiB a worker, and mostly never touched
SHOWN = 160  # characters of a position in an error
SLACK = 1e-6  # for sums that should be 1
MOST = 1 + SLACK

# Plays a state to its end, in place or not, and returns what `returns` does; a function gives it 64 random bits at a time.
Playout = Callable[[Any, Callable[[], int]], Sequence[float]]


class PythonGame(Game):
    """A game whose rules are methods of a Python object. States are those objects: `apply` returns a new one."""

    rules = Rules(
        host.initial,
        host.legal_moves,
        host.apply,
        host.ask_player,
        host.returns,
        evaluate=host.evaluate,
        chance_outcomes=host.chance_outcomes,
        priors=host.priors,
    )
    in_python = True
    has_ranks = False
    state_words = host.STATE_WORDS
    max_moves = max_outcomes = move_limit = ROOM
    perft_counts = ()

    def __init__(
        self,
        source: Any,
        *,
        start: Any = None,
        playout: Playout | None = None,
        evaluator: Any = None,
        utilities: tuple[float, float] | None = None,
    ):
        """`source`: a game, or the state that is searched if no other is given.

        start: a state of that game to begin with. playout: instead of random moves by `legal_actions` and `apply_action`.
        evaluator: has evaluate(state), and perhaps prior(state), as OpenSpiel's evaluators do. utilities: the smallest and the
        largest result, unless the object tells.

        Workers are forks: a random generator of the game's own would give them all the same numbers. Playouts are given theirs.
        """
        self.name = getattr(source, "__name__", type(source).__name__)
        self.parameters: dict[str, Any] = {}
        self._check_source(source)
        if start is None:
            start = source.new_initial_state() if hasattr(source, "new_initial_state") else source
        self._check_methods(start)
        self._start = start.clone()
        if self._start is start:
            raise InputError(f"{self.name}: clone() must return a copy, not the object itself")
        self.players = self._count_players(source)
        self.has_chance = self._knows_chance()
        self.playout = playout
        self._evaluator = evaluator
        self._utilities = utilities or self._known_utilities(source)
        known = [self._told(source, "num_distinct_actions") or 0, self._told(source, "max_chance_outcomes") or 0]
        if max(known) > ROOM:
            raise InputError(f"{self.name}: has {max(known)} different moves; games in Python may have up to {ROOM}")
        self.type_name = f"python(players={self.players},chance={int(self.has_chance)})"

    def _check_source(self, source: Any) -> None:
        if isinstance(source, type):
            raise InputError(f"{self.name} is a class: give one of its objects, e.g. {self.name}()")

    def _check_methods(self, state: Any) -> None:
        if missing := _missing(state):
            raise InputError(
                f"{self.name}: is no game: it has no {' and no '.join(missing)}; "
                f"a state of a game in Python has {', '.join(NEEDED)}"
            )

    def _knows_chance(self) -> bool:
        return hasattr(self._start, "is_chance_node")

    def _told(self, source: Any, method: str) -> Any:
        """What the game, or else the state, says about itself; None if it does not."""
        for teller in (source, self._start):
            if callable(getattr(teller, method, None)):
                return getattr(teller, method)()
        return None

    def _count_players(self, source: Any) -> int:
        players = self._told(source, "num_players")
        players = len(self._start.returns()) if players is None else int(players)
        if not 1 <= players <= MAX_PLAYERS:
            raise InputError(f"{self.name}: has {players} players; 1 to {MAX_PLAYERS} can be searched")
        return players

    def _known_utilities(self, source: Any) -> tuple[float, float] | None:
        low, high = self._told(source, "min_utility"), self._told(source, "max_utility")
        known = low is not None and high is not None and -math.inf < low < high < math.inf
        return (low, high) if known and (low, high) != (-1, 1) else None

    def __repr__(self) -> str:
        return self.name

    # ---- rules, also for workers (parallel/hosting.py) -----------------------------------------------------------------------

    def player(self, state: Any) -> int:
        if state.is_terminal():
            return OVER
        if self.has_chance and state.is_chance_node():
            return CHANCE
        player = int(state.current_player())
        if not 0 <= player < self.players:
            raise self.broken(f"current_player() is {player}, not one of {self.players} players,", state)
        return player

    def moves(self, state: Any) -> Sequence[int]:
        """The legal moves where a player is to move."""
        moves = state.legal_actions()
        if not len(moves):
            raise self.broken("no legal moves, but not over,", state)
        if min(moves) < 0 or max(moves) >= self.move_limit or len(moves) > self.max_moves:
            raise self.broken(f"a move is outside 0 to {self.move_limit - 1}", state)
        if len(set(moves)) != len(moves):
            raise self.broken("a move is listed twice", state)
        return moves

    def chance_outcomes(self, state: Any) -> list[tuple[int, float]]:
        """The outcomes of a chance event with their probabilities; none elsewhere."""
        if self.player(state) != CHANCE:
            return []
        pairs = [(int(outcome), float(chance)) for outcome, chance in state.chance_outcomes()]
        outcomes = [outcome for outcome, _ in pairs]
        if not abs(sum(chance for _, chance in pairs) - 1.0) <= SLACK or any(chance < 0 for _, chance in pairs):
            raise self.broken("probabilities do not sum to 1", state)
        if len(set(outcomes)) != len(outcomes) or len(pairs) > self.max_outcomes:
            raise self.broken(f"outcomes are listed twice, or are more than {self.max_outcomes},", state)
        if min(outcomes) < 0 or max(outcomes) > 0x7FFFFFFF:
            raise self.broken("an outcome is outside 0 to 2^31 - 1", state)
        return pairs

    def results(self, state: Any, utilities: Any) -> list[float]:
        """What a finished game, or an evaluation, is worth to each player, from -1 to 1."""
        found = [float(utility) for utility in utilities]
        if self._utilities:
            low, high = self._utilities
            found = [(2.0 * utility - low - high) / (high - low) for utility in found]
        if len(found) != self.players:
            raise self.broken(f"{len(found)} results for {self.players} players", state)
        for result in found:
            if not -MOST <= result <= MOST:
                limits = self._utilities or "(-1, 1); PythonGame(..., utilities=(lowest, highest)) says others"
                raise self.broken(f"results {list(utilities)} are not within {limits}", state)
        return found

    def estimate(self, state: Any) -> list[float]:
        """Each player's expected result of an unfinished game."""
        values = self._evaluator.evaluate(state) if self._evaluator else state.evaluate()
        return self.results(state, values)

    def priors(self, state: Any, moves: Sequence[int]) -> list[float]:
        """How likely each of the legal moves is to be the best; they sum to 1."""
        pairs = self._evaluator.prior(state) if self._evaluator else state.prior()
        known = {int(move): float(share) for move, share in pairs}
        shares = [known.get(move, 0.0) for move in moves]
        if not abs(sum(shares) - 1.0) <= 1e-3:
            raise self.broken("priors of the legal moves do not sum to 1", state)
        total = sum(shares)
        return [share / total for share in shares]

    @property
    def has_evaluation(self) -> bool:
        return callable(getattr(self._evaluator or self._start, "evaluate", None))

    @property
    def has_priors(self) -> bool:
        return callable(getattr(self._evaluator or self._start, "prior", None))

    def broken(self, what: str, state: Any) -> GameError:
        return GameError(f"{self.name}: {what} in position {self.describe(state)!r}")

    def describe(self, state: Any) -> str:
        """The position on one line, shortened."""
        try:
            line = " / ".join(part.strip() for part in str(state).strip().splitlines())
        except Exception as error:  # it is broken already
            line = f"(str raises {type(error).__name__})"
        return line if len(line) <= SHOWN else line[: SHOWN - 3] + "..."

    # ---- playing -------------------------------------------------------------------------------------------------------------

    def initial_state(self) -> Any:
        return self._start.clone()

    def look(self, state: Any) -> tuple[int, list[int], list[float]]:
        """The player to move (CHANCE, or OVER when finished), the legal moves, and each player's result of a finished game."""
        player = self.player(state)
        if player == OVER:
            return player, [], self.results(state, state.returns())
        if player == CHANCE:
            return player, [outcome for outcome, _ in self.chance_outcomes(state)], [0.0] * self.players
        return player, [int(move) for move in self.moves(state)], [0.0] * self.players

    def is_over(self, state: Any) -> bool:
        return self.player(state) == OVER

    def legal_moves(self, state: Any) -> list[int]:
        return self.look(state)[1]

    def returns(self, state: Any) -> list[float]:
        return self.look(state)[2]

    def apply(self, state: Any, move: int) -> Any:
        if move not in self.legal_moves(state):
            raise InputError(f"illegal move {move!r} in {self.name} position {self.format(state)!r}")
        after = state.clone()
        after.apply_action(int(move))
        return after

    def evaluate(self, state: Any) -> list[float]:
        return self.estimate(state) if self.has_evaluation else [0.0] * self.players

    def perft(self, depth: int, state: Any = None) -> int:
        """How many different ways there are to play `depth` moves; outcomes of chance count as moves."""
        if depth < 1:
            raise InputError(f"perft depth must be at least 1, not {depth}")
        state = self._start if state is None else state
        moves = self.legal_moves(state)
        return len(moves) if depth == 1 else sum(self.perft(depth - 1, self.apply(state, move)) for move in moves)

    # ---- for people ------------------------------------------------------------------------------------------------------------

    def format(self, state: Any) -> str:
        return self.describe(state)

    def parse(self, text: str) -> Any:
        """The position after some moves from the start, given by their numbers: "3 4 1"."""
        state = self.initial_state()
        for word in text.split():
            legal = self.legal_moves(state)
            if not word.isdigit() or int(word) not in legal:
                shown = ", ".join(map(str, legal[:20])) + (" ..." if len(legal) > 20 else "")
                raise InputError(f"{self.name} position {text!r}: {word!r} is not a legal move; legal: {shown or 'none'}")
            state.apply_action(int(word))
        return state

    def draw(self, state: Any) -> str:
        return str(state)

    def move_name(self, state: Any, move: int) -> str:
        if not callable(getattr(state, "action_to_string", None)):
            return str(move)
        try:
            return str(state.action_to_string(state.current_player(), move))
        except TypeError:  # some name a move without the player
            return str(state.action_to_string(move))

    def state(self, packed: Any) -> Any:
        raise InputError(f"{self.name}: positions of a game in Python cannot be read from a file")

    def pack(self, state: Any) -> Any:
        raise InputError(f"{self.name}: positions of a game in Python cannot be written to a file; OpenSpiel's can")

    def check_state(self, state: Any) -> None:
        """An InputError if this is no state of the game."""
        if _missing(state):
            raise InputError(f"position {state!r}: expected text, or a state of {self.name}")


def _missing(state: Any) -> list[str]:
    """The methods that an object lacks to be a state."""
    chance = ("chance_outcomes",) if hasattr(state, "is_chance_node") else ()
    return [name for name in (*NEEDED, *chance) if not callable(getattr(state, name, None))]


def draw_outcome(pairs: Sequence[tuple[int, float]], word: int) -> int:
    """An outcome by its probability; the same as kernels/chance.py draws from the same 64 random bits."""
    share = (word >> 11) * 2.0**-53
    for outcome, chance in pairs[:-1]:
        share -= chance
        if share < 0.0:
            return outcome
    return pairs[-1][0]
