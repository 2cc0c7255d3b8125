"""Many machines, one move: which rule is best? `sum`, `vote` and `share` side by side, the machines simulated on one core.

    python benchmarks/merge_rules.py [--game connect_four] [--machines 8,32] [--simulations 1000] [--merge-every 90]
                                     [--share 0.05] [--pairs 80] [--matches "share v sum,share v vote"] [--positions 500]
                                     [--reference 400000] [--seed 1] [--json FILE]

Every machine makes the same number of simulations for a move, whatever the rule: equal time, and an equal total. `one tree` is
serial search with that total: what machines would be with no seam between them. Two measures:

    regret    on positions of random games: how much less the chosen move is worth than the best, by a long serial search. All
              rules see the same positions with the same seed, so differences are taken position by position.
    matches   rule against rule: pairs of games from the same opening with colours swapped.

The same seed gives the same figures.
"""

import argparse
import time
from contextlib import ExitStack
from typing import Any

from script import options_of, write_json

from distmcts import load_game
from distmcts.experiments.intervals import Interval, mean_interval, share_interval
from distmcts.experiments.machines import Machines
from distmcts.experiments.oracle import regret
from distmcts.experiments.positions import midgame, openings
from distmcts.experiments.units import seed_of
from distmcts.game import CompiledGame, State
from distmcts.match.elo import EloEstimate
from distmcts.match.pairs import PairCounts
from distmcts.match.play import play_pair
from distmcts.tree.share import SHARE

ONE_TREE = "one tree"
SIDES = ("sum", "vote", "share", ONE_TREE)
MATCHES = (("share", "sum"), ("share", "vote"), ("vote", "sum"), ("share", ONE_TREE))
OPENING_PLIES = 4


def make(game: CompiledGame, side: str, machines: int, arguments: argparse.Namespace, seed: int) -> Machines:
    count, rule = (1, "sum") if side == ONE_TREE else (machines, side)
    return Machines(game, count, rule=rule, merge_every=arguments.merge_every, share=arguments.share, seed=seed)


# ---- regret ---------------------------------------------------------------------------------------------------------------


def long_search(game: CompiledGame, states: list[State], arguments: argparse.Namespace) -> list[dict[int, float]]:
    """The value of every move, -1 to 1 for the player to move, the move with the most visits first."""
    with Machines(game, 1, seed=seed_of(arguments.seed, "reference")) as serial:
        return [{row.move: row.value for row in serial.search(state, arguments.reference)} for state in states]


def chosen(game: CompiledGame, side: str, machines: int, states: list[State], arguments: argparse.Namespace) -> list[int]:
    with make(game, side, machines, arguments, seed_of(arguments.seed, f"regret/{machines}")) as searching:
        return [searching.choose(state, machines * arguments.simulations) for state in states]


def regrets(game: CompiledGame, machine_counts: list[int], arguments: argparse.Namespace) -> list[dict]:
    states = [
        state
        for state in midgame(game, arguments.positions, seed_of(arguments.seed, "positions"))
        if len(game.look(state)[1]) > 1  # otherwise there is nothing to choose
    ]
    references = long_search(game, states, arguments)
    print(f"{'machines':>8}  {'rule':<10}{'as the long search':>24}{'regret / 1000':>24}{'less than sum / 1000':>26}")
    rows = []
    for machines in machine_counts:
        given_up: dict[str, list[float]] = {}
        for side in SIDES:
            moves = chosen(game, side, machines, states, arguments)
            given_up[side] = [regret(values, move) for values, move in zip(references, moves, strict=True)]
            same = sum(move == next(iter(values)) for values, move in zip(references, moves, strict=True))
            row = {
                "machines": machines,
                "rule": side,
                "positions": len(states),
                "agreement": share_interval(same, len(states)),
                "regret": mean_interval(given_up[side]),
                **{f"less_than_{other}": less(given_up[side], given_up[other]) for other in ("sum", "vote") if other in given_up},
                "regrets": given_up[side],
            }
            rows.append(row)
            agreement = f"{row['agreement'].middle:.1%} ({row['agreement'].low:.1%} to {row['agreement'].high:.1%})"
            gain = "" if side == "sum" else thousandths(row["less_than_sum"], "+")
            print(f"{machines:>8}  {side:<10}{agreement:>24}{thousandths(row['regret']):>24}{gain:>26}", flush=True)
    return rows


