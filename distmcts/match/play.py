"""One game between two players, and a pair of games: the same opening and the same luck with colours swapped."""

import random
from collections.abc import Callable
from typing import NamedTuple

from distmcts.game import CompiledGame, State
from distmcts.kernels.rules import CHANCE, OVER

LONGEST_GAME = 2000  # moves; a longer one is a draw

Choose = Callable[[State], int]


class Played(NamedTuple):
    score: float  # of the first side: 1, 0.5 or 0
    moves: list[int]


def outcome(game: CompiledGame, state: State, luck: random.Random) -> int:
    """What happens at a chance event, by probability."""
    outcomes, chances = zip(*game.chance_outcomes(state), strict=True)
    return luck.choices(outcomes, chances)[0]


def play_game(
    game: CompiledGame, state: State, first: Choose, second: Choose, first_player: int, luck: random.Random | None = None
) -> Played:
    """`first` plays as player `first_player`; `luck` decides chance events."""
    luck = luck or random.Random()
    moves: list[int] = []
    while (player := game.player(state)) != OVER:
        if len(moves) == LONGEST_GAME:
            return Played(0.5, moves)
        if player == CHANCE:
            move = outcome(game, state, luck)
        else:
            move = (first if player == first_player else second)(state)
        state = game.apply(state, move)
        moves.append(move)
    own, other = game.returns(state)[first_player], game.returns(state)[1 - first_player]
    return Played(1.0 if own > other else 0.0 if own < other else 0.5, moves)


def play_pair(game: CompiledGame, opening: State, first: Choose, second: Choose, seed: int = 0) -> tuple[Played, Played]:
    """`first` begins as player 0, then plays the same opening as player 1. Both games see the same random numbers."""
    one, other = (play_game(game, opening, first, second, part, random.Random(seed)) for part in (0, 1))
    return one, other
