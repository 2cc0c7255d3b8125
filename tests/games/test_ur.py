"""Ur: the plain rules move by move, passes, random play by its distribution, and the rules as plain Python."""

import random
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from distmcts import conformance, load_game
from distmcts.errors import InputError
from distmcts.kernels import referee
from distmcts.kernels.jit import kernel
from distmcts.kernels.layout import MAX_PLAYERS
from distmcts.kernels.rng import random_word, seeded
from distmcts.kernels.rules import CHANCE, OVER, apply, find_move, player
from games.ur import Ur
from tests.reference import ur as reference
from tests.support.playing import BY_PLAYOUT, both_ways, plain_trace, play_out, positions, trace

GAME = Ur()
SMALL = Ur(pieces=3)
CROWDED = "0 5,7,9,11,12,13 1 / 3 4,6,8,10 0 / 0 1"
MIDDLE = "2 1,4,8,14 1 / 4 3,9,13 0 / 1 3"


def text_of(mine, theirs, mover: int, roll: int | None) -> str:
    """A position of the plain rules as the game writes it."""
    sides = []
    for pieces in (mine, theirs) if mover == 0 else (theirs, mine):
        squares = [str(place) for place in pieces if place not in (reference.HAND, reference.HOME)]
        sides.append(f"{pieces.count(reference.HAND)} {','.join(squares) or '-'} {pieces.count(reference.HOME)}")
    over = reference.has_won(mine) or reference.has_won(theirs)
    return " / ".join([*sides, "over" if over else f"{mover} {'?' if roll is None else roll}"])


# ---- rules -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pieces, games", [(1, 150), (2, 100), (3, 100), (5, 60), (7, 100)])
def test_same_as_the_plain_rules(pieces, games):
    """Every position of random games: text, player, moves, chances, results; and every pass."""
    game = Ur(pieces)
    choose = random.Random(pieces)
    passes = captures = again_count = 0
    for _ in range(games):
        state, (mine, theirs), mover = game.initial_state(), reference.start(pieces), 0
        while not reference.has_won(theirs):
            assert game.format(state) == text_of(mine, theirs, mover, None)
            assert game.look(state) == (CHANCE, [0, 1, 2, 3, 4], [0, 0])
            assert game.chance_outcomes(state) == list(enumerate(reference.ROLL_CHANCES))
            roll = choose.choices(range(5), reference.ROLL_CHANCES)[0]
            state = game.apply(state, roll)
            moves = reference.legal_moves(mine, theirs, roll)
            again = False
            if moves:
                assert game.format(state) == text_of(mine, theirs, mover, roll)
                assert game.look(state) == (mover, moves, [0, 0])
                move = choose.choice(moves)
                state = game.apply(state, move)
                had = theirs
                mine, theirs, again = reference.play(mine, theirs, roll, move)
                captures += theirs != had
                again_count += again
            else:
                passes += 1
            if not again:
                mine, theirs, mover = theirs, mine, 1 - mover
        assert game.look(state) == (OVER, [], [1, -1] if mover == 1 else [-1, 1])  # theirs are home: they moved last
        assert game.format(state) == text_of(mine, theirs, mover, None)
    assert passes > games and again_count > games and captures > games // 10


def plain_perft(mine, theirs, roll: int | None, depth: int) -> int:
    if depth == 0:
        return 1
    if reference.has_won(theirs):
        return 0
    if roll is not None:
        after = [reference.play(mine, theirs, roll, move) for move in reference.legal_moves(mine, theirs, roll)]
        return sum(plain_perft(*((a, b) if again else (b, a)), None, depth - 1) for a, b, again in after)
    playable = [bool(reference.legal_moves(mine, theirs, roll)) for roll in range(5)]
    return sum(
        plain_perft(mine, theirs, roll, depth - 1) if playable[roll] else plain_perft(theirs, mine, None, depth - 1)
        for roll in range(5)
    )


@pytest.mark.parametrize("pieces", [1, 3, 7])
def test_perft(pieces):
    game = Ur(pieces)
    counts = [plain_perft(*reference.start(pieces), None, depth) for depth in range(1, 10)]
    assert [game.perft(depth) for depth in range(1, 10)] == counts
    assert list(game.perft_counts[:9]) == (counts if pieces == 7 else [])


