"""The Royal Game of Ur, the host side: parameters, positions and moves as text.

Rules: ur_rules.py; what moves look good: ur_policy.py; evaluations: ur_evaluate.py; pictures: ur_board.py.
"""

import numpy as np

from distmcts.errors import InputError, unknown
from distmcts.game import CompiledGame, Rules, State
from distmcts.kernels.rules import OVER
from games import ur_board
from games.ur_board import Side
from games.ur_evaluate import material, race
from games.ur_policy import policy_playout, policy_step, priors
from games.ur_rules import (
    HOME,
    LAST,
    ROLLS,
    SHARED_SQUARES,
    apply,
    chance_outcomes,
    initial,
    legal_moves,
    player,
    playout,
    returns,
    sample_outcome,
)

MOST_PIECES = 7
PLAYOUTS = ("uniform", "policy")
EVALUATIONS = {"material": material, "race": race}


class Ur(CompiledGame):
    """The Royal Game of Ur, Finkel's rules. Parameters: pieces a side, how playouts move, what evaluates."""

    name = "ur"
    rules = Rules(
        initial,
        legal_moves,
        apply,
        player,
        returns,
        playout,
        material,
        chance_outcomes=chance_outcomes,
        sample_outcome=sample_outcome,
        priors=priors,
    )
    state_words = 1
    move_limit = LAST + 1
    max_outcomes = ROLLS

    def __init__(self, pieces: int = MOST_PIECES, playout: str = "uniform", evaluation: str = "material"):
        if not isinstance(pieces, int) or isinstance(pieces, bool) or not 1 <= pieces <= MOST_PIECES:
            raise InputError(f"pieces={pieces!r}: must be a whole number from 1 to {MOST_PIECES}")
        if playout not in PLAYOUTS:
            raise unknown("playout", playout, PLAYOUTS)
        if evaluation not in EVALUATIONS:
            raise unknown("evaluation", evaluation, EVALUATIONS)
        super().__init__(pieces=pieces, playout=playout, evaluation=evaluation)
        self.rules = self.rules._replace(evaluate=EVALUATIONS[evaluation])
        if playout == "policy":
            self.rules = self.rules._replace(playout=policy_playout, playout_step=policy_step)
        self.pieces = pieces
        self.max_moves = pieces
        if pieces == MOST_PIECES:
            self.perft_counts = (5, 9, 29, 68, 208, 583, 1798, 5481, 17526, 55790)
        self.roll_chances = np.array([1, 4, 6, 4, 1]) / 16  # four dice that show 0 or 1

    def sides(self, state: State) -> tuple[Side, Side]:
        """What player 0 has, and player 1."""
        halves = [int(state[0]) & 0xFFFFFFFF, int(state[0]) >> 32]
        if halves[0] >> 31:
            halves.reverse()
        found = []
        for half in halves:
            hand = half >> 16 & 7
            squares = [square for square in range(1, LAST + 1) if half >> square & 1]
            found.append(Side(hand, squares, self.pieces - hand - len(squares)))
        return found[0], found[1]

    def turn(self, state: State) -> tuple[int, int]:
        """Whose turn it is, and the roll to be played, 0 if the dice are still to be cast; (OVER, 0) after the end."""
        return (OVER, 0) if self.is_over(state) else (int(state[0]) >> 31 & 1, int(state[0]) >> 20 & 7)

    # ---- positions as text ------------------------------------------------------------------------------------------------

    def format(self, state: State) -> str:
        """Hand, squares and home of player 0 / of player 1 / whose turn it is and the roll: "5 4,8 0 / 6 - 1 / 0 2".

        Before the dice are cast the roll is "?"; after the end the last part is "over".
        """
        sides = [f"{hand} {','.join(map(str, squares)) or '-'} {home}" for hand, squares, home in self.sides(state)]
        mover, roll = self.turn(state)
        return " / ".join([*sides, "over" if mover == OVER else f"{mover} {roll or '?'}"])

    def parse(self, text: str) -> State:
        problem = f"ur position {text!r}"
        parts = [part.split() for part in text.lower().split("/")]
        if [len(part) for part in parts[:2]] != [3, 3] or len(parts) != 3:
            raise InputError(f"{problem}: expected something like '{self.format(self.initial_state())}'")
        sides = [self._parse_side(part, f"{problem}: player {i}") for i, part in enumerate(parts[:2])]
        for square in SHARED_SQUARES:
            if square in sides[0].squares and square in sides[1].squares:
                raise InputError(f"{problem}: both players have a piece on square {square}, which they share")
        winners = [i for i in range(2) if sides[i].has_won]
        if len(winners) == 2:
            raise InputError(f"{problem}: both players have all pieces home")
        if (parts[2] == ["over"]) != bool(winners):
            raise InputError(f"{problem}: the game is over when, and only when, one player has all {self.pieces} pieces home")
        if winners:
            return self._pack(sides, 1 - winners[0], 0)
        mover, roll = self._parse_turn(parts[2], problem)
        state = self._pack(sides, mover, roll)
        if roll and not self.legal_moves(state):
            raise InputError(f"{problem}: player {mover} has no move with a roll of {roll}, so it is the opponent's turn")
        return state

    def _parse_side(self, words: list[str], problem: str) -> Side:
        hand, squares, home = words
        try:
            side = Side(int(hand), [] if squares == "-" else [int(square) for square in squares.split(",")], int(home))
        except ValueError:
            raise InputError(f"{problem}: expected pieces in hand, squares like 4,8 or -, pieces home") from None
        if any(not 1 <= square <= LAST for square in side.squares):
            raise InputError(f"{problem}: squares are 1 to {LAST}")
        if len(set(side.squares)) < len(side.squares):
            raise InputError(f"{problem} has two pieces on one square")
        total = side.hand + len(side.squares) + side.home
        if side.hand < 0 or side.home < 0 or total != self.pieces:
            raise InputError(f"{problem} must have {self.pieces} pieces in hand, on squares and home, here it is {total}")
        return side

    def _parse_turn(self, words: list[str], problem: str) -> tuple[int, int]:
        if len(words) != 2 or words[0] not in ("0", "1") or words[1] not in ("?", "1", "2", "3", "4"):
            raise InputError(f"{problem}: the last part is the player (0 or 1) and the roll (1 to 4, or ? before it), or 'over'")
        return int(words[0]), 0 if words[1] == "?" else int(words[1])

    def _pack(self, sides: list[Side], mover: int, roll: int) -> State:
        halves = [side.hand << 16 | sum(1 << square for square in side.squares) for side in sides]
        halves[1] |= 1 << 31
        return self.state([halves[mover] | roll << 20 | halves[1 - mover] << 32])

    def move_name(self, state: State, move: int) -> str:
        """A move like "hand-3", "4-6", "5x9" (with a capture) or "13-home"; an outcome of the dice like "roll 2"."""
        mover, roll = self.turn(state)
        if mover == OVER or not roll:
            return f"roll {move}"
        goal = move + roll
        captures = goal in SHARED_SQUARES and goal in self.sides(state)[1 - mover].squares
        return f"{move or 'hand'}{'x' if captures else '-'}{'home' if goal == HOME else goal}"

    # ---- pictures ---------------------------------------------------------------------------------------------------------

    def draw(self, state: State) -> str:
        return ur_board.text(self.sides(state), *self.turn(state))

    def svg(self, state: State) -> str:
        return ur_board.picture(self.sides(state), *self.turn(state))
