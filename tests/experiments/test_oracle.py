"""Exact values against solvers of each game and against plain minimax, and the positions that are chosen by them."""

import random

import numpy as np
import pytest

from distmcts.errors import InputError
from distmcts.experiments import positions
from distmcts.experiments.oracle import Oracle, regret, solve
from distmcts.experiments.positions import midgame, openings, solved_positions
from distmcts.kernels.rules import OVER
from distmcts.registry import load_game
from tests.reference import awale, connect_four, tic_tac_toe
from tests.reference.positions import AWALE_ENDGAMES, CONNECT_FOUR_ONLY_MOVES

GAMES = {
    "tic_tac_toe": load_game("tic_tac_toe"),
    "connect_four": load_game("connect_four"),
    "othello": load_game("othello"),
    "awale": load_game("awale"),
    "hex 3": load_game("hex", size=3),
    "hex 4": load_game("hex", size=4),
}
every_game = pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)


class RandomTree:
    """A game that is a random tree: whoever moves, how often in a row, for whatever result. Some positions are met twice."""

    name = "random tree"
    players = 2

    def __init__(self, seed: int):
        choose = random.Random(seed)
        size = choose.randint(2, 60)
        self.children = [[] for _ in range(size)]
        for node in range(1, size):
            for parent in {choose.randrange(max(0, node - 8), node) for _ in range(choose.choice([1, 1, 2]))}:
                self.children[parent].append(node)
        self.movers = [choose.randrange(2) for _ in range(size)]
        results = choose.choice([[-1.0, 1.0], [-1.0, 0.0, 1.0], [-0.7, -0.1, 0.2, 0.25, 3.0]])
        self.results = [choose.choice(results) for _ in range(size)]

    def initial_state(self) -> np.ndarray:
        return np.zeros(1, np.uint64)

    def look(self, state) -> tuple[int, list[int], list[float]]:
        node = int(state[0])
        if not self.children[node]:
            return OVER, [], [self.results[node], -self.results[node]]
        return self.movers[node], list(range(len(self.children[node]))), [0.0, 0.0]

    def apply(self, state, move: int) -> np.ndarray:
        return np.array([self.children[int(state[0])][move]], np.uint64)

    def format(self, state) -> str:
        return str(int(state[0]))

    def value(self, node: int) -> float:
        """For player 0, by the definition."""
        if not self.children[node]:
            return max(-1.0, min(1.0, self.results[node]))
        return (min if self.movers[node] else max)(self.value(child) for child in self.children[node])


@pytest.mark.parametrize("seed", range(200))
def test_random_trees(seed):
    game = RandomTree(seed)
    sign = -1 if game.movers[0] else 1
    expected = {move: sign * game.value(child) for move, child in enumerate(game.children[0])}
    assert solve(game, game.initial_state(), 1000) == expected


def test_endless_games():
    """Player 0 moves on to 1 or ends the game at 2; from 1 it goes back to 0, or nowhere."""
    game = RandomTree(0)
    game.children, game.results = [[1, 2], [0, 1], []], [0.0, 0.0, 1.0]
    game.movers = [0, 1, 0]
    assert solve(game, game.initial_state(), 1000) is None  # player 1 can stay at 1 for ever, and nobody says what that is worth
    game.movers = [0, 0, 0]
    assert solve(game, game.initial_state(), 1000) == {0: 1.0, 1: 1.0}


# ---- games --------------------------------------------------------------------------------------------------------------------


def test_tic_tac_toe():
    game = GAMES["tic_tac_toe"]
    for state in [game.initial_state(), *midgame(game, 60, seed=1)]:
        text = game.format(state)
        board = "".join(square for square in text if square in "xo.")[:9]
        expected = {move: -tic_tac_toe.value(tic_tac_toe.apply(board, move)) for move in tic_tac_toe.legal_moves(board)}
        assert solve(game, state, 10_000) == expected


def test_connect_four():
    game = GAMES["connect_four"]
    solved = 0
    for columns in [only.columns for only in CONNECT_FOUR_ONLY_MOVES if len(only.columns) >= 25]:
        values = solve(game, game.parse(columns), 8000)
        if values:
            solved += 1
            assert values == {column - 1: value for column, value in connect_four.move_values(columns).items()}
    assert solved >= 3


