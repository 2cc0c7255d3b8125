"""An exact solver for connect four, in plain Python: alpha-beta on bitboards.

It is obviously right because it asks one yes-or-no question, "can the player to move get at least this result?", and
answers it by the definition: yes, if some move leaves the opponent unable to prevent it. Asked for a win and for a
draw, that is alpha-beta with the narrowest window. Three savings cannot change an answer: a position met again is not
searched again; the moves that look best are tried first; and moves that let the opponent win with the next stone are
not tried.

Bits: seven for a column, lowest row first, the seventh always empty, so that no line runs from one column into the
next. A position is the stones of the player to move, and all stones. A place is a number with one bit.
"""

from collections.abc import Iterator

COLUMNS = 7
ROWS = 6
HEIGHT = ROWS + 1
CENTRE_FIRST = (3, 2, 4, 1, 5, 0, 6)
COLUMN = (1 << ROWS) - 1
BOTTOM = sum(1 << (HEIGHT * column) for column in range(COLUMNS))
BOARD = BOTTOM * COLUMN
DRAW = 0
WIN = 1


def move_values(columns_played: str) -> dict[int, int]:
    """The exact value of each legal column (1 to 7) for the player to move: 1 wins, 0 draws, -1 loses."""
    mine, stones = position(columns_played)
    known: dict[tuple[int, int, int], bool] = {}
    values = {}
    for column, place in landing_places(stones):
        theirs, after = mine ^ stones, stones | place
        if has_line(mine | place) or not reaches(theirs, after, DRAW, known):
            values[column] = 1
        elif not reaches(theirs, after, WIN, known):
            values[column] = 0
        else:
            values[column] = -1
    return dict(sorted(values.items()))


def plies_to_win(columns_played: str, limit: int = ROWS * COLUMNS) -> int | None:
    """After how many plies, this one included, the player to move wins for sure; None if it takes more than `limit`."""
    mine, stones = position(columns_played)
    for plies in range(1, limit + 1, 2):
        if wins_within(mine, stones, plies, {}):
            return plies
    return None


def position(columns_played: str) -> tuple[int, int]:
    """The stones of the player to move, and all stones, after the columns (1 to 7) played."""
    mine, theirs = 0, 0
    for digit in columns_played:
        places = dict(landing_places(mine | theirs))
        if int(digit) not in places or has_line(theirs):
            raise ValueError(f"column {digit} cannot be played in {columns_played!r}")
        mine, theirs = theirs, mine | places[int(digit)]
    if has_line(theirs):
        raise ValueError(f"the game is over after {columns_played!r}")
    return mine, mine | theirs


def landing_places(stones: int) -> Iterator[tuple[int, int]]:
    """The playable columns (1 to 7), the centre first, and where a stone would land."""
    free = (stones + BOTTOM) & BOARD  # one added to a column's stones carries to the lowest free place
    for column in CENTRE_FIRST:
        place = free & (COLUMN << (HEIGHT * column))
        if place:
            yield column + 1, place


def has_line(stones: int) -> bool:
    """Whether four of these stones stand in a line."""
    for step in (1, HEIGHT - 1, HEIGHT, HEIGHT + 1):  # up, and to the right: down, level, up
        pairs = stones & (stones >> step)
        if pairs & (pairs >> (2 * step)):
            return True
    return False


def winning_places(mine: int, stones: int) -> int:
    """All empty places, playable or not, where one more of my stones makes a line of four."""
    places = (mine << 1) & (mine << 2) & (mine << 3)
    for step in (HEIGHT - 1, HEIGHT, HEIGHT + 1):
        right, left = mine << step, mine >> step
        right_pair, left_pair = right & (mine << (2 * step)), left & (mine >> (2 * step))
        places |= right_pair & ((mine << (3 * step)) | left)  # ooo. and oo.o read from left to right
        places |= left_pair & ((mine >> (3 * step)) | right)  # .ooo and o.oo
    return places & BOARD & ~stones


def reaches(mine: int, stones: int, goal: int, known: dict[tuple[int, int, int], bool]) -> bool:
    """Whether the player to move can get at least a DRAW, or a WIN. Nobody has a line yet."""
    theirs = mine ^ stones
    free = (stones + BOTTOM) & BOARD
    if not free:
        return goal == DRAW
    if winning_places(mine, stones) & free:
        return True

    # The opponent must not get a line with the next stone: fill the place that makes one, leave the place below one.
    threats = winning_places(theirs, stones)
    to_fill = free & threats
    if to_fill & (to_fill - 1):
        return False  # two places, and one stone to fill them
    places = (to_fill or free) & ~(threats >> 1)
    if not places:
        return False

    key = (mine, stones, goal)
    if key not in known:
        moves = [place for column, place in landing_places(stones) if place & places]
        # Those that make the most places to win at come first; among equals the sort keeps the centre in front.
        moves.sort(key=lambda place: -winning_places(mine | place, stones | place).bit_count())
        # To get at least a draw is to keep the opponent from a win; to get a win, to keep the opponent from a draw.
        theirs_to_prevent = WIN if goal == DRAW else DRAW
        known[key] = any(not reaches(theirs, stones | place, theirs_to_prevent, known) for place in moves)
    return known[key]


def wins_within(mine: int, stones: int, plies: int, known: dict[tuple[int, int, int], bool]) -> bool:
    """Whether the player to move can force a line with at most `plies` more stones of both players."""
    if winning_places(mine, stones) & (stones + BOTTOM):
        return True
    if plies < 3:
        return False
    key = (mine, stones, plies)
    if key not in known:
        places = [place for column, place in landing_places(stones)]
        known[key] = any(_wins_against_all(mine | place, stones | place, plies - 1, known) for place in places)
    return known[key]


def _wins_against_all(mine: int, stones: int, plies: int, known: dict[tuple[int, int, int], bool]) -> bool:
    """The same with the opponent to move: whether every reply still leads to it."""
    theirs = mine ^ stones
    replies = [place for column, place in landing_places(stones)]
    if not replies or winning_places(theirs, stones) & (stones + BOTTOM):
        return False
    return all(wins_within(mine, stones | place, plies - 1, known) for place in replies)
