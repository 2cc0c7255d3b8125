"""Risk in plain Python, with whole moves and with moves in steps.

It is obviously right because it is slow: territories are names, owners and troops are dictionaries, connected territories are
searched for one by one, dice are all tried, every move copies the board. A move is its name, as the game says it to people.
The map is written down a second time, every border from both sides.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, product
from math import comb

CONTINENTS = {
    "NA": (5, "Alaska, Northwest Territory, Greenland, Alberta, Ontario, Quebec, Western United States, Eastern United States, "
              "Central America"),
    "SA": (2, "Venezuela, Peru, Brazil, Argentina"),
    "EU": (5, "Iceland, Scandinavia, Great Britain, Northern Europe, Western Europe, Southern Europe, Ukraine"),
    "AF": (3, "North Africa, Egypt, East Africa, Congo, South Africa, Madagascar"),
    "AS": (7, "Ural, Siberia, Yakutsk, Kamchatka, Irkutsk, Mongolia, Japan, Afghanistan, China, India, Siam, Middle East"),
    "AU": (2, "Indonesia, New Guinea, Western Australia, Eastern Australia"),
}  # fmt: skip
BORDERS = """
Alaska: Northwest Territory, Alberta, Kamchatka
Northwest Territory: Alaska, Alberta, Ontario, Greenland
Greenland: Northwest Territory, Ontario, Quebec, Iceland
Alberta: Alaska, Northwest Territory, Ontario, Western United States
Ontario: Northwest Territory, Greenland, Quebec, Eastern United States, Western United States, Alberta
Quebec: Ontario, Greenland, Eastern United States
Western United States: Alberta, Ontario, Eastern United States, Central America
Eastern United States: Western United States, Ontario, Quebec, Central America
Central America: Western United States, Eastern United States, Venezuela
Venezuela: Central America, Peru, Brazil
Peru: Venezuela, Brazil, Argentina
Brazil: Venezuela, Peru, Argentina, North Africa
Argentina: Peru, Brazil
Iceland: Greenland, Great Britain, Scandinavia
Scandinavia: Iceland, Great Britain, Northern Europe, Ukraine
Great Britain: Iceland, Scandinavia, Northern Europe, Western Europe
Northern Europe: Great Britain, Scandinavia, Ukraine, Southern Europe, Western Europe
Western Europe: Great Britain, Northern Europe, Southern Europe, North Africa
Southern Europe: Western Europe, Northern Europe, Ukraine, Middle East, Egypt, North Africa
Ukraine: Scandinavia, Northern Europe, Southern Europe, Middle East, Afghanistan, Ural
North Africa: Brazil, Western Europe, Southern Europe, Egypt, East Africa, Congo
Egypt: North Africa, Southern Europe, Middle East, East Africa
East Africa: Egypt, Middle East, Madagascar, South Africa, Congo, North Africa
Congo: North Africa, East Africa, South Africa
South Africa: Congo, East Africa, Madagascar
Madagascar: East Africa, South Africa
Ural: Ukraine, Siberia, China, Afghanistan
Siberia: Ural, Yakutsk, Irkutsk, Mongolia, China
Yakutsk: Siberia, Irkutsk, Kamchatka
Kamchatka: Yakutsk, Irkutsk, Mongolia, Japan, Alaska
Irkutsk: Siberia, Yakutsk, Kamchatka, Mongolia
Mongolia: Siberia, Irkutsk, Kamchatka, Japan, China
Japan: Mongolia, Kamchatka
Afghanistan: Ukraine, Ural, China, India, Middle East
China: Ural, Siberia, Mongolia, Siam, India, Afghanistan
India: Middle East, Afghanistan, China, Siam
Siam: India, China, Indonesia
Middle East: Southern Europe, Ukraine, Afghanistan, India, East Africa, Egypt
Indonesia: Siam, New Guinea, Western Australia
New Guinea: Indonesia, Western Australia, Eastern Australia
Western Australia: Indonesia, New Guinea, Eastern Australia
Eastern Australia: New Guinea, Western Australia
"""
MEMBERS = {short: names.split(", ") for short, (_, names) in CONTINENTS.items()}
NAMES = [name for names in MEMBERS.values() for name in names]
NEIGHBOURS = {line.split(": ")[0]: line.split(": ")[1].split(", ") for line in BORDERS.strip().splitlines()}
TOO_MANY = 2**62


@dataclass(frozen=True)
class State:
    owner: dict[str, int]
    troops: dict[str, int]
    phase: str = "deal"
    player: int = 0
    turn: int = 0
    left: int = 0
    source: str | None = None
    target: str | None = None


def mine(state: State) -> list[str]:
    return [name for name in NAMES if state.owner.get(name) == state.player]


def enemies(state: State, territory: str) -> list[str]:
    """Neighbours of the other player, in the order of the map."""
    return [name for name in NAMES if name in NEIGHBOURS[territory] and state.owner[name] != state.owner[territory]]


def frontier(state: State) -> list[str]:
    return [name for name in mine(state) if enemies(state, name)]


def part_of(state: State, territory: str) -> list[str]:
    """The territories connected with this one by territories of its owner, itself too."""
    found, todo = {territory}, [territory]
    while todo:
        for name in NEIGHBOURS[todo.pop()]:
            if name not in found and state.owner[name] == state.owner[territory]:
                found.add(name)
                todo.append(name)
    return [name for name in NAMES if name in found]


def recruits(state: State) -> int:
    bonuses = sum(bonus for short, (bonus, _) in CONTINENTS.items() if set(MEMBERS[short]) <= set(mine(state)))
    return max(3, len(mine(state)) // 3) + bonuses


@cache
def throw(attackers: int, defenders: int) -> dict[int, Fraction]:
    """How likely the attacker loses 0, 1, 2 troops in one throw; `attackers` without the one that stays behind."""
    found: dict[int, int] = {}
    a, d = min(attackers, 3), min(defenders, 2)
    for dice in product(range(1, 7), repeat=a + d):
        pairs = zip(sorted(dice[:a], reverse=True), sorted(dice[a:], reverse=True), strict=False)
        lost = sum(theirs >= ours for ours, theirs in pairs)
        found[lost] = found.get(lost, 0) + 1
    return {lost: Fraction(count, 6 ** (a + d)) for lost, count in sorted(found.items())}


def at_once(state: State) -> int:
    """How many troops a whole recruitment places: all that are left, or as many as have fewer than 2^62 ways to go."""
    m = len(mine(state))
    return max(n for n in range(1, state.left + 1) if comb(n + m - 1, n) < TOO_MANY)


def chance(state: State) -> dict[str, Fraction]:
    if state.phase == "deal":
        rest = [name for name in NAMES if name not in state.owner]
        return {f"deal {name}": Fraction(1, len(rest)) for name in rest}
    attackers, defenders = state.troops[state.source] - 1, state.troops[state.target]
    compared = min(attackers, defenders, 2)
    return {f"attacker loses {lost}, defender {compared - lost}": p for lost, p in throw(attackers, defenders).items()}


# ---- legal moves -----------------------------------------------------------------------------------------------------------


def attacks(state: State) -> Iterator[tuple[str, str]]:
    for source in mine(state):
        if state.troops[source] > 1:
            yield from ((source, target) for target in enemies(state, source))


def manoeuvres(state: State) -> Iterator[tuple[str, str, int]]:
    for source in mine(state):
        for target in part_of(state, source):
            if target != source:
                yield from ((source, target, number) for number in range(1, state.troops[source]))


def count_moves(state: State) -> int:
    """How many whole moves there are."""
    if state.phase == "recruit":
        return comb(at_once(state) + len(mine(state)) - 1, at_once(state))
    if state.phase == "move in":
        return state.troops[state.source]
    return 1 + sum(1 for _ in (attacks(state) if state.phase == "attack" else manoeuvres(state)))


def legal_moves(state: State) -> list[str]:
    """All whole moves."""
    if state.phase == "recruit":
        ways = combinations_with_replacement(mine(state), at_once(state))
        return [recruitment({name: way.count(name) for name in way}) for way in ways]
    if state.phase == "move in":
        return [f"move in {number}" for number in range(1, state.troops[state.source] + 1)]
    if state.phase == "attack":
        return [*(f"{source} -> {target}" for source, target in attacks(state)), "end attack"]
    return ["no manoeuvre", *(f"move {number} {source} -> {target}" for source, target, number in manoeuvres(state))]


def recruitment(placed: dict[str, int]) -> str:
    return "recruit " + ", ".join(f"{placed[name]} {name}" for name in NAMES if placed.get(name))


def goals(state: State, source: str) -> list[str]:
    """Where a manoeuvre in steps may go."""
    return [name for name in part_of(state, source) if enemies(state, name) and name != source]


def shares(number: int) -> list[int]:
    """One, half (rounded up), all."""
    return sorted({1, (number + 1) // 2, number})


def legal_steps(state: State) -> list[str]:
    """All moves in steps."""
    phase = state.phase
    if phase == "recruit":
        return [f"recruit in {name}" for name in frontier(state)]
    if phase == "recruit number":
        return [f"recruit {number}" for number in shares(state.left)]
    if phase == "attack":
        return [*(f"attack from {name}" for name in sorted({source for source, _ in attacks(state)})), "end attack"]
    if phase == "attack target":
        return [f"attack {name}" for name in enemies(state, state.source)]
    if phase == "move in":
        return [f"move in {number}" for number in shares(state.troops[state.source])]
    if phase == "manoeuvre":
        sources = [name for name in mine(state) if state.troops[name] > 1 and goals(state, name)]
        return [*(f"move from {name}" for name in sources), "no manoeuvre"]
    if phase == "manoeuvre target":
        return [f"move to {name}" for name in goals(state, state.source)]
    return [f"move {number}" for number in manoeuvre_numbers(state, state.source, state.target)]


def manoeuvre_numbers(state: State, source: str, target: str) -> list[int]:
    """As many as make both equal, or all but one."""
    even = (state.troops[source] - state.troops[target]) // 2
    return [even, state.troops[source] - 1] if even > 0 else [state.troops[source] - 1]


# ---- playing ---------------------------------------------------------------------------------------------------------------


def play(state: State, move: str, turns: int, in_steps: bool) -> State:
    phase = state.phase
    if phase == "deal":
        return _dealt(state, move.removeprefix("deal "))
    if phase == "dice":
        lost, taken = map(int, re.fullmatch(r"attacker loses (\d), defender (\d)", move).groups())
        return _fought(state, lost, taken)
    if phase == "move in":
        return _moved_in(state, int(move.removeprefix("move in ")))
    if phase == "attack" and move == "end attack":
        return replace(state, phase="manoeuvre", source=None)
    if phase == "manoeuvre" and move == "no manoeuvre":
        return _next_turn(state, turns)
    if in_steps:
        return _step(state, move, turns)
    if phase == "recruit":
        placed = [(int(part.split(" ", 1)[0]), part.split(" ", 1)[1]) for part in move.removeprefix("recruit ").split(", ")]
        troops = dict(state.troops)
        for number, name in placed:
            troops[name] += number
        favourite = max(placed, key=lambda pair: (pair[0], -NAMES.index(pair[1])))[1]
        left = state.left - sum(number for number, _ in placed)
        return replace(state, troops=troops, left=left, source=favourite, phase="recruit" if left else "attack")
    if phase == "attack":
        source, target = move.split(" -> ")
        return replace(state, phase="dice", source=source, target=target)
    number, source, target = re.fullmatch(r"move (\d+) (.+) -> (.+)", move).groups()
    return _manoeuvred(state, source, target, int(number), turns)


def _step(state: State, move: str, turns: int) -> State:
    phase = state.phase
    if phase == "recruit":
        chosen = replace(state, source=move.removeprefix("recruit in "), phase="recruit number")
        return chosen if state.left > 1 else _step(chosen, "recruit 1", turns)
    if phase == "recruit number":
        number = int(move.removeprefix("recruit "))
        troops = {**state.troops, state.source: state.troops[state.source] + number}
        left = state.left - number
        return replace(state, troops=troops, left=left, phase="recruit" if left else "attack")
    if phase == "attack":
        chosen = replace(state, source=move.removeprefix("attack from "), phase="attack target")
        choice = legal_steps(chosen)
        return chosen if len(choice) > 1 else _step(chosen, choice[0], turns)
    if phase == "attack target":
        return replace(state, target=move.removeprefix("attack "), phase="dice")
    if phase == "manoeuvre":
        chosen = replace(state, source=move.removeprefix("move from "), phase="manoeuvre target")
    elif phase == "manoeuvre target":
        chosen = replace(state, target=move.removeprefix("move to "), phase="manoeuvre number")
    else:
        return _manoeuvred(state, state.source, state.target, int(move.removeprefix("move ")), turns)
    choice = legal_steps(chosen)
    return chosen if len(choice) > 1 else _step(chosen, choice[0], turns)


def _dealt(state: State, name: str) -> State:
    before = sum(owner == state.player for owner in state.owner.values())
    owner = {**state.owner, name: state.player}
    troops = {**state.troops, name: 2 + (before < 60 - 2 * 21)}
    after = replace(state, owner=owner, troops=troops, player=1 - state.player)
    return _begun(replace(after, turn=1)) if len(owner) == len(NAMES) else after


def _begun(state: State) -> State:
    return replace(state, phase="recruit", left=recruits(state), source=None, target=None)


def _next_turn(state: State, turns: int) -> State:
    if state.turn == turns:
        return replace(state, phase="over", source=None, target=None)
    return _begun(replace(state, turn=state.turn + 1, player=1 - state.player))


def _fought(state: State, lost: int, taken: int) -> State:
    source, target = state.source, state.target
    troops = {**state.troops, source: state.troops[source] - lost, target: state.troops[target] - taken}
    if troops[target] > 0:
        return replace(state, troops=troops, phase="attack", target=None)
    owner = {**state.owner, target: state.player}
    troops |= {source: troops[source] - 1, target: 1}
    if len(set(owner.values())) == 1:
        return replace(state, owner=owner, troops=troops, phase="over", source=None, target=None)
    conquered = replace(state, owner=owner, troops=troops, phase="move in")
    return conquered if troops[source] > 1 else _moved_in(conquered, 1)


def _moved_in(state: State, number: int) -> State:
    """The first of them is there already."""
    troops = dict(state.troops)
    troops[state.source] -= number - 1
    troops[state.target] += number - 1
    return replace(state, troops=troops, phase="attack", source=state.target, target=None)


def _manoeuvred(state: State, source: str, target: str, number: int, turns: int) -> State:
    troops = dict(state.troops)
    troops[source] -= number
    troops[target] += number
    return _next_turn(replace(state, troops=troops), turns)


def returns(state: State) -> tuple[int, int]:
    held = [sum(owner == player for owner in state.owner.values()) for player in range(2)]
    result = (held[0] > held[1]) - (held[0] < held[1])
    return result, -result


# ---- as text ---------------------------------------------------------------------------------------------------------------


def text(state: State) -> str:
    """As the game writes it."""
    parts = []
    for short, names in MEMBERS.items():
        cells = [f"{'ab'[state.owner[name]]}{state.troops[name]}" if name in state.owner else "." for name in names]
        parts += [short, *cells]
    if state.phase != "deal":
        parts.append(f"turn {state.turn} {'ab'[state.player]}")
    after = f" after {state.source}" if state.source else ""
    parts.append(
        {
            "recruit": f"recruit {state.left}{after}",
            "recruit number": f"recruit {state.left} on {state.source}",
            "attack": f"attack {state.source}",
            "attack target": f"attack from {state.source}",
            "dice": f"dice {state.source} > {state.target}",
            "move in": f"move in {state.source} > {state.target}",
            "manoeuvre target": f"manoeuvre from {state.source}",
            "manoeuvre number": f"manoeuvre {state.source} > {state.target}",
        }.get(state.phase, state.phase)
    )
    return " ".join(parts)