def test_awale():
    game = GAMES["awale"]
    solved = 0
    for endgame in AWALE_ENDGAMES:
        rows = "/".join(",".join(map(str, endgame.pits[side : side + 6])) for side in (0, 6))
        state = game.parse(f"{rows} {endgame.captures[0]}-{endgame.captures[1]} {endgame.mover}")
        values = solve(game, state, 2000)
        if values:
            solved += 1
            bounds = awale.move_bounds(awale.position(endgame.pits, endgame.captures, endgame.mover))
            assert values.keys() == bounds.keys()
            assert all(low <= values[move] <= high for move, (low, high) in bounds.items())
            assert max(values.values()) == endgame.value
            assert {move for move, value in values.items() if value == endgame.value} == set(endgame.best_moves)
    assert solved >= 10


@pytest.mark.parametrize("size", [2, 3])
def test_the_first_player_wins_hex(size):
    game = load_game("hex", size=size)
    values = solve(game, game.initial_state(), 20_000)
    assert max(values.values()) == 1
    assert set(values.values()) == {-1, 1}


def test_an_oracle_knows_what_it_has_seen():
    game = GAMES["tic_tac_toe"]
    start = game.initial_state()
    oracle = Oracle(game, 10_000)
    values = oracle.values(start)
    left = oracle._nodes_left
    assert left < 10_000
    assert oracle.values(start) == values
    assert oracle._nodes_left == left


def test_limits():
    game = GAMES["connect_four"]
    assert solve(game, game.initial_state(), 1) is None
    assert solve(game, game.initial_state(), 500) is None
    for limit in (0, -1, 1.5, None):
        with pytest.raises(InputError, match="node_limit"):
            solve(game, game.initial_state(), limit)
    with pytest.raises(InputError, match="the game is over"):
        solve(game, game.parse("1212121"), 10)


def test_regret():
    values = {0: 1.0, 1: 0.0, 2: -1.0}
    assert [regret(values, move) for move in values] == [0.0, 1.0, 2.0]
    assert regret({3: -1.0, 4: -1.0}, 3) == 0


# ---- positions ----------------------------------------------------------------------------------------------------------------


def names(game, states) -> list[str]:
    return [game.format(state) for state in states]


@every_game
@pytest.mark.parametrize("plies", [1, 3])
def test_openings(game, plies):
    found = openings(game, 12, plies, seed=1)
    assert names(game, found) == names(game, openings(game, 12, plies, seed=1))
    assert len(set(names(game, found))) == len(found)
    assert 0 < len(found) <= 12
    for state in found:
        assert not game.is_over(state)
        mover = game.player(state)
        after = [game.apply(state, move) for move in game.legal_moves(state)]
        assert not any(game.is_over(end) and game.returns(end)[mover] > 0 for end in after)


def test_openings_when_there_are_few():
    game = GAMES["tic_tac_toe"]
    assert len(openings(game, 30, 1, seed=1)) == 9
    assert names(game, openings(game, 30, 0, seed=1)) == names(game, [game.initial_state()])
    assert len(openings(game, 30, 2, seed=1)) == 30
    assert names(game, openings(game, 30, 2, seed=1)) != names(game, openings(game, 30, 2, seed=2))
    assert openings(game, 5, 9, seed=1) == []
    assert openings(game, 0, 1, seed=1) == []


def test_openings_where_all_are_decided(monkeypatch):
    monkeypatch.setattr(positions, "_wins_at_once", lambda game, state: True)
    assert len(openings(GAMES["connect_four"], 5, 2, seed=1)) == 5


@every_game
def test_midgame(game):
    found = midgame(game, 20, seed=3)
    assert len(set(names(game, found))) == len(found) == 20
    assert names(game, found) == names(game, midgame(game, 20, seed=3))
    assert not any(map(game.is_over, found))


@every_game
def test_solved_positions(game):
    found = solved_positions(game, 3, seed=2, node_limit=1500)
    assert len(found) == 3
    assert len(set(names(game, [state for state, _ in found]))) == 3
    for state, values in found:
        assert list(values) == game.legal_moves(state)
        assert len(set(values.values())) > 1
        again = solve(game, state, 50_000)
        assert again == values


def test_solved_positions_are_the_same_with_a_seed():
    game = GAMES["hex 3"]
    first, again = (solved_positions(game, 4, seed=5, node_limit=300) for _ in range(2))
    assert [values for _, values in first] == [values for _, values in again]
    assert names(game, [state for state, _ in first]) == names(game, [state for state, _ in again])
