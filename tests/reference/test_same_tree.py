"""From one seed, the engine and the search in plain Python grow the same tree, node for node.

Serial search, plain and with each feature; and every scheme where one worker owns a tree.

No search has 4096 visits: from there on the engine's logarithms are a little off (kernels/select.py), and a choice may differ.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

import distmcts
from distmcts.game import CompiledGame, State
from distmcts.kernels.layout import ROOT, Tree
from distmcts.tree import view
from tests.reference import awale, mcts, playouts, tic_tac_toe
from tests.support.dice_race import DiceRace
from tests.support.every_feature import FEATURES, PUCT

HEX = distmcts.load_game("hex", size=7)
UR = distmcts.load_game("ur", pieces=3)

PLAYOUTS = {"connect_four": playouts.connect_four, "hex": playouts.hex_board, "ur": playouts.ur}
DICE = {"ur": playouts.ur_roll, "dice_race": playouts.race_roll}


def slow_rules(game: CompiledGame, state: State) -> tuple[mcts.Game, mcts.State]:
    """The rules in plain Python and the position there, of games that have such rules; else the game's own, one call a step."""
    if game.name == "tic_tac_toe":
        return tic_tac_toe, game.format(state).replace("/", "")
    if game.name == "awale":
        board, captures, mover = game.format(state).split()
        pits = [int(seeds) for row in board.split("/") for seeds in row.split(",")]
        return awale.Game(), awale.position(pits, [int(seeds) for seeds in captures.split("-")], int(mover))
    return game, state


def plain_search(game: CompiledGame, state: State, simulations: int, seed: int, **settings) -> mcts.Node:
    settings.pop("evaluation_cache", None)  # saves time, and changes nothing
    rules = {"playout": PLAYOUTS.get(game.name), "sample_outcome": DICE.get(game.name), "priors": playouts.priors}
    return mcts.Search(*slow_rules(game, state), seed, **rules, **settings).run(simulations)


def differences(tree: Tree, root: mcts.Node) -> tuple[list[str], int]:
    """Where the tree differs, and how many nodes are the same."""
    found, same = [], 0
    if (view.visits(tree), int(view.columns(tree).value_sum[ROOT])) != (root.visits, root.value_sum):
        found.append("the root")
    pairs = [((), ROOT, root)]
    while pairs:
        path, node, plain = pairs.pop()
        ours = [(child.move, child.visits, child.value_sum, child.proven) for child in view.children(tree, node)]
        proofs = [None if child.proven is None else child.proven / mcts.UNIT for child in plain.children]
        theirs = [(child.move, child.visits, child.value_sum, proof) for child, proof in zip(plain.children, proofs, strict=True)]
        if ours == theirs:
            same += 1
            children = zip(view.child_nodes(tree, node), plain.children, strict=True)
            pairs += [((*path, child.move), number, child) for number, child in children]
        else:
            found.append(f"below {path}: {ours} instead of {theirs}")
    return found, same


@contextmanager
def grown(game: CompiledGame | str, simulations: int, position: str | None, seed: int, **settings) -> Iterator[distmcts.Engine]:
    with distmcts.Engine(game, position, parallel="serial", memory="16MiB", seed=seed, **settings) as engine:
        engine.run(simulations=simulations)
        yield engine


def check(game: CompiledGame | str, simulations: int, position: str | None, **settings) -> None:
    for seed in range(2):
        with grown(game, simulations, position, seed, **settings) as engine:
            made = view.visits(engine.trees[0])  # a solver may be ready before
            found, same = differences(engine.trees[0], plain_search(engine.game, engine.state, made, seed, **settings))
        assert found == []
        assert same > 50


def shown(value) -> str:
    if isinstance(value, CompiledGame):
        return value.name
    return "-".join(f"{key}={setting}" for key, setting in value.items()) if isinstance(value, dict) else str(value)


AWALE_END = "0,3,1,0,8,1/2,1,3,2,0,5 11-11 0"
UR_MIDDLE = "1 4,8 0 / 2 3 0 / 0 2"
UR_END = "0 13,14 1 / 1 12 1 / 1 ?"


@pytest.mark.parametrize(
    ("game", "simulations", "position"),
    [
        ("tic_tac_toe", 4000, None),
        ("connect_four", 1000, None),
        ("connect_four", 1000, "44444455555"),
        ("awale", 200, None),
        ("awale", 600, AWALE_END),
        (distmcts.load_game("hex", size=4), 1500, None),
        (HEX, 1500, None),
        (UR, 500, None),
        (UR, 1000, UR_END),
    ],
    ids=shown,
)
def test_plain(game, simulations, position):
    check(game, simulations, position)


