"""How many cores can share a tree before cache lines on their way from core to core cost more than another core brings?

    python benchmarks/coherence.py [--games connect_four,hex] [--simulations 100000] [--rounds 5] [--json FILE]

Textbook search, where every simulation starts at the root, beside visit quotas (setting `stay`). For each, W simulated workers
search with the real engine while a model of caches counts transfers of lines, and how often a worker waits for some
(cache_lines.py says what is in the model and what is not). Then, for each of W cores,

    time of a simulation = time alone + waits * wait + transfers * line,    but at least  W * transfers of the hottest line * wait

since a line is in one place at a time. Time alone is measured with one worker, whose quotas are those of a worker that meets
nobody; `wait` and `line` by a ping-pong between two cores (ping_pong.py), in the same rounds, for a virtual machine's cores may
be near to each other in one minute and far apart in the next. One number is FITTED: a factor for `wait`, so that textbook search
with two workers comes out right on the first game. All else is PREDICTED: quotas with two workers and all other games, which are
measured, too, to tell the error; and more cores than two, which are not, by the costs that were usual in the whole run. Rows of
the last table with another `wait ns` than the rest were disturbed.

Efficiency is the rate of a core beside that of one worker alone with the same setting; speedup is efficiency times cores. Where
cores are further apart than these two (other chiplets, other sockets), a transfer takes longer: the column `far` has the speedup
if it takes --far times as long. Quotas grow with the search, so they hold apart the more cores the more simulations there are.
"""

import os
import random
import statistics
import sys
from typing import Any, NamedTuple

import psutil
from cache_lines import MOST_WORKERS, Traffic, traffic
from ping_pong import Costs, measure_costs
from script import add_games, chosen_games, options_of, write_json

from distmcts import Engine, load_game
from distmcts.game import Game

GAMES = ("connect_four", "awale", "othello", "hex", "tic_tac_toe")  # without chance, which the model does not know
DEFAULT_GAMES = GAMES[:4]
DEPTHS = {"0": slice(0, 1), "1": slice(1, 2), "2": slice(2, 3), "3": slice(3, 4), "4-7": slice(4, 8), "8+": slice(8, None)}
SHOWN_BY_DEPTH = (2, 32)
TEXTBOOK = 0.0
SEED = 1
QUIET = 5  # percent of the machine's time up to which both cores can be said to be free


class Measured(NamedTuple):
    """What real cores do with a game."""

    alone: dict[float, float]  # seconds a simulation, one worker, by its share `stay`
    pair: dict[float, float]  # how many times as fast two workers are as one, by `stay`
    way_down: dict[float, float]  # share of a simulation's time, one worker, by `stay`
    costs: list[Costs]  # in each round


class Found(NamedTuple):
    """All about a game; by the number of workers and `stay`."""

    game: Game
    measured: Measured
    traffic: dict[tuple[int, float], Traffic]


# ---- measuring --------------------------------------------------------------------------------------------------------------


def memory_for(simulations: int) -> int:
    return max(1 << 26, simulations * 160)


def rate(game: Game, workers: int, stay: float, simulations: int, seed: int) -> float:
    settings = {"parallel": "tree", "workers": workers, "stay": stay, "memory": memory_for(simulations), "seed": seed}
    with Engine(game, **settings) as engine:
        effort = engine.run(simulations=simulations)
        return effort.simulations / effort.elapsed_s


def share_of_the_way_down(game: Game, stay: float, simulations: int) -> float:
    settings = {"parallel": "tree", "workers": 1, "stay": stay, "memory": memory_for(simulations), "seed": SEED}
    with Engine(game, **settings) as engine:
        with engine.sampler() as sampler:
            engine.run(simulations=simulations)
        shares = sampler.shares()
    if not shares:
        sys.exit(f"--simulations {simulations}: too few to see what a worker spends its time on; 10,000 are enough")
    return shares["select"] + shares["expand"]


def measure(game: Game, stay: float, simulations: int, rounds: int) -> Measured:
    """In turns, in random order: a busy moment of the machine hits all cells alike."""
    cells = [(workers, share) for workers in (1, 2) for share in (TEXTBOOK, stay)]
    rates: dict[tuple[int, float], list[float]] = {cell: [] for cell in cells}
    costs = []
    order = random.Random(SEED)
    for seed in range(1, rounds + 1):
        costs.append(measure_costs())
        for workers, share in order.sample(cells, len(cells)):
            rates[workers, share].append(rate(game, workers, share, simulations, seed))
    return Measured(
        {share: 1 / statistics.median(found) for (workers, share), found in rates.items() if workers == 1},
        {
            share: statistics.median(two / one for two, one in zip(rates[2, share], rates[1, share], strict=True))
            for share in (TEXTBOOK, stay)
        },
        {share: share_of_the_way_down(game, share, simulations) for share in (TEXTBOOK, stay)},
        costs,
    )


