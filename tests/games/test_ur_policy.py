"""Ur's playout policy and its evaluation of the race."""

from collections import Counter

import numpy as np
import pytest

from distmcts.errors import InputError
from distmcts.kernels import referee
from distmcts.kernels.rng import seeded
from distmcts.kernels.rules import CHANCE
from games.ur import Ur
from tests.reference import ur as reference
from tests.support.playing import BY_PLAYOUT, BY_RULES, plain_trace, play_out, positions, trace

GAME = Ur(pieces=3, playout="policy", evaluation="race")
UNIFORM = Ur(pieces=3)
CHOICE = "1 3,7 0 / 1 4,9 0 / 0 2"  # 3-5, 7x9, hand-2


def test_moves_come_as_often_as_their_priors_say():
    """One step of the policy from one position, 20,000 times."""
    state = GAME.parse(CHOICE)
    moves = np.array(GAME.legal_moves(state))
    priors = np.zeros(moves.size)
    referee.give_priors(GAME, state, moves, moves.size, priors)
    after = {GAME.format(GAME.apply(state, move)): move for move in moves.tolist()}
    assert len(after) == 3
    rng = seeded(1, 0)
    count = 20_000
    played = Counter(after[GAME.format(GAME.state(play_out(GAME, state, 1, rng)[0]))] for _ in range(count))
    for move, prior in zip(moves.tolist(), priors, strict=True):
        assert abs(played[move] - count * prior) < 5 * np.sqrt(count * prior * (1 - prior))


@pytest.mark.parametrize("text", ["3 - 0 / 3 - 0 / 0 ?", CHOICE])
def test_whole_playouts_follow_the_same_policy(text):
    """The fast playout and the one step by step win equally often, and uniform play does not."""
    state = GAME.parse(text)
    rng = seeded(2, 0)
    count = 20_000
    kinds = ((GAME, BY_PLAYOUT), (GAME, BY_RULES), (UNIFORM, BY_PLAYOUT))
    means = [np.mean([play_out(game, state, cutoff, rng)[1] for _ in range(count)]) for game, cutoff in kinds]
    noise = np.sqrt(2 / count)
    assert abs(means[0] - means[1]) < 4 * noise
    if text == CHOICE:
        assert abs(means[0] - means[2]) > 4 * noise


def guesses(game: Ur) -> tuple[np.ndarray, np.ndarray]:
    """Evaluations and exact chances to win, of the player about to roll, in many positions."""
    guessed, exact = [], []
    for state in positions(UNIFORM, 150, seed=8):
        if UNIFORM.player(state) == CHANCE:
            position = reference.read(UNIFORM.format(state))
            guessed.append((game.evaluate(state)[position.player] + 1) / 2)
            exact.append(reference.solution(3).before_roll(position.mine, position.theirs))
    return np.array(guessed), np.array(exact)


def test_the_race_evaluation_is_close_to_the_truth():
    guessed, exact = guesses(GAME)
    assert np.sqrt(np.mean((guessed - exact) ** 2)) < 0.05
    crude, exact = guesses(UNIFORM)
    assert np.sqrt(np.mean((crude - exact) ** 2)) > 0.08  # points alone say much less


def test_a_known_roll_counts():
    """A roll of 4 is better than a roll of 1; both players' results sum to 0."""
    small, large = (GAME.evaluate(GAME.parse(f"1 3,7 0 / 1 4,9 0 / 0 {roll}")) for roll in (1, 4))
    assert large[0] > small[0]
    assert large[0] == -large[1]


def test_plain_python_says_the_same():
    game = Ur(pieces=3, playout="policy", evaluation="race")
    assert plain_trace(game, 3) == trace(game, 3)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"playout": "polcy"}, "unknown playout 'polcy': did you mean 'policy'? allowed: policy, uniform"),
        ({"evaluation": "pips"}, "unknown evaluation 'pips': allowed: material, race"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(InputError) as caught:
        Ur(**parameters)
    assert str(caught.value) == message
