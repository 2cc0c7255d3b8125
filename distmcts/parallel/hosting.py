"""The host's side of games in Python: replies to what kernels ask (kernels/host.py), for every worker of an engine.

A worker's copy of the root's position came with the fork; a simulation takes a clone of it, and replays the moves that kernels
have written down. Random numbers come from the worker's stream in the order in which compiled kernels draw them, so that a game
in Python and a compiled one with the same rules grow the same tree from the same seed.

Whatever the game raises is kept, the kernel is told that there is no reply and returns, and `guarded` raises it then: an
exception cannot pass through compiled code.
"""

import ctypes
import traceback
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from distmcts.errors import GameError
from distmcts.kernels.host import (
    ADDRESS,
    CALLBACK,
    CHANCE_OUTCOMES,
    EVALUATION,
    LEGAL_MOVES,
    LENGTH,
    MOVES,
    PLAYER,
    PLAYOUT,
    PRIORS,
    REPLY,
    RETURNS,
)
from distmcts.kernels.layout import BREACH, BROKEN, HEARTBEAT, PLAYER_ZERO, RAVE_STAMP, RULES_FAILED, Settings, Shared, Worker
from distmcts.kernels.modes import Mode, notes_moves
from distmcts.kernels.rules import LONGEST
from distmcts.parallel.workers import Loop
from distmcts.python_game import PythonGame, draw_outcome

WORD = (1 << 64) - 1


class Host:
    """All workers' rules behind one function that kernels can call. Must live as long as they may."""

    def __init__(self, game: PythonGame, shared: Shared, workers: list[Worker], settings: Settings, mode: Mode):
        self._shared = shared
        self._rules = [PythonRules(game, worker, settings.cutoff, notes_moves(game, mode)) for worker in workers]
        self._by_place: dict[int, tuple[PythonRules, memoryview]] = {}
        for rules, worker in zip(self._rules, workers, strict=True):
            words = worker.state.size
            for state in (worker.state, worker.trial[:words], worker.trial[words:]):
                self._by_place[state.ctypes.data] = (rules, _view(state, "q"))
        self._callback = CALLBACK(self._reply)

    def set_root(self, state: Any) -> None:
        """Search from this position. Workers that were forked before do not hear of it."""
        for rules in self._rules:
            rules.set_root(state.clone())
        self._shared.root_state[ADDRESS] = ctypes.cast(self._callback, ctypes.c_void_p).value
        self._shared.root_state[LENGTH] = 0

    def close(self) -> None:
        """Let go of the memory. No kernel may run after this."""
        self._callback = None
        self._rules = []
        self._by_place = {}

    def _reply(self, place: int, question: int) -> None:
        rules, state = self._by_place[place]
        try:
            state[REPLY] = rules.replies[question](state) + PLAYER_ZERO
        except BaseException as error:
            rules.fail(error)

    def guarded(self, loop: Loop, index: int) -> Loop:
        """A worker's loop that raises what the rules have raised."""
        rules = self._rules[index]

        def run(length: int) -> int:
            status = loop(length)
            if status == BROKEN:
                raise rules.failure()
            return status

        return run


