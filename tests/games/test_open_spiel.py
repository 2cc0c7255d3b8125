"""The games of OpenSpiel: by name and as objects, positions as text, playouts, chance, searches of every one; and errors."""

import random
import sys

import pyspiel
import pytest

import distmcts
from distmcts.errors import GameError, InputError
from distmcts.kernels.rules import CHANCE, OVER
from games.open_spiel import OpenSpielGame
from tests.support.command import distmcts as command
from tests.support.playing import their_look
from tests.support.trees import equal, trees_of

KINDS = [kind for kind in pyspiel.registered_games() if kind.default_loadable]
IN_TURN, PERFECT = pyspiel.GameType.Dynamics.SEQUENTIAL, pyspiel.GameType.Information.PERFECT_INFORMATION
SAMPLED = pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC
CRASHES = ("morpion_solitaire",)  # replaying a random game on a clone ends the process; so it does without distmcts
SEARCHABLE = [
    kind.short_name
    for kind in KINDS
    if (kind.dynamics, kind.information) == (IN_TURN, PERFECT)
    if kind.chance_mode != SAMPLED and kind.short_name not in CRASHES
]
# Playouts by C++ and move by move are compared here: of two players, with chance, of one player, of three
WITH_PLAYOUTS = ["tic_tac_toe", "connect_four", "pig(winscore=20)", "catch", "pig(players=3,winscore=20)"]


def random_state(game: OpenSpielGame, moves: int, seed: int):
    choose = random.Random(seed)
    state = game.initial_state()
    for _ in range(moves):
        legal = game.legal_moves(state)
        if not legal:
            break
        state = game.apply(state, choose.choice(legal))
    return state


@pytest.mark.parametrize("name", SEARCHABLE)
def test_every_game_is_searched(name):
    """From the start and from the midst of a random game, with all laws checked; the position is written and read back."""
    with distmcts.Engine(f"open_spiel:{name}", parallel="serial", memory="64MiB", seed=1) as engine:
        game = engine.game
        for moves in (0, 9):
            state = random_state(game, moves, seed=2)
            assert str(game.parse(game.format(state))) == str(state)
            assert str(game.parse(state.serialize())) == str(state)
            assert str(game.state(game.pack(state))) == str(state)
            if game.is_over(state):
                continue
            engine.set_position(state)
            result = engine.search(simulations=30)
            assert engine.audit()[0].visits == result.simulations == 30
            assert {row.move for row in result.moves} <= set(state.legal_actions())
            assert -1 <= result.value <= 1


def test_backgammon_with_chance():
    """Two workers on one tree: dice are drawn by probability, also deep in the tree; a clear win is seen."""
    with distmcts.Engine("open_spiel:backgammon", workers=2, seed=1, memory="128MiB") as engine:
        game = engine.game
        assert game.has_chance and game.player(engine.state) == CHANCE
        result = engine.search(simulations=600)
        assert result.best_move is None
        likely = dict(game.chance_outcomes(engine.state))
        for row in result.moves:
            expected = 600 * likely[row.move]
            assert abs(row.visits - expected) < 6 * expected**0.5 + 1
        engine.advance(result.moves[0].move)
        result = engine.search(simulations=400)
        assert result.best_move in game.legal_moves(engine.state)
        assert game.look(engine.state) == their_look(engine.state)
        engine.advance(result.best_move)
        engine.search(simulations=100)
        assert engine.audit()[0].visits >= 100


def test_utilities_are_scaled():
    game = distmcts.load_game("open_spiel:backgammon(scoring_type=full_scoring)")
    state = game.initial_state()
    choose = random.Random(1)
    found = set()
    for _ in range(30):
        state = game.initial_state()
        while not state.is_terminal():
            state.apply_action(choose.choice(state.legal_actions()))
        assert game.returns(state) == [result / 3 for result in state.returns()]
        found.add(abs(state.returns()[0]))
    assert len(found) > 1


@pytest.mark.parametrize("name", WITH_PLAYOUTS)
def test_playouts_in_c_are_random_play(name):
    """The same means as by moves one by one from Python."""
    means = []
    for playout in ("c++", "python"):
        game = OpenSpielGame(name, playout=playout)
        with distmcts.Engine(game, parallel="serial", seed=5, c=100.0, memory="64MiB") as engine:
            result = engine.search(simulations=3000)
            means.append(sum(row.visits * row.value for row in result.moves) / 3000)
    assert abs(means[0] - means[1]) < 6 / 3000**0.5


@pytest.mark.parametrize("game", ["tic_tac_toe", "pig(winscore=20)"])
@pytest.mark.parametrize("settings", [{"parallel": "serial"}, {"parallel": "root", "workers": 2}], ids=["serial", "root"])
def test_same_seed_same_trees(game, settings):
    name = f"open_spiel:{game}"
    first = trees_of(name, 1000, 2000, seed=1, **settings)
    assert equal(first, trees_of(name, 1000, 2000, seed=1, **settings))
    assert not equal(first[:1], trees_of(name, 1000, 2000, seed=2, **settings)[:1])


def test_textbook_search_may_be_interrupted():
    """Between two searches workers come back up; where they never stay below a node, that makes no difference."""
    settings = {"parallel": "serial", "stay": 0.0, "seed": 1}
    name = "open_spiel:tic_tac_toe"
    assert equal(trees_of(name, 3000, **settings), trees_of(name, 1000, 2000, **settings))


