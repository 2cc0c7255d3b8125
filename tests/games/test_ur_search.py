"""Searches of Ur against its exact solution."""

import random
from collections.abc import Iterator

import numpy as np
import pytest

import distmcts
from distmcts.game import State
from distmcts.kernels.rules import CHANCE
from tests.reference import ur
from tests.support.laws import check_chance

START = 0.516201102238  # the first player's chance to win with three pieces
GAME = distmcts.load_game("ur", pieces=3, playout="policy", evaluation="race")
BEST = {"selection": "puct", "c": 0.5, "cutoff": 2}  # what comes closest here; configs/ur_strong.yaml has the same
CLOSE = 0.005


def random_positions(count: int, seed: int) -> Iterator[State]:
    """One position of each of some random games, a player to move."""
    chooser = random.Random(seed)
    for _ in range(count):
        state = GAME.initial_state()
        met = []
        while not GAME.is_over(state):
            if GAME.player(state) == CHANCE:
                outcomes, chances = zip(*GAME.chance_outcomes(state), strict=True)
                state = GAME.apply(state, chooser.choices(outcomes, chances)[0])
            else:
                met.append(state)
                state = GAME.apply(state, chooser.choice(GAME.legal_moves(state)))
        yield chooser.choice(met)


@pytest.mark.parametrize("chance", ["enumerated", "hashed"])
@pytest.mark.parametrize(("parallel", "workers"), [("serial", 1), ("tree", 2), ("root", 2)])
def test_the_start_is_worth_what_it_is(parallel, workers, chance):
    with distmcts.Engine(GAME, parallel=parallel, workers=workers, chance=chance, memory="256MiB", seed=1, **BEST) as engine:
        result = engine.search(simulations=300_000)
        assert abs((result.value + 1) / 2 - START) < CLOSE
        assert result.best_move is None  # nobody moves before the dice are cast
        assert result.player == 0
        assert sum(audit.visits for audit in engine.audit()) == 300_000
        assert all(check_chance(tree) > 1000 for tree in engine.trees)


@pytest.mark.long
def test_uniform_playouts_find_it_too():
    """Without any knowledge of the game: random playouts and UCT, less sharp."""
    game = distmcts.load_game("ur", pieces=3)
    result = distmcts.search(game, parallel="serial", c=0.25, simulations=300_000, memory="256MiB", seed=1)
    assert abs((result.value + 1) / 2 - START) < 0.01


def test_its_moves_are_the_best_ones():
    solution = ur.solution(3)
    agreed = 0
    with distmcts.Engine(GAME, parallel="serial", memory="128MiB", seed=1, **BEST) as engine:
        for state in random_positions(200, seed=3):
            position = ur.read(GAME.format(state))
            exact = solution.after_roll(position.mine, position.theirs, position.roll)
            engine.set_position(state)
            engine.run(simulations=50_000)
            agreed += exact[engine.best_move()] >= max(exact.values()) - CLOSE
    assert agreed >= 196


def test_the_solution_is_followed_down_the_tree():
    """Values of outcomes below a chance node, against exact ones: not only their mean is right."""
    solution = ur.solution(3)
    with distmcts.Engine(GAME, parallel="serial", memory="256MiB", seed=2, **BEST) as engine:
        result = engine.search(simulations=300_000)
    exact = {}
    for roll, _ in GAME.chance_outcomes(GAME.initial_state()):
        after = GAME.apply(GAME.initial_state(), roll)
        position = ur.read(GAME.format(after))
        if position.roll is None:  # nothing to play: the other rolls
            exact[roll] = 1 - solution.before_roll(position.mine, position.theirs)
        else:
            exact[roll] = max(solution.after_roll(position.mine, position.theirs, position.roll).values())
    for row in result.moves:
        assert (row.value + 1) / 2 == pytest.approx(exact[row.move], abs=0.02)
    shares = np.array([row.visits for row in sorted(result.moves)]) / result.simulations
    assert shares == pytest.approx(np.array([1, 4, 6, 4, 1]) / 16, abs=0.005)
