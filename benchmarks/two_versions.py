"""Two checkouts side by side: rates of the same searches, taken in turns in one run, and how long a first search compiles.

    git worktree add /tmp/before HEAD~1
    python benchmarks/two_versions.py /tmp/before .

Rates are ratios of the second to the first: above 1 it is faster. Each checkout has a process; only one works at a time.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

GAMES = ("connect_four", "awale", "othello", "ur")
SCHEMES = {"serial": 1, "tree": 2}

# Runs in the checkout: reads searches from its input, answers each with a rate.
SERVANT = """
import json, sys, time
import distmcts
for line in sys.stdin:
    asked = json.loads(line)
    start = time.perf_counter()
    simulations = asked.pop("simulations")
    with distmcts.Engine(asked.pop("game"), memory="1GiB", **asked) as engine:
        ready_s = time.perf_counter() - start
        effort = engine.run(simulations=simulations)
    print(json.dumps([effort.simulations / effort.elapsed_s, ready_s]), flush=True)
"""


class Checkout:
    """A process that searches with one checkout's code, compiled from nothing into a folder of its own."""

    def __init__(self, folder: Path, cache: str):
        environment = {**os.environ, "PYTHONPATH": str(folder.resolve()), "DISTMCTS_CACHE_DIR": cache}
        self._process = subprocess.Popen(
            [sys.executable, "-c", SERVANT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, cwd=folder
        )

    def search(self, **asked: Any) -> tuple[float, float]:
        """Simulations a second, and how long it took until the engine was ready. Blocks."""
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            sys.exit(f"a search failed: {asked}")
        return tuple(json.loads(answer))

    def close(self) -> None:
        self._process.stdin.close()
        self._process.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("first", type=Path)
    parser.add_argument("second", type=Path)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--simulations", type=int, default=400_000)
    parser.add_argument("--games", nargs="*", default=GAMES)
    parser.add_argument("--schemes", nargs="*", default=list(SCHEMES))
    options = parser.parse_args()
    cells = [(game, parallel) for game in options.games for parallel in options.schemes]
    with tempfile.TemporaryDirectory() as folder:
        checkouts = [Checkout(path, f"{folder}/{i}") for i, path in enumerate((options.first, options.second))]
        compiled = [
            [
                checkout.search(game=game, parallel=parallel, workers=SCHEMES[parallel], seed=0, simulations=1000)[1]
                for checkout in checkouts
            ]
            for game, parallel in cells
        ]
        ratios: dict[tuple[str, str], list[float]] = {cell: [] for cell in cells}
        for turn in range(options.rounds):
            for game, parallel in random.sample(cells, len(cells)):
                rates = {}
                for which in random.sample((0, 1), 2):
                    asked = {"game": game, "parallel": parallel, "workers": SCHEMES[parallel], "seed": turn}
                    rates[which] = checkouts[which].search(simulations=options.simulations, **asked)[0]
                ratios[game, parallel].append(rates[1] / rates[0])
        for checkout in checkouts:
            checkout.close()
    print(f"{'':<24}{'rate, second / first':>22}{'least to most':>18}{'compiling, s':>20}")
    for cell, (first_s, second_s) in zip(cells, compiled, strict=True):
        found = ratios[cell]
        spread = f"{min(found):.2f} to {max(found):.2f}"
        print(f"{' '.join(cell):<24}{statistics.median(found):>21.3f}x{spread:>18}{f'{first_s:.1f} and {second_s:.1f}':>20}")


if __name__ == "__main__":
    main()
