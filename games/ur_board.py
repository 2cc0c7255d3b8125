"""The board of the Royal Game of Ur, drawn: as text and as SVG. Player 0 plays along the lower edge, player 1 along the upper.

4  3  2  1        14 13      the path of player 1
5  6  7  8  9 10 11 12      shared
4  3  2  1        14 13      the path of player 0
"""

from typing import NamedTuple

from distmcts.kernels.rules import OVER
from games.ur_rules import LAST, ROSETTE_SQUARES, SHARED_SQUARES

COLUMNS = 8

TILE = 60  # units of the picture
MARGIN = 14
TRAY = 44  # height of the strip with hand and home
DISC = 22  # radius of a piece
WOOD, FRAME, INK = "#8a5a33", "#4b2e17", "#2a211b"
SHELL, GOLD, LAPIS, CARNELIAN = "#f1e6cb", "#e3c684", "#24538c", "#b3402a"
COLOURS = (("#fdf8ea", LAPIS), ("#2b2522", SHELL))  # of each player's pieces: the disc, its rim and dots


class Side(NamedTuple):
    """What one player has."""

    hand: int
    squares: list[int]
    home: int

    @property
    def has_won(self) -> bool:
        return not self.hand and not self.squares


def place_of(player: int, square: int) -> tuple[int, int]:
    """Row (0 is the upper one) and column of a square on a player's path."""
    if square in SHARED_SQUARES:
        return 1, square - 5
    return 2 - 2 * player, 4 - square if square <= 4 else 20 - square


TILES = sorted({(*place_of(player, square), square) for player in range(2) for square in range(1, LAST + 1)})


# ---- text --------------------------------------------------------------------------------------------------------------


def text(sides: tuple[Side, Side], mover: int, roll: int) -> str:
    """x is player 0, o player 1; brackets are rosettes."""
    marks = {place_of(player, square): "xo"[player] for player in range(2) for square in sides[player].squares}
    cells = [["   "] * COLUMNS for _ in range(3)]
    for row, column, square in TILES:
        mark = marks.get((row, column))
        cells[row][column] = f"[{mark or ' '}]" if square in ROSETTE_SQUARES else f" {mark or '.'} "
    rows = ["".join(row).rstrip() for row in cells]
    return "\n".join([_caption(sides, 1, mover, roll), *rows, _caption(sides, 0, mover, roll)])


def _caption(sides: tuple[Side, Side], player: int, mover: int, roll: int) -> str:
    hand, _, home = sides[player]
    return f"{'xo'[player]} player {player}: {hand} in hand, {home} home{_news(sides, player, mover, roll)}"


def _news(sides: tuple[Side, Side], player: int, mover: int, roll: int) -> str:
    if mover == OVER:
        return "  <- won" if sides[player].has_won else ""
    if player != mover:
        return ""
    return f"  <- rolled {roll}" if roll else "  <- to roll"


# ---- picture -----------------------------------------------------------------------------------------------------------


def picture(sides: tuple[Side, Side], mover: int, roll: int) -> str:
    width = COLUMNS * TILE + 2 * MARGIN
    height = 3 * TILE + 2 * TRAY + 2 * MARGIN
    shapes = [f'<rect width="{width}" height="{height}" rx="10" fill="#fffdf6"/>', _frame()]
    shapes += [_tile(*_point(row + 0.5, column + 0.5), square) for row, column, square in TILES]
    for player, side in enumerate(sides):
        for square in side.squares:
            row, column = place_of(player, square)
            shapes.append(_piece(*_point(row + 0.5, column + 0.5), player))
        shapes.append(_tray(player, side))
    if mover != OVER:
        shapes.append(_dice(mover, roll))
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    font = 'font-family="Georgia, serif" font-size="13"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} {font} fill="{INK}">{"".join(shapes)}</svg>'


def _point(row: float, column: float) -> tuple[float, float]:
    return MARGIN + column * TILE, MARGIN + TRAY + row * TILE


def _frame() -> str:
    """The outline of the H: two blocks, and the bridge, which reaches into both so that no corner shows."""
    parts = []
    for grow, colour in ((8, FRAME), (4, WOOD)):
        for row, column, rows, columns in ((0, 0, 3, 4), (1, 3, 1, 4), (0, 6, 3, 2)):
            x, y = _point(row, column)
            size = f'width="{columns * TILE + 2 * grow}" height="{rows * TILE + 2 * grow}"'
            parts.append(f'<rect x="{x - grow}" y="{y - grow}" {size} rx="{grow}" fill="{colour}"/>')
    return "".join(parts)