class PythonRules:
    """The rules as one worker asks for them. Buffers are seen as memoryviews: the fastest way to single numbers from Python."""

    def __init__(self, game: PythonGame, worker: Worker, cutoff: int, notes_moves: bool):
        self.game = game
        self.cutoff = cutoff
        self.notes_moves = notes_moves
        self.slot = _view(worker.slot, "q")
        self.rng = _view(worker.rng, "Q")
        self.moves = _view(worker.moves, "q")
        self.outcomes = _view(worker.outcomes, "q")
        self.probabilities = _view(worker.probabilities, "d")
        self.results = _view(worker.results, "d")
        self.priors = _view(worker.priors, "d")
        self.played = _view(worker.played, "q")
        self.root: Any = None
        self.state: Any = None  # the position after `done`, or None
        self.done: list[int] = []
        self.last: Any = None  # the position that was asked about last, also when it has been played on since
        self._error: BaseException | None = None
        self.replies: dict[int, Callable[[memoryview], int]] = {
            PLAYER: self._player,
            LEGAL_MOVES: self._legal_moves,
            CHANCE_OUTCOMES: self._chance_outcomes,
            PLAYOUT: self._playout,
            RETURNS: self._returns,
            EVALUATION: self._evaluation,
            PRIORS: self._priors,
        }

    def set_root(self, state: Any) -> None:
        self.root = self.last = state
        self.state = None

    def position(self, words: memoryview) -> Any:
        """The state after the moves that the kernel has written down."""
        moves = words[MOVES : MOVES + words[LENGTH]].tolist()
        if self.state is None or moves[: len(self.done)] != self.done:
            self.state, self.done = self.root.clone(), []
        state = self.last = self.state
        for move in moves[len(self.done) :]:
            state.apply_action(move)
        self.done = moves
        return state

    # ---- questions -------------------------------------------------------------------------------------------------------------

    def _player(self, words: memoryview) -> int:
        return self.game.player(self.position(words))

    def _legal_moves(self, words: memoryview) -> int:
        self.slot[HEARTBEAT] += 1
        moves = self.game.moves(self.position(words))
        self.moves[: len(moves)] = array("q", moves)
        return len(moves)

    def _chance_outcomes(self, words: memoryview) -> int:
        pairs = self.game.chance_outcomes(self.position(words))
        self.outcomes[: len(pairs)] = array("q", [outcome for outcome, _ in pairs])
        self.probabilities[: len(pairs)] = array("d", [chance for _, chance in pairs])
        return len(pairs)

    def _returns(self, words: memoryview) -> int:
        state = self.position(words)
        return self._write_results(self.game.results(state, state.returns()))

    def _evaluation(self, words: memoryview) -> int:
        return self._write_results(self.game.estimate(self.position(words)))

    def _priors(self, words: memoryview) -> int:
        state = self.position(words)
        shares = self.game.priors(state, state.legal_actions())
        self.priors[: len(shares)] = array("d", shares)
        return len(shares)

    def _playout(self, words: memoryview) -> int:
        state = self.position(words)
        self.state = None  # it is played on, and no position of the tree any more
        game = self.game
        if game.playout and self.cutoff < 0 and not self.notes_moves:
            utilities = state.returns() if state.is_terminal() else game.playout(state, self._random_word)
            return self._write_results(game.results(state, utilities))
        if self._play_on(state):
            return self._write_results(game.results(state, state.returns()))
        return self._write_results(game.estimate(state))

    def _write_results(self, results: list[float]) -> int:
        self.results[: len(results)] = array("d", results)
        return 0

    # ---- playouts --------------------------------------------------------------------------------------------------------------

    def _play_on(self, state: Any) -> bool:
        """Random moves, in place, to the end or to the cutoff; whether the game is over then.

        kernels/playout.py and kernels/rng.py in Python, as few operations as it takes.
        """
        slot, has_chance, notes_moves = self.slot, self.game.has_chance, self.notes_moves
        is_terminal, legal_actions, apply_action = state.is_terminal, state.legal_actions, state.apply_action
        a, b = self.rng
        for _ in range(LONGEST if self.cutoff < 0 else self.cutoff):
            if is_terminal():
                break
            slot[HEARTBEAT] += 1  # one move may take long
            total = a + b & WORD
            word = (total << 17 | total >> 47) + a & WORD
            b ^= a
            a = (a << 49 | a >> 15) & WORD ^ b ^ b << 21 & WORD
            b = (b << 28 | b >> 36) & WORD
            if has_chance and state.is_chance_node():
                move = draw_outcome(state.chance_outcomes(), word)
            else:
                moves = legal_actions()
                if not len(moves):
                    raise self.game.broken("no legal moves, but not over,", state)
                move = moves[(word >> 32) * len(moves) >> 32]
                if notes_moves:
                    slot[RAVE_STAMP] += 1
                    self.played[state.current_player() * self.game.rave_keys + move] = slot[RAVE_STAMP]
            apply_action(move)
        self.rng[0], self.rng[1] = a, b
        if is_terminal():
            return True
        if self.cutoff < 0:
            raise self.game.broken("a playout does not end; it is", state)
        return False

    def _random_word(self) -> int:
        a, b = self.rng
        total = a + b & WORD
        b ^= a
        self.rng[0] = (a << 49 | a >> 15) & WORD ^ b ^ b << 21 & WORD
        self.rng[1] = (b << 28 | b >> 36) & WORD
        return (total << 17 | total >> 47) + a & WORD

    # ---- when the game is broken ------------------------------------------------------------------------------------------

    def fail(self, error: BaseException) -> None:
        """Keep the first thing that went wrong; the kernel will return."""
        if self._error is None:
            self._error = self._explained(error)
        self.slot[BREACH] = RULES_FAILED
        self.state = None

    def _explained(self, error: BaseException) -> BaseException:
        if isinstance(error, (GameError, KeyboardInterrupt, SystemExit)):
            return error
        frame = traceback.extract_tb(error.__traceback__)[-1]
        said = " ".join(str(error).split())
        what = f"{type(error).__name__}{': ' if said else ''}{said} ({Path(frame.filename).name}, line {frame.lineno})"
        return self.game.broken(what, self.last)

    def failure(self) -> BaseException:
        """What went wrong, once. Nothing that the rules did: then a signal came in the moment before they were asked."""
        error, self._error = self._error, None
        return error or KeyboardInterrupt()


def _view(buffer: np.ndarray, kind: str) -> memoryview:
    return memoryview(buffer).cast("B").cast(kind)
