"""Positions of Risk for tests: made by hand, and games played alongside the plain rules."""

import random
from collections.abc import Iterator

import numpy as np

from distmcts.game import CompiledGame
from distmcts.kernels import rules
from distmcts.kernels.jit import entry
from distmcts.kernels.rng import seeded
from games.risk import Risk
from games.risk_state import FINISHED, PHASE
from tests.reference import risk as plain

FULL = Risk()
STEPS = Risk(actions="steps")
GAMES = {"full": FULL, "steps": STEPS}


@entry
def step(game, state, moves, rng):
    """One move of the playout policy, in place."""
    return rules.playout_step(game, state, moves, rng)


def board(a: dict[str, int] | None = None, b: dict[str, int] | None = None, others: str = "a1", then: str = "turn 1 a manoeuvre"):
    """A position as text: territories of both players with their troops, what all others hold, what is to be decided."""
    cells = {name: f"a{troops}" for name, troops in (a or {}).items()} | {name: f"b{n}" for name, n in (b or {}).items()}
    assert set(cells) <= set(plain.NAMES)
    parts = []
    for short, names in plain.MEMBERS.items():
        parts += [short, *(cells.get(name, others) for name in names)]
    return " ".join([*parts, then])


def random_game(game: CompiledGame, seed: int) -> Iterator[tuple[np.ndarray, plain.State]]:
    """Every position of a uniformly random game, by the compiled rules and by the plain ones."""
    choose = random.Random(seed)
    state, reference = game.initial_state(), plain.State({}, {})
    while True:
        yield state, reference
        moves = game.legal_moves(state)
        if not moves:
            return
        move = choose.choice(moves)
        name = game.move_name(state, move)
        state, reference = game.apply(state, move), plain.play(reference, name, game.turns, game.in_steps)


def policy_game(game: Risk, seed: int) -> Iterator[tuple[np.ndarray, plain.State, str]]:
    """Every position of a game by the policy, and the move it chose."""
    rng = seeded(seed, 0)
    moves = np.zeros(game.list_length, np.int64)
    state, reference = np.array(game.initial_state()), plain.State({}, {})
    while state[PHASE] != FINISHED:
        before = game.state(state)
        name = game.move_name(before, int(step(game, state, moves, rng)))
        yield before, reference, name
        reference = plain.play(reference, name, game.turns, game.in_steps)
        assert game.format(state) == plain.text(reference)
