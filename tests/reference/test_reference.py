"""The reference code against what is known from elsewhere, and the collected positions against the reference code."""

import random
from itertools import pairwise

import pytest

from tests.reference import awale, connect_four, mcts, tic_tac_toe
from tests.reference.positions import AWALE_ENDGAMES, CONNECT_FOUR_ONLY_MOVES


def perft(game, state, depth: int) -> int:
    """How many different ways there are to play `depth` moves."""
    if depth == 0:
        return 1
    return sum(perft(game, game.apply(state, move), depth - 1) for move in game.legal_moves(state))


# ---- awale -----------------------------------------------------------------------------------------------------------


def open_spiel_oware(pits: int, seeds: int):
    import pyspiel

    return pyspiel.load_game(f"oware(num_houses_per_player={pits},num_seeds_per_house={seeds})").new_initial_state()


@pytest.mark.parametrize(("pits", "seeds", "games"), [(6, 4, 300), (3, 3, 100), (4, 4, 100), (6, 1, 50), (5, 9, 20)])
def test_awale_plays_like_open_spiel(pits, seeds, games):
    for game in range(games):
        rng = random.Random(game)
        theirs = open_spiel_oware(pits, seeds)
        ours = awale.start(pits, seeds)
        while True:
            board = [round(share * 2 * pits * seeds) for share in theirs.observation_tensor(0)]
            assert [*ours.pits, *ours.captures] == board
            assert awale.is_over(ours) == theirs.is_terminal()
            assert awale.legal_moves(ours) == theirs.legal_actions()
            if theirs.is_terminal():
                break
            assert ours.mover == theirs.current_player()
            move = rng.choice(theirs.legal_actions())
            theirs.apply_action(move)
            ours = awale.play(ours, move)
        assert list(awale.returns(ours)) == theirs.returns()


def test_awale_perft():
    counts = [perft(awale.Game(), awale.start(), depth) for depth in range(1, 6)]
    assert counts == [6, 36, 190, 1014, 5219]


def after(pits, captures, mover, move, rules):
    """Pits and captures after one move."""
    return awale.play(awale.position(pits, captures, mover, rules), move, rules)[:2]


def test_thesis_captures_go_on_into_the_own_row():
    pits = (0, 0, 0, 3, 1, 1, 1, 4, 0, 0, 0, 0)
    assert after(pits, (20, 18), 0, 3, "thesis") == ((0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0), (26, 18))
    assert after(pits, (20, 18), 0, 3, "oware") == ((0, 0, 0, 0, 2, 2, 0, 4, 0, 0, 0, 0), (22, 18))


def test_thesis_captures_all_the_opponent_has():
    pits = (2, 0, 0, 0, 0, 2, 1, 1, 0, 0, 0, 0)
    assert after(pits, (20, 22), 0, 5, "thesis") == ((2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), (24, 22))
    assert after(pits, (20, 22), 0, 5, "oware") == ((2, 0, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0), (20, 22))


def test_thesis_feeds_nobody_and_leaves_the_rest_to_nobody():
    pits = (1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0)
    state = awale.position(pits, (22, 24), 0, "thesis")
    assert awale.legal_moves(state, "thesis") == [0, 5]
    assert awale.legal_moves(awale.position(pits, (22, 24), 0)) == [5]
    over = awale.play(state, 0, "thesis")
    assert awale.is_over(over, "thesis")
    assert over.captures == (22, 24)
    assert awale.returns(over) == (-1, 1)


@pytest.mark.parametrize("rules", ["oware", "thesis"])
@pytest.mark.parametrize("mover", [0, 1])
def test_the_starting_pit_is_skipped_in_every_lap(mover, rules):
    origin = 6 * mover + 2
    pits = tuple(23 if pit == origin else 0 for pit in range(12))
    sown = tuple(0 if pit == origin else 3 if pit == origin + 1 else 2 for pit in range(12))
    assert after(pits, (12, 13), mover, 2, rules) == (sown, (12, 13))


def test_thesis_knows_no_repetition():
    rng = random.Random(0)
    for _ in range(50):
        state = awale.start(rules="thesis")
        while not awale.is_over(state, "thesis"):
            assert not state.history
            state = awale.play(state, rng.choice(awale.legal_moves(state, "thesis")), "thesis")
            assert sum(state.pits) + sum(state.captures) == 48