def find(name: str, counts: list[int], stay: float, simulations: int, rounds: int) -> Found:
    game = load_game(name)
    measured = measure(game, stay, simulations, rounds)
    cells = [(workers, share) for workers in counts for share in (TEXTBOOK, stay)]
    memory = memory_for(simulations)
    return Found(
        game,
        measured,
        {
            (workers, share): traffic(game, workers, share, measured.way_down[share], simulations, memory, SEED)
            for workers, share in cells
        },
    )


# ---- the formula ------------------------------------------------------------------------------------------------------------


def transfers_of(one: Traffic) -> float:
    return float(one.reads.sum() + one.writes.sum()) + one.outside


def waits_of(one: Traffic) -> float:
    return float(one.waits.sum()) + one.outside


def time_s(found: Found, workers: int, stay: float, costs: Costs) -> float:
    """Of a simulation, with so many cores at work."""
    one = found.traffic[workers, stay]
    together = found.measured.alone[stay] + waits_of(one) * costs.wait + transfers_of(one) * costs.line
    return max(together, workers * one.hottest * costs.wait)


def efficiency(found: Found, workers: int, stay: float, costs: Costs) -> float:
    return found.measured.alone[stay] / time_s(found, workers, stay, costs)


def usual(costs: list[Costs], factor: float = 1.0) -> Costs:
    return Costs(factor * statistics.median(each.wait for each in costs), statistics.median(each.line for each in costs))


def fitted_factor(found: Found) -> float:
    """For `wait`, so that textbook search on two cores is as fast as it was measured."""
    one = found.traffic[2, TEXTBOOK]
    costs = usual(found.measured.costs)
    alone = found.measured.alone[TEXTBOOK]
    excess = alone * 2 / found.measured.pair[TEXTBOOK] - alone - transfers_of(one) * costs.line
    return max(excess, 0.0) / (waits_of(one) * costs.wait)


# ---- showing ----------------------------------------------------------------------------------------------------------------


def rows_of(found: Found, counts: list[int], stay: float, costs: Costs, far: float) -> list[dict[str, Any]]:
    further = Costs(costs.wait * far, costs.line * far)
    rows = []
    for workers in counts:
        for share in (TEXTBOOK, stay):
            one = found.traffic[workers, share]
            by_depth = {
                kind: {name: float(getattr(one, kind)[place].sum()) for name, place in DEPTHS.items()}
                for kind in ("reads", "writes", "waits")
            }
            effect = efficiency(found, workers, share, costs)
            rows.append(
                {
                    "cores": workers,
                    "stay": share,
                    "transfers": transfers_of(one),
                    "waits": waits_of(one),
                    "hottest": one.hottest,
                    "by_depth": by_depth,
                    "alone_ns": found.measured.alone[share] * 1e9,
                    "efficiency": effect,
                    "speedup": effect * workers,
                    "far_speedup": efficiency(found, workers, share, further) * workers,
                    "to_textbook": workers * found.measured.alone[TEXTBOOK] / time_s(found, workers, share, costs),
                }
            )
    return rows


def checks_of(found: Found, stay: float, factor: float) -> list[dict[str, Any]]:
    """What two cores do, beside what is said of them."""
    checks = []
    bare = usual(found.measured.costs)
    for share in (TEXTBOOK, stay):
        measured = found.measured.pair[share]
        said = {
            "predicted": 2 * efficiency(found, 2, share, usual(found.measured.costs, factor)),
            "without_factor": 2 * efficiency(found, 2, share, bare),
        }
        errors = {f"{name}_error": value / measured - 1 for name, value in said.items()}
        about = {"game": found.game.name, "stay": share, "wait_ns": bare.wait * 1e9, "measured": measured}
        checks.append({**about, **said, **errors})
    return checks


