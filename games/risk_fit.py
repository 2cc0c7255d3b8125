"""Where the default weights of Risk's thirteen features come from: logistic regression on games of the playout policy.

    python -m games.risk_fit [GAMES]

Each game is dealt anew and played by the policy for both sides; every 1 to 60 moves (whole moves and throws of dice) a position
is noted, with the features of the player whose turn it is. The weights maximise the likelihood of who won, with a small penalty
on their squares, since three of the features add up to a constant. A fifth of the games is kept apart to see how often the
evaluation's sign tells the winner.
"""

import sys
from collections.abc import Iterator

import numpy as np

from distmcts.kernels.layout import MAX_PLAYERS
from distmcts.kernels.referee import bare_playouts
from distmcts.kernels.rng import seeded
from games.risk import Risk
from games.risk_evaluate import FEATURES, features
from games.risk_state import FINISHED, PHASE, PLAYER, other, own

PENALTY = 1.0
LONGEST_GAP = 60


def policy_game(game: Risk, seed: int) -> Iterator[np.ndarray]:
    """Positions of one game, the last one finished."""
    rng, gaps = seeded(seed, 1), np.random.default_rng(seed)
    state = np.array(game.deal(seed))
    moves, results, totals = np.zeros(game.list_length, np.int64), np.zeros(MAX_PLAYERS), np.zeros(MAX_PLAYERS)
    while state[PHASE] != FINISHED:
        after = state.copy()
        bare_playouts(game, state, after, moves, results, totals, rng, int(gaps.integers(1, LONGEST_GAP + 1)), 1)
        state = after
        yield state


def samples(game: Risk, seeds: range) -> tuple[np.ndarray, np.ndarray]:
    """Features of positions, and whether the player whose turn it was has won."""
    found, won = [], []
    for seed in seeds:
        *states, end = policy_game(game, seed)
        winner = 0 if game.returns(end)[0] > 0 else 1
        found += [features(state, own(state), other(state)) for state in states]
        won += [int(state[PLAYER]) == winner for state in states]
    return np.array(found), np.array(won, float)


def logistic_regression(x: np.ndarray, won: np.ndarray) -> np.ndarray:
    """By Newton's method."""
    weights = np.zeros(x.shape[1])
    for _ in range(30):
        chance = 1 / (1 + np.exp(-x @ weights))
        gradient = x.T @ (won - chance) - PENALTY * weights
        curvature = (x * (chance * (1 - chance))[:, None]).T @ x + PENALTY * np.eye(x.shape[1])
        weights += np.linalg.solve(curvature, gradient)
    return weights


def main() -> None:
    games = int(sys.argv[1]) if len(sys.argv) > 1 else 5000
    game = Risk()
    kept = range(games // 5)
    x, won = samples(game, range(games // 5, games))
    weights = logistic_regression(x, won)
    for name, weight in zip(FEATURES, weights, strict=True):
        print(f"{name}: {weight:.2f}")
    x, won = samples(game, kept)
    print(f"{len(won)} positions of {len(kept)} other games: winner told {np.mean((x @ weights > 0) == won):.1%}")


if __name__ == "__main__":
    main()
