"""Simulations per second on one core: OpenSpiel's C++ MCTS and distmcts, the same game, c, time and kind of playout.

    python benchmarks/against_open_spiel.py [--games connect_four,awale] [--seconds 3] [--rounds 5] [--json FILE]

Both search the start position from an empty tree for about the same time, in turns, in this process; the medians are compared.
OpenSpiel's search takes a number of simulations: that of its rate in a short search before. Memory is the growth of
a process of its own that makes one search and keeps the tree; that of distmcts is made of at least 200,000 simulations, since
in shorter ones it is buffers of fixed size (300 KB) that are measured. Needs the `interop` extra.
"""

import argparse
import statistics
import subprocess
import sys
import time

import psutil
from script import add_games, chosen_games, need_open_spiel, options_of, write_json

C = 2**0.5
MEMORY_SIMULATIONS = 200_000
MEMORY = "4GiB"  # more than a search of some seconds fills
# distmcts name: (OpenSpiel name, simulations of one search)
GAMES = {
    "connect_four": ("connect_four", 100_000),
    "othello": ("othello", 10_000),
    "awale": ("oware", 50_000),
    "hex": ("hex(board_size=11)", 30_000),
    "tic_tac_toe": ("tic_tac_toe", 200_000),
}


def open_spiel_search(name: str, simulations: int, seed: int):
    """Search with pyspiel.MCTSBot and one random playout a simulation; the seconds it took, and the tree."""
    import pyspiel

    game = pyspiel.load_game(name)
    bot = pyspiel.MCTSBot(game, pyspiel.RandomRolloutEvaluator(1, seed), C, simulations, 100_000, False, seed, False)
    state = game.new_initial_state()
    start = time.perf_counter()
    tree = bot.mcts_search(state)
    elapsed = time.perf_counter() - start
    assert tree.explore_count == simulations
    return elapsed, tree


def distmcts_engine(name: str, simulations: int, seed: int, backing: str = "auto", memory: int | str | None = None):
    from distmcts import Engine

    memory = memory or max(1 << 24, simulations * 128)
    return Engine(name, parallel="serial", seed=seed, c=C, memory=memory, backing=backing)


def bytes_of_one_search(which: str, name: str, simulations: int) -> float:
    """Bytes per simulation by which a fresh process grows when it searches."""
    command = [sys.executable, __file__, "--grow", which, name, str(simulations)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def grow(which: str, name: str, simulations: int) -> None:
    process = psutil.Process()
    if which == "open_spiel":
        open_spiel_search(name, 100, 1)
        before = process.memory_info().rss
        kept = open_spiel_search(name, simulations, 1)
        after = process.memory_info().rss
    else:
        # Small pages: with huge ones the growth would be rounded up to whole 2 MiB.
        with distmcts_engine(name, simulations, 1, "memfd") as kept:
            before = process.memory_info().rss
            kept.search(simulations=simulations)
            after = process.memory_info().rss
    del kept
    print((after - before) / simulations)


def compare(name: str, rounds: int, seconds: float) -> dict:
    other, simulations = GAMES[name]
    with distmcts_engine(name, simulations, 0) as engine:  # compiled and loaded before anything is timed
        engine.search(simulations=1000)
    in_time = max(int(seconds * simulations / open_spiel_search(other, simulations, 0)[0]), 100)
    theirs, ours = [], []
    for seed in range(1, rounds + 1):
        theirs.append(in_time / open_spiel_search(other, in_time, seed)[0])
        with distmcts_engine(name, simulations, seed, memory=MEMORY) as engine:
            ours.append(engine.search(seconds=seconds).simulations_per_second)
    return {
        "game": name,
        "seconds": seconds,
        "open_spiel_per_s": statistics.median(theirs),
        "distmcts_per_s": statistics.median(ours),
        "ratio": statistics.median(o / t for o, t in zip(ours, theirs, strict=True)),
        "open_spiel_bytes": bytes_of_one_search("open_spiel", other, simulations),
        "distmcts_bytes": bytes_of_one_search("distmcts", name, max(simulations, MEMORY_SIMULATIONS)),
    }


def main() -> None:
    parser = options_of(__doc__, rounds=5)
    add_games(parser, GAMES)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--grow", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.grow:
        grow(arguments.grow[0], arguments.grow[1], int(arguments.grow[2]))
        return
    need_open_spiel()
    names = chosen_games(arguments, GAMES)
    head = ("game", "seconds", "OpenSpiel/s", "distmcts/s", "ratio", "OpenSpiel B/sim", "distmcts B/sim")
    print(f"{head[0]:<14}{head[1]:>12}{head[2]:>14}{head[3]:>14}{head[4]:>8}{head[5]:>17}{head[6]:>16}")
    rows = []
    for name in names:
        row = compare(name, arguments.rounds, arguments.seconds)
        rows.append(row)
        print(
            f"{name:<14}{row['seconds']:>12g}{row['open_spiel_per_s']:>14,.0f}{row['distmcts_per_s']:>14,.0f}"
            f"{row['ratio']:>7.1f}x{row['open_spiel_bytes']:>17.0f}{row['distmcts_bytes']:>16.1f}",
            flush=True,
        )
    write_json(arguments, rows)


if __name__ == "__main__":
    main()
