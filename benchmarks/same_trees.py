"""A fingerprint of the tree for every kind of search, so that two versions can be compared: same seed, same trees, bit for bit.

    python benchmarks/same_trees.py > after.txt          # and in a checkout of the version before: > before.txt
    diff before.txt after.txt

Of tree search only one worker is reproducible; it stands for the three ways to synchronise.
"""

import hashlib
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

from distmcts import Engine, load_game
from distmcts.tree.view import column_sizes, nodes_used

SEED = 11
SCHEMES = {
    "serial": {"parallel": "serial"},
    "root": {"parallel": "root", "workers": 2},
    "leaf": {"parallel": "leaf", "workers": 2},
    "simulated": {"parallel": "simulated", "workers": 7},
}
PROTOCOLS = {
    f"tree {synchronisation}": {"parallel": "tree", "workers": 1, "synchronisation": synchronisation}
    for synchronisation in ("lockfree", "node-locks", "global-lock")
}
GAMES = {
    "tic_tac_toe": {},
    "connect_four": {},
    "othello": {},
    "hex": {"size": 7},
    "awale": {},
    "ur": {"pieces": 3},
    "risk": {},
    "risk steps": {"actions": "steps"},
    "open_spiel:tic_tac_toe": {},
    "open_spiel:pig": {},
}
HASHED = {"chance": "hashed"}
PUCT = {"selection": "puct"}
TUNED = {"selection": "ucb1_tuned"}
URGENCY = {"first_play_urgency": 0.6}
WIDENING = {"widening": 2.0, "widening_power": 0.4}
DOUBLE_WIDENING = {**HASHED, **WIDENING, "chance_widening": 2.0, "chance_widening_power": 0.3}
SAMPLED = {"samples": 8}
RAVE = {"rave": 300}
SOLVER = {"solver": True}
CACHE = {"cutoff": 4, "evaluation_cache": "1MiB"}
MANY = {**TUNED, **URGENCY, **WIDENING, **SAMPLED, **CACHE, **SOLVER}
FEATURES: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "tic_tac_toe": [("solver", SOLVER), ("rave", RAVE)],
    "connect_four": [("solver", SOLVER), ("solver and rave", {**SOLVER, **RAVE}), ("tuned", TUNED)],
    "othello": [("rave", RAVE)],
    "hex": [("urgency", URGENCY), ("rave", RAVE), ("widening", WIDENING)],
    "awale": [("tuned", TUNED), ("solver", SOLVER)],
    "ur": [
        ("hashed", HASHED),
        ("puct", {**PUCT, "cutoff": 2}),
        ("puct and solver", {**PUCT, **SOLVER}),
        ("solver", SOLVER),
        ("many", MANY),
        ("many and rave, hashed", {**MANY, **RAVE, **DOUBLE_WIDENING}),
    ],
    "risk": [("hashed", HASHED), ("sampled", SAMPLED), ("double widening", DOUBLE_WIDENING), ("cache", CACHE)],
    "risk steps": [("sampled", SAMPLED), ("cache", CACHE)],
    "open_spiel:tic_tac_toe": [("solver", SOLVER), ("rave", RAVE)],
    "open_spiel:pig": [("solver", SOLVER)],
}
SIMULATIONS = 3000
SLOW = {"risk": 600, "risk steps": 600, "open_spiel:tic_tac_toe": 600, "open_spiel:pig": 100}


class Cell(NamedTuple):
    game: str
    feature: str
    scheme: str
    settings: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.game}, {self.feature}, {self.scheme}"


def cells() -> Iterator[Cell]:
    for game in GAMES:
        for feature, settings in [("plain", {}), *FEATURES[game]]:
            for scheme, how in {**SCHEMES, **PROTOCOLS}.items():
                if "rave" in settings and scheme == "simulated":
                    continue  # refused: RAVE is not delayed there
                if scheme in PROTOCOLS and (game, feature) not in (("connect_four", "plain"), ("ur", "many and rave, hashed")):
                    continue
                yield Cell(game, feature, scheme, {**settings, **how})


def fingerprint(cell: Cell) -> str:
    name = cell.game.partition(" ")[0]
    game = load_game(name, **GAMES[cell.game])
    position = game.parse("deal 7") if name == "risk" else None
    with Engine(game, position, seed=SEED, memory="64MiB", **cell.settings) as engine:
        for _ in range(2):  # what is left in a tree between two searches counts, too
            engine.run(simulations=SLOW.get(cell.game, SIMULATIONS))
        digest = hashlib.sha256()
        for tree in engine.trees:
            for column, size in sorted(column_sizes(tree).items()):
                digest.update(column.encode() + getattr(tree, column)[: nodes_used(tree) * size].tobytes())
        engine.audit()
    return digest.hexdigest()[:16]


def main() -> None:
    wanted = " ".join(sys.argv[1:])
    for cell in cells():
        if wanted in str(cell):
            print(f"{fingerprint(cell)}  {cell}", flush=True)


if __name__ == "__main__":
    main()
