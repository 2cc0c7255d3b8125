"""Risk's rules: move by move the same as the plain ones, in both models of moves; single moves; the end of games."""

from math import comb

import numpy as np
import pytest

from distmcts.kernels import referee
from distmcts.kernels.rng import seeded
from distmcts.kernels.rules import CHANCE, OVER, find_move
from games.risk import Risk
from games.risk_state import FINISHED, OWNED, PHASE, TURN
from tests.games.risk_board import FULL, GAMES, STEPS, board, policy_game, random_game
from tests.reference import risk as plain
from tests.support.playing import BY_PLAYOUT, play_out

BOTH = pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)


def same(game: Risk, state: np.ndarray, reference: plain.State) -> None:
    """Everything that the rules say about a position."""
    assert game.format(state) == plain.text(reference)
    player, moves, results = game.look(state)
    if reference.phase == "over":
        assert (player, len(moves), tuple(results)) == (OVER, 0, plain.returns(reference))
    elif reference.phase in ("deal", "dice"):
        chances = plain.chance(reference)
        assert player == CHANCE
        assert {game.move_name(state, move): p for move, p in game.chance_outcomes(state)} == pytest.approx(chances)
    else:
        assert player == reference.player
        legal = plain.legal_steps if game.in_steps else plain.legal_moves
        if not game.in_steps:
            assert len(moves) == plain.count_moves(reference)
        if len(moves) <= game.max_moves:
            assert isinstance(moves, list)
            assert sorted(game.move_name(state, move) for move in moves) == sorted(legal(reference))
        else:
            assert moves == range(len(moves))


@pytest.mark.parametrize("actions, turns, games", [("full", 12, 5), ("full", 80, 2), ("steps", 12, 5), ("steps", 60, 2)])
def test_random_games_are_the_same_by_the_plain_rules(actions, turns, games):
    game = Risk(actions=actions, playout="uniform", turns=turns)
    phases = set()
    for seed in range(games):
        for state, reference in random_game(game, seed):
            same(game, state, reference)
            phases.add(reference.phase)
    expected = {"deal", "recruit", "attack", "dice", "move in", "manoeuvre", "over"}
    more = {"recruit number", "attack target", "manoeuvre target", "manoeuvre number"}
    assert phases == (expected | more if game.in_steps else expected)


@BOTH
def test_policy_games_are_the_same_by_the_plain_rules(game):
    for seed in range(2):
        for i, (state, reference, _) in enumerate(policy_game(game, seed)):
            if i < 42 or i % 3 == 0:
                same(game, state, reference)


def played(game: Risk, text: str, *names: str) -> str:
    """The position after moves that are given by name."""
    state = game.parse(text)
    for name in names:
        outcomes = {game.move_name(state, move): move for move, _ in game.chance_outcomes(state)}
        state = game.apply(state, outcomes[name] if outcomes else game.parse_move(state, name))
    return game.format(state)


def test_a_conquest_and_moving_in():
    before = board({"Alaska": 6}, {"Kamchatka": 1}, "b2", "turn 3 a attack Alaska")
    for moved in (1, 2, 5):
        after = board({"Alaska": 6 - moved, "Kamchatka": moved}, {}, "b2", "turn 3 a attack Kamchatka")
        assert played(FULL, before, "Alaska -> Kamchatka", "attacker loses 0, defender 1", f"move in {moved}") == after
    dice = board({"Alaska": 6}, {"Kamchatka": 1}, "b2", "turn 3 a dice Alaska > Kamchatka")
    taken = FULL.apply(FULL.parse(dice), 0)
    assert FULL.legal_moves(taken) == [0, 1, 2, 3, 4]
    taken = STEPS.apply(STEPS.parse(dice), 0)
    assert [STEPS.move_name(taken, move) for move in STEPS.legal_moves(taken)] == ["move in 1", "move in 3", "move in 5"]


