"""What the tests of all games do alike: random games, playouts, OpenSpiel alongside, and the rules as plain Python.

As a program it prints a trace: `python -m tests.support.playing MODULE CLASS PARAMETERS GAMES`.
"""

import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from distmcts.game import CompiledGame
from distmcts.kernels import referee
from distmcts.kernels.layout import MAX_PLAYERS
from distmcts.kernels.referee import bare_playouts
from distmcts.kernels.rng import seeded
from distmcts.kernels.rules import OVER

ROOT = Path(__file__).parents[2]
BY_PLAYOUT, BY_RULES = -1, 1_000_000  # cutoff of bare_playouts: none, or one that no game reaches


def positions(game: CompiledGame, games: int, seed: int) -> Iterator[np.ndarray]:
    """Every position of random games."""
    choose = random.Random(seed)
    for _ in range(games):
        state = game.initial_state()
        yield state
        while moves := game.legal_moves(state):
            state = game.apply(state, choose.choice(moves))
            yield state


def play_out(game: CompiledGame, start: np.ndarray, cutoff: int, rng: np.ndarray) -> tuple[np.ndarray, float]:
    """The last position of a random game from `start`, and player 0's result."""
    end = np.zeros(game.state_words, np.uint64)
    results, totals = np.zeros(MAX_PLAYERS), np.zeros(MAX_PLAYERS)
    bare_playouts(game, start, end, np.zeros(game.list_length, np.int64), results, totals, rng, cutoff, 1)
    return end, results[0]


def both_ways(game: CompiledGame, start: np.ndarray, count: int) -> list[list[tuple[np.ndarray, float]]]:
    """Ends of random games from `start`: some by the game's own playout, as many by its rules, move by move."""
    rng = seeded(5, 0)
    return [[play_out(game, start, cutoff, rng) for _ in range(count)] for cutoff in (BY_PLAYOUT, BY_RULES)]


def alongside(game: CompiledGame, theirs: Any, games: int, seed: int = 1) -> Iterator[tuple[np.ndarray, Any]]:
    """Every position of random games of an OpenSpiel game: our state and theirs after the same moves."""
    choose = random.Random(seed)
    for _ in range(games):
        state, their_state = game.initial_state(), theirs.new_initial_state()
        yield state, their_state
        while not their_state.is_terminal():
            move = choose.choice(their_state.legal_actions())
            their_state.apply_action(move)
            state = game.apply(state, move)
            yield state, their_state


def lockstep(game: CompiledGame, theirs: Any, games: int, seed: int = 1) -> int:
    """Check player, legal moves and results at every position of random games against OpenSpiel's; how many positions.

    Without what makes single calls convenient: some ten times as fast as `alongside`.
    """
    choose = random.Random(seed)
    start, state = game.initial_state(), np.zeros(game.state_words, np.uint64)
    moves, probabilities, results = np.zeros(game.list_length, np.int64), np.zeros(game.max_outcomes), np.zeros(MAX_PLAYERS)
    positions = 0
    for _ in range(games):
        state[:] = start
        their_state = theirs.new_initial_state()
        while True:
            player, count = referee.look(game, state, moves, probabilities, results)
            positions += 1
            if their_state.is_terminal():
                assert player == OVER, their_state.history()
                assert results[: game.players].tolist() == their_state.returns(), their_state.history()
                break
            legal = moves[:count].tolist()
            assert (player, legal) == (their_state.current_player(), their_state.legal_actions()), their_state.history()
            move = choose.choice(legal)
            referee.play(game, state, move)
            their_state.apply_action(move)
    return positions


def their_look(their_state: Any) -> tuple[int, list[int], list[float]]:
    """What `look` must say, according to OpenSpiel."""
    if their_state.is_terminal():
        return OVER, [], their_state.returns()
    return their_state.current_player(), their_state.legal_actions(), [0.0] * len(their_state.returns())


def trace(game: CompiledGame, games: int) -> list[str]:
    """What the rules say about random games; the same compiled and as plain Python."""
    rng = seeded(3, 0)
    lines = []
    for state in positions(game, games, seed=3):
        end, result = play_out(game, state, BY_PLAYOUT, rng)
        lines.append(f"{state.tolist()} {game.look(state)} {game.evaluate(state)} {end.tolist()} {float(result)}")
    return lines


def plain_trace(game: CompiledGame, games: int) -> list[str]:
    """The same by a process without the compiler."""
    request = [type(game).__module__, type(game).__qualname__, json.dumps(game.parameters), str(games)]
    plain = subprocess.run(
        [sys.executable, "-m", "tests.support.playing", *request],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(ROOT)},
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert plain.returncode == 0, plain.stderr
    return plain.stdout.splitlines()


if __name__ == "__main__":
    module, name, parameters, count = sys.argv[1:]
    asked_for = getattr(import_module(module), name)(**json.loads(parameters))
    with np.errstate(over="ignore"):
        print("\n".join(trace(asked_for, int(count))))
