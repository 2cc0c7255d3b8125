"""Positions of Risk as text: one line that can be read back, and a list of territories by continent.

A line holds the territories of each continent in the order of the map: `a3` for three troops of player 0, `b2` for two of
player 1, `.` for one that is not dealt yet; then the turn, whose it is, and what is to be decided:

    NA a3 b2 ... SA ... EU ... AF ... AS ... AU ... turn 4 b attack Siam

    deal                          recruit 7                   recruit 3 after Siam     where troops were placed before
    attack Siam (the active one)  dice Siam > China           move in Siam > China     manoeuvre       over
    in steps also: recruit 7 on Siam · attack from Siam · manoeuvre from Siam · manoeuvre Siam > China
"""

import re
from typing import NamedTuple

import numpy as np

from distmcts.errors import InputError
from games import risk_state as words
from games.risk_map import CONTINENTS, NAMES, NEIGHBOURS, TERRITORIES, recruits
from games.risk_steps import evening, manoeuvre_sources, manoeuvre_targets

PLAYERS = "ab"
SHORT_NAMES = {short for _, short, _, _ in CONTINENTS}
BY_NAME = {name.lower(): territory for territory, name in enumerate(NAMES)}


class Decision(NamedTuple):
    """How a phase is written, and whether only moves in steps have it."""

    phase: np.uint64
    text: str
    in_steps: bool = False


# The first that fits is meant.
DECISIONS = (
    Decision(words.DEAL, "deal"),
    Decision(words.FINISHED, "over"),
    Decision(words.RECRUIT, "recruit {left} after {source}"),
    Decision(words.RECRUIT_NUMBER, "recruit {left} on {source}", True),
    Decision(words.RECRUIT, "recruit {left}"),
    Decision(words.ATTACK_TARGET, "attack from {source}", True),
    Decision(words.ATTACK, "attack {source}"),
    Decision(words.DICE, "dice {source} > {target}"),
    Decision(words.MOVE_IN, "move in {source} > {target}"),
    Decision(words.MANOEUVRE_TARGET, "manoeuvre from {source}", True),
    Decision(words.MANOEUVRE_NUMBER, "manoeuvre {source} > {target}", True),
    Decision(words.MANOEUVRE, "manoeuvre"),
)
PATTERNS = {"{left}": r"(?P<left>\d{1,3})", "{source}": r"(?P<source>[a-z ]+)", "{target}": r"(?P<target>[a-z ]+)"}


def owner_of(state: np.ndarray, territory: int) -> int | None:
    return next((player for player in range(2) if int(state[words.OWNED + player]) >> territory & 1), None)


def _cell(state: np.ndarray, territory: int) -> str:
    player = owner_of(state, territory)
    return "." if player is None else f"{PLAYERS[player]}{state[territory]}"


def _territory(word: np.uint64) -> str | None:
    return None if word == words.NOWHERE else NAMES[int(word)]


def decision_text(state: np.ndarray) -> str:
    source, target = _territory(state[words.SOURCE]), _territory(state[words.TARGET])
    fitting = [text for phase, text, _ in DECISIONS if phase == state[words.PHASE]]
    text = fitting[0] if source or "{source}" not in fitting[0] else fitting[-1]
    return text.format(left=state[words.LEFT], source=source, target=target)


def format_position(state: np.ndarray) -> str:
    parts = []
    first = 0
    for _, short, _, names in CONTINENTS:
        parts += [short, *(_cell(state, first + i) for i in range(len(names)))]
        first += len(names)
    if state[words.PHASE] != words.DEAL:
        parts += ["turn", str(state[words.TURN]), PLAYERS[int(state[words.PLAYER])]]
    return " ".join([*parts, decision_text(state)])