@BOTH
def test_a_single_troop_moves_in_unasked(game):
    before = board({"Alaska": 2}, {"Kamchatka": 1}, "b2", "turn 3 a dice Alaska > Kamchatka")
    after = board({"Alaska": 1, "Kamchatka": 1}, {}, "b2", "turn 3 a attack Kamchatka")
    assert played(game, before, "attacker loses 0, defender 1") == after


@BOTH
def test_the_last_conquest_ends_the_game(game):
    before = board({"Siam": 9}, {"Indonesia": 2}, "a1", "turn 3 a dice Siam > Indonesia")
    assert played(game, before, "attacker loses 0, defender 2") == board({"Siam": 8}, {}, "a1", "turn 3 a over")
    state = game.apply(game.parse(before), 0)
    assert (game.player(state), game.returns(state)) == (OVER, [1.0, -1.0])


@BOTH
@pytest.mark.parametrize("held, result", [(20, -1.0), (21, 0.0), (22, 1.0)])
def test_the_limit_of_turns(game, held, result):
    """Whoever holds more territories has won."""
    text = board(dict.fromkeys(plain.NAMES[:held], 1), {}, "b1", f"turn {game.turns} b manoeuvre")
    state = game.parse(text)
    end = game.apply(state, game.parse_move(state, "no manoeuvre"))
    assert (game.player(end), game.returns(end)) == (OVER, [result, -result])
    earlier = game.parse(text.replace(f"turn {game.turns}", f"turn {game.turns - 1}"))
    assert game.player(game.apply(earlier, game.parse_move(earlier, "no manoeuvre"))) == 0


def test_troops_are_moved_between_connected_territories_only():
    """Alaska and Alberta are connected, Japan is not; territories with one troop keep it."""
    state = FULL.parse(board({"Alaska": 3, "Alberta": 1, "Japan": 5}, {}, "b2", "turn 3 a manoeuvre"))
    names = [FULL.move_name(state, move) for move in FULL.legal_moves(state)]
    assert names == ["no manoeuvre", "move 1 Alaska -> Alberta", "move 2 Alaska -> Alberta"]


def test_steps_never_move_into_the_hinterland():
    """All of North America but Greenland: its neighbours are the frontier."""
    a = dict.fromkeys(plain.MEMBERS["NA"], 2)
    state = STEPS.parse(board(a | {"Alberta": 6}, {"Greenland": 2}, "b2", "turn 3 a manoeuvre"))
    assert STEPS.parse_move(state, "move from Alberta") in STEPS.legal_moves(state)
    state = STEPS.apply(state, STEPS.parse_move(state, "move from Alberta"))
    names = {STEPS.move_name(state, move).removeprefix("move to ") for move in STEPS.legal_moves(state)}
    assert names == {"Alaska", "Northwest Territory", "Ontario", "Quebec", "Central America"}
    state = STEPS.apply(state, STEPS.parse_move(state, "move to Quebec"))
    assert [STEPS.move_name(state, move) for move in STEPS.legal_moves(state)] == ["move 2", "move 5"]


def test_a_recruitment_that_is_too_large_is_split():
    a = dict.fromkeys(plain.NAMES, 1)
    del a["Siam"]
    state = FULL.parse(board(a, {"Siam": 50}, "a1", "turn 3 a recruit 30"))
    reference = plain.State(
        {name: int(name == "Siam") for name in plain.NAMES}, {name: 50 if name == "Siam" else 1 for name in plain.NAMES},
        "recruit", 0, 3, 30,
    )  # fmt: skip
    assert comb(30 + 41 - 1, 30) >= 2**62
    assert plain.recruits(reference) == 30
    choose = np.random.default_rng(1)
    for part in range(2):
        assert reference.phase == "recruit"
        moves = FULL.legal_moves(state)
        assert len(moves) == plain.count_moves(reference) < 2**62
        move = int(choose.integers(len(moves)))
        name = FULL.move_name(state, move)
        assert FULL.parse_move(state, name) == move
        state, reference = FULL.apply(state, move), plain.play(reference, name, FULL.turns, False)
        assert FULL.format(state) == plain.text(reference)
        assert part == 1 or f"recruit {reference.left} after" in FULL.format(state)
    assert sum(map(int, state[:42])) == 41 + 50 + 30
    assert reference.phase == "attack"