def open_spiel_value(state) -> int:
    """The value for the player to move, by looking at everything."""
    if state.is_terminal():
        raise AssertionError("asked for the value of a finished game")
    mover = state.current_player()
    best = -1
    for move in state.legal_actions():
        child = state.child(move)
        value = int(child.returns()[mover]) if child.is_terminal() else -open_spiel_value(child)
        best = max(best, value)
        if best == 1:
            break
    return best


@pytest.mark.parametrize(("pits", "seeds"), [(1, 2), (1, 3), (2, 1), (2, 2)])
def test_solver_agrees_with_a_full_search_of_open_spiel(pits, seeds):
    assert awale.solve(awale.start(pits, seeds))[0] == open_spiel_value(open_spiel_oware(pits, seeds))


def test_the_two_ways_to_solve_agree():
    """On small boards, from positions of random games, both with their past and without."""
    rng = random.Random(5)
    compared = 0
    while compared < 60:
        state = awale.start(*rng.choice([(2, 2), (2, 3), (3, 1), (3, 2)]))
        for _ in range(rng.randrange(12)):
            if not awale.is_over(state):
                state = awale.play(state, rng.choice(awale.legal_moves(state)))
        if rng.random() < 0.5:
            state = awale.position(state.pits, state.captures, state.mover)
        if awale.is_over(state):
            continue
        try:
            values = awale.move_values(state, node_limit=2000)
            bounds = awale.move_bounds(state, node_limit=2000)
        except awale.TooLarge:
            continue
        for move, (low, high) in bounds.items():
            assert low <= values[move] <= high
        best = max(values.values())
        assert awale.solve(state) == (best, {move for move, value in values.items() if value == best})
        compared += 1


def test_solver_gives_up_when_told_to():
    with pytest.raises(awale.TooLarge):
        awale.solve(awale.start(), node_limit=1000)


@pytest.mark.parametrize("endgame", AWALE_ENDGAMES, ids=lambda endgame: "-".join(map(str, endgame.pits)))
def test_awale_endgames(endgame):
    state = awale.position(endgame.pits, endgame.captures, endgame.mover)
    assert sum(state.pits) + sum(state.captures) == 48
    assert len(state.pits) == 12
    assert awale.solve(state) == (endgame.value, set(endgame.best_moves))
    assert set(endgame.best_moves) < set(awale.legal_moves(state))


def test_awale_endgames_are_many_and_different():
    assert len(set(AWALE_ENDGAMES)) == len(AWALE_ENDGAMES) >= 20


# ---- connect four ----------------------------------------------------------------------------------------------------


def plain_connect_four_value(columns: list[list[int]], mover: int) -> int:
    """The value for the player to move by the definition; a board is a list of columns of stones."""
    best = None
    for column in range(7):
        if len(columns[column]) == 6:
            continue
        played = [list(stones) for stones in columns]
        played[column].append(mover)
        value = 1 if plain_line(played, mover) else -plain_connect_four_value(played, 1 - mover)
        best = value if best is None else max(best, value)
    return 0 if best is None else best


def plain_line(columns: list[list[int]], player: int) -> bool:
    owned = {(x, y) for x, column in enumerate(columns) for y, stone in enumerate(column) if stone == player}
    steps = ((1, 0), (0, 1), (1, 1), (1, -1))
    return any(all((x + i * dx, y + i * dy) in owned for i in range(4)) for x, y in owned for dx, dy in steps)


def random_connect_four(stones: int, rng: random.Random) -> str:
    """Columns played at random until there are so many stones and no line."""
    while True:
        played = ""
        try:
            while len(played) < stones:
                _, on_board = connect_four.position(played)
                played += str(rng.choice([column for column, _ in connect_four.landing_places(on_board)]))
            connect_four.position(played)
            return played
        except ValueError:
            continue  # somebody has a line


def test_connect_four_solver_agrees_with_the_definition():
    rng = random.Random(1)
    for _ in range(40):
        played = random_connect_four(rng.randint(34, 41), rng)
        columns = [[ply % 2 for ply, digit in enumerate(played) if int(digit) == column + 1] for column in range(7)]
        values = connect_four.move_values(played)
        assert max(values.values()) == plain_connect_four_value(columns, len(played) % 2)


