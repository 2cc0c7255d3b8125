"""Moves of Risk by name, both ways; also those that are too many to list."""

import re

import numpy as np

from distmcts.errors import InputError
from games import risk_state as words
from games.risk_map import EDGE_SOURCE, EDGE_TARGET, NAMES, TERRITORIES, bit, connected
from games.risk_recruit import numbers_of, rank_of, recruited_at_once
from games.risk_rules import END_ATTACK, manoeuvre_at, manoeuvre_number
from games.risk_steps import END, EVEN, evening, share
from games.risk_text import BY_NAME

NO_MANOEUVRE = "no manoeuvre"


def _own(state: np.ndarray) -> list[int]:
    mine = int(state[words.OWNED + int(state[words.PLAYER])])
    return [territory for territory in range(TERRITORIES) if mine >> territory & 1]


def _at_once(state: np.ndarray) -> int:
    mine = state[words.OWNED + int(state[words.PLAYER])]
    return int(recruited_at_once(mine, int(state[words.LEFT])))


def _chance_name(state: np.ndarray, move: int) -> str:
    if state[words.PHASE] == words.DEAL:
        return f"deal {NAMES[move]}"
    attackers, defenders = int(state[int(state[words.SOURCE])]) - 1, int(state[int(state[words.TARGET])])
    return f"attacker loses {move}, defender {min(attackers, defenders, 2) - move}"


def name_of_move(state: np.ndarray, move: int) -> str:
    """A whole move."""
    phase = state[words.PHASE]
    if phase < words.FINISHED:
        return _chance_name(state, move)
    if phase == words.RECRUIT:
        mine = _own(state)
        numbers = zip(numbers_of(len(mine), _at_once(state), move), mine, strict=True)
        return "recruit " + ", ".join(f"{number} {NAMES[territory]}" for number, territory in numbers if number)
    if phase == words.ATTACK:
        return "end attack" if move == END_ATTACK else f"{NAMES[EDGE_SOURCE[move]]} -> {NAMES[EDGE_TARGET[move]]}"
    if phase == words.MOVE_IN:
        return f"move in {move + 1}"
    if move == 0:
        return NO_MANOEUVRE
    source, target, number = manoeuvre_at(state, move)
    return f"move {number} {NAMES[source]} -> {NAMES[target]}"


def name_of_step(state: np.ndarray, move: int) -> str:
    """A move in steps."""
    phase = state[words.PHASE]
    if phase < words.FINISHED:
        return _chance_name(state, move)
    source, target = int(state[words.SOURCE]), int(state[words.TARGET])
    if phase == words.RECRUIT_NUMBER:
        return f"recruit {share(int(state[words.LEFT]), move)}"
    if phase == words.MOVE_IN:
        return f"move in {share(int(state[source]), move)}"
    if phase == words.MANOEUVRE_NUMBER:
        return f"move {evening(state, source, target) if move == EVEN else int(state[source]) - 1}"
    if move == END:
        return "end attack" if phase == words.ATTACK else NO_MANOEUVRE
    verbs = {
        int(words.RECRUIT): "recruit in",
        int(words.ATTACK): "attack from",
        int(words.ATTACK_TARGET): "attack",
        int(words.MANOEUVRE): "move from",
        int(words.MANOEUVRE_TARGET): "move to",
    }
    return f"{verbs[int(phase)]} {NAMES[move]}"


def ranked_move(state: np.ndarray, text: str) -> int | None:
    """The number of a recruitment, of troops moving in, or of a manoeuvre that a person named; None if it is none."""
    text = " ".join(text.lower().split())
    phase = state[words.PHASE]
    if phase == words.RECRUIT:
        return _recruitment(state, text.removeprefix("recruit").strip())
    if phase == words.MOVE_IN:
        found = re.fullmatch(r"move in (\d{1,9})", text)
        return int(found[1]) - 1 if found and 1 <= int(found[1]) <= int(state[int(state[words.SOURCE])]) else None
    if phase != words.MANOEUVRE:
        return None
    if text == NO_MANOEUVRE:
        return 0
    found = re.fullmatch(r"move (\d{1,9}) (.+) -> (.+)", text)
    if found is None or found[2] not in BY_NAME or found[3] not in BY_NAME:
        return None
    source, target, number = BY_NAME[found[2]], BY_NAME[found[3]], int(found[1])
    if source == target or source not in _own(state) or not 1 <= number < int(state[source]):
        return None
    reachable = connected(bit(source), state[words.OWNED + int(state[words.PLAYER])])
    return int(manoeuvre_number(state, source, target, number)) if int(reachable) >> target & 1 else None


def _recruitment(state: np.ndarray, text: str) -> int | None:
    placed = dict.fromkeys(_own(state), 0)
    for part in text.split(","):
        found = re.fullmatch(r"(\d{1,3}) (.+)", part.strip())
        if found is None or found[2] not in BY_NAME:
            return None
        if BY_NAME[found[2]] not in placed:
            raise InputError(f"{NAMES[BY_NAME[found[2]]]} belongs to the other player")
        placed[BY_NAME[found[2]]] += int(found[1])
    if sum(placed.values()) != _at_once(state):
        raise InputError(f"{text!r} recruits {sum(placed.values())} troops, must be {_at_once(state)}")
    return rank_of(list(placed.values()))
