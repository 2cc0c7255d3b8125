"""Awale: known counts, OpenSpiel, the plain rules, both rule sets move by move, and the rules as plain Python."""

import numpy as np
import pytest

from distmcts import conformance
from distmcts.errors import InputError
from distmcts.kernels.rng import seeded
from games.awale import Awale
from tests.reference import awale as reference
from tests.support.playing import BY_PLAYOUT, alongside, both_ways, lockstep, plain_trace, play_out, positions, their_look, trace

OWARE = Awale()
THESIS = Awale(rules="thesis")
BOTH = pytest.mark.parametrize("game", [OWARE, THESIS], ids=["oware", "thesis"])
START = "4,4,4,4,4,4/4,4,4,4,4,4 0-0 0"
CHASE = "1,0,0,0,0,0/1,0,0,0,0,0 23-23 0"  # each side has one seed to move on; after twelve moves it is there again


def rules_of(game: Awale) -> str:
    return game.parameters["rules"]


def text_of(state: reference.State, rules: str) -> str:
    """A position of the plain rules as the game writes it."""
    rows = [",".join(str(state.pits[pit]) for pit in reference.row(state, side)) for side in range(2)]
    mover = "over" if reference.is_over(state, rules) else state.mover
    return f"{rows[0]}/{rows[1]} {state.captures[0]}-{state.captures[1]} {mover}"


def plain_perft(state: reference.State, depth: int, rules: str) -> int:
    moves = reference.legal_moves(state, rules)
    if depth == 1:
        return len(moves)
    return sum(plain_perft(reference.play(state, move, rules), depth - 1, rules) for move in moves)


def test_perft():
    assert [OWARE.perft(depth + 1) for depth in range(7)] == list(OWARE.perft_counts)
    assert OWARE.perft_counts == (6, 36, 190, 1014, 5219, 27332, 139157)


@pytest.mark.parametrize("pits, seeds, rules", [(6, 4, "oware"), (6, 4, "thesis"), (3, 2, "oware"), (3, 2, "thesis")])
def test_perft_of_the_plain_rules(pits, seeds, rules):
    game = Awale(pits, seeds, rules)
    start = reference.start(pits, seeds, rules)
    assert [game.perft(depth) for depth in range(1, 6)] == [plain_perft(start, depth, rules) for depth in range(1, 6)]


@pytest.mark.parametrize("pits, seeds, games", [(6, 4, 200), (3, 3, 100), (4, 4, 100), (6, 2, 100)])
def test_same_as_open_spiel(pits, seeds, games):
    import pyspiel

    game = Awale(pits, seeds)
    oware = pyspiel.load_game("oware", {"num_houses_per_player": pits, "num_seeds_per_house": seeds})
    for state, theirs in alongside(game, oware, games):
        assert game.look(state) == their_look(theirs)
        for move in theirs.legal_actions():
            assert game.move_name(state, move) == theirs.action_to_string(move)


def test_two_thousand_games_of_open_spiel():
    import pyspiel

    assert lockstep(OWARE, pyspiel.load_game("oware"), 2000) > 100_000


@pytest.mark.parametrize("rules", ["oware", "thesis"])
@pytest.mark.parametrize("pits, seeds, games", [(6, 4, 60), (3, 3, 100), (4, 4, 60), (8, 7, 20)])
def test_same_as_the_plain_rules(rules, pits, seeds, games):
    game = Awale(pits, seeds, rules)
    choose = np.random.default_rng(1)
    for _ in range(games):
        state, plain = game.initial_state(), reference.start(pits, seeds, rules)
        while True:
            assert game.format(state) == text_of(plain, rules)
            moves = reference.legal_moves(plain, rules)
            assert game.legal_moves(state) == moves
            if not moves:
                break
            move = int(choose.choice(moves))
            state, plain = game.apply(state, move), reference.play(plain, move, rules)
        assert game.is_over(state)
        assert game.returns(state) == list(reference.returns(plain))