@pytest.mark.parametrize(
    "before, moves, after",
    [
        pytest.param("7 - 0 / 7 - 0 / 0 ?", ["roll 4", "hand-4"], "6 4 0 / 7 - 0 / 0 ?", id="a rosette gives another roll"),
        pytest.param("7 - 0 / 7 - 0 / 0 ?", ["roll 3", "hand-3"], "6 3 0 / 7 - 0 / 1 ?", id="other squares do not"),
        pytest.param("7 - 0 / 7 - 0 / 0 ?", ["roll 0"], "7 - 0 / 7 - 0 / 1 ?", id="nothing to play: the turn passes"),
        pytest.param("0 13 6 / 7 - 0 / 0 ?", ["roll 3"], "0 13 6 / 7 - 0 / 1 ?", id="no move home with too many"),
        pytest.param("0 7 6 / 6 8 0 / 0 ?", ["roll 1"], "0 7 6 / 6 8 0 / 1 ?", id="on the middle rosette a piece is safe"),
        pytest.param("6 7 0 / 6 9 0 / 0 2", ["7x9"], "6 9 0 / 7 - 0 / 1 ?", id="a captured piece goes back to the hand"),
        pytest.param("6 11 0 / 6 13 0 / 0 2", ["11-13"], "6 13 0 / 6 13 0 / 1 ?", id="two pieces on different squares 13"),
        pytest.param("3 14 3 / 6 2 0 / 0 1", ["14-home"], "3 - 4 / 6 2 0 / 1 ?", id="home"),
        pytest.param("0 14 6 / 6 2 0 / 0 1", ["14-home"], "0 - 7 / 6 2 0 / over", id="the last one home"),
        pytest.param("6 2 0 / 0 14 6 / 1 ?", ["roll 1", "14-home"], "6 2 0 / 0 - 7 / over", id="player 1 wins"),
    ],
)
def test_some_moves(before, moves, after):
    state = GAME.parse(before)
    for name in moves:
        state = GAME.apply(state, GAME.parse_move(state, name))
    assert GAME.format(state) == after


def test_move_names():
    state = GAME.parse(CROWDED)
    assert {move: GAME.move_name(state, move) for move in GAME.legal_moves(state)} == {5: "5x6", 9: "9x10", 13: "13-14"}
    for state in positions(SMALL, 20, seed=4):
        for move in SMALL.legal_moves(state):
            assert SMALL.parse_move(state, SMALL.move_name(state, move)) == move
            assert SMALL.parse_move(state, str(move)) == move


# ---- random play -----------------------------------------------------------------------------------------------------


@kernel
def rolls_by_rules(game, state, moves, rng):
    """How many rolls a random game takes, step by step."""
    rolls = 0
    while player(game, state) != OVER:
        rolls += player(game, state) == CHANCE
        apply(game, state, find_move(game, state, moves, rng))
    return rolls


@kernel
def words_drawn(rng, until):
    """How many random words were drawn between two states of a stream: the game's own playout draws one a roll."""
    words = 0
    while rng[0] != until[0] or rng[1] != until[1]:
        random_word(rng)
        words += 1
    return words


@pytest.mark.parametrize("text", ["7 - 0 / 7 - 0 / 0 ?", MIDDLE, CROWDED, "0 10,13,14 4 / 0 5,7,14 4 / 0 1"])
def test_playout_is_random_play(text):
    """By how the loser's pieces lie at the end."""
    ends = []
    for kind in both_ways(GAME, GAME.parse(text), 6000):
        sides = [(result, GAME.sides(end)[0 if result < 0 else 1]) for end, result in kind]
        ends.append([(result, lost.home, min(lost.hand, 3)) for result, lost in sides])
    kinds = sorted(set(ends[0] + ends[1]))
    table = np.array([[sample.count(kind) for kind in kinds] for sample in ends])
    table = table[:, table.sum(axis=0) >= 20]
    assert table.shape[1] > 5
    assert chi2_contingency(table).pvalue > 1e-4


def test_playouts_are_as_long_as_random_play():
    count = 4000
    rng = seeded(7, 0)
    moves = np.zeros(GAME.list_length, np.int64)
    lengths = np.zeros((2, count))
    for i in range(count):
        before = rng.copy()
        play_out(GAME, GAME.initial_state(), BY_PLAYOUT, rng)
        lengths[0, i] = words_drawn(before, rng)
        lengths[1, i] = rolls_by_rules(GAME, GAME.initial_state().copy(), moves, rng)
    assert abs(lengths[0].mean() - lengths[1].mean()) < 4.5 * np.sqrt(lengths.var(axis=1).sum() / count)
    assert lengths[0].std() == pytest.approx(lengths[1].std(), rel=0.1)


