"""Simulations per second of every scheme, as ratios to serial search and to bare playouts (no tree), measured in turns.

    python benchmarks/scaling.py [--games awale,hex] [--workers 1,2,4] [--rounds 5] [--simulations 400000] [--all] [--json FILE]

Every round measures every cell once, in random order; a cell's ratio is the median over rounds of its rate divided by that of
serial search in the same round. So a busy moment on the machine hits numerator and denominator alike. Two kinds of serial search
are the measure: the textbook, where every simulation starts at the root (stay=0), and one with the same visit quotas.

Engines are kept, and have searched as much once before: the system takes 2 microseconds for every 4 KiB of new shared memory,
which a search of some tenths of a second would feel, and one that goes on would not.
"""

import os
import random
import statistics
from typing import Any, NamedTuple

from playouts import bare_rate
from script import add_games, chosen_games, options_of, write_json

from distmcts import Engine, load_game
from distmcts.game import Game

# name: game, its parameters, the position, settings
GAMES: dict[str, tuple[str, dict, str | None, dict]] = {
    "connect_four": ("connect_four", {}, None, {}),
    "awale": ("awale", {}, None, {}),
    "othello": ("othello", {}, None, {}),
    "hex": ("hex", {}, None, {}),
    "ur": ("ur", {}, None, {}),
    "ur_puct": (
        "ur",
        {"playout": "policy", "evaluation": "race"},
        None,
        {"selection": "puct", "c": 0.5, "cutoff": 2},
    ),
    "risk": ("risk", {}, "deal 7", {"first_play_urgency": 1.2, "c": 2.4}),
    "risk_sampled": ("risk", {}, "deal 7", {"first_play_urgency": 1.2, "c": 2.4, "samples": 20}),
    "risk_steps": ("risk", {"actions": "steps"}, "deal 7", {}),
}
TEXTBOOK = {"stay": 0.0}


class Cell(NamedTuple):
    name: str
    workers: int
    settings: dict[str, Any]


def cells(worker_counts: list[int], everything: bool) -> list[Cell]:
    """Serial search, textbook and not, comes first."""
    found = [Cell("serial textbook", 1, {"parallel": "serial", **TEXTBOOK}), Cell("serial", 1, {"parallel": "serial"})]
    for workers in worker_counts:
        found.append(Cell("tree textbook", workers, {"parallel": "tree", **TEXTBOOK}))
        found.append(Cell("tree", workers, {"parallel": "tree"}))
        found.append(Cell("root", workers, {"parallel": "root"}))
        if everything:
            found.append(Cell("tree (threads)", workers, {"parallel": "tree", "backend": "thread"}))
            for synchronisation in ("node-locks", "global-lock"):
                found.append(Cell(f"tree {synchronisation}", workers, {"parallel": "tree", "synchronisation": synchronisation}))
            found.append(Cell("leaf", workers, {"parallel": "leaf"}))
    return found


def measure(name: str, todo: list[Cell], simulations: int, rounds: int) -> list[dict]:
    game_name, parameters, position, settings = GAMES[name]
    game: Game = load_game(game_name, **parameters)
    state = game.start_position(position)
    memory = max(1 << 26, simulations * 160)
    engines = [Engine(game, state, memory=memory, workers=cell.workers, seed=1, **{**settings, **cell.settings}) for cell in todo]
    rates: list[list[float]] = [[] for _ in todo]
    bare: list[float] = []
    order = random.Random(1)
    try:
        for turn in range(rounds + 1):
            playouts = bare_rate(game, state, simulations, turn)
            for index in order.sample(range(len(todo)), len(todo)):
                engines[index].set_position(state)
                effort = engines[index].run(simulations=simulations)
                if turn:
                    rates[index].append(effort.simulations / effort.elapsed_s)
            if turn:
                bare.append(playouts)
    finally:
        for engine in engines:
            engine.close()

    def ratio(index: int, others: list[float]) -> float:
        return statistics.median(a / b for a, b in zip(rates[index], others, strict=True))

    return [
        {
            "game": name,
            "scheme": cell.name,
            "workers": cell.workers,
            "simulations_per_second": statistics.median(rates[index]),
            "to_textbook": ratio(index, rates[0]),
            "to_serial": ratio(index, rates[1]),
            "to_bare": ratio(index, bare),
        }
        for index, cell in enumerate(todo)
    ]


def main() -> None:
    cores = len(os.sched_getaffinity(0))
    counts = sorted({2, cores, *(2**i for i in range(1, 12) if 2**i <= cores)})
    parser = options_of(__doc__, rounds=5)
    add_games(parser, GAMES)
    parser.add_argument("--workers", default=",".join(map(str, counts)))
    parser.add_argument("--simulations", type=int, default=400_000)
    parser.add_argument("--all", action="store_true", help="also threads, locks and leaf parallelization")
    arguments = parser.parse_args()
    todo = cells([int(count) for count in arguments.workers.split(",")], arguments.all)
    print(f"{arguments.simulations:,} simulations a run, {arguments.rounds} rounds, {cores} cores")
    found = []
    for name in chosen_games(arguments, GAMES):
        print(f"\n{name:<28}{'workers':>8}{'simulations/s':>16}{'to textbook':>13}{'to serial':>11}{'to bare':>9}")
        for row in measure(name, todo, arguments.simulations, arguments.rounds):
            found.append(row)
            print(
                f"  {row['scheme']:<26}{row['workers']:>8}{row['simulations_per_second']:>16,.0f}"
                f"{row['to_textbook']:>12.2f}x{row['to_serial']:>10.2f}x{row['to_bare']:>9.2f}",
                flush=True,
            )
    write_json(arguments, {"cores": cores, "rows": found})


if __name__ == "__main__":
    main()