@pytest.mark.parametrize(
    "before, move, oware, thesis",
    [
        pytest.param(START, "c", "4,4,0,5,5,5/5,4,4,4,4,4 0-0 1", "4,4,0,5,5,5/5,4,4,4,4,4 0-0 1", id="sowing"),
        pytest.param(
            "12,0,0,0,0,0/0,0,0,0,0,0 18-18 0",
            "a",
            "0,2,1,1,1,1/1,1,1,1,1,1 18-18 1",
            "0,2,1,1,1,1/1,1,1,1,1,1 18-18 1",
            id="the starting pit is passed over",
        ),
        pytest.param(
            "0,0,0,0,0,1/1,0,0,0,0,5 20-21 0",
            "f",
            "0,0,0,0,0,0/0,0,0,0,0,5 22-21 1",
            "0,0,0,0,0,0/0,0,0,0,0,5 22-21 1",
            id="two are captured",
        ),
        pytest.param(
            "0,0,0,0,0,1/1,0,0,0,0,0 23-23 0",
            "f",
            "0,0,0,0,0,0/0,0,0,0,0,0 23-25 over",
            "0,0,0,0,0,0/0,0,0,0,0,0 25-23 over",
            id="grand slam",
        ),
        pytest.param(
            "0,0,0,3,1,2/1,0,0,0,0,14 13-14 0",
            "d",
            "0,0,0,0,2,3/0,0,0,0,0,14 15-14 1",
            "0,0,0,0,0,0/0,0,0,0,0,14 20-14 1",
            id="a capture that reaches the mover's own row",
        ),
        pytest.param(
            "3,0,0,0,0,0/0,0,0,0,0,1 22-22 1",
            "f",
            "0,0,0,0,0,0/0,0,0,0,0,0 26-22 over",
            "4,0,0,0,0,0/0,0,0,0,0,0 22-22 0",
            id="an empty row that cannot be fed",
        ),
    ],
)
def test_one_move(before, move, oware, thesis):
    for game, after in ((OWARE, oware), (THESIS, thesis)):
        state = game.parse(before)
        assert game.format(game.apply(state, game.parse_move(state, move))) == after


def test_an_empty_row_must_be_fed():
    text = "1,0,0,0,3,0/0,0,0,0,0,0 22-22 0"
    assert OWARE.legal_moves(OWARE.parse(text)) == [4]
    assert THESIS.legal_moves(THESIS.parse(text)) == [0, 4]


def test_a_repeat_ends_the_game():
    ends = {}
    for game in (OWARE, THESIS):
        state = game.parse(CHASE)
        for turn in range(12):
            assert not game.is_over(state)
            last_pit = 5 if turn == 11 else game.legal_moves(state)[0]
            state = game.apply(state, last_pit)
        ends[rules_of(game)] = game.format(state)
    assert ends == {"oware": "0,0,0,0,0,0/0,0,0,0,0,0 24-24 over", "thesis": CHASE}


@BOTH
@pytest.mark.parametrize("start", [START, "0,1,2,0,3,1/2,0,0,1,0,2 17-19 1", "5,0,1,9,0,2/1,1,0,7,2,3 8-9 0"])
def test_playout_is_random_play(game, start):
    """By the result, and by the seeds that player 0 is ahead at the end."""
    count = 10_000
    games = both_ways(game, game.parse(start), count)
    for what in (lambda end, result: result, lambda end, result: (int(end[2]) & 0xFF) - (int(end[2]) >> 8 & 0xFF)):
        samples = np.array([[what(*ended) for ended in kind] for kind in games], float)
        assert samples.std() > 0
        assert abs(samples[0].mean() - samples[1].mean()) < 4.5 * np.sqrt(samples.var(axis=1).sum() / count)


