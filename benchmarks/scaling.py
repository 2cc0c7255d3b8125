"""Simulations per second of every scheme, as ratios to serial search and to bare playouts (no tree), measured in turns.

    python benchmarks/scaling.py [--game awale] [--workers 1,2,4] [--rounds 5] [--simulations 400000] [--json FILE]

Every round measures every cell once, in random order; a cell's ratio is the median over rounds of its rate divided by the rate
of serial search in the same round. So a busy moment on the machine hits numerator and denominator alike.
"""

import os
import random
import statistics

from playouts import bare_rate
from script import options_of, write_json

from distmcts import Engine, load_game

SERIAL = ("serial", "", "process", 1)
BARE = ("bare playouts", "", "", 1)


def cells(worker_counts: list[int]) -> list[tuple[str, str, str, int]]:
    found = [BARE, SERIAL]
    for workers in worker_counts:
        for synchronisation in ("lockfree", "node-locks", "global-lock"):
            found.append(("tree", synchronisation, "process", workers))
        found.append(("tree", "lockfree", "thread", workers))
        found.append(("root", "", "process", workers))
        found.append(("leaf", "", "process", workers))
    return found


def rate(game, cell: tuple[str, str, str, int], simulations: int, seed: int) -> float:
    parallel, synchronisation, backend, workers = cell
    if cell == BARE:
        return bare_rate(game, game.initial_state(), simulations, seed)
    settings = {"parallel": parallel, "workers": workers, "backend": backend, "seed": seed}
    if synchronisation:
        settings["synchronisation"] = synchronisation
    with Engine(game, memory=max(1 << 26, simulations * 160), **settings) as engine:
        engine.search(simulations=max(1000, simulations // 100))  # workers are up and the caches warm
        return engine.search(simulations=simulations).simulations_per_second


def measure(game, worker_counts: list[int], simulations: int, rounds: int) -> list[dict]:
    todo = cells(worker_counts)
    rates: dict = {cell: [] for cell in todo}
    order = random.Random(1)
    for seed in range(1, rounds + 1):
        for cell in order.sample(todo, len(todo)):
            rates[cell].append(rate(game, cell, simulations, seed))
    return [
        {
            "scheme": " ".join(part for part in cell[:2] if part) + (" (threads)" if cell[2] == "thread" else ""),
            "workers": cell[3],
            "simulations_per_second": statistics.median(rates[cell]),
            "to_serial": statistics.median(a / b for a, b in zip(rates[cell], rates[SERIAL], strict=True)),
            "to_bare": statistics.median(a / b for a, b in zip(rates[cell], rates[BARE], strict=True)),
        }
        for cell in todo
    ]


def main() -> None:
    cores = len(os.sched_getaffinity(0))
    counts = sorted({1, 2, cores, *(2**i for i in range(1, 12) if 2**i <= cores)})
    parser = options_of(__doc__, rounds=5)
    parser.add_argument("--game", default="awale")
    parser.add_argument("--workers", default=",".join(map(str, counts)))
    parser.add_argument("--simulations", type=int, default=400_000)
    arguments = parser.parse_args()
    game = load_game(arguments.game)
    workers = [int(count) for count in arguments.workers.split(",")]
    rows = measure(game, workers, arguments.simulations, arguments.rounds)
    print(f"{game!r}, {arguments.simulations:,} simulations a run, {arguments.rounds} rounds, {cores} cores")
    print(f"{'scheme':<28}{'workers':>8}{'simulations/s':>16}{'to serial':>11}{'to bare':>9}")
    for row in rows:
        print(
            f"{row['scheme']:<28}{row['workers']:>8}{row['simulations_per_second']:>16,.0f}"
            f"{row['to_serial']:>10.2f}x{row['to_bare']:>9.2f}"
        )
    write_json(arguments, {"game": repr(game), "cores": cores, "rows": rows})


if __name__ == "__main__":
    main()
