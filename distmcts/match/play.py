"""One game between two players, and a pair of games: the same opening with colours swapped."""

from collections.abc import Callable
from typing import NamedTuple

from distmcts.game import CompiledGame, State
from distmcts.kernels.tags import OVER

LONGEST_GAME = 2000  # moves; a longer one is a draw

Choose = Callable[[State], int]


class Played(NamedTuple):
    score: float  # of the first side: 1, 0.5 or 0
    moves: list[int]


def play_game(game: CompiledGame, state: State, first: Choose, second: Choose, first_player: int) -> Played:
    """`first` has the part of player `first_player`."""
    moves: list[int] = []
    while (player := game.player(state)) != OVER:
        if len(moves) == LONGEST_GAME:
            return Played(0.5, moves)
        move = (first if player == first_player else second)(state)
        state = game.apply(state, move)
        moves.append(move)
    own, other = game.returns(state)[first_player], game.returns(state)[1 - first_player]
    return Played(1.0 if own > other else 0.0 if own < other else 0.5, moves)


def play_pair(game: CompiledGame, opening: State, first: Choose, second: Choose) -> tuple[Played, Played]:
    """`first` begins as player 0, then plays the same opening as player 1."""
    return play_game(game, opening, first, second, 0), play_game(game, opening, first, second, 1)
