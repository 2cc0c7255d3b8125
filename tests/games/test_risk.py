"""Risk, the host side: the map, the deal, positions and moves as text, the picture, bad input, the contract."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from distmcts import conformance
from distmcts.errors import InputError
from games import risk_map
from games.risk import Risk
from games.risk_state import OWNED, PHASE, RECRUIT
from tests.games.risk_board import FULL, GAMES, STEPS, board, policy_game, random_game
from tests.reference import risk as plain
from tests.support.playing import plain_trace, trace

BOTH = pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)


# ---- the map ---------------------------------------------------------------------------------------------------------------


def members(territories: int) -> set[str]:
    return {name for t, name in enumerate(risk_map.NAMES) if int(territories) >> t & 1}


def test_the_map():
    assert list(risk_map.NAMES) == plain.NAMES
    assert len(set(plain.NAMES)) == 42
    assert len(risk_map.EDGES) == len({frozenset(edge) for edge in risk_map.EDGES}) == 83
    for t, name in enumerate(plain.NAMES):
        assert members(risk_map.NEIGHBOURS[t]) == set(plain.NEIGHBOURS[name])
        assert all(name in plain.NEIGHBOURS[near] for near in plain.NEIGHBOURS[name])
    assert members(risk_map.connected(np.uint64(1), risk_map.WORLD)) == set(plain.NAMES)


def test_the_continents():
    sizes = {name: (bonus, len(names)) for name, _, bonus, names in risk_map.CONTINENTS}
    assert sizes == {
        "North America": (5, 9),
        "South America": (2, 4),
        "Europe": (5, 7),
        "Africa": (3, 6),
        "Asia": (7, 12),
        "Australia": (2, 4),
    }
    for (_, short, bonus, names), whole in zip(risk_map.CONTINENTS, risk_map.CONTINENT_SETS, strict=True):
        assert members(whole) == set(names) == set(plain.MEMBERS[short])
        assert plain.CONTINENTS[short][0] == bonus == risk_map.continent_bonus(whole)


def test_sets_of_territories():
    """Neighbours of a set, connected parts, recruits, members by number: against plain Python."""
    choose = np.random.default_rng(2)
    for _ in range(300):
        share = choose.random()
        owner = {name: int(choose.random() > share) for name in plain.NAMES}
        mine = np.uint64(sum(1 << t for t, name in enumerate(plain.NAMES) if owner[name] == 0))
        state = plain.State(owner, {})
        names = [name for name in plain.NAMES if owner[name] == 0]
        assert members(risk_map.around(mine)) == {near for name in names for near in plain.NEIGHBOURS[name]}
        assert risk_map.recruits(mine) == plain.recruits(state)
        if names:
            chosen = int(choose.integers(len(names)))
            one = risk_map.nth(mine, chosen)
            assert members(one) == {names[chosen]}
            assert members(risk_map.connected(one, mine)) == set(plain.part_of(state, names[chosen]))


def test_attacks_are_numbered():
    found = [risk_map.edge_number(source, target) for source, target in risk_map.ATTACKS]
    assert found == list(range(166))


# ---- the deal --------------------------------------------------------------------------------------------------------------


@BOTH
def test_the_deal(game):
    state = game.deal(7)
    assert state[PHASE] == RECRUIT
    assert game.player(state) == 0
    for player in range(2):
        mine = [int(state[t]) for t in range(42) if int(state[OWNED + player]) >> t & 1]
        assert sorted(mine) == [2] * 3 + [3] * 18
    assert (game.parse("deal 7") == state).all()
    assert (game.parse(" Deal  7 ") == state).all()
    assert not (game.deal(8) == state).all()


def test_deals_differ_in_everything():
    """Any territory may go to any player, and may be one of those with two troops."""
    deals = np.array([FULL.deal(seed) for seed in range(400)])
    owners = np.array([[int(state[OWNED]) >> t & 1 for t in range(42)] for state in deals])
    assert np.abs(owners.mean(axis=0) - 0.5).max() < 0.15
    assert set((deals[:, :42] == 2).mean(axis=0) > 0.05) == {True}


# ---- text ------------------------------------------------------------------------------------------------------------------


@BOTH
def test_text_round_trip(game):
    """Every word of the position comes back, in every phase."""
    kind = Risk(actions=game.parameters["actions"], turns=30)
    positions = [state for state, _ in random_game(kind, 1)] + [state for state, *_ in list(policy_game(game, 1))[::5]]
    for state in positions:
        text = game.format(state)
        if text.endswith("over") and int(state[OWNED]) != 0 != int(state[OWNED + 1]):
            assert (kind.parse(text) == state).all()
        else:
            assert (game.parse(text) == state).all()
            assert (game.parse(text.upper()) == state).all()


@BOTH
def test_moves_by_name(game):
    for state, reference in random_game(Risk(actions=game.parameters["actions"], turns=6), 2):
        if reference.phase in ("deal", "dice", "over"):
            continue
        moves = game.legal_moves(state)
        for move in moves if len(moves) < 30 else [moves[0], moves[len(moves) // 2], moves[-1]]:
            assert game.parse_move(state, game.move_name(state, move).upper()) == move
            assert game.parse_move(state, str(move)) == move


def test_names_of_moves():
    state = FULL.parse(board(dict.fromkeys(plain.MEMBERS["SA"], 3), {}, "b2", "turn 1 a recruit 5"))
    move = FULL.parse_move(state, "recruit 3 Brazil, 2 Peru")
    assert FULL.move_name(state, move) == "recruit 2 Peru, 3 Brazil"
    state = FULL.apply(state, move)
    assert FULL.move_name(state, FULL.parse_move(state, "brazil -> north africa")) == "Brazil -> North Africa"
    assert FULL.move_name(state, FULL.legal_moves(state)[-1]) == "end attack"


@pytest.mark.parametrize(
    "then, move, problem",
    [
        ("recruit 5", "recruit 6 Brazil", "'6 brazil' recruits 6 troops, must be 5"),
        ("recruit 5", "recruit 5 Siam", "Siam belongs to the other player"),
        ("recruit 5", "recruit 5 Atlantis", "'recruit 5 Atlantis' is not a legal move here"),
        ("attack Brazil", "Brazil -> Siam", "'Brazil -> Siam' is not a legal move here"),
        ("attack Brazil", "", "'' is not a legal move here"),
        ("manoeuvre", "move 3 Brazil -> Peru", "'move 3 Brazil -> Peru' is not a legal move here"),
        ("manoeuvre", "move 1 Brazil -> Siam", "'move 1 Brazil -> Siam' is not a legal move here"),
        ("manoeuvre", "move 1 Brazil -> Brazil", "'move 1 Brazil -> Brazil' is not a legal move here"),
    ],
)
def test_impossible_moves(then, move, problem):
    state = FULL.parse(board(dict.fromkeys(plain.MEMBERS["SA"], 3), {}, "b2", f"turn 1 a {then}"))
    with pytest.raises(InputError, match=re.escape(problem)) as error:
        FULL.parse_move(state, move)
    assert "\n" not in str(error.value)


def test_drawing():
    lines = FULL.draw(FULL.parse(board({"Siam": 12}, {}, "b1", "turn 3 b attack Brazil"))).splitlines()
    assert lines[0] == "North America (+5)"
    assert lines[4] == "South America (+2)"
    assert re.sub(" +", " ", lines[5]) == " b1 Venezuela b1 Peru b1 Brazil b1 Argentina"
    assert any(" a12 Siam" in line for line in lines)
    assert lines[-3:] == ["a: 1 territories, 12 troops", "b: 41 territories, 41 troops", "turn 3, b: attack Brazil"]


@BOTH
def test_picture(game):
    """Well-formed, every territory in it, every position."""
    for state, reference in list(random_game(Risk(actions=game.parameters["actions"], turns=5), 4))[::3]:
        texts = [element.text for element in ElementTree.fromstring(game.svg(state)).iter() if element.tag.endswith("text")]
        assert set(" ".join(filter(None, texts)).split()) >= set(" ".join(plain.NAMES).split())
        troops = [str(reference.troops[name]) for name in plain.NAMES if name in reference.troops]
        assert [text for text in texts if text and text.isdigit()] == troops


def test_a_picture_goes_around_the_world():
    svg = FULL.svg(FULL.parse(board({"Alaska": 5}, {}, "b2", "turn 1 a dice Alaska > Kamchatka")))
    tip = re.search(r'<polygon points="(-?[\d.]+),', svg.rpartition("<polygon")[1] + svg.rpartition("<polygon")[2])
    assert float(tip[1]) < 70  # to the left of Alaska


# ---- bad input -------------------------------------------------------------------------------------------------------------

GOOD = board({"Siam": 3, "China": 1, "India": 4}, {}, "b2", "turn 2 a attack Siam")


@pytest.mark.parametrize(
    "change, problem",
    [
        (("NA b2", "b2"), "expected NA and the territories of North America"),
        (("SA b2", "SA"), "SA: expected 4 territories"),
        (("a3", "c3"), "Siam is 'c3'"),
        (("a3", "a0"), "Siam is 'a0'"),
        (("a3", "a-3"), "Siam is 'a-3'"),
        (("a3", "a123456"), "Siam is 'a123456'"),
        (("a3", "."), "a territory is not dealt"),
        (("turn 2 a attack Siam", ""), "expected something like 'turn 1 a recruit 7'"),
        (("turn 2", "turn 0"), "turn 0 is not one from 1 to 300"),
        (("turn 2", "turn 301"), "turn 301 is not one from 1 to 300"),
        (("2 a attack", "2 c attack"), "expected something like 'turn 1 a recruit 7'"),
        (("attack Siam", "sleep"), "cannot read 'sleep'; allowed: deal, over, recruit N after X"),
        (("attack Siam", "attack Atlantis"), "there is no territory 'atlantis'"),
        (("attack Siam", "attack Brazil"), "Brazil belongs to the other player"),
        (("attack Siam", "attack"), "cannot read 'attack'"),
        (("attack Siam", "dice Siam > Brazil"), "Siam cannot do that with Brazil"),
        (("attack Siam", "dice Siam > India"), "Siam cannot do that with India"),
        (("attack Siam", "dice China > Mongolia"), "China has no troop to spare"),
        (("attack Siam", "move in Siam > Indonesia"), "Siam cannot do that with Indonesia"),
        (("attack Siam", "move in Siam > India"), "India holds one troop before others move in"),
        (("attack Siam", "move in China > Siam"), "China has no troop to spare"),
        (("attack Siam", "recruit 4"), "the player recruits 3 troops, not 4"),
        (("attack Siam", "recruit 0 after Siam"), "the player recruits 3 troops, not 0"),
        (("attack Siam", "over"), "it is over when one player holds all, or after turn 300"),
        (("turn 2 a attack Siam", "deal"), "the deal goes by turns"),
    ],
)
def test_impossible_positions(change, problem):
    text = GOOD.replace(*change, 1)
    assert text != GOOD
    with pytest.raises(InputError, match=re.escape(problem)) as error:
        FULL.parse(text)
    assert str(error.value).startswith("risk position")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "then, problem",
    [
        ("recruit 1 on Siam", "a single troop leaves no choice of number"),
        ("recruit 3 on Siberia", "Siberia belongs to the other player"),
        ("attack from Japan", "Japan has no troop to spare"),
        ("attack from Madagascar", "Madagascar has no choice of targets"),
        ("manoeuvre from Madagascar", "nothing can be moved from Madagascar"),
        ("manoeuvre from Siam", "Siam has no choice of targets"),
        ("manoeuvre India > Japan", "nothing can be moved to Japan"),
        ("manoeuvre Siam > India", "from Siam all must be moved, or nothing"),
    ],
)
def test_impossible_positions_in_steps(then, problem):
    a = {"Siam": 3, "India": 4, "Madagascar": 4, "South Africa": 1, "Japan": 1}
    if "from Madagascar" in then and "manoeuvre" in then:
        del a["South Africa"]
    text = board(a, {}, "b2", f"turn 2 a {then}")
    with pytest.raises(InputError, match=re.escape(problem)):
        STEPS.parse(text)
    with pytest.raises(InputError, match="cannot read|there is no territory"):
        FULL.parse(text)


@pytest.mark.parametrize("text", ["", "deal", "deal x", "deal -1", "deal 1.5", f"deal {2**64}", "deal 7 8"])
def test_impossible_deals(text):
    with pytest.raises(InputError, match="risk position") as error:
        FULL.parse(text)
    assert "\n" not in str(error.value)


def test_a_world_with_one_owner_is_over():
    with pytest.raises(InputError, match="one player holds all territories"):
        FULL.parse(board({}, {}, "a1", "turn 2 a manoeuvre"))
    assert FULL.is_over(FULL.parse(board({}, {}, "a1", "turn 2 a over")))


@pytest.mark.parametrize(
    "parameters, named",
    [
        ({"actions": "step"}, "unknown actions 'step': did you mean 'steps'?"),
        ({"actions": None}, "unknown actions None"),
        ({"playout": "random"}, "unknown playout 'random'"),
        ({"evaluation": "borders"}, "unknown evaluation 'borders': did you mean 'border'?"),
        ({"turns": 0}, "turns=0: must be a whole number from 1 to 1000"),
        ({"turns": 1001}, "turns=1001"),
        ({"turns": 3.0}, "turns=3.0"),
        ({"turns": True}, "turns=True"),
        ({"weights": 3}, "weights=3: must be 'feature: number' pairs"),
        ({"weights": {"army": 1}}, "unknown feature in weights 'army': did you mean 'armies'?"),
        ({"weights": {"armies": "x"}}, "weights: armies='x' is not a number"),
        ({"weights": {"armies": float("nan")}}, "weights: armies=nan is not a number"),
        ({"weights": {"armies": True}}, "weights: armies=True is not a number"),
    ],
)
def test_impossible_parameters(parameters, named):
    with pytest.raises(InputError) as error:
        Risk(**parameters)
    assert str(error.value).startswith(named)
    assert "\n" not in str(error.value)


# ---- the contract ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "parameters", [{"actions": "full"}, {"actions": "steps"}, {"playout": "uniform", "evaluation": "border"}]
)
def test_keeps_the_contract(parameters):
    checks = conformance.check(Risk(turns=8, **parameters), games=20)
    assert [check for check in checks if not check.passed] == []
    assert "Python body equals compiled body" in [check.name for check in checks]


@BOTH
def test_plain_python_says_the_same(game):
    """Also about whole playouts, from every position of a game."""
    short = Risk(actions=game.parameters["actions"], turns=3)
    assert plain_trace(short, 1) == trace(short, 1)
