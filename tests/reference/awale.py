"""Awale in plain Python: the rules twice, as OpenSpiel's oware plays it and as the seed thesis does.

It is obviously right because it is slow: every move copies the board, the seeds are sown one by one, a capture is tried
on a copy and looked at, and every position since the last capture is remembered whole. Nothing is packed, nothing is
kept up to date step by step. The oware rules are compared with OpenSpiel by test_reference.py.

Player 0 owns the first half of the pits, player 1 the second; seeds are sown towards higher numbers, round the board,
and never into the pit they came from. A move is the number of a pit in the mover's row, from 0, the leftmost for its
owner. A player captures when the last seed makes 2 or 3 in one of the opponent's pits, and then goes on with the pits
before it as long as they hold 2 or 3. The game is over when one player has more than half of the seeds, or both have
exactly half.

Where the rules differ:

                                      oware                                     thesis
    the opponent has no seeds         a move must give some, if one can         any move
    a capture of all they have        the move is legal, nothing is captured    they are captured
    a capture reaches the own row     it stops there                            it goes on (see below)
    a position comes back             the game is over                          nothing
    no legal move                     the game is over                          the game is over
    seeds left at the end             belong to the owner of their row          belong to no one

Thesis, captures in the own row: its text asks only that the *last seed* falls into "a pit owned by the opponent"; from
there "the capture continues until a pit without two or three seeds is encountered". Its code says the same: the owner
of the pit is checked once, before the loop. So nothing stops a capture at the border between the rows, and nothing does
here.

Thesis, sowing: the text says that the starting pit is skipped in every lap, and a comment in the code agrees. The code
names the pits of player 1 by negative numbers and so, for that player only, never recognises the starting pit. That is
a slip, not a rule: here both players skip it.
"""

from collections.abc import Hashable
from typing import NamedTuple

OWARE = "oware"
THESIS = "thesis"


class State(NamedTuple):
    pits: tuple[int, ...]
    captures: tuple[int, int]
    mover: int
    history: frozenset[Hashable]  # (pits, mover) of every position since the last capture, this one too; thesis: empty


def start(pits: int = 6, seeds: int = 4, rules: str = OWARE) -> State:
    """The first position, with `pits` on each side and `seeds` in each pit."""
    return position((seeds,) * (2 * pits), (0, 0), 0, rules)


def position(pits: tuple[int, ...], captures: tuple[int, int], mover: int, rules: str = OWARE) -> State:
    """A position without a past: nothing that was played before it counts as a repetition."""
    if rules not in (OWARE, THESIS):
        raise ValueError(f"rules {rules!r}: expected {OWARE!r} or {THESIS!r}")
    return _arrive(tuple(pits), tuple(captures), mover, frozenset(), rules)


def row(state: State, player: int) -> range:
    """The places of a player's pits."""
    side = len(state.pits) // 2
    return range(player * side, (player + 1) * side)


def seeds_of(state: State, player: int) -> int:
    """The seeds in a player's row."""
    return sum(state.pits[pit] for pit in row(state, player))


def legal_moves(state: State, rules: str = OWARE) -> list[int]:
    if is_over(state, rules):
        return []
    return _moves(state, rules)


def play(state: State, move: int, rules: str = OWARE) -> State:
    if move not in legal_moves(state, rules):
        raise ValueError(f"illegal move {move} in {state}")
    mover, opponent = state.mover, 1 - state.mover
    pits, last = _sow(state, move)

    after_capture = list(pits)
    if last in row(state, opponent):
        pit = last
        while after_capture[pit] in (2, 3) and (rules == THESIS or pit in row(state, opponent)):
            after_capture[pit] = 0
            pit = (pit - 1) % len(pits)  # ends at the latest at the pit just played, which is empty
    takes_all = all(after_capture[pit] == 0 for pit in row(state, opponent))
    if rules == OWARE and takes_all:
        after_capture = pits

    captured = sum(pits) - sum(after_capture)
    captures = list(state.captures)
    captures[mover] += captured
    history = frozenset() if captured or rules == THESIS else state.history
    return _arrive(tuple(after_capture), tuple(captures), opponent, history, rules)


def is_over(state: State, rules: str = OWARE) -> bool:
    if rules == THESIS and seeds_of(state, state.mover) == 0:
        return True
    half = (sum(state.pits) + sum(state.captures)) // 2
    return max(state.captures) > half or state.captures == (half, half)


def returns(state: State) -> tuple[int, int]:
    """Each player's result by the seeds captured: +1, 0 or -1. Only the end of the game has a meaning here."""
    mine, theirs = state.captures
    result = (mine > theirs) - (mine < theirs)
    return result, -result


def _sow(state: State, move: int) -> tuple[list[int], int]:
    """The pits after sowing, before any capture, and where the last seed fell."""
    pits = list(state.pits)
    origin = row(state, state.mover)[move]
    seeds, pits[origin] = pits[origin], 0
    pit = origin
    while seeds > 0:
        pit = (pit + 1) % len(pits)
        if pit != origin:
            pits[pit] += 1
            seeds -= 1
    return pits, pit


def _moves(state: State, rules: str) -> list[int]:
    """The moves, were the game not over."""
    moves = [move for move, pit in enumerate(row(state, state.mover)) if state.pits[pit] > 0]
    opponent = 1 - state.mover
    if rules == OWARE and seeds_of(state, opponent) == 0:
        return [move for move in moves if any(_sow(state, move)[0][pit] for pit in row(state, opponent))]
    return moves


