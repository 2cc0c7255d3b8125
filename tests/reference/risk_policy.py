"""The playout policy of Risk as probabilities: for every position, how likely each move is to be chosen.

Section 3.1.1 of the paper on sampled expansion, sentence by sentence. Battles are computed as fractions.
"""

from fractions import Fraction
from functools import cache

from tests.reference.risk import (
    NAMES,
    State,
    at_once,
    chance,
    enemies,
    frontier,
    goals,
    legal_moves,
    legal_steps,
    mine,
    part_of,
    throw,
)


@cache
def battle(attackers: int, defenders: int) -> Fraction:
    """How likely the attacker wins a battle that is fought to its end."""
    if defenders == 0 or attackers == 0:
        return Fraction(int(defenders == 0))
    compared = min(attackers, defenders, 2)
    return sum(
        chance * battle(attackers - lost, defenders - (compared - lost)) for lost, chance in throw(attackers, defenders).items()
    )


def policy(state: State, in_steps: bool) -> dict[str, Fraction]:
    """How likely the policy chooses each move."""
    if state.phase in ("deal", "dice"):
        return chance(state)
    if state.phase == "recruit":
        places = [state.source] if state.source else frontier(state)
        name = "recruit in {}" if in_steps else f"recruit {at_once(state)} {{}}"
        return _equally([name.format(place) for place in places])
    if state.phase == "recruit number":
        return {f"recruit {state.left}": Fraction(1)}
    if state.phase in ("attack", "attack target"):
        return {_attack(state, in_steps): Fraction(1)}
    if state.phase == "move in":
        return _equally(legal_steps(state) if in_steps else legal_moves(state))
    if state.phase == "manoeuvre number":
        return {legal_steps(state)[0]: Fraction(1)}
    richest = max(mine(state), key=lambda name: (state.troops[name], -NAMES.index(name)))
    source = state.source if state.phase == "manoeuvre target" else richest
    choice = goals(state, source) if in_steps else [name for name in part_of(state, source) if name != source]
    fewest = min((state.troops[name] for name in choice), default=0)
    number = (state.troops[source] - fewest) // 2 if choice else 0
    poorest = [name for name in choice if state.troops[name] == fewest]
    if state.phase == "manoeuvre target":
        return _equally([f"move to {name}" for name in (poorest if number > 0 else choice[:1])])
    if number < 1:
        return {"no manoeuvre": Fraction(1)}
    if in_steps:
        return {f"move from {source}": Fraction(1)}
    return _equally([f"move {number} {source} -> {target}" for target in poorest])


def _attack(state: State, in_steps: bool) -> str:
    attackers = state.troops[state.source] - 1
    neighbours = enemies(state, state.source)
    good = [name for name in neighbours if battle(attackers, state.troops[name]) > Fraction(1, 2)]
    if state.phase == "attack target":
        return f"attack {(good or neighbours)[0]}"
    if not good:
        return "end attack"
    return f"attack from {state.source}" if in_steps else f"{state.source} -> {good[0]}"


def _equally(moves: list[str]) -> dict[str, Fraction]:
    return {move: Fraction(1, len(moves)) for move in moves}
