"""The classic map of Risk: 42 territories in 6 continents, 83 borders; sets of territories as 42 bits of a word.

Territory t is bit t of a set. `around` gives the neighbours of a whole set by six lookups: the set is cut into pieces of seven
territories, and a table holds the neighbours of every possible piece.
"""

import numpy as np

from distmcts.kernels.bits import count_ones
from distmcts.kernels.jit import kernel

# name, short name, bonus, territories
_CONTINENTS = """
North America | NA | 5 | Alaska, Northwest Territory, Greenland, Alberta, Ontario, Quebec, Western United States, \
Eastern United States, Central America
South America | SA | 2 | Venezuela, Peru, Brazil, Argentina
Europe | EU | 5 | Iceland, Scandinavia, Great Britain, Northern Europe, Western Europe, Southern Europe, Ukraine
Africa | AF | 3 | North Africa, Egypt, East Africa, Congo, South Africa, Madagascar
Asia | AS | 7 | Ural, Siberia, Yakutsk, Kamchatka, Irkutsk, Mongolia, Japan, Afghanistan, China, India, Siam, Middle East
Australia | AU | 2 | Indonesia, New Guinea, Western Australia, Eastern Australia
"""

_ROWS = [line.split(" | ") for line in _CONTINENTS.strip().splitlines()]
CONTINENTS = tuple((name, short, int(bonus), names.split(", ")) for name, short, bonus, names in _ROWS)

# each border once, from its first territory on the map
BORDERS = {
    "Alaska": ("Northwest Territory", "Alberta", "Kamchatka"),
    "Northwest Territory": ("Greenland", "Alberta", "Ontario"),
    "Greenland": ("Ontario", "Quebec", "Iceland"),
    "Alberta": ("Ontario", "Western United States"),
    "Ontario": ("Quebec", "Western United States", "Eastern United States"),
    "Quebec": ("Eastern United States",),
    "Western United States": ("Eastern United States", "Central America"),
    "Eastern United States": ("Central America",),
    "Central America": ("Venezuela",),
    "Venezuela": ("Peru", "Brazil"),
    "Peru": ("Brazil", "Argentina"),
    "Brazil": ("Argentina", "North Africa"),
    "Iceland": ("Scandinavia", "Great Britain"),
    "Scandinavia": ("Great Britain", "Northern Europe", "Ukraine"),
    "Great Britain": ("Northern Europe", "Western Europe"),
    "Northern Europe": ("Western Europe", "Southern Europe", "Ukraine"),
    "Western Europe": ("Southern Europe", "North Africa"),
    "Southern Europe": ("Ukraine", "North Africa", "Egypt", "Middle East"),
    "Ukraine": ("Ural", "Afghanistan", "Middle East"),
    "North Africa": ("Egypt", "East Africa", "Congo"),
    "Egypt": ("East Africa", "Middle East"),
    "East Africa": ("Congo", "South Africa", "Madagascar", "Middle East"),
    "Congo": ("South Africa",),
    "South Africa": ("Madagascar",),
    "Ural": ("Siberia", "Afghanistan", "China"),
    "Siberia": ("Yakutsk", "Irkutsk", "Mongolia", "China"),
    "Yakutsk": ("Kamchatka", "Irkutsk"),
    "Kamchatka": ("Irkutsk", "Mongolia", "Japan"),
    "Irkutsk": ("Mongolia",),
    "Mongolia": ("Japan", "China"),
    "Afghanistan": ("China", "India", "Middle East"),
    "China": ("India", "Siam"),
    "India": ("Siam", "Middle East"),
    "Siam": ("Indonesia",),
    "Indonesia": ("New Guinea", "Western Australia"),
    "New Guinea": ("Western Australia", "Eastern Australia"),
    "Western Australia": ("Eastern Australia",),
}

NAMES = tuple(name for *_, names in CONTINENTS for name in names)
TERRITORIES = len(NAMES)
EDGES = tuple((NAMES.index(name), NAMES.index(other)) for name, others in BORDERS.items() for other in others)
# both ways, by source and then by target: the number of an attack
ATTACKS = tuple(sorted([*EDGES, *((target, source) for source, target in EDGES)]))
PIECE = 7  # territories of a set that one lookup takes


def _neighbour_sets() -> list[int]:
    sets = [0] * TERRITORIES
    for source, target in ATTACKS:
        sets[source] |= 1 << target
    return sets


def _around_pieces(neighbours: list[int]) -> np.ndarray:
    """The neighbours of every set of territories within a piece; 128 entries a piece."""
    table = np.zeros((TERRITORIES // PIECE, 1 << PIECE), np.uint64)
    for piece in range(TERRITORIES // PIECE):
        for members in range(1, 1 << PIECE):
            lowest = (members & -members).bit_length() - 1
            rest = int(table[piece, members & (members - 1)])
            table[piece, members] = rest | neighbours[PIECE * piece + lowest]
    return table.ravel()


def _continent_sets() -> list[int]:
    return [sum(1 << NAMES.index(name) for name in names) for *_, names in CONTINENTS]


NEIGHBOURS = np.array(_neighbour_sets(), np.uint64)
CONTINENT_SETS = np.array(_continent_sets(), np.uint64)
BONUSES = np.array([bonus for _, _, bonus, _ in CONTINENTS], np.int64)
ALL_BONUSES = int(BONUSES.sum())
AROUND = _around_pieces(_neighbour_sets())
EDGE_SOURCE = np.array([source for source, _ in ATTACKS], np.int64)
EDGE_TARGET = np.array([target for _, target in ATTACKS], np.int64)
FIRST_EDGE = np.array([min(i for i, edge in enumerate(ATTACKS) if edge[0] == t) for t in range(TERRITORIES)], np.int64)
WORLD = np.uint64((1 << TERRITORIES) - 1)

_0 = np.uint64(0)
_1 = np.uint64(1)
_PIECE = np.uint64(PIECE)
_MEMBERS = np.uint64((1 << PIECE) - 1)


@kernel
def bit(territory):
    return _1 << np.uint64(territory)


@kernel
def around(territories):
    """All neighbours of a set of territories; its own members among them where they border each other."""
    found = _0
    for piece in range(TERRITORIES // PIECE):
        found |= AROUND[(piece << PIECE) + np.int64(territories & _MEMBERS)]
        territories >>= _PIECE
    return found


@kernel
def nth(territories, n):
    """The set with the n-th member only (from 0) of a set of territories."""
    for _ in range(n):
        territories &= territories - _1
    return territories & (~territories + _1)


@kernel
def connected(start, mine):
    """All territories that can be reached from `start`, a set, through `mine`, which holds it."""
    while True:
        wider = start | (around(start) & mine)
        if wider == start:
            return start
        start = wider


@kernel
def edge_number(source, target):
    """Which of the directed borders leads from source to target."""
    return FIRST_EDGE[source] + count_ones(NEIGHBOURS[source] & (bit(target) - _1))


@kernel
def continent_bonus(mine):
    """What the continents that are wholly within a set of territories bring each turn."""
    bonus = 0
    for continent in range(BONUSES.size):
        whole = CONTINENT_SETS[continent]
        if mine & whole == whole:
            bonus += BONUSES[continent]
    return bonus


@kernel
def recruits(mine):
    """Troops that the owner of these territories recruits at the beginning of a turn."""
    return max(3, count_ones(mine) // 3) + continent_bonus(mine)