FIVE = ((0, 0), (-1, -1), (-1, 1), (1, -1), (1, 1))  # as on a die


def _tile(x: float, y: float, square: int) -> str:
    ground = GOLD if square in ROSETTE_SQUARES else SHELL
    half = TILE / 2 - 1.5
    size = f'x="{-half}" y="{-half}" width="{2 * half}" height="{2 * half}" rx="3"'
    parts = [f'<rect {size} fill="{ground}" stroke="{LAPIS}" stroke-width="2"/>']
    if square in ROSETTE_SQUARES:
        for petal in range(8):
            colour, tip = ((LAPIS, -25), (CARNELIAN, -21))[petal % 2]
            parts.append(f'<path d="M0 0Q-8 -16 0 {tip}Q8 -16 0 0Z" fill="{colour}" transform="rotate({45 * petal})"/>')
        parts.append(f'<circle r="5" fill="{SHELL}" stroke="{LAPIS}" stroke-width="1.5"/>')
    else:
        for i, j in FIVE:
            at = f'cx="{12 * i}" cy="{12 * j}"'
            parts.append(f'<circle {at} r="4.5" fill="none" stroke="{LAPIS}" stroke-width="1.5" opacity="0.5"/>')
            parts.append(f'<circle {at} r="1.8" fill="{CARNELIAN}" opacity="0.6"/>')
    parts.append(f'<text x="-25.5" y="-18" font-size="9" opacity="0.8">{square}</text>')
    kind = "rosette" if square in ROSETTE_SQUARES else "tile"
    return f'<g class="{kind}" transform="translate({x:g} {y:g})">{"".join(parts)}</g>'


def _piece(x: float, y: float, player: int, radius: float = DISC) -> str:
    disc, ornament = COLOURS[player]
    parts = [f'<circle r="{radius}" fill="{disc}" stroke="{INK}"/>']
    parts.append(f'<circle r="{0.84 * radius:.1f}" fill="none" stroke="{ornament}" stroke-width="{radius / 14:.1f}"/>')
    for i, j in FIVE:
        at = f'cx="{0.34 * radius * i:.1f}" cy="{0.34 * radius * j:.1f}"'
        parts.append(f'<circle {at} r="{radius / 8:.1f}" fill="{ornament}"/>')
    return f'<g class="piece player-{player}" transform="translate({x:g} {y:g})">{"".join(parts)}</g>'


def _tray(player: int, side: Side) -> str:
    """The pieces in hand, on the left where they enter, and those at home, on the right where they leave."""
    y = MARGIN + TRAY / 2 - 6 if player else MARGIN + TRAY + 3 * TILE + TRAY / 2 + 6
    left, right = MARGIN, MARGIN + COLUMNS * TILE
    parts = [
        f'<text x="{left}" y="{y + 4}">hand {side.hand}</text>',
        f'<text x="{right - 44}" y="{y + 4}">home {side.home}</text>',
    ]
    parts += [_piece(left + 64 + 24 * i, y, player, 10.5) for i in range(side.hand)]
    parts += [_piece(right - 62 - 24 * i, y, player, 10.5) for i in range(side.home)]
    if side.has_won:
        x = MARGIN + 2 * TILE
        parts.append(f'<text x="{x}" y="{y + 5}" text-anchor="middle" font-size="17">player {player} won</text>')
    return "".join(parts)


def _dice(mover: int, roll: int) -> str:
    """Four tetrahedra in the notch beside the player whose turn it is; a white tip counts one."""
    x, y = _point(2.1 - 2.35 * mover, 4)
    parts = []
    for die in range(4):
        at = x + 15 + 24 * die
        strength = 1 if roll else 0.4
        parts.append(f'<path d="M{at:g} {y + 38:g}l9 -18l9 18z" fill="{WOOD}" stroke="{INK}" opacity="{strength}"/>')
        if die < roll:
            parts.append(f'<path d="M{at + 4.5:g} {y + 29:g}l4.5 -9l4.5 9z" fill="#fff" stroke="{INK}"/>')
    caption = f"rolled {roll}" if roll else "to roll"
    parts.append(f'<text x="{x + TILE}" y="{y + 53}" text-anchor="middle" font-size="12">player {mover} {caption}</text>')
    return "".join(parts)
