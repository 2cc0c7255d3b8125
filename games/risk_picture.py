"""A position of Risk as a picture: a schematic map of the world, each territory a circle in its owner's colour."""

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from games import risk_state as words
from games.risk_map import CONTINENTS, EDGES, NAMES
from games.risk_text import PLAYERS, decision_text, owner_of

WIDTH, HEIGHT = 1000, 590
OWNER_COLOURS = ("#c0392b", "#2456a6")
UNDEALT = "#a8a8a8"
# colour of the land, place of the continent's name
LOOKS = {
    "North America": ("#e9c46a", 78, 262),
    "South America": ("#e58f65", 372, 482),
    "Europe": ("#8ab6d6", 338, 222),
    "Africa": ("#c9a27e", 420, 432),
    "Asia": ("#9cc48a", 690, 42),
    "Australia": ("#b79ad0", 735, 502),
}
PLACES = {
    "Alaska": (70, 85),
    "Northwest Territory": (170, 80),
    "Greenland": (325, 50),
    "Alberta": (145, 145),
    "Ontario": (225, 150),
    "Quebec": (305, 150),
    "Western United States": (150, 212),
    "Eastern United States": (245, 222),
    "Central America": (175, 285),
    "Venezuela": (245, 335),
    "Peru": (225, 405),
    "Brazil": (315, 390),
    "Argentina": (260, 475),
    "Iceland": (410, 95),
    "Scandinavia": (505, 85),
    "Great Britain": (420, 162),
    "Northern Europe": (500, 160),
    "Western Europe": (430, 240),
    "Southern Europe": (520, 230),
    "Ukraine": (595, 140),
    "North Africa": (445, 340),
    "Egypt": (530, 312),
    "East Africa": (580, 378),
    "Congo": (508, 415),
    "South Africa": (530, 495),
    "Madagascar": (620, 480),
    "Ural": (680, 118),
    "Siberia": (745, 88),
    "Yakutsk": (825, 60),
    "Kamchatka": (915, 72),
    "Irkutsk": (815, 132),
    "Mongolia": (835, 198),
    "Japan": (930, 190),
    "Afghanistan": (670, 196),
    "China": (765, 248),
    "India": (715, 318),
    "Siam": (808, 328),
    "Middle East": (612, 268),
    "Indonesia": (812, 415),
    "New Guinea": (910, 400),
    "Western Australia": (845, 495),
    "Eastern Australia": (935, 480),
}


def _line(source: tuple[float, float], target: tuple[float, float], style: str = "") -> str:
    return f'<line x1="{source[0]}" y1="{source[1]}" x2="{target[0]}" y2="{target[1]}"{style}/>'


def _land() -> Iterator[str]:
    """Each continent as one body: thick lines along its borders, and what lies between three of them filled."""
    for name, _, bonus, names in CONTINENTS:
        colour, *place = LOOKS[name]
        yield f'<g opacity="0.55" stroke="{colour}" fill="{colour}" stroke-width="58" stroke-linecap="round">'
        inside = [(NAMES[a], NAMES[b]) for a, b in EDGES if NAMES[a] in names and NAMES[b] in names]
        yield from (_line(PLACES[a], PLACES[b]) for a, b in inside)
        for corners in combinations(names, 3):
            if all(pair in inside for pair in combinations(corners, 2)):
                points = " ".join(f"{x},{y}" for x, y in (PLACES[corner] for corner in corners))
                yield f'<polygon points="{points}" stroke="none"/>'
        yield "</g>"
        yield f'<text x="{place[0]}" y="{place[1]}" font-size="13" font-style="italic" fill="#555">{name} +{bonus}</text>'


def _borders() -> Iterator[str]:
    continent = {name: short for _, short, _, names in CONTINENTS for name in names}
    yield '<g stroke="#777" stroke-width="1.6">'
    for a, b in ((NAMES[a], NAMES[b]) for a, b in EDGES):
        style = "" if continent[a] == continent[b] else ' stroke-dasharray="5 4"'
        if {a, b} == {"Alaska", "Kamchatka"}:  # around the back of the world
            yield _line(PLACES["Alaska"], (0, 70), style) + _line(PLACES["Kamchatka"], (WIDTH, 70), style)
        else:
            yield _line(PLACES[a], PLACES[b], style)
    yield "</g>"