def test_with_one_piece_random_play_is_perfect_play():
    """There is never a choice, so the share of won playouts is the exact value."""
    game = Ur(pieces=1)
    count = 400_000
    state, moves = np.zeros(1, np.uint64), np.zeros(game.list_length, np.int64)
    results, totals = np.zeros(MAX_PLAYERS), np.zeros(MAX_PLAYERS)
    referee.bare_playouts(game, game.initial_state(), state, moves, results, totals, seeded(9, 0), -1, count)
    assert (1 + totals[0] / count) / 2 == pytest.approx(0.530049839525, abs=4.5 * 0.5 / np.sqrt(count))


def test_playout_ends_the_game():
    rng = seeded(6, 0)
    for state in positions(SMALL, 20, seed=6):
        end, result = play_out(SMALL, state, BY_PLAYOUT, rng)
        assert SMALL.is_over(end)
        assert SMALL.returns(end) == [result, -result]
        assert not SMALL.is_over(state) or (state == end).all()
        assert (SMALL.parse(SMALL.format(end)) == end).all()


# ---- evaluation and priors -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, lead",
    [
        ("7 - 0 / 7 - 0 / 0 ?", 0),
        (MIDDLE, (100 + 4 * 10 + 3 * 5 + 50) - 3 * 10),
        ("5 4,8 0 / 3 1,2 2 / 0 2", (2 * 10 + 2 * 5) - (200 + 2 * 10)),
        ("0 14 6 / 7 - 0 / 1 ?", 600 + 10 + 5 + 50),
        ("7 - 0 / 0 14 6 / 1 ?", -(600 + 10 + 5 + 50)),
    ],
)
def test_evaluation(text, lead):
    """100 home, 10 on the board, 5 on a rosette, 50 on the last square; 700 is all home against all in hand."""
    assert GAME.evaluate(GAME.parse(text)) == pytest.approx([lead / 700, -lead / 700])


def exact_values(state) -> dict[int, float]:
    position = reference.read(SMALL.format(state))
    return reference.solution(3).after_roll(position.mine, position.theirs, position.roll)


def test_evaluation_tells_something():
    guesses, values = [], []
    for state in positions(SMALL, 100, seed=8):
        if SMALL.player(state) == CHANCE:
            position = reference.read(SMALL.format(state))
            guesses.append(SMALL.evaluate(state)[position.player])
            values.append(reference.solution(3).before_roll(position.mine, position.theirs))
    assert max(np.abs(guesses)) <= 1
    assert np.corrcoef(guesses, values)[0, 1] > 0.7


def priors_of(game, state) -> dict[int, float]:
    moves = np.array(game.legal_moves(state))
    given = np.full(moves.size, np.nan)
    referee.give_priors(game, state, moves, moves.size, given)
    return dict(zip(moves.tolist(), given.tolist(), strict=True))


@pytest.mark.parametrize(
    "text, weights",
    [
        ("6 3 0 / 6 9 0 / 0 1", {0: 3, 3: 16}),
        (CROWDED, {5: 32, 9: 32, 13: 16}),
        ("4 8,12,13 0 / 6 10 0 / 0 2", {0: 3, 8: 32 / 4, 12: 16, 13: 4}),
        ("5 2,8 0 / 6 10 0 / 1 4", {0: 3 * 16, 10: 16}),
    ],
)
def test_priors(text, weights):
    assert priors_of(GAME, GAME.parse(text)) == pytest.approx({move: w / sum(weights.values()) for move, w in weights.items()})


def test_priors_tell_something():
    """They sum to 1, and the best move by the exact solution has much more than its share."""
    given, equal = [], []
    for state in positions(SMALL, 150, seed=5):
        if SMALL.player(state) >= 0:
            shares = priors_of(SMALL, state)
            assert sum(shares.values()) == pytest.approx(1)
            assert min(shares.values()) > 0
            values = exact_values(state)
            assert list(values) == list(shares)
            given.append(shares[max(values, key=values.get)])
            equal.append(1 / len(shares))
    assert np.mean(given) > np.mean(equal) + 0.1


# ---- text and pictures -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("game", [GAME, SMALL], ids=["7", "3"])
def test_text_round_trip(game):
    for state in positions(game, 10, seed=2):
        assert (game.parse(game.format(state)) == state).all()


def test_text_typed_by_hand():
    assert GAME.format(GAME.parse("  3 8,4 2/6 -  1/1 2 ")) == "3 4,8 2 / 6 - 1 / 1 2"


def test_drawing():
    assert GAME.draw(GAME.parse(MIDDLE)).splitlines() == [
        "o player 1: 4 in hand, 0 home  <- rolled 3",
        "[ ] o  .  .       [ ] o",
        " .  .  . [x] o  .  .  .",
        "[x] .  .  x       [x] .",
        "x player 0: 2 in hand, 1 home",
    ]
    assert GAME.draw(GAME.initial_state()).splitlines()[-1] == "x player 0: 7 in hand, 0 home  <- to roll"
    assert GAME.draw(GAME.parse("0 - 7 / 5 3,8 0 / over")).splitlines()[-1] == "x player 0: 0 in hand, 7 home  <- won"


