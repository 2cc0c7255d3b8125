"""Risk's evaluations: the features one by one, all against plain Python, their symmetry, and whether they tell the winner."""

import numpy as np
import pytest

from distmcts.kernels.rng import seeded
from games.risk import Risk
from games.risk_evaluate import FEATURES, WEIGHTS, features
from games.risk_state import DEAL, FINISHED, OWNED, PHASE, PLAYER, TURN, other, own
from tests.games.risk_board import FULL, board, policy_game, random_game
from tests.reference import risk as plain
from tests.reference.risk_policy import battle
from tests.support.playing import play_out

EVALUATIONS = ("resource", "border", "features")
RISKS = {name: Risk(evaluation=name) for name in EVALUATIONS}


def found(text: str) -> dict[str, float]:
    state = FULL.parse(text)
    return dict(zip(FEATURES, features(state, own(state), other(state)), strict=True))


# ---- plain Python ----------------------------------------------------------------------------------------------------------


def held(state: plain.State, player: int) -> list[str]:
    return [name for name in plain.NAMES if state.owner.get(name) == player]


def army(state: plain.State, names) -> int:
    return sum(state.troops[name] for name in names)


def whole(state: plain.State, player: int) -> list[str]:
    return [short for short, names in plain.MEMBERS.items() if set(names) <= set(held(state, player))]


def plain_threat(state: plain.State, player: int) -> float:
    """By the other player, to the continents of this one."""
    total = 0.0
    for short in whole(state, player):
        inside = plain.MEMBERS[short]
        pairs = [(name, near) for name in inside for near in plain.NEIGHBOURS[name] if state.owner[near] != player]
        outside, gates = {near for _, near in pairs}, {name for name, _ in pairs}
        if outside:
            total += plain.CONTINENTS[short][0] * army(state, outside) / (army(state, outside) + army(state, gates))
    return total / 24


def plain_distance(state: plain.State, player: int) -> float:
    """Average distance of troops from the frontier."""
    total = 0
    for name in held(state, player):
        reached, distance = {name}, 0
        while not any(state.owner[near] != player for place in reached for near in plain.NEIGHBOURS[place]):
            reached |= {near for place in reached for near in plain.NEIGHBOURS[place]}
            distance += 1
        total += distance * state.troops[name]
    return total / army(state, held(state, player))


def plain_features(state: plain.State) -> list[float]:
    me, you = state.player, 1 - state.player
    mine, theirs = held(state, me), held(state, you)
    armies = army(state, mine) / (army(state, mine) + army(state, theirs))
    distance = plain_distance(state, me)
    as_other = plain.State(state.owner, state.troops, player=you)
    battles = [battle(min(state.troops[s] - 1, 64), min(state.troops[t], 64)) for s in mine for t in plain.enemies(state, s)]
    return [
        armies,
        1 - (armies + len(mine) / 42) / 2,
        plain_threat(state, me),
        plain_threat(state, you),
        distance / (1 + distance),
        plain.recruits(as_other) / 38,
        len(whole(state, you)) / 6,
        1 - len(plain.frontier(state)) / len(mine),
        float(max(battles)),
        sum(state.troops[name] > 1 for name in mine) / len(mine),
        len(mine) / 42,
        plain.recruits(state) / 38,
        len(whole(state, me)) / 6,
    ]


def plain_value(state: plain.State, evaluation: str) -> float:
    """For player 0."""
    if evaluation == "features":
        x = sum(weight * feature for weight, feature in zip(WEIGHTS.values(), plain_features(state), strict=True))
        return x / (4 + x * x) ** 0.5 * (1 if state.player == 0 else -1)
    scores = [len(held(state, p)) + army(state, held(state, p)) + len(whole(state, p)) for p in range(2)]
    if evaluation == "border":
        for p in range(2):
            leads = [state.troops[s] - state.troops[t] for s in held(state, p) for t in plain.enemies(state, s)]
            scores[p] += sum(lead for lead in leads if lead > 0)
    return (scores[0] - scores[1]) / (scores[0] + scores[1])