@BOTH
def test_playout_ends_the_game(game):
    rng = seeded(6, 0)
    for state in positions(game, 20, seed=6):
        end, result = play_out(game, state, BY_PLAYOUT, rng)
        assert game.is_over(end)
        assert game.returns(end) == [result, -result]
        assert not game.is_over(state) or (state == end).all()


@BOTH
def test_evaluation_is_the_lead_in_seeds(game):
    for state in positions(game, 20, seed=8):
        mine, theirs = map(int, game.format(state).split()[1].split("-"))
        lead = (mine - theirs) / 24
        assert game.evaluate(state) == pytest.approx([np.clip(lead, -1, 1), np.clip(-lead, -1, 1)])


@BOTH
def test_text_round_trip(game):
    """The history is not part of the text: what is read back must look the same, and have the same board."""
    for state in positions(game, 20, seed=2):
        again = game.parse(game.format(state))
        assert game.format(again) == game.format(state)
        assert game.look(again) == game.look(state)
        assert (again[:2] == state[:2]).all()
        for move in game.legal_moves(state):
            assert game.parse_move(state, game.move_name(state, move)) == move


def test_picture():
    assert OWARE.draw(OWARE.parse("4,4,0,5,5,5/5,4,4,4,4,4 0-0 1")).splitlines() == [
        "player 1: 0 captured  <- to move",
        "  f   e   d   c   b   a",
        "  4   4   4   4   4   5",
        "  4   4   0   5   5   5",
        "  A   B   C   D   E   F",
        "player 0: 0 captured",
    ]


@BOTH
@pytest.mark.parametrize(
    "text",
    [
        "",
        "4,4,4,4,4,4",
        "4,4,4,4,4,4/4,4,4,4,4,4",
        "4,4,4,4,4,4/4,4,4,4,4,4 0-0",
        "4,4,4,4,4,4/4,4,4,4,4,4 0-0 2",
        "4,4,4,4,4,4/4,4,4,4,4,4 0-0 0 0",
        "4,4,4,4,4,4/4,4,4,4,4,4 0 0",
        "4,4,4,4,4,4/4,4,4,4,4,4 0-0-0 0",
        "4,4,4,4,4,4/4,4,4,4,4,x 0-0 0",
        "4,4,4,4,4/4,4,4,4,4,4,4 0-0 0",
        "4,4,4,4,4,4/4,4,4,4,4,4/0 0-0 0",
        "4,4,4,4,4,4/4,4,4,4,4,5 0-0 0",
        "4,4,4,4,4,4/4,4,4,4,5,-1 0-0 0",
        "4,4,4,4,4,4/4,4,4,4,4,4 1-0 0",
    ],
)
def test_impossible_positions(game, text):
    with pytest.raises(InputError, match="awale position") as error:
        game.parse(text)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "parameters, named",
    [
        ({"pits": 0}, "pits=0"),
        ({"pits": 9}, "pits=9"),
        ({"pits": 6.0}, "pits=6.0"),
        ({"pits": "6"}, "pits='6'"),
        ({"pits": None}, "pits=None"),
        ({"seeds": 0}, "seeds=0"),
        ({"seeds": -4}, "seeds=-4"),
        ({"seeds": 11}, "seeds=11: must be a whole number from 1 to 10 with 6 pits"),
        ({"seeds": "4"}, "seeds='4'"),
        ({"rules": "owari"}, "unknown rules 'owari': did you mean 'oware'?"),
        ({"rules": None}, "unknown rules None"),
    ],
)
def test_impossible_parameters(parameters, named):
    with pytest.raises(InputError) as error:
        Awale(**parameters)
    assert str(error.value).startswith(named)
    assert "\n" not in str(error.value)


@BOTH
def test_keeps_the_contract(game):
    checks = conformance.check(game, games=50)
    assert [check for check in checks if not check.passed] == []
    assert "Python body equals compiled body" in [check.name for check in checks]


@BOTH
def test_plain_python_says_the_same(game):
    assert plain_trace(game, 3) == trace(game, 3)