def draw_position(state: np.ndarray) -> str:
    lines = []
    first = 0
    for name, _, bonus, names in CONTINENTS:
        lines.append(f"{name} (+{bonus})")
        cells = [f"{_cell(state, first + i):>4} {territory:<22}" for i, territory in enumerate(names)]
        lines += ["".join(cells[i : i + 4]).rstrip() for i in range(0, len(cells), 4)]
        first += len(names)
    held = [int(state[words.OWNED + player]).bit_count() for player in range(2)]
    armies = [sum(int(state[t]) for t in range(TERRITORIES) if owner_of(state, t) == player) for player in range(2)]
    lines += [f"{PLAYERS[player]}: {held[player]} territories, {armies[player]} troops" for player in range(2)]
    turn = "" if state[words.PHASE] == words.DEAL else f"turn {state[words.TURN]}, {PLAYERS[int(state[words.PLAYER])]}: "
    return "\n".join([*lines, turn + decision_text(state)])


def parse_position(text: str, turns: int, in_steps: bool) -> np.ndarray:
    """The position that `format_position` wrote, or one typed by hand; an InputError says what is wrong with it."""
    try:
        state, decision = _read_map(text)
        if decision == "deal":
            _check_deal(state)
        else:
            decision = _read_turn(state, decision, turns)
            _read_decision(state, decision, in_steps)
            _check(state, turns)
    except _Wrong as problem:
        shown = text if len(text) <= 60 else f"{text[:57]}..."
        raise InputError(f"risk position {shown!r}: {problem}") from None
    return state


class _Wrong(Exception):
    """What is wrong with a position."""


def _require(condition: bool, problem: str) -> None:
    if not condition:
        raise _Wrong(problem)


def _read_map(text: str) -> tuple[np.ndarray, str]:
    """The territories, and what comes behind them."""
    parts = text.split()
    state = np.zeros(words.STATE_WORDS, np.uint64)
    state[words.SOURCE] = state[words.TARGET] = words.NOWHERE
    first = 0
    for name, short, _, names in CONTINENTS:
        _require(bool(parts) and parts[0].upper() == short, f"expected {short} and the territories of {name}, or 'deal SEED'")
        cells, parts = parts[1 : 1 + len(names)], parts[1 + len(names) :]
        enough = len(cells) == len(names) and SHORT_NAMES.isdisjoint(cell.upper() for cell in cells)
        _require(enough, f"{short}: expected {len(names)} territories")
        for territory, cell in enumerate(cells, first):
            if cell == ".":
                continue
            found = re.fullmatch(r"([ab])(\d{1,5})", cell.lower())
            _require(found is not None and int(found[2]) > 0, f"{NAMES[territory]} is {cell!r}, expected something like a3 or b2")
            state[territory] = int(found[2])
            state[words.OWNED + PLAYERS.index(found[1])] |= np.uint64(1 << territory)
        first += len(names)
    return state, " ".join(parts).lower()