EACH_FEATURE = pytest.mark.parametrize(
    ("game", "simulations", "position", "settings"),
    [
        (HEX, 800, None, {"c": 0.5}),
        (HEX, 800, None, {"first_play_urgency": 0.9}),
        (HEX, 800, None, {"widening": 1.5, "widening_power": 0.4}),
        (HEX, 800, None, {"widening": 2.0, "first_play_urgency": 1.1}),
        (HEX, 400, None, {"rave": 300, "c": 0.5}),
        (UR, 2000, UR_MIDDLE, {"selection": "ucb1_tuned", "cutoff": 0}),
        (UR, 500, UR_MIDDLE, {"selection": "puct"}),
        ("tic_tac_toe", 2000, None, {"selection": "random"}),
        (UR, 800, None, {"cutoff": 3}),
        ("awale", 1000, None, {"cutoff": 0}),
        ("awale", 600, None, {"cutoff": 10, "c": 0.3}),
        ("awale", 500, AWALE_END, {"samples": 2}),
        ("awale", 500, AWALE_END, {"progressive_bias": 3.0}),
        (UR, 300, UR_MIDDLE, {"progressive_bias": 2.0, "rave": 50}),
        (UR, 300, UR_MIDDLE, {"progressive_bias": 2.0, "selection": "puct"}),
        (UR, 500, UR_END, {"chance": "hashed"}),
        (UR, 500, UR_MIDDLE, {"chance": "hashed", "chance_widening": 1.0, "chance_widening_power": 0.3}),
        ("tic_tac_toe", 3000, None, {"stay": 0.25}),
        ("connect_four", 1000, None, {"stay": 0.1}),
        (HEX, 800, None, {"stay": 0.5, "widening": 1.5}),
        (UR, 800, UR_MIDDLE, {"stay": 0.5}),
        (UR, 800, UR_END, {"stay": 0.5, "chance": "hashed"}),
        (UR, 500, UR_MIDDLE, {"stay": 0.5, "chance": "hashed", "chance_widening": 1.0}),
        (UR, 500, UR_MIDDLE, {"stay": 0.5, "selection": "puct"}),
        (UR, 2000, UR_MIDDLE, {"stay": 0.1, "selection": "ucb1_tuned", "cutoff": 3}),
        (HEX, 400, None, {"stay": 0.5, "rave": 300, "c": 0.5}),
        (UR, 300, UR_MIDDLE, {"stay": 0.5, "rave": 50}),
        ("tic_tac_toe", 3000, None, {"stay": 0.5, "solver": True}),
        (DiceRace(4), 1500, None, {"stay": 0.5, "solver": True, "c": 2.0}),
        ("tic_tac_toe", 3000, None, {"solver": True}),
        (DiceRace(4), 1500, None, {"solver": True, "c": 2.0}),
    ],
    ids=shown,
)


@EACH_FEATURE
def test_one_feature(game, simulations, position, settings):
    check(game, simulations, position, **settings)


@EACH_FEATURE
def test_no_feature_goes_unnoticed(game, simulations, position, settings):
    """A plain search that does without one of the settings grows another tree."""
    with grown(game, simulations, position, 0, **settings) as engine:
        for left_out in settings:
            others = {key: value for key, value in settings.items() if key != left_out}
            root = plain_search(engine.game, engine.state, view.visits(engine.trees[0]), 0, **others)
            assert differences(engine.trees[0], root)[0], left_out


@pytest.mark.parametrize("position", [None, UR_END], ids=["start", "end"])
@pytest.mark.parametrize("features", [FEATURES, PUCT], ids=["features", "puct"])
@pytest.mark.parametrize("stay", [0.0, 0.4])
def test_every_feature_at_once(stay, features, position):
    check(UR, 1000, position, stay=stay, **features)


@pytest.mark.parametrize(
    "scheme",
    [
        *({"parallel": name} for name in ("tree", "root", "leaf", "simulated")),
        {"parallel": "root", "workers": 3},
        {"parallel": "tree", "synchronisation": "node-locks"},
        {"parallel": "tree", "synchronisation": "global-lock"},
        {"parallel": "tree", "backend": "thread"},
        {"parallel": "tree", "in_flight": "wu_uct"},
        {"parallel": "tree", "in_flight": "none"},
    ],
    ids=shown,
)
@pytest.mark.parametrize(("game", "simulations"), [("tic_tac_toe", 3000), ("connect_four", 500)])
def test_one_worker_a_tree(game, simulations, scheme):
    is_textbook = scheme["parallel"] == "leaf" or "synchronisation" in scheme  # a leader's quotas are cut short at the end
    stay = 0.0 if is_textbook else 1 / 32
    with distmcts.Engine(game, memory="32MiB", seed=5, **{"workers": 1, "stay": stay, **scheme}) as engine:
        engine.run(simulations=simulations)
        for worker, tree in enumerate(engine.trees):
            root = plain_search(engine.game, engine.state, view.visits(tree), 5, worker=worker, stay=stay)
            assert differences(tree, root)[0] == []