@BOTH
def test_games_end(game):
    """Random ones and those of the policy: within the limit of turns, long before conformance gives up."""
    rng = seeded(4, 0)
    moves = np.zeros(game.list_length, np.int64)
    for by_policy in (False, True):
        for _ in range(50):
            state = np.array(game.initial_state())
            if by_policy:
                state = play_out(game, state, BY_PLAYOUT, rng)[0]
                assert int(state[TURN]) < game.turns
            else:
                assert 42 < referee.play_randomly(game, state, moves, rng, 50_000) < 20_000
            assert state[PHASE] == FINISHED
            assert int(state[OWNED]) ^ int(state[OWNED + 1]) == (1 << 42) - 1


def test_uniform_recruitments_are_uniform():
    """Three troops on three territories: ten ways, listed; drawn as a search's playouts draw them."""
    from scipy import stats

    game = Risk(playout="uniform")
    state = game.parse(board({"Alaska": 1, "Brazil": 1, "Siam": 1}, {}, "b2", "turn 3 a recruit 3"))
    assert len(game.legal_moves(state)) == 10
    rng, moves = seeded(5, 0), np.zeros(game.list_length, np.int64)
    counts = {}
    for _ in range(5000):
        after = state.copy()
        referee.play_randomly(game, after, moves, rng, 1)
        counts[game.format(after)] = counts.get(game.format(after), 0) + 1
    assert len(counts) == 10
    assert stats.chisquare(list(counts.values())).pvalue > 1e-6


def test_ranked_recruitments_are_uniform():
    """Too many to list: 11 troops on 13 territories. The ranks, and how many troops go to one territory."""
    from scipy import stats

    a = dict.fromkeys(plain.NAMES[:13], 1)
    state = FULL.parse(board(a, {}, "b2", "turn 3 a recruit 11"))
    count = len(FULL.legal_moves(state))
    assert count == comb(11 + 13 - 1, 11) > FULL.max_moves
    rng, moves = seeded(6, 0), np.zeros(FULL.list_length, np.int64)
    ranks = np.array([find_move(FULL, state, moves, rng) for _ in range(20_000)])
    assert stats.chisquare(np.histogram(ranks, bins=50, range=(0, count))[0]).pvalue > 1e-6
    placed = np.zeros((20_000, 12), int)
    for i, rank in enumerate(ranks.tolist()):
        placed[i, FULL.apply(state, rank)[3] - 1] = 1
    expected = [comb(11 - k + 11, 11 - k) / count for k in range(12)]  # k troops on one territory, the rest on 12 others
    found = placed.sum(axis=0)
    tail = slice(5, None)
    found = [*found[:5], found[tail].sum()]
    expected = [*expected[:5], sum(expected[tail])]
    assert stats.chisquare(found, np.array(expected) * 20_000).pvalue > 1e-6


@BOTH
def test_rave_keys(game):
    """Within their range; the same for moves alike; different attacks have different ones."""
    from distmcts.kernels import rules
    from distmcts.kernels.jit import kernel

    @kernel
    def key(game, state, move):
        return rules.rave_key(game, state, move)

    kind = Risk(actions=game.parameters["actions"], playout="uniform", turns=20)
    for state, reference in random_game(kind, 3):
        if reference.phase in ("deal", "dice", "over"):
            continue
        before = state.copy()
        moves = kind.legal_moves(state)
        shown = moves if len(moves) < 200 else moves[:: len(moves) // 200]
        keys = [int(key(kind, before, move)) for move in shown]
        assert (before == state).all()
        assert set(keys) <= set(range(kind.rave_keys))
        if reference.phase == "attack":
            assert len(set(keys)) == len(keys)
        if reference.phase == "recruit" and not kind.in_steps:
            for move, found in zip(shown, keys, strict=True):
                after = plain.play(reference, kind.move_name(state, move), 20, False)
                assert found - 167 == plain.NAMES.index(after.source)