def less(mine: list[float], others: list[float]) -> Interval:
    """How much less regret, position by position."""
    return mean_interval([other - own for own, other in zip(mine, others, strict=True)])


def thousandths(interval: Interval, sign: str = "") -> str:
    middle, low, high = (f"{1000 * number:{sign}.1f}" for number in interval)
    return f"{middle} ({low} to {high})"


# ---- matches --------------------------------------------------------------------------------------------------------------


def match(game: CompiledGame, sides: tuple[str, str], machines: int, states: list[State], arguments: argparse.Namespace) -> dict:
    start = time.perf_counter()
    total = machines * arguments.simulations
    scores = []
    for number in range(arguments.pairs):
        seed = seed_of(arguments.seed, f"{machines}/{sides}/{number}")
        with ExitStack() as owned:
            one, other = (owned.enter_context(make(game, side, machines, arguments, seed + i)) for i, side in enumerate(sides))
            games = play_pair(
                game,
                states[number % len(states)],
                lambda state, one=one: one.choose(state, total),
                lambda state, other=other: other.choose(state, total),
                seed,
            )
        scores.append([played.score for played in games])
    counts = PairCounts.from_games(scores)
    return {
        "machines": machines,
        "sides": sides,
        "wins": counts.wins,
        "draws": counts.draws,
        "losses": counts.losses,
        **EloEstimate.from_pairs(counts)._asdict(),
        "scores": scores,
        "took_s": round(time.perf_counter() - start, 1),
    }


def matches(game: CompiledGame, machine_counts: list[int], arguments: argparse.Namespace) -> list[dict[str, Any]]:
    states = openings(game, arguments.pairs, OPENING_PLIES, seed_of(arguments.seed, "openings"))
    print(f"{'machines':>8}  {'match':<18}{'won/drawn/lost':>16}{'Elo':>22}{'seconds':>9}")
    rows = []
    for machines in machine_counts:
        for sides in arguments.matches.split(","):
            sides = tuple(sides.split(" v "))
            row = match(game, sides, machines, states, arguments)
            rows.append(row)
            games = f"{row['wins']} / {row['draws']} / {row['losses']}"
            elo = f"{row['elo']:+.0f} ({row['low']:+.0f} to {row['high']:+.0f})"
            print(f"{machines:>8}  {' v '.join(sides):<18}{games:>16}{elo:>22}{row['took_s']:>9.0f}", flush=True)
    return rows


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("--game", default="connect_four")
    parser.add_argument("--machines", default="8,32")
    parser.add_argument("--simulations", type=int, default=1000, help="of one machine for one move")
    parser.add_argument("--merge-every", type=int, default=90, help="simulations of a machine between two exchanges of `share`")
    parser.add_argument(
        "--share", type=float, default=SHARE, help="of simulations: how many pass a node before its children are told"
    )
    parser.add_argument(
        "--matches", default=",".join(map(" v ".join, MATCHES)), help="which to play, as in 'share v sum,share v vote'"
    )
    parser.add_argument("--pairs", type=int, default=80, help="of games in each match; 0: no matches")
    parser.add_argument("--positions", type=int, default=500, help="where regret is measured; 0: nowhere")
    parser.add_argument("--reference", type=int, default=400_000, help="simulations of the long search")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    game = load_game(arguments.game)
    machine_counts = [int(count) for count in arguments.machines.split(",")]
    print(
        f"{game!r}, {arguments.simulations:,} simulations of each machine for a move, exchanges every {arguments.merge_every}, "
        f"{arguments.positions} positions, {arguments.pairs} pairs of games; 95 % intervals",
        flush=True,
    )
    found = {
        "regret": regrets(game, machine_counts, arguments) if arguments.positions else [],
        "matches": matches(game, machine_counts, arguments) if arguments.pairs else [],
    }
    write_json(arguments, {**vars(arguments), "game": repr(game), **found})


if __name__ == "__main__":
    main()
