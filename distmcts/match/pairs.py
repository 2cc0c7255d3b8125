"""Results of a match, counted in pairs: two games from the same opening with colours swapped.

An opening that favours one colour makes the two games of a pair depend on each other: a lucky win is paid back by a loss.
Games are therefore not independent draws, pairs are; every variance here is taken over pairs (the pentanomial model of fishtest).
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from distmcts.errors import InputError

GAME_SCORES = (0.0, 0.5, 1.0)  # lost, drawn, won, for the first side
CELL_SCORES = (0.0, 0.25, 0.5, 0.75, 1.0)  # score per game of a pair that scored 0, 0.5, 1, 1.5, 2


@dataclass(frozen=True)
class PairCounts:
    """How many pairs scored 0, 0.5, 1, 1.5 and 2 for the first side."""

    cells: tuple[int, int, int, int, int] = (0, 0, 0, 0, 0)
    drawn_pairs: int | None = None  # pairs of two draws, a part of cells[2]; None: only the five counts are known

    def __post_init__(self) -> None:
        if len(self.cells) != 5 or min(self.cells) < 0:
            raise InputError(f"pair counts {self.cells!r}: allowed are five counts, none below 0")
        object.__setattr__(self, "cells", tuple(int(cell) for cell in self.cells))
        if self.drawn_pairs is None and self.cells[2] == 0:
            object.__setattr__(self, "drawn_pairs", 0)
        if self.drawn_pairs is not None and not 0 <= self.drawn_pairs <= self.cells[2]:
            raise InputError(f"drawn pairs {self.drawn_pairs}: allowed are 0 to {self.cells[2]}, the pairs that scored 1")

    @classmethod
    def from_games(cls, pairs: Iterable[tuple[float, float]]) -> "PairCounts":
        cells, drawn_pairs = [0] * 5, 0
        for first_game, second_game in pairs:
            for score in (first_game, second_game):
                if score not in GAME_SCORES:
                    raise InputError(f"score of a game {score!r}: allowed are 0, 0.5, 1")
            cells[round(2 * (first_game + second_game))] += 1
            drawn_pairs += first_game == second_game == 0.5
        return cls(tuple(cells), drawn_pairs)

    def add(self, first_game: float, second_game: float) -> "PairCounts":
        return self + PairCounts.from_games([(first_game, second_game)])

    def __add__(self, other: "PairCounts") -> "PairCounts":
        if not isinstance(other, PairCounts):
            return NotImplemented
        is_known = self.drawn_pairs is not None and other.drawn_pairs is not None
        cells = tuple(mine + theirs for mine, theirs in zip(self.cells, other.cells, strict=True))
        return PairCounts(cells, self.drawn_pairs + other.drawn_pairs if is_known else None)

    @property
    def pairs(self) -> int:
        return sum(self.cells)

    @property
    def games(self) -> int:
        return 2 * self.pairs

    @property
    def score(self) -> float:
        """Mean per game, 0 to 1; without any game 0.5, which favours nobody."""
        return sum(score * cell for score, cell in zip(CELL_SCORES, self.cells, strict=True)) / self.pairs if self.pairs else 0.5

    @property
    def squares(self) -> float:
        """Sum over the pairs of the squared distance between a pair's score per game and the mean."""
        mean = self.score
        return sum(cell * (score - mean) ** 2 for score, cell in zip(CELL_SCORES, self.cells, strict=True))

    @property
    def variance(self) -> float:
        """Of `score`, unbiased; infinite for fewer than two pairs, which say nothing about it."""
        return self.squares / (self.pairs - 1) / self.pairs if self.pairs > 1 else math.inf

    @property
    def wins(self) -> int | None:
        return None if self.draws is None else (round(self.games * self.score * 2) - self.draws) // 2

    @property
    def draws(self) -> int | None:
        """Games drawn; None if only the five counts are known, since win and loss also score 1."""
        return None if self.drawn_pairs is None else self.cells[1] + self.cells[3] + 2 * self.drawn_pairs

    @property
    def losses(self) -> int | None:
        return None if self.draws is None else self.games - self.wins - self.draws