def test_objects_of_theirs():
    chess = pyspiel.load_game("chess")
    assert repr(distmcts.load_game(chess)) == "open_spiel:chess"
    mate_in_one = chess.new_initial_state("7k/5Q2/6K1/8/8/8/8/8 w - - 0 1")
    result = distmcts.search(mate_in_one, simulations=2000, workers=2, seed=1, memory="64MiB")
    assert result.value == 1.0
    assert result.moves[0].name.endswith("#")
    same = distmcts.search("open_spiel:chess", "7k/5Q2/6K1/8/8/8/8/8 w - - 0 1", simulations=100, parallel="serial", seed=1)
    assert {row.move for row in same.moves} == {row.move for row in result.moves}
    assert distmcts.load_game("open_spiel:hex", board_size=4).perft(1) == 16
    assert repr(distmcts.load_game("open_spiel:hex(board_size=4)")) == "open_spiel:hex(board_size=4)"


def test_chess_positions_as_text():
    game = distmcts.load_game("open_spiel:chess")
    state = game.parse("8/8/8/4k3/8/8/4K2R/8 w - - 0 1; 2424")
    assert game.format(state) == "FEN: 8/8/8/4k3/8/8/4K2R/8 w - - 0 1; 2424"
    assert str(game.parse(game.format(state))) == str(state)


def test_snapshots(tmp_path):
    with distmcts.Engine("open_spiel:pig", "1 0", workers=2, seed=1, memory="64MiB") as engine:
        engine.search(simulations=500)
        engine.save(tmp_path / "tree.dmcts")
        before = engine.result().moves
    with distmcts.Engine.load(tmp_path / "tree.dmcts") as engine:
        assert engine.game.format(engine.state) == "1 0"
        result = engine.search(simulations=500)
        assert engine.audit()[0].visits == 1000
        assert sum(row.visits for row in result.moves) == 1000 == 2 * sum(row.visits for row in before)


def test_what_people_can_do_with_it():
    game = distmcts.load_game("open_spiel:tic_tac_toe")
    assert game.perft(4) == 3024
    state = game.parse("4 0")
    assert game.draw(state) == "o..\n.x.\n..."
    assert (game.move_name(state, 8), game.parse_move(state, "x(2,2)")) == ("x(2,2)", 8)
    assert game.look(game.parse("0 3 1 4 2")) == (OVER, [], [1.0, -1.0])


def test_the_command():
    done = command("search", "open_spiel:tic_tac_toe", "--seconds", "0.3", "--position", "0 3 1 4", "--audit")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("xx.\noo.\n...\n")
    assert "* x(0,2)" in done.stdout
    done = command("search", "open_spiel:hex(board_size=3)", "game_parameters={}", "--simulations", "100")
    assert (done.returncode, done.stderr) == (0, "")
    done = command("games", "check", "open_spiel:pig", "--games", "10")
    assert (done.returncode, done.stderr, done.stdout.count("ok  ")) == (0, "", 2)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("open_spiel:chesss", "unknown OpenSpiel game 'chesss': did you mean 'chess'? allowed: 2048, "),
        ("open_spiel:", "unknown OpenSpiel game ''"),
        ("open_spiel:leduc_poker", "open_spiel:leduc_poker: cannot be searched: information is hidden from players; "),
        ("open_spiel:goofspiel", "open_spiel:goofspiel: cannot be searched: players move at the same time; "),
        ("open_spiel:stones_and_gems", "open_spiel:stones_and_gems: cannot be searched: outcomes of chance cannot be listed; "),
        ("open_spiel:hex(board_sise=5)", "Unknown parameter 'board_sise'; its parameters: board_size, "),
        ("open_spiel:hex(board_size=5", "Missing closing bracket"),
    ],
)
def test_names_that_cannot_be_used(name, said, capfd):
    with pytest.raises(InputError) as error:
        distmcts.load_game(name)
    assert said in str(error.value)
    assert "\n" not in str(error.value)
    assert capfd.readouterr().err == ""  # OpenSpiel writes there before it raises


def test_objects_that_cannot_be_used():
    with pytest.raises(InputError, match="kuhn_poker: cannot be searched"):
        distmcts.load_game(pyspiel.load_game("kuhn_poker"))
    with pytest.raises(InputError, match="unknown playout 'cpp'"):
        OpenSpielGame("chess", playout="cpp")
    with pytest.raises(InputError, match="expected text, or a state of open_spiel:chess"):
        distmcts.search("open_spiel:chess", pyspiel.load_game("tic_tac_toe").new_initial_state())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("4 4", "4 is not a legal move; legal: 0, 1, 2, 3, 5"),
        ("99", "99 is not"),
        ("x", "expected legal moves"),
        ("-1", "expected legal moves"),
    ],
)
def test_positions_that_cannot_be_used(text, said, capfd):
    with pytest.raises(InputError) as error:
        distmcts.load_game("open_spiel:tic_tac_toe").parse(text)
    assert said in str(error.value)
    assert capfd.readouterr().err == ""


def test_without_open_spiel(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspiel", None)
    with pytest.raises(InputError) as error:
        distmcts.load_game("open_spiel:chess")
    assert str(error.value) == "open_spiel:chess: OpenSpiel is not installed: pip install 'distmcts[interop]'"


def test_a_game_that_fails_within(capfd):
    """What its C++ raises in a worker comes out as one line."""

    class Torn:
        """A state of theirs whose copies have a hole."""

        def __init__(self, state):
            self.state = state

        def clone(self):
            return Torn(self.state.clone())

        def apply_action(self, action):
            self.state.apply_action(0)

        def __getattr__(self, name):
            return getattr(self.state, name)

    torn = Torn(pyspiel.load_game("tic_tac_toe").new_initial_state())
    with pytest.raises(GameError, match="Torn: SpielError: .* in position"):
        distmcts.search(torn, simulations=100, workers=2, memory="64MiB")
