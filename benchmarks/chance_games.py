"""Games of chance: simulations per second of Ur and Risk, serial and with two workers, and bare playouts without a tree.

    python benchmarks/chance_games.py [--rounds 5] [--json FILE]

The kinds of search take turns in every round; medians are shown, and the ratio to serial is the median of the rounds' ratios.
"""

import statistics

from playouts import bare_rate
from script import options_of, write_json

from distmcts import Engine, load_game

# name: game, its parameters, the position, simulations of one search, settings
CASES = {
    "ur, uniform playouts": ("ur", {}, None, 200_000, {}),
    "ur, PUCT and race evaluation": (
        "ur",
        {"playout": "policy", "evaluation": "race"},
        None,
        200_000,
        {"selection": "puct", "c": 0.5, "cutoff": 2},
    ),
    "risk, policy playouts": ("risk", {}, "deal 7", 20_000, {"first_play_urgency": 1.2, "c": 2.4}),
    "risk, best of 20 samples": ("risk", {}, "deal 7", 20_000, {"first_play_urgency": 1.2, "c": 2.4, "samples": 20}),
    "risk in steps": ("risk", {"actions": "steps"}, "deal 7", 20_000, {}),
}
KINDS = (("serial", 1), ("tree", 2), ("root", 2))


def measure(name: str, rounds: int) -> dict:
    game_name, parameters, position, simulations, settings = CASES[name]
    game = load_game(game_name, **parameters)
    state = game.start_position(position)
    rates: dict[str, list[float]] = {"playouts": [], **{f"{kind} {workers}": [] for kind, workers in KINDS}}
    for seed in range(rounds + 1):  # the first round compiles, and does not count
        found = {"playouts": bare_rate(game, state, simulations, seed)}
        for kind, workers in KINDS:
            with Engine(game, state, parallel=kind, workers=workers, seed=seed, memory="512MiB", **settings) as engine:
                found[f"{kind} {workers}"] = engine.search(simulations=simulations).simulations_per_second
        if seed:
            for key, rate in found.items():
                rates[key].append(rate)
    row = {"case": name, **{key: statistics.median(values) for key, values in rates.items()}}
    for kind in ("tree 2", "root 2"):
        row[f"{kind} ratio"] = statistics.median(a / b for a, b in zip(rates[kind], rates["serial 1"], strict=True))
    return row


def main() -> None:
    parser = options_of(__doc__, rounds=5)
    arguments = parser.parse_args()
    print(f"{'':<30}{'playouts/s':>12}{'serial/s':>12}{'tree, 2':>12}{'':>8}{'root, 2':>12}")
    rows = []
    for name in CASES:
        row = measure(name, arguments.rounds)
        rows.append(row)
        print(
            f"{name:<30}{row['playouts']:>12,.0f}{row['serial 1']:>12,.0f}{row['tree 2']:>12,.0f}{row['tree 2 ratio']:>7.2f}x"
            f"{row['root 2']:>12,.0f}{row['root 2 ratio']:>7.2f}x",
            flush=True,
        )
    write_json(arguments, rows)


if __name__ == "__main__":
    main()
