"""Games in plain Python for tests: twins of compiled ones, a small one, and one with more players."""


class TicTacToe:
    """The twin of games/tic_tac_toe.py."""

    LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))

    def __init__(self, cells: str = "........."):
        self.cells = list(cells)

    def clone(self) -> "TicTacToe":
        return TicTacToe("".join(self.cells))

    def current_player(self) -> int:
        return (9 - self.cells.count(".")) % 2

    def legal_actions(self) -> list[int]:
        return [cell for cell, mark in enumerate(self.cells) if mark == "."]

    def apply_action(self, action: int) -> None:
        self.cells[action] = "xo"[self.current_player()]

    def _winner(self) -> int | None:
        for a, b, c in self.LINES:
            if self.cells[a] != "." and self.cells[a] == self.cells[b] == self.cells[c]:
                return "xo".index(self.cells[a])
        return None

    def is_terminal(self) -> bool:
        return self._winner() is not None or "." not in self.cells

    def returns(self) -> list[float]:
        winner = self._winner()
        return [0.0, 0.0] if winner is None else [1.0 - 2 * winner, 2 * winner - 1.0]

    def __str__(self) -> str:
        return "\n".join("".join(self.cells[row : row + 3]) for row in (0, 3, 6))
