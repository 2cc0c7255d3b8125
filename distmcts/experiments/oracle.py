"""Exact values of small positions, by looking at everything that matters.

One question is asked again and again, "is this position worth at least so much to player 0?", a few moves ahead first, then
farther and farther: so a short way to an answer is found before a long one, also where a game can go round in circles. What is
proved about a position is a lower and an upper bound of its value; they only ever close in. When they meet, the value is exact.

Player 0 wants values high, player 1 wants them low. So it does not matter who moves how often in a row. Positions are told apart
by the whole state: where a game keeps its past there, values of one past are not used for another.
"""

import math

from distmcts.errors import InputError
from distmcts.game import CompiledGame, State
from distmcts.kernels.rules import CHANCE, OVER

LOWEST, HIGHEST = -1.0, 1.0  # results beyond are cut, as a search does (kernels/backup.py)
HORIZONS = (1, 2, 4, 8, 16, 32, 64, 128, 256)  # moves to look ahead; farther goes beyond small positions, and Python's stack
VISITS_PER_NODE = 50  # looks at known positions are cheap, but in circles there is no end of them


def solve(game: CompiledGame, state: State, node_limit: int) -> dict[int, float] | None:
    """The exact value of every legal move for the player to move; None if that takes a look at more than `node_limit` positions.

    For two players with opposite aims. Blocks: some tens of microseconds a position.
    """
    return Oracle(game, node_limit).values(state)


def regret(values: dict[int, float], move: int) -> float:
    """What a move gives away."""
    return max(values.values()) - values[move]


class Oracle:
    """Solves related positions: what was seen for one is known for the next. The limit is that of all of them together."""

    def __init__(self, game: CompiledGame, node_limit: int):
        if game.players != 2:
            raise InputError(f"{game.name} has {game.players} players; exact values are known only for two")
        if not isinstance(node_limit, int) or node_limit < 1:
            raise InputError(f"node_limit={node_limit!r}: must be a whole number from 1")
        self.game = game
        self._nodes_left = node_limit
        self._visits_left = node_limit * VISITS_PER_NODE
        self._known: dict[bytes, _Position] = {}

    def values(self, state: State) -> dict[int, float] | None:
        """The exact value of every legal move for the player to move; None if the limit was passed."""
        try:
            position = self._position(state)
            if position.player == OVER:
                raise self.game.no_move(state)
            sign = 1 if position.player == 0 else -1
            return {move: sign * self._exact(self._after(position, i)) for i, move in enumerate(position.moves)}
        except _BeyondLimit:
            return None

    def _exact(self, position: "_Position") -> float:
        for horizon in HORIZONS:
            bounds = None
            while bounds != (position.least, position.most):
                bounds = position.least, position.most
                self._ask(position, position.most, horizon)
                self._ask(position, math.nextafter(position.least, math.inf), horizon)
            if position.least == position.most:
                return position.least
        raise _BeyondLimit

    def _ask(self, position: "_Position", goal: float, horizon: int) -> None:
        """Move the bounds until they say whether the value is at least `goal`, or no more can be seen from here."""
        if position.least >= goal or position.most < goal or position.asked.get(goal, 0) >= horizon:
            return
        if self._visits_left == 0:
            raise _BeyondLimit
        self._visits_left -= 1
        best = max if position.player == 0 else min
        for i in range(len(position.moves)):
            child = self._after(position, i)
            self._ask(child, goal, horizon - 1)
            if position.player == 0 and child.least >= goal:
                position.least = max(position.least, child.least)
                return
            if position.player == 1 and child.most < goal:
                position.most = min(position.most, child.most)
                return
        position.least = max(position.least, best(child.least for child in position.after))
        position.most = min(position.most, best(child.most for child in position.after))
        position.asked[goal] = horizon

    def _after(self, position: "_Position", i: int) -> "_Position":
        """The position after move number i."""
        if i == len(position.after):
            position.after.append(self._position(self.game.apply(position.state, position.moves[i])))
        return position.after[i]

    def _position(self, state: State) -> "_Position":
        key = state.tobytes()
        if key not in self._known:
            if self._nodes_left == 0:
                raise _BeyondLimit
            self._nodes_left -= 1
            self._known[key] = _Position(state, *self._look(state))
        return self._known[key]

    def _look(self, state: State) -> tuple[int, list[int], float, float]:
        player, moves, results = self.game.look(state)
        if player == CHANCE:
            raise InputError(f"{self.game.name} has chance events; exact values are known only without them")
        if player != OVER:
            return player, moves, LOWEST, HIGHEST
        if abs(results[0] + results[1]) > 1e-9:
            raise InputError(f"{self.game.name}: exact values are known only where one player's gain is the other's loss")
        value = min(max(results[0], LOWEST), HIGHEST)
        return player, moves, value, value


class _Position:
    """A position, what is proved about its value for player 0, and how far ahead was looked in vain for which question."""

    __slots__ = ("state", "player", "moves", "least", "most", "after", "asked")

    def __init__(self, state: State, player: int, moves: list[int], least: float, most: float):
        self.state = state
        self.player = player
        self.moves = moves
        self.least = least
        self.most = most
        self.after: list[_Position] = []  # grows when a move is looked at for the first time
        self.asked: dict[float, int] = {}


class _BeyondLimit(Exception):
    """There is more to look at than was allowed."""