def _check_deal(state: np.ndarray) -> None:
    held = [int(state[words.OWNED + player]).bit_count() for player in range(2)]
    _require(held[0] - held[1] in (0, 1), "the deal goes by turns, a first")
    _require(sum(held) < TERRITORIES, "all territories are dealt: expected 'turn 1 a recruit ...'")
    for player in range(2):
        mine = [int(state[t]) for t in range(TERRITORIES) if owner_of(state, t) == player]
        _require(
            sorted(mine) == sorted(3 if i < words.THIRD // 2 else 2 for i in range(held[player])),
            f"of the territories dealt to a player the first {words.THIRD // 2} have 3 troops, the others 2",
        )
    state[words.PLAYER] = held[0] - held[1]


def _read_turn(state: np.ndarray, text: str, turns: int) -> str:
    found = re.fullmatch(r"turn (\d{1,9}) ([ab]) (.+)", text)
    _require(found is not None, f"expected something like 'turn 1 a recruit 7' behind the territories, not {text!r}")
    dealt = int(state[words.OWNED] | state[words.OWNED + 1])
    _require(dealt == (1 << TERRITORIES) - 1, "a territory is not dealt")
    _require(1 <= int(found[1]) <= turns, f"turn {found[1]} is not one from 1 to {turns}")
    state[words.TURN] = int(found[1])
    state[words.PLAYER] = PLAYERS.index(found[2])
    return found[3]


def _read_decision(state: np.ndarray, text: str, in_steps: bool) -> None:
    for phase, shape, only_in_steps in DECISIONS:
        pattern = re.escape(shape).replace(r"\{", "{").replace(r"\}", "}").replace(r"\ ", " ")
        for field, expression in PATTERNS.items():
            pattern = pattern.replace(field, expression)
        found = re.fullmatch(pattern, text)
        if found is None or (only_in_steps and not in_steps):
            continue
        state[words.PHASE] = phase
        fields = found.groupdict()
        state[words.LEFT] = int(fields.get("left") or 0)
        for place, field in ((words.SOURCE, "source"), (words.TARGET, "target")):
            name = fields.get(field)
            if name is not None:
                _require(name.strip() in BY_NAME, f"there is no territory {name.strip()!r}")
                state[place] = BY_NAME[name.strip()]
        return
    allowed = [shape.format(left="N", source="X", target="Y") for _, shape, only in DECISIONS if in_steps or not only]
    raise _Wrong(f"cannot read {text!r}; allowed: {', '.join(allowed)}")


def _check(state: np.ndarray, turns: int) -> None:
    """What the phase of a position takes for granted."""
    phase, left = state[words.PHASE], int(state[words.LEFT])
    mover = int(state[words.PLAYER])
    mine, theirs = int(state[words.OWNED + mover]), int(state[words.OWNED + 1 - mover])
    finished = mine == 0 or theirs == 0
    if phase == words.FINISHED:
        _require(finished or int(state[words.TURN]) == turns, f"it is over when one player holds all, or after turn {turns}")
        return
    _require(not finished, "one player holds all territories, so the game is over")
    source = None if state[words.SOURCE] == words.NOWHERE else int(state[words.SOURCE])
    target = None if state[words.TARGET] == words.NOWHERE else int(state[words.TARGET])
    if source is not None:
        _require(bool(mine >> source & 1), f"{NAMES[source]} belongs to the other player")
    if phase in (words.RECRUIT, words.RECRUIT_NUMBER):
        whole = int(recruits(np.uint64(mine)))
        _require(left == whole if source is None else 1 <= left <= whole, f"the player recruits {whole} troops, not {left}")
    if phase == words.RECRUIT_NUMBER:
        _require(left > 1, "a single troop leaves no choice of number")
        _require(bool(int(NEIGHBOURS[source]) & theirs), f"{NAMES[source]} is not on the frontier")
    if phase in (words.DICE, words.ATTACK_TARGET, words.MOVE_IN):
        _require(int(state[source]) > 1, f"{NAMES[source]} has no troop to spare")
    if phase in (words.DICE, words.MOVE_IN):
        owned = theirs if phase == words.DICE else mine
        _require(bool(owned & int(NEIGHBOURS[source]) & 1 << target), f"{NAMES[source]} cannot do that with {NAMES[target]}")
    if phase == words.MOVE_IN:
        _require(int(state[target]) == 1, f"{NAMES[target]} holds one troop before others move in")
    if phase == words.ATTACK_TARGET:
        _require((int(NEIGHBOURS[source]) & theirs).bit_count() > 1, f"{NAMES[source]} has no choice of targets")
    if phase in (words.MANOEUVRE_TARGET, words.MANOEUVRE_NUMBER):
        _require(bool(int(manoeuvre_sources(state)) >> source & 1), f"nothing can be moved from {NAMES[source]}")
        targets = int(manoeuvre_targets(state, source))
        if phase == words.MANOEUVRE_TARGET:
            _require(targets.bit_count() > 1, f"{NAMES[source]} has no choice of targets")
        else:
            _require(bool(targets >> target & 1), f"nothing can be moved to {NAMES[target]}")
            _require(int(evening(state, source, target)) > 0, f"from {NAMES[source]} all must be moved, or nothing")
