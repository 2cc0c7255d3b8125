"""Games of chance in matches."""

import random
from collections import Counter

from distmcts.kernels.rules import CHANCE
from distmcts.match.play import outcome, play_game, play_pair
from tests.support.dice_race import BOLD, SAFE, DiceRace

GAME = DiceRace(30)


def bold(state):
    return BOLD


def safe(state):
    return SAFE


def test_both_games_of_a_pair_see_the_same_luck():
    """With one and the same player on both sides the two games are the same, and so opposite for the first side."""
    for seed in range(20):
        one, other = play_pair(GAME, GAME.initial_state(), bold, bold, seed)
        assert one.moves == other.moves
        assert one.score == 1 - other.score
    assert len({tuple(play_pair(GAME, GAME.initial_state(), bold, bold, seed)[0].moves) for seed in range(20)}) == 20


def test_chance_moves_by_probability_and_players_are_not_asked():
    state = GAME.apply(GAME.initial_state(), BOLD)
    assert GAME.player(state) == CHANCE
    luck = random.Random(1)
    drawn = Counter(outcome(GAME, state, luck) for _ in range(4000))
    assert drawn.keys() == {1, 4}
    assert abs(drawn[4] - 1000) < 130


def test_the_better_die_wins_more_often():
    scores = [play_game(GAME, GAME.initial_state(), bold, safe, game % 2, random.Random(game)).score for game in range(400)]
    assert sum(scores) > 220
