"""Awale (Oware), the host side: parameters, positions as text, pictures. The rules are in awale_rules.py."""

import math

import numpy as np

from distmcts.errors import InputError, unknown
from distmcts.game import CompiledGame, Rules, State
from games.awale_rules import (
    HISTORY,
    MAX_PITS,
    MAX_SEEDS,
    PAST,
    SCATTER,
    apply,
    evaluate,
    initial,
    legal_moves,
    player,
    playout,
    returns,
)


class Awale(CompiledGame):
    """Awale. Parameters: pits a side, seeds a pit, rules ("oware" or "thesis")."""

    name = "awale"
    rules = Rules(initial, legal_moves, apply, player, returns, playout, evaluate)

    def __init__(self, pits: int = 6, seeds: int = 4, rules: str = "oware"):
        if rules not in ("oware", "thesis"):
            raise unknown("rules", rules, ("oware", "thesis"))
        if not isinstance(pits, int) or isinstance(pits, bool) or not 1 <= pits <= MAX_PITS:
            raise InputError(f"pits={pits!r}: must be a whole number from 1 to {MAX_PITS}")
        if not isinstance(seeds, int) or isinstance(seeds, bool) or not 1 <= seeds <= MAX_SEEDS // (2 * pits):
            raise InputError(f"seeds={seeds!r}: must be a whole number from 1 to {MAX_SEEDS // (2 * pits)} with {pits} pits")
        super().__init__(pits=pits, seeds=seeds, rules=rules)
        self.pits = pits
        self.seeds = seeds
        self.total = 2 * pits * seeds
        self.is_oware = rules == "oware"
        self.state_words = PAST + HISTORY if self.is_oware else 3
        self.max_moves = pits
        self.move_limit = pits
        self.sowings = _sowings(pits, self.total)
        self.pit_counts = np.array([mask.bit_count() for mask in range(256)], np.uint8)
        self.nth_pit = _nth_pits()
        if (pits, seeds, rules) == (6, 4, "oware"):
            self.perft_counts = (6, 36, 190, 1014, 5219, 27332, 139157)

    def _row(self, state: State, side: int) -> list[int]:
        return [int(state[side]) >> (8 * pit) & 0xFF for pit in range(self.pits)]

    def _captured(self, state: State) -> tuple[int, int]:
        return int(state[2]) & 0xFF, int(state[2]) >> 8 & 0xFF

    def format(self, state: State) -> str:
        """Pits of player 0, pits of player 1, captures, player to move: "4,4,4,4,4,4/4,4,4,4,4,4 0-0 0"; "over" at the end.

        The history is not part of it: a position that is read back starts a new one.
        """
        rows = "/".join(",".join(map(str, self._row(state, side))) for side in range(2))
        captured = self._captured(state)
        mover = int(state[2]) >> 16 & 1
        return f"{rows} {captured[0]}-{captured[1]} {'over' if int(state[2]) >> 17 & 1 else mover}"

    def parse(self, text: str) -> State:
        shape = ",".join(["4"] * self.pits)
        problem = f"awale position {text!r}"
        try:
            board, score, mover = text.split()
            rows = [[int(pit) for pit in row.split(",")] for row in board.split("/")]
            captured = [int(seeds) for seeds in score.split("-")]
        except ValueError:
            raise InputError(f"{problem}: expected something like '{shape}/{shape} 0-0 0'") from None
        if [len(row) for row in rows] != [self.pits, self.pits] or len(captured) != 2 or mover not in ("0", "1", "over"):
            raise InputError(f"{problem}: expected something like '{shape}/{shape} 0-0 0'")
        seeds = [*rows[0], *rows[1], *captured]
        if min(seeds) < 0 or (sum(seeds) != self.total if self.is_oware else sum(seeds) > self.total):
            raise InputError(f"{problem}: the seeds must add up to {self.total}, here it is {sum(seeds)}")
        words = [sum(count << (8 * pit) for pit, count in enumerate(row)) for row in rows]
        side = 1 if mover == "1" else 0
        over = mover == "over" or self._is_finished(rows, captured, side)
        if over and self.is_oware:
            captured = [captured[0] + sum(rows[0]), captured[1] + sum(rows[1])]
            words = [0, 0]
        length = 1 if self.is_oware else 0
        summary_word = captured[0] | captured[1] << 8 | side << 16 | over << 17 | length << 24
        state = np.zeros(self.state_words, np.uint64)
        state[:3] = [*words, summary_word]
        if self.is_oware:
            key = (words[side] ^ words[1 - side] * int(SCATTER)) & (1 << 64) - 1
            state[PAST] = key
            state[3 + side] = 1 << (key >> 58)
        return self.state(state)

    def _is_finished(self, rows: list[list[int]], captured: list[int], side: int) -> bool:
        """Whether a position typed by hand is already decided, or leaves its mover nothing to do."""
        half = self.total // 2
        if max(captured) > half or captured == [half, half]:
            return True
        mine, theirs = rows[side], rows[1 - side]
        if self.is_oware and not any(theirs):
            return not any(seeds and pit + seeds >= self.pits for pit, seeds in enumerate(mine))
        return not any(mine)

    def draw(self, state: State) -> str:
        """The board with player 0 below; a pit's letter names the move."""
        captured = self._captured(state)
        mover = int(state[2]) >> 16 & 1
        over = int(state[2]) >> 17 & 1
        letters = [chr(ord("A") + pit) for pit in range(self.pits)]

        def line(cells):
            return " ".join(str(cell).rjust(3) for cell in cells)

        def owner(side):
            turn = "" if over or side != mover else "  <- to move"
            return f"player {side}: {captured[side]} captured{turn}"

        return "\n".join(
            [
                owner(1),
                line(letter.lower() for letter in reversed(letters)),
                line(reversed(self._row(state, 1))),
                line(self._row(state, 0)),
                line(letters),
                owner(0),
            ]
        )

    def svg(self, state: State) -> str:
        """A picture, player 0 below; each seed is a dot, in rings around the middle of its pit."""
        width = 60 * self.pits
        shapes = [f'<rect width="{width}" height="120" rx="20" fill="#a9713d"/>']
        for side in range(2):
            for pit, seeds in enumerate(self._row(state, side)):
                x, y = (60 * pit + 30, 90) if side == 0 else (width - 60 * pit - 30, 30)
                shapes.append(f'<circle cx="{x}" cy="{y}" r="25" fill="#6f4520"/>')
                for seed in range(seeds):
                    ring = 8 if seed < 6 else 17
                    angle = 2.4 * seed
                    place = f'cx="{x + ring * math.cos(angle):.1f}" cy="{y + ring * math.sin(angle):.1f}"'
                    shapes.append(f'<circle {place} r="3.5" fill="#e8d9b0"/>')
                shapes.append(f'<text x="{x + 20}" y="{y + 24}" font-size="11" fill="#fff">{seeds}</text>')
        return f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" viewBox="0 0 {width} 120">{"".join(shapes)}</svg>'

    def move_name(self, state: State, move: int) -> str:
        return chr(ord("A" if int(state[2]) >> 16 & 1 == 0 else "a") + move)


def _sowings(pits: int, total: int) -> np.ndarray:
    """What sowing n seeds from a pit adds to the mover's row and to the other; two words for each pit and n."""
    table = np.zeros((pits, total + 1, 2), np.uint64)
    for start in range(pits):
        rows = [0, 0]
        place = start
        for seeds in range(1, total + 1):
            place = (place + 1) % (2 * pits)
            if place == start:
                place = (place + 1) % (2 * pits)
            rows[place // pits] += 1 << (8 * (place % pits))
            table[start, seeds] = rows
    return table.ravel()


def _nth_pits() -> np.ndarray:
    """For each set of pits, as bits, its members in order; eight entries a set."""
    table = np.zeros((256, 8), np.uint8)
    for mask in range(256):
        members = [pit for pit in range(8) if mask >> pit & 1]
        table[mask, : len(members)] = members
    return table.ravel()