def show_rows(rows: list[dict[str, Any]], stay: float, far: float) -> None:
    half = f"{'transfers':>10}{'waits':>7}{'hottest':>9}{'alone ns':>10}{'efficiency':>12}{'speedup':>9}{'far':>7}"
    print(f"{'':<6}{'textbook':^64}  {f'stay {stay:.4g}':^64}")
    print(f"{'cores':<6}{half}  {half}{'to textbook':>13}")
    for pair in zip(rows[::2], rows[1::2], strict=True):
        halves = [
            f"{row['transfers']:>10.2f}{row['waits']:>7.2f}{row['hottest']:>9.3f}{row['alone_ns']:>10,.0f}"
            f"{row['efficiency']:>12.2f}{row['speedup']:>8.1f}x{row['far_speedup']:>6.1f}x"
            for row in pair
        ]
        print(f"{pair[0]['cores']:<6}{'  '.join(halves)}{pair[1]['to_textbook']:>12.1f}x")
    print(f"far: a transfer takes {far:g} times as long. to textbook: speedup to one worker with stay 0\n")
    print(f"{'by depth':<34}" + "".join(f"{name:>8}" for name in DEPTHS))
    for row in rows:
        if row["cores"] in SHOWN_BY_DEPTH:
            for kind, found in row["by_depth"].items():
                label = f"{row['cores']} cores, stay {row['stay']:.4g}, {kind}"
                print(f"{label:<34}" + "".join(f"{value:>8.2f}" for value in found.values()))
    print()


def show_checks(checks: list[dict[str, Any]], costs: Costs, factor: float) -> None:
    print(f"by ping-pong: a wait {costs.wait * 1e9:.0f} ns, a line {costs.line * 1e9:.1f} ns; factor of a wait {factor:.2f}")
    head = f"{'two cores, to one':<28}{'wait ns':>8}{'measured':>10}{'predicted':>11}{'error':>8}"
    print(f"{head}{'without factor':>16}{'error':>8}")
    for number, check in enumerate(checks):
        label = f"{check['game']}, stay {check['stay']:.4g}"
        error = "fitted" if number == 0 else f"{check['predicted_error']:+.0%}"
        print(
            f"{label:<28}{check['wait_ns']:>8.0f}{check['measured']:>9.2f}x{check['predicted']:>10.2f}x{error:>8}"
            f"{check['without_factor']:>15.2f}x{check['without_factor_error']:>+8.0%}"
        )


def worker_counts(text: str) -> list[int]:
    counts = sorted({1, 2, *(int(count) for count in text.split(","))})  # one and two are what the others are compared with
    if counts[0] < 1 or counts[-1] > MOST_WORKERS:
        sys.exit(f"--workers {text}: the model knows 1 to {MOST_WORKERS}")
    return counts


def main() -> None:
    parser = options_of(__doc__, rounds=5)
    add_games(parser, GAMES)
    parser.set_defaults(games=",".join(DEFAULT_GAMES))
    parser.add_argument("--workers", default="1,2,8,32,128")
    parser.add_argument("--simulations", type=int, default=100_000)
    parser.add_argument("--stay", type=float, default=1 / 32)
    parser.add_argument("--far", type=float, default=3.0)
    arguments = parser.parse_args()
    if len(os.sched_getaffinity(0)) < 2:
        sys.exit("needs two cores: what a transfer costs is measured between them")
    counts = worker_counts(arguments.workers)
    names = chosen_games(arguments, GAMES)
    busy = psutil.cpu_percent(interval=1)
    if busy > QUIET:
        print(f"the machine is busy ({busy:.0f} %): what is counted holds, what is measured or predicted from it does not\n")
    measure_costs()  # compiled
    all_found = [find(name, counts, arguments.stay, arguments.simulations, arguments.rounds) for name in names]
    factor = fitted_factor(all_found[0])
    every_round = [costs for found in all_found for costs in found.measured.costs]
    costs = usual(every_round, factor)
    report: dict[str, Any] = {
        "simulations": arguments.simulations,
        "busy_before_percent": busy,
        "far": arguments.far,
        "games": {},
    }
    for found in all_found:
        rows = rows_of(found, counts, arguments.stay, costs, arguments.far)
        down = ", ".join(f"{share:.0%} with stay {stay:.4g}" for stay, share in found.measured.way_down.items())
        print(f"{found.game!r}, {arguments.simulations:,} simulations; the way down takes {down}")
        show_rows(rows, arguments.stay, arguments.far)
        report["games"][found.game.name] = {"rows": rows, "way_down": found.measured.way_down}
    checks = [check for found in all_found for check in checks_of(found, arguments.stay, factor)]
    show_checks(checks, usual(every_round), factor)
    write_json(arguments, {**report, "costs_s": usual(every_round)._asdict(), "factor": factor, "two_cores": checks})


if __name__ == "__main__":
    main()