def _territories(state: np.ndarray) -> Iterator[str]:
    active = int(state[words.SOURCE])
    for territory, name in enumerate(NAMES):
        x, y = PLACES[name]
        player = owner_of(state, territory)
        colour = UNDEALT if player is None else OWNER_COLOURS[player]
        ring = ' stroke="#111" stroke-width="4"' if territory == active else ' stroke="#fff" stroke-width="2"'
        yield f'<circle cx="{x}" cy="{y}" r="16" fill="{colour}"{ring}/>'
        shown = "" if player is None else int(state[territory])
        yield f'<text x="{x}" y="{y + 5}" font-size="14" font-weight="bold" fill="#fff">{shown}</text>'
        lines = [name] if len(name) <= 14 else [name.rpartition(" ")[0], name.rpartition(" ")[2]]
        for i, line in enumerate(lines):
            halo = 'stroke="#fff" stroke-width="2.5" stroke-opacity="0.7" paint-order="stroke"'
            yield f'<text x="{x}" y="{y + 27 + 10 * i}" font-size="10" fill="#222" {halo}>{line}</text>'


def _arrow(state: np.ndarray) -> Iterator[str]:
    """From the source of an attack or a manoeuvre to its target."""
    if words.NOWHERE in (state[words.SOURCE], state[words.TARGET]):
        return
    (x, y), (to_x, to_y) = (PLACES[NAMES[int(state[place])]] for place in (words.SOURCE, words.TARGET))
    if abs(to_x - x) > WIDTH / 2:
        to_x += WIDTH if to_x < x else -WIDTH
    length = np.hypot(to_x - x, to_y - y)
    along = np.array([to_x - x, to_y - y]) / length
    across = np.array([-along[1], along[0]])
    tip = np.array([to_x, to_y]) - 18 * along
    back = tip - 12 * along
    points = " ".join(f"{px:.1f},{py:.1f}" for px, py in (tip, back + 7 * across, back - 7 * across))
    start = (round(x + 18 * along[0], 1), round(y + 18 * along[1], 1))
    yield _line(start, (round(back[0], 1), round(back[1], 1)), ' stroke="#111" stroke-width="4"')
    yield f'<polygon points="{points}" fill="#111"/>'


def _legend(state: np.ndarray) -> Iterator[str]:
    for player in range(2):
        held = [territory for territory in range(len(NAMES)) if owner_of(state, territory) == player]
        armies = sum(int(state[territory]) for territory in held)
        x = 20 + 230 * player
        yield f'<circle cx="{x}" cy="{HEIGHT - 22}" r="9" fill="{OWNER_COLOURS[player]}"/>'
        text = f"{PLAYERS[player]}: {len(held)} territories, {armies} troops"
        yield f'<text x="{x + 16}" y="{HEIGHT - 17}" font-size="14" text-anchor="start">{text}</text>'
    turn = "" if state[words.PHASE] == words.DEAL else f"turn {state[words.TURN]}, {PLAYERS[int(state[words.PLAYER])]}: "
    text = (turn + decision_text(state)).replace(">", "&gt;")
    yield f'<text x="{WIDTH - 20}" y="{HEIGHT - 17}" font-size="14" text-anchor="end">{text}</text>'


def picture(state: np.ndarray) -> str:
    """The text of an SVG."""
    shapes = [*_land(), *_borders(), *_territories(state), *_arrow(state), *_legend(state)]
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" viewBox="0 0 {WIDTH} {HEIGHT}"'
    sea = f'<rect width="{WIDTH}" height="{HEIGHT}" rx="10" fill="#eaf2f6"/>'
    return f'{head} font-family="sans-serif" text-anchor="middle">{sea}{"".join(shapes)}</svg>'