def test_picture():
    """Every piece once, on the board where its square is; the board has five rosettes; white tips show the roll."""
    seen = {}
    for text in (MIDDLE, "7 - 0 / 7 - 0 / 0 ?", "0 - 7 / 5 3,8 0 / over"):
        picture = GAME.svg(GAME.parse(text))
        groups = [(g.get("class"), g.get("transform")) for g in ElementTree.fromstring(picture).iter() if g.get("class")]
        kinds = [kind for kind, _ in groups]
        assert [kinds.count(kind) for kind in ("tile", "rosette", "piece player-0", "piece player-1")] == [15, 5, 7, 7]
        places = {place for kind, place in groups if not kind.startswith("piece")}
        assert len(places) == 20
        seen[text] = sum(place in places for kind, place in groups if kind.startswith("piece"))
        said = re.findall(r">(player [^<]*)<", picture)
        assert said == {"over": ["player 0 won"], "0 ?": ["player 0 to roll"]}.get(text.split(" / ")[2], ["player 1 rolled 3"])
        assert picture.count('fill="#fff" ') == (3 if text == MIDDLE else 0)
    assert list(seen.values()) == [7, 0, 2]


# ---- bad input -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, reason",
    [
        ("", "expected something like '7 - 0 / 7 - 0 / 0 ?'"),
        ("7 - 0 / 7 - 0", "expected something like"),
        ("7 - 0 / 7 - 0 / 0 ? / 0", "expected something like"),
        ("7 0 / 7 - 0 / 0 ?", "expected something like"),
        ("7 - 0 / 7 - 0 /", "the last part is the player"),
        ("7 - 0 / 7 - 0 / 2 ?", "the last part is the player"),
        ("7 - 0 / 7 - 0 / 0 5", "the last part is the player"),
        ("7 - 0 / 7 - 0 / 0 0", "the last part is the player"),
        ("7 - 0 / 7 - 0 / 0", "the last part is the player"),
        ("x - 0 / 7 - 0 / 0 ?", "player 0: expected pieces in hand, squares like 4,8 or -, pieces home"),
        ("7 - 0 / 6 3, 0 / 0 ?", "player 1: expected pieces in hand"),
        ("6 15 0 / 7 - 0 / 0 ?", "player 0: squares are 1 to 14"),
        ("6 0 0 / 7 - 0 / 0 ?", "player 0: squares are 1 to 14"),
        ("7 - 0 / 5 3,3 0 / 0 ?", "player 1 has two pieces on one square"),
        ("7 - 0 / 7 3 0 / 0 ?", "player 1 must have 7 pieces in hand, on squares and home, here it is 8"),
        ("6 - 0 / 7 - 0 / 0 ?", "player 0 must have 7 pieces in hand, on squares and home, here it is 6"),
        ("8 - -1 / 7 - 0 / 0 ?", "player 0 must have 7 pieces"),
        ("-1 - 8 / 7 - 0 / 0 ?", "player 0 must have 7 pieces"),
        ("6 5 0 / 6 5 0 / 0 ?", "both players have a piece on square 5, which they share"),
        ("0 - 7 / 0 - 7 / over", "both players have all pieces home"),
        ("7 - 0 / 7 - 0 / over", "the game is over when, and only when, one player has all 7 pieces home"),
        ("0 - 7 / 7 - 0 / 1 ?", "the game is over when, and only when"),
        ("0 13 6 / 7 - 0 / 0 3", "player 0 has no move with a roll of 3, so it is the opponent's turn"),
    ],
)
def test_impossible_positions(text, reason):
    with pytest.raises(InputError) as error:
        GAME.parse(text)
    assert str(error.value).startswith(f"ur position {text!r}: {reason}")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("pieces", [0, 8, -1, 7.0, "7", None, True])
def test_impossible_parameters(pieces):
    with pytest.raises(InputError) as error:
        load_game("ur", pieces=pieces)
    assert str(error.value) == f"pieces={pieces!r}: must be a whole number from 1 to 7"


# ---- contract --------------------------------------------------------------------------------------------------------


def test_keeps_the_contract():
    checks = conformance.check(GAME, games=20)
    assert [check for check in checks if not check.passed] == []
    assert "Python body equals compiled body" in [check.name for check in checks]


@pytest.mark.parametrize("game", [GAME, SMALL], ids=["7", "3"])
def test_plain_python_says_the_same(game):
    assert plain_trace(game, 2) == trace(game, 2)
