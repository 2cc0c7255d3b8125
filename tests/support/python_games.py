"""Games in plain Python for tests: twins of compiled ones, one with three players, one that judges positions, and broken ones."""

import time


class TicTacToe:
    """The twin of games/tic_tac_toe.py."""

    LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))

    def __init__(self, cells: str = "........."):
        self.cells = list(cells)

    def clone(self) -> "TicTacToe":
        return type(self)("".join(self.cells))

    def mover(self) -> int:
        return (9 - self.cells.count(".")) % 2

    def current_player(self) -> int:
        return self.mover()

    def legal_actions(self) -> list[int]:
        return [cell for cell, mark in enumerate(self.cells) if mark == "."]

    def apply_action(self, action: int) -> None:
        self.cells[action] = "xo"[self.mover()]

    def winner(self) -> int | None:
        for a, b, c in self.LINES:
            if self.cells[a] != "." and self.cells[a] == self.cells[b] == self.cells[c]:
                return "xo".index(self.cells[a])
        return None

    def is_terminal(self) -> bool:
        return self.winner() is not None or "." not in self.cells

    def returns(self) -> list[float]:
        winner = self.winner()
        return [0.0, 0.0] if winner is None else [1.0 - 2 * winner, 2 * winner - 1.0]

    def __str__(self) -> str:
        return "\n".join("".join(self.cells[row : row + 3]) for row in (0, 3, 6))


class DiceRace:
    """The twin of tests/support/dice_race.py: choose the safe die or the bold one, roll it, be first at the end."""

    OUTCOMES = {0: [(1, 0.5), (2, 0.5)], 1: [(1, 0.75), (4, 0.25)]}

    def __init__(self, left=(9, 9), mover=0, die=None):
        self.left, self.mover, self.die = list(left), mover, die

    def clone(self) -> "DiceRace":
        return DiceRace(self.left, self.mover, self.die)

    def is_terminal(self) -> bool:
        return 0 in self.left

    def is_chance_node(self) -> bool:
        return self.die is not None and 0 not in self.left

    def current_player(self) -> int:
        return -1 if self.is_chance_node() else self.mover

    def legal_actions(self) -> list[int]:
        return [0, 1]

    def chance_outcomes(self) -> list[tuple[int, float]]:
        return self.OUTCOMES[self.die]

    def apply_action(self, action: int) -> None:
        if self.die is None:
            self.die = action
        else:
            self.left[self.mover] -= min(action, self.left[self.mover])
            self.mover, self.die = 1 - self.mover, None

    def returns(self) -> list[float]:
        return [1.0, -1.0] if self.left[0] == 0 else [-1.0, 1.0]

    def num_players(self) -> int:
        return 2

    def action_to_string(self, action: int) -> str:
        return f"roll {action}" if self.die is not None else ("safe", "bold")[action]


class Nim:
    """Two players take one to three of fifteen stones in turn; who takes the last one wins. No draws."""

    def __init__(self, stones: int = 15, mover: int = 0):
        self.stones, self.mover = stones, mover

    def clone(self) -> "Nim":
        return Nim(self.stones, self.mover)

    def current_player(self) -> int:
        return self.mover

    def legal_actions(self) -> list[int]:
        return list(range(1, min(3, self.stones) + 1))

    def apply_action(self, action: int) -> None:
        self.stones -= action
        self.mover = 1 - self.mover

    def is_terminal(self) -> bool:
        return self.stones == 0

    def returns(self) -> list[float]:
        return [-1.0, 1.0] if self.mover == 0 else [1.0, -1.0]


class LastStone:
    """Three players take one to three stones in turn; who takes the last one gets 12, the next player -6."""

    def __init__(self, stones: int = 12, mover: int = 0):
        self.stones, self.mover = stones, mover

    def clone(self) -> "LastStone":
        return LastStone(self.stones, self.mover)

    def current_player(self) -> int:
        return self.mover

    def legal_actions(self) -> tuple[int, ...]:
        return tuple(range(1, min(3, self.stones) + 1))

    def apply_action(self, action: int) -> None:
        self.stones -= action
        self.mover = (self.mover + 1) % 3

    def is_terminal(self) -> bool:
        return self.stones == 0

    def returns(self) -> list[float]:
        results = [0.0, 0.0, 0.0]
        results[(self.mover - 1) % 3] = 12.0
        results[self.mover] = -6.0
        return results

    def min_utility(self) -> float:
        return -6.0

    def max_utility(self) -> float:
        return 12.0


class Judge(TicTacToe):
    """Tic-tac-toe that has an opinion: the centre is worth something, and comes first."""

    def evaluate(self) -> list[float]:
        value = {"x": 0.5, "o": -0.5, ".": 0.0}[self.cells[4]]
        return [value, -value]

    def prior(self) -> list[tuple[int, float]]:
        moves = self.legal_actions()
        weights = [5.0 if move == 4 else 1.0 for move in moves]
        return [(move, weight / sum(weights)) for move, weight in zip(moves, weights, strict=True)]


class Slow(TicTacToe):
    """Takes its time for every move."""

    def apply_action(self, action: int) -> None:
        time.sleep(0.05)
        super().apply_action(action)


# ---- broken: each goes wrong in the third move --------------------------------------------------------------------------------


class Raises(TicTacToe):
    def apply_action(self, action: int) -> None:
        if self.cells.count(".") < 8:
            raise RuntimeError("the board is\non fire")
        super().apply_action(action)


class RaisesInReturns(TicTacToe):
    def returns(self) -> list[float]:
        return [1 / 0, 0.0] if self.is_terminal() else [0.0, 0.0]


class LeavesProgram(TicTacToe):
    def legal_actions(self) -> list[int]:
        if self.cells.count(".") < 8:
            raise SystemExit("bye")
        return super().legal_actions()


class NoMoves(TicTacToe):
    def legal_actions(self) -> list[int]:
        return super().legal_actions() if self.cells.count(".") > 7 else []


class MoveTooLarge(TicTacToe):
    def legal_actions(self) -> list[int]:
        return super().legal_actions() if self.cells.count(".") > 7 else [70_000]


class MoveTwice(TicTacToe):
    def legal_actions(self) -> list[int]:
        return super().legal_actions() * (1 if self.cells.count(".") > 7 else 2)


class NobodyMoves(TicTacToe):
    def current_player(self) -> int:
        return super().current_player() if self.cells.count(".") > 8 else 7


class TooMuch(TicTacToe):
    def returns(self) -> list[float]:
        return [result * 10 for result in super().returns()]


class NotANumber(TicTacToe):
    def returns(self) -> list[float]:
        return [float("nan"), 0.0]


class Endless(TicTacToe):
    def is_terminal(self) -> bool:
        return False

    def legal_actions(self) -> list[int]:
        return [0, 1]


class LoadedDice(DiceRace):
    OUTCOMES = {0: [(1, 0.5), (2, 0.4)], 1: [(1, 0.75), (4, 0.2)]}

    def clone(self) -> "LoadedDice":
        return LoadedDice(self.left, self.mover, self.die)
