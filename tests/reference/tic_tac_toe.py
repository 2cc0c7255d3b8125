"""Tic-tac-toe with nine squares in a string, and its exact value by looking at everything that can be played.

It is obviously right because the eight lines are written out and nothing is left out of the search.
"""

from functools import cache

LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))
START = "." * 9  # squares row by row from the top left; x is player 0 and begins, o is player 1


def player(state: str) -> int:
    return (9 - state.count(".")) % 2


def apply(state: str, move: int) -> str:
    assert state[move] == "."
    return state[:move] + "xo"[player(state)] + state[move + 1 :]


def returns(state: str) -> tuple[int, int]:
    for a, b, c in LINES:
        if state[a] == state[b] == state[c] != ".":
            return (1, -1) if state[a] == "x" else (-1, 1)
    return 0, 0


def is_over(state: str) -> bool:
    return returns(state) != (0, 0) or "." not in state


def legal_moves(state: str) -> list[int]:
    return [] if is_over(state) else [square for square in range(9) if state[square] == "."]


@cache
def value(state: str) -> int:
    """The result under best play of the player to move: +1, 0 or -1."""
    if is_over(state):
        return returns(state)[player(state)]
    return max(-value(apply(state, move)) for move in legal_moves(state))
