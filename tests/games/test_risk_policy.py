"""Risk's playout policy: every choice against the plain one, its randomness by frequencies, and whole playouts against steps."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from distmcts.kernels.rng import seeded
from distmcts.kernels.rules import OVER
from games.risk import Risk
from games.risk_state import FINISHED, OWNED, PHASE
from tests.games.risk_board import FULL, GAMES, STEPS, board, policy_game, random_game, step
from tests.reference import risk as plain
from tests.reference.risk_policy import battle, policy
from tests.support.playing import BY_PLAYOUT, BY_RULES, play_out

BOTH = pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)


def choices(game: Risk, text: str, count: int, seed: int = 1) -> dict[str, int]:
    """How often the policy chooses each move."""
    state, rng, moves = game.parse(text), seeded(seed, 0), np.zeros(game.list_length, np.int64)
    found: dict[str, int] = {}
    for _ in range(count):
        name = game.move_name(state, int(step(game, state.copy(), moves, rng)))
        found[name] = found.get(name, 0) + 1
    return dict(sorted(found.items()))


def are_equally_likely(found: dict[str, int]) -> bool:
    from scipy import stats

    return stats.chisquare(list(found.values())).pvalue > 1e-6


@BOTH
def test_every_choice_is_one_of_the_plain_policy(game):
    """And what is chosen leads where the plain rules lead (policy_game asserts it); a certain choice is met every time."""
    certain = 0
    for seed in range(10, 14):
        for _, reference, name in policy_game(game, seed):
            likely = policy(reference, game.in_steps)
            assert name in likely
            certain += len(likely) == 1
    assert certain > 500


@BOTH
def test_what_a_tree_leaves_is_played_on(game):
    """Positions of random games, where a tree may have begun what the policy never would."""
    kind = Risk(actions=game.parameters["actions"], turns=25)
    rng, moves = seeded(2, 0), np.zeros(kind.list_length, np.int64)
    for state, reference in random_game(kind, 8):
        if reference.phase != "over":
            name = kind.move_name(state, int(step(kind, state.copy(), moves, rng)))
            assert name in policy(reference, kind.in_steps)


@BOTH
def test_a_playout_is_its_steps(game):
    """Random number by random number: the same seed gives the same last position, from anywhere in a game."""
    starts = [state for seed in range(6) for state, *_ in list(policy_game(game, seed))[:: 37 + seed]]
    starts += [state for state, _ in random_game(Risk(actions=game.parameters["actions"], turns=40), 5)][::7]
    assert len(starts) > 100
    for i, start in enumerate(starts):
        rng, again = seeded(i, 1), seeded(i, 1)
        end, result = play_out(game, start, BY_PLAYOUT, rng)
        by_steps, result_by_steps = play_out(game, start, BY_RULES, again)
        assert end.tolist() == by_steps.tolist()
        assert (rng.tolist(), result) == (again.tolist(), result_by_steps)
        assert game.player(end) == OVER
        assert game.returns(end) == [result, -result]


def test_all_recruits_go_to_a_random_territory_on_the_frontier():
    text = board(dict.fromkeys(plain.MEMBERS["SA"], 2), {}, "b2", "turn 1 a recruit 5")
    found = choices(FULL, text, 3000)
    assert list(found) == ["recruit 5 Brazil", "recruit 5 Venezuela"]
    assert are_equally_likely(found)
    found = choices(STEPS, text, 3000)
    assert list(found) == ["recruit in Brazil", "recruit in Venezuela"]
    assert are_equally_likely(found)
    assert choices(STEPS, text.replace("recruit 5", "recruit 5 on Brazil"), 3) == {"recruit 5": 3}


def test_the_recruited_territory_attacks():
    text = board(dict.fromkeys(plain.MEMBERS["SA"], 2), {}, "b2", "turn 1 a recruit 5")
    state = FULL.apply(FULL.parse(text), FULL.parse_move(FULL.parse(text), "recruit 5 Brazil"))
    assert FULL.format(state).endswith("attack Brazil")
    assert choices(FULL, FULL.format(state), 20) == {"Brazil -> North Africa": 20}


def test_an_attack_needs_more_than_even_odds():
    """Madagascar's neighbours are East Africa and South Africa, in the order of the map; East Africa is too strong."""
    for attackers, defenders in product(range(1, 14), range(1, 12)):
        troops = {"East Africa": 40, "South Africa": defenders}
        text = board({"Madagascar": attackers + 1}, troops, "b2", "turn 1 a attack Madagascar")
        good = battle(attackers, defenders) > Fraction(1, 2)
        assert choices(FULL, text, 1) == {"Madagascar -> South Africa" if good else "end attack": 1}


def test_the_first_neighbour_that_can_be_conquered_is_attacked():
    """In the order of the map, whatever else would be easier."""
    for troops, chosen in (({"East Africa": 3, "South Africa": 1}, "East Africa"), ({"East Africa": 9}, "South Africa")):
        text = board({"Madagascar": 7}, troops, "b2", "turn 1 a attack Madagascar")
        assert choices(FULL, text, 3) == {f"Madagascar -> {chosen}": 3}
        assert choices(STEPS, text, 3) == {"attack from Madagascar": 3}
        assert choices(STEPS, text.replace("attack Mad", "attack from Mad"), 3) == {f"attack {chosen}": 3}


def test_only_the_active_territory_attacks():
    text = board({"Madagascar": 2, "Siam": 90}, {}, "b5", "turn 1 a attack Madagascar")
    assert choices(FULL, text, 3) == {"end attack": 3}
    assert choices(STEPS, text, 3) == {"end attack": 3}