def _arrive(pits: tuple, captures: tuple, mover: int, history: frozenset, rules: str) -> State:
    """The position after a move. Where an oware game is over, each player takes the seeds in the own row."""
    if rules == THESIS:
        return State(pits, captures, mover, frozenset())
    state = State(pits, captures, mover, history | {(pits, mover)})
    if (pits, mover) in history or is_over(state, rules) or not _moves(state, rules):
        captures = (captures[0] + seeds_of(state, 0), captures[1] + seeds_of(state, 1))
        return State((0,) * len(pits), captures, mover, state.history)
    return state


# ---- exact values ----------------------------------------------------------------------------------------------------


class TooLarge(Exception):
    """The endgame has more positions than the solver was allowed to look at."""


def solve(state: State, node_limit: int = 50_000) -> tuple[int, set[int]]:
    """The exact value of an oware position for the player to move (+1, 0, -1), and all moves that reach it.

    The repetition rule makes this hard: the same pits can have different values after different pasts. Two ways round
    it, both right: bounds found without any use of repetitions, and, should they leave a choice, a search that tells
    every past from every other.
    """
    if is_over(state):
        raise ValueError(f"the game is over: {state}")
    bounds = move_bounds(state, node_limit)
    best = max(low for low, high in bounds.values())
    if any(high > best or low < high == best for low, high in bounds.values()):
        bounds = {move: (value, value) for move, value in move_values(state, node_limit).items()}
        best = max(low for low, high in bounds.values())
    return best, {move for move, (low, high) in bounds.items() if low == best}


def move_values(state: State, node_limit: int = 50_000) -> dict[int, int]:
    """The exact value of every legal move of an oware position, for the player to move.

    A depth-first search that remembers values by the whole state, its past included, so that no value is ever used for
    another past. Every line of play ends, since captured seeds do not come back and positions must not. The pasts are
    many: this is for the smallest of endgames.
    """
    known: dict[State, int] = {}

    def value(here: State) -> int:
        if is_over(here):
            return returns(here)[here.mover]
        if here not in known:
            best = -1
            for move in legal_moves(here):
                best = max(best, -value(play(here, move)))
                if best == 1:
                    break  # nothing is better than a win
            if len(known) >= node_limit:
                raise TooLarge(f"more than {node_limit} positions")
            known[here] = best
        return known[here]

    try:
        return {move: -value(play(state, move)) for move in legal_moves(state)}
    except RecursionError:
        raise TooLarge("a line of play is longer than Python can follow") from None


def move_bounds(state: State, node_limit: int = 50_000) -> dict[int, tuple[int, int]]:
    """For every legal move of an oware position what it is at least and at most worth to the player to move.

    At least: what that player can force although every repetition counts as a failure. The positions from which a
    player can force a result are found backwards from the end: first those where the game is over, then those one move
    before, and so on. Along such a line the distance to the end shrinks with every move, so it never comes back to one
    of its own positions, and what it reaches holds under the real rules too. At most: the same for the opponent.
    """
    # Positions without their past are few enough to list all that can follow. Places in the list stand for them.
    places = {_without_past(state): 0}
    positions = [_without_past(state)]
    following: list[list[int]] = []
    for here in positions:  # grows on the way
        following.append([])
        for move in legal_moves(here):
            after = _without_past(play(here, move))
            if after not in places:
                places[after] = len(positions)
                positions.append(after)
            following[-1].append(places[after])
        if len(positions) > node_limit:
            raise TooLarge(f"more than {node_limit} positions")
    # To come back to the past is a repetition too. Captures tell it from later positions with the same pits.
    past = {
        places[here]
        for here in positions
        if here.captures == state.captures and (here.pits, here.mover) in state.history  # this position is one of them
    }

    def forced(player: int, result: int) -> list[bool]:
        """Where `player` can force at least `result`."""
        found = [is_over(here) and returns(here)[player] >= result for here in positions]
        changed = True
        while changed:
            changed = False
            for place in reversed(range(len(positions))):
                if not found[place] and following[place] and place not in past:
                    choice = any if positions[place].mover == player else all
                    found[place] = choice(found[after] for after in following[place])
                    changed = changed or found[place]
        return found

    mover, opponent = state.mover, 1 - state.mover
    wins, holds = forced(mover, 1), forced(mover, 0)
    loses, held = forced(opponent, 1), forced(opponent, 0)
    return {
        move: (1 if wins[after] else 0 if holds[after] else -1, -1 if loses[after] else 0 if held[after] else 1)
        for move, after in zip(legal_moves(state), following[0], strict=True)
    }


def _without_past(state: State) -> State:
    return state._replace(history=frozenset())


class Game:
    """Awale for `mcts.Search`."""

    def __init__(self, rules: str = OWARE):
        self.rules = rules

    def legal_moves(self, state: State) -> list[int]:
        return legal_moves(state, self.rules)

    def apply(self, state: State, move: int) -> State:
        return play(state, move, self.rules)

    def player(self, state: State) -> int:
        return state.mover

    def is_over(self, state: State) -> bool:
        return is_over(state, self.rules)

    def returns(self, state: State) -> tuple[int, int]:
        return returns(state)

    def evaluate(self, state: State) -> tuple[float, float]:
        """The lead in captured seeds, as a share of half of all seeds."""
        lead = (state.captures[0] - state.captures[1]) * 2 / (sum(state.pits) + sum(state.captures))
        return lead, -lead