def test_connect_four_value_is_the_opposite_one_move_later():
    """Values of a position and of the one after a move are found by separate searches, so they check each other."""
    rng = random.Random(2)
    for _ in range(20):
        played = random_connect_four(26, rng)
        for column, value in connect_four.move_values(played).items():
            try:
                connect_four.position(f"{played}{column}")
            except ValueError:
                assert value == 1  # the move made a line
                continue
            assert value == -max(connect_four.move_values(f"{played}{column}").values())


def test_connect_four_refuses_what_cannot_be_played():
    with pytest.raises(ValueError, match="column 1"):
        connect_four.position("1111111")
    with pytest.raises(ValueError, match="column 7"):
        connect_four.position("12121217")
    with pytest.raises(ValueError, match="over"):
        connect_four.move_values("1212121")


@pytest.mark.parametrize("only", CONNECT_FOUR_ONLY_MOVES, ids=lambda only: only.columns)
def test_connect_four_only_moves(only):
    assert 14 <= len(only.columns) <= 30
    values = connect_four.move_values(only.columns)
    assert [column for column, value in values.items() if value == 1] == [only.winning_column]
    assert len(values) > 1
    assert connect_four.plies_to_win(only.columns) == only.plies


def test_connect_four_only_moves_are_many_and_different():
    positions = [only.columns for only in CONNECT_FOUR_ONLY_MOVES]
    assert len(set(positions)) == len(positions) >= 24
    assert sum(only.plies >= 5 for only in CONNECT_FOUR_ONLY_MOVES) >= 12
    assert {1, 3, 5, 7} <= {only.plies for only in CONNECT_FOUR_ONLY_MOVES}
    assert all(a.plies <= b.plies for a, b in pairwise(CONNECT_FOUR_ONLY_MOVES))


# ---- tic-tac-toe and the tiny search ---------------------------------------------------------------------------------


def test_tic_tac_toe():
    assert tic_tac_toe.value(tic_tac_toe.START) == 0
    assert [perft(tic_tac_toe, tic_tac_toe.START, depth) for depth in range(1, 7)] == [9, 72, 504, 3024, 15120, 54720]


def most_visited(root: mcts.Node) -> int:
    return max(root.children, key=lambda child: child.visits).move


@pytest.mark.parametrize("state", ["xx.oo....", "x.o.xo...", "x...o...x", "xo.......", "xox.o....", "x.o......"])
def test_search_finds_the_best_move_of_tic_tac_toe(state):
    root = mcts.Search(tic_tac_toe, state, seed=3, c=1.0).run(3000)
    assert -tic_tac_toe.value(tic_tac_toe.apply(state, most_visited(root))) == tic_tac_toe.value(state)


def test_search_counts_every_simulation_once():
    for simulations in (1, 5, 9, 10, 500):
        root = mcts.Search(tic_tac_toe, tic_tac_toe.START, seed=4, c=1.0).run(simulations)
        assert sum(child.visits for child in root.children) == root.visits == simulations
        assert len(root.children) == min(simulations, 9)
        assert all(-1 <= child.value() <= 1 for child in root.children)


def test_search_sees_values_as_the_player_to_move():
    """o to move: square 2 wins at once, and x wins after most of the others."""
    root = mcts.Search(tic_tac_toe, "oo.xx.x..", seed=5, c=1.0).run(2000)
    values = {child.move: child.value() for child in root.children}
    assert values[2] == 1.0
    assert all(value < 0 for move, value in values.items() if move not in (2, 5))


def test_search_of_random_play_gives_the_known_value():
    """With one simulation a search is one random game: the first player wins 0.584921 and draws 0.126984 of them."""
    games = 4000
    results = [mcts.Search(tic_tac_toe, tic_tac_toe.START, seed).run(1).children[0].value() for seed in range(games)]
    assert results.count(1) / games == pytest.approx(0.584921, abs=0.035)
    assert results.count(0) / games == pytest.approx(0.126984, abs=0.025)


@pytest.mark.parametrize("endgame", AWALE_ENDGAMES[:3], ids=lambda endgame: "-".join(map(str, endgame.pits)))
def test_search_finds_the_best_move_of_awale_endgames(endgame):
    state = awale.position(endgame.pits, endgame.captures, endgame.mover)
    assert most_visited(mcts.Search(awale.Game(), state, seed=7, c=0.7).run(1500)) in endgame.best_moves