def test_a_random_number_moves_in():
    text = board({"Siam": 7, "China": 1}, {}, "b5", "turn 1 a move in Siam > China")
    found = choices(FULL, text, 7000)
    assert sorted(found) == [f"move in {number}" for number in range(1, 8)]
    assert are_equally_likely(found)
    found = choices(STEPS, text, 6000)
    assert list(found) == ["move in 1", "move in 4", "move in 7"]
    assert are_equally_likely(found)
    two = choices(STEPS, board({"Siam": 2, "China": 1}, {}, "b5", "turn 1 a move in Siam > China"), 2000)
    assert list(two) == ["move in 1", "move in 2"]


@pytest.mark.parametrize("most, number", [(9, 4), (8, 3), (4, 1), (3, 1)])
def test_a_manoeuvre_makes_two_territories_equal(most, number):
    """From the richest to a random one of the poorest that are connected; the source keeps an odd troop."""
    a = {"Peru": most, "Brazil": 2, "Venezuela": 1, "Argentina": 1, "Siam": 1}
    found = choices(FULL, board(a, {}, "b5", "turn 1 a manoeuvre"), 2000)
    assert list(found) == [f"move {number} Peru -> Argentina", f"move {number} Peru -> Venezuela"]
    assert are_equally_likely(found)
    assert choices(STEPS, board(a, {}, "b5", "turn 1 a manoeuvre"), 3) == {"move from Peru": 3}
    # in steps it goes to the frontier: not to Argentina
    assert choices(STEPS, board(a, {}, "b5", "turn 1 a manoeuvre from Peru"), 50) == {"move to Venezuela": 50}
    assert choices(STEPS, board(a, {}, "b5", "turn 1 a manoeuvre Peru > Venezuela"), 3) == {f"move {number}": 3}


@pytest.mark.parametrize(
    "a",
    [
        pytest.param({"Siam": 9, "Peru": 5, "Brazil": 1}, id="the richest is isolated"),
        pytest.param({"Peru": 2, "Brazil": 1, "Siam": 2}, id="one more is as good as equal"),
        pytest.param({"Peru": 2, "Brazil": 2}, id="equal"),
    ],
)
def test_no_manoeuvre(a):
    for game in (FULL, STEPS):
        assert choices(game, board(a, {}, "b5", "turn 1 a manoeuvre"), 3) == {"no manoeuvre": 3}


def test_of_equally_rich_territories_the_first_gives():
    a = {"Venezuela": 1, "Peru": 5, "Brazil": 5}
    assert choices(FULL, board(a, {}, "b5", "turn 1 a manoeuvre"), 5) == {"move 2 Peru -> Venezuela": 5}


def last_stands(attackers: int, defenders: int) -> dict[tuple[int, int], Fraction]:
    """How a battle of the policy ends, and how likely: it stops where even odds are lost."""
    ends: dict[tuple[int, int], Fraction] = {}
    likely = {(attackers, defenders): Fraction(1)}
    while likely:
        a, d = max(likely, key=sum)  # no larger battle leads here any more
        chance = likely.pop((a, d))
        if d == 0 or battle(a, d) <= Fraction(1, 2):
            ends[a, d] = ends.get((a, d), 0) + chance
            continue
        compared = min(a, d, 2)
        for lost, p in plain.throw(a, d).items():
            after = (a - lost, d - (compared - lost))
            likely[after] = likely.get(after, 0) + chance * p
    return ends


def test_dice_of_whole_playouts():
    """One turn against one territory: the last positions of playouts come as often as a Markov chain says.

    `a` recruits 34 troops for East Africa or South Africa, which then has 34 attackers against Madagascar's 32.
    """
    from scipy import stats

    game = Risk(turns=1)
    start = game.parse(board({}, {"Madagascar": 32}, "a1", "turn 1 a recruit 34"))
    rng, count = seeded(9, 0), 20_000
    expected = last_stands(34, 32)
    found = dict.fromkeys(expected, 0)
    madagascar = plain.NAMES.index("Madagascar")
    for _ in range(count):
        end, _ = play_out(game, start, BY_PLAYOUT, rng)
        assert end[PHASE] == FINISHED
        defenders = 0 if int(end[OWNED + 1]) == 0 else int(end[madagascar])
        attackers = sum(map(int, end[:42])) - 41 - defenders
        found[attackers, defenders] += 1
    assert sum(found.values()) == count
    common = [key for key in expected if expected[key] * count >= 10]
    assert len(common) > 20
    rare = count - sum(found[key] for key in common)
    likely = [float(expected[key]) * count for key in common]
    test = stats.chisquare([*(found[key] for key in common), rare], [*likely, count - sum(likely)])
    assert test.pvalue > 1e-6


@BOTH
def test_dice_of_policy_games(game):
    """Throws of each kind in games by steps, which are those of whole playouts."""
    from scipy import stats

    found: dict[tuple[int, int], dict[str, int]] = {}
    for seed in range(20, 32):
        for _, reference, name in policy_game(game, seed):
            if reference.phase == "dice":
                dice = min(3, reference.troops[reference.source] - 1), min(2, reference.troops[reference.target])
                kind = found.setdefault(dice, dict.fromkeys(plain.chance(reference), 0))
                kind[name] += 1
    assert {(3, 2), (3, 1), (2, 1)} <= set(found)
    for (attack, defence), counts in found.items():
        likely = np.array([float(p) for p in plain.throw(attack, defence).values()])
        if sum(counts.values()) >= 100:
            assert stats.chisquare(list(counts.values()), likely * sum(counts.values())).pvalue > 1e-6