def some_positions():
    """Of policy games and of random games, without the deal and the end."""
    games = [[(state, reference) for state, reference, _ in policy_game(FULL, seed)] for seed in range(40, 43)]
    games += [list(random_game(Risk(playout="uniform", turns=60), 7))]
    for positions in games:
        yield from ((s, r) for s, r in positions[:: len(positions) // 60] if r.phase not in ("deal", "over"))


def test_same_as_plain_python():
    checked = 0
    for state, reference in some_positions():
        assert features(state, own(state), other(state)) == pytest.approx(plain_features(reference), abs=1e-12)
        for evaluation, game in RISKS.items():
            value = plain_value(reference, evaluation)
            assert game.evaluate(state) == pytest.approx([value, -value], abs=1e-12)
        checked += 1
    assert checked > 150


# ---- by hand ---------------------------------------------------------------------------------------------------------------


def test_features_of_a_world_divided():
    """`a` holds Australia and Siam, `b` the rest; Australia's only neighbour is Siam."""
    australia = {"Indonesia": 3, "New Guinea": 1, "Western Australia": 2, "Eastern Australia": 1}
    features = found(board(australia | {"Siam": 5}, {"India": 3}, "b2", "turn 9 a manoeuvre"))
    mine, theirs = 12, 3 + 36 * 2
    distance = (3 * 1 + 1 * 2 + 2 * 2 + 1 * 3) / mine
    assert features == pytest.approx(
        {
            "armies": mine / (mine + theirs),
            "best_enemy": (theirs / (mine + theirs) + 37 / 42) / 2,
            "continent_safety": 0.0,  # Siam keeps the enemy away
            "continent_threat": 0.0,  # the enemy holds Asia but for Siam, and its other continents are out of reach
            "distance_to_frontier": distance / (1 + distance),
            "enemy_reinforcement": (12 + 5 + 2 + 5 + 3) / 38,
            "enemy_continents": 4 / 6,
            "hinterland": 4 / 5,
            "maximum_threat": float(battle(4, 2)),  # China; India has three
            "more_than_one_army": 3 / 5,
            "territories": 5 / 42,
            "own_reinforcement": 5 / 38,
            "own_continents": 1 / 6,
        }
    )


def test_threats_to_continents():
    """`a` holds South America, `b` the rest of the world: each threatens the other's continents at two borders."""
    south = {"Venezuela": 4, "Peru": 1, "Brazil": 2, "Argentina": 1}
    features = found(board(south, {"Central America": 3, "North Africa": 5}, "b1", "turn 9 a manoeuvre"))
    assert features["continent_safety"] == pytest.approx(2 * (3 + 5) / (3 + 5 + 4 + 2) / 24)
    assert features["continent_threat"] == pytest.approx((5 * 4 / (4 + 3) + 3 * 2 / (2 + 5)) / 24)


def test_resource_and_border_by_hand():
    """`a`: 1 territory, 4 troops; `b`: 41 territories, 41 troops, 5 continents. Japan's neighbours have one troop each."""
    state = FULL.parse(board({"Japan": 4}, {}, "b1", "turn 9 a manoeuvre"))
    assert RISKS["resource"].evaluate(state)[0] == pytest.approx((5 - 87) / (5 + 87))
    assert RISKS["border"].evaluate(state)[0] == pytest.approx((5 + 2 * 3 - 87) / (5 + 2 * 3 + 87))


# ---- properties ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("evaluation", EVALUATIONS)
def test_range_and_symmetry(evaluation):
    """The players' values are opposite, and change places when the players do."""
    game = RISKS[evaluation]
    values = []
    for state, _ in some_positions():
        mirrored = state.copy()
        mirrored[OWNED], mirrored[OWNED + 1] = state[OWNED + 1], state[OWNED]
        mirrored[PLAYER] = 1 - int(state[PLAYER])
        value, opposite = game.evaluate(state)
        assert -1 <= value <= 1
        assert opposite == -value
        assert game.evaluate(mirrored) == [opposite, value]
        values.append(value)
        assert all(0 <= feature <= 1 for feature in features(state, own(state), other(state)))
    assert np.std(values) > 0.1
    assert game.evaluate(game.initial_state()) == [0, 0]


def policy_positions(seeds: range):
    """Positions of policy games, one every 25 moves, and how the games end for player 0."""
    for seed in seeds:
        rng = seeded(seed, 3)
        state = np.array(FULL.deal(seed))
        positions = []
        while state[PHASE] != FINISHED:
            positions.append(state)
            state, result = play_out(FULL, state, 25, rng)
        yield from ((position, result) for position in positions)


@pytest.mark.parametrize(
    "evaluation, early, all_of_them", [("resource", 0.56, 0.82), ("border", 0.57, 0.82), ("features", 0.63, 0.86)]
)
def test_evaluations_tell_the_winner(evaluation, early, all_of_them):
    """By their sign, in games with other seeds than those the weights were fitted to; `early` is the first ten turns."""
    game = RISKS[evaluation]
    right, is_early = [], []
    for state, result in policy_positions(range(1_000_000, 1_000_150)):
        right.append(game.evaluate(state)[0] * result > 0)
        is_early.append(int(state[TURN]) <= 10)
    assert np.mean(right) > all_of_them
    assert np.mean(np.array(right)[is_early]) > early


def test_weights_are_a_parameter():
    state = FULL.deal(1)
    armies_only = dict.fromkeys(FEATURES, 0.0) | {"armies": 2.0}
    x = 2.0 * found(FULL.format(state))["armies"]
    assert Risk(weights=armies_only).evaluate(state)[0] == pytest.approx(x / (4 + x * x) ** 0.5)
    assert Risk(weights={}).evaluate(state) == FULL.evaluate(state)
    assert Risk(weights={"armies": 0.0}).evaluate(state) != FULL.evaluate(state)


def test_the_configuration_shows_the_weights():
    import yaml

    from tests.support.playing import ROOT

    config = yaml.safe_load((ROOT / "configs" / "risk_features.yaml").read_text())
    assert config["game_parameters"]["weights"] == WEIGHTS
    assert Risk(**config["game_parameters"]).parse(config["position"])[PHASE] != DEAL
