"""Do visit quotas (`stay`) cost strength? Against textbook search (stay=0) of the same scheme, with as many simulations a move.

    python benchmarks/visit_quotas.py --out FILE [--pairs 100] [--games connect_four,awale,othello,ur] [--budgets 1000,10000]
                                      [--schemes serial,tree-2,simulated-16,simulated-64] [--shares 1/128,1/64,1/32,1/16,1/8]
                                      [--processes 2] [--report]

A cell is a game, a budget, a scheme with its workers, and a share. It is played in pairs: two games from the same random opening
with the same dice, colours swapped. For every move a side searches from an empty tree; a move without choice is not searched.

Every pair is in FILE as soon as it is over, so a run may be killed at any time: the same command goes on from there, and one with
more pairs or cells plays what is missing. All cells grow together; `--report` plays nothing and prints the page of what there is.
A pair depends on its cell and its number alone, except where workers race each other.
"""

import argparse
import os
import signal
import sys
import threading
import time
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import ExitStack
from fractions import Fraction
from itertools import product, starmap
from pathlib import Path
from typing import Any, NamedTuple

from script import add_games, chosen_games

from distmcts import load_game
from distmcts.errors import DistmctsError
from distmcts.experiments.intervals import Interval
from distmcts.experiments.positions import openings
from distmcts.experiments.sides import Budget, Spent, engine_player
from distmcts.experiments.units import seed_of
from distmcts.game import CompiledGame
from distmcts.match.elo import EloEstimate, Z
from distmcts.match.pairs import PairCounts
from distmcts.match.play import Choose, play_pair
from distmcts.parallel.names import SERIAL, SIMULATED, TREE
from distmcts.records import Record, Records, read_records
from distmcts.settings import SearchSettings

GAMES = ("connect_four", "awale", "othello", "ur")
DEFAULT_SHARE = Fraction(SearchSettings.model_fields["stay"].default) or Fraction(1, 32)
OPENING_PLIES = 4
SEED = 1
ROUND = 20  # pairs of a cell before the next cell has its turn: worker processes start once for all of them
SAME = "the same search"


class Scheme(NamedTuple):
    parallel: str
    workers: int

    @classmethod
    def parse(cls, text: str) -> "Scheme":
        parallel, _, workers = text.partition("-")
        if parallel not in (SERIAL, TREE, SIMULATED):
            raise argparse.ArgumentTypeError(f"{text!r}: expected {SERIAL}, {TREE}-2, {SIMULATED}-16 or the like")
        return cls(parallel, int(workers or 1))

    def __str__(self) -> str:
        return self.parallel if self.workers == 1 else f"{self.parallel}-{self.workers}"

    @property
    def cores(self) -> int:
        return self.workers if self.parallel == TREE else 1


class Cell(NamedTuple):
    game: str
    budget: int
    scheme: Scheme
    share: Fraction

    @property
    def is_textbook(self) -> bool:
        """Whether all quotas are 1, even the root's at the end (kernels/quotas.py): then visits are the same, one by one."""
        return (self.budget - 1) * self.share < 2


class Unit(NamedTuple):
    cell: Cell
    number: int

    @property
    def name(self) -> str:
        return " ".join(map(str, (*self.cell, self.number)))

    @classmethod
    def of(cls, record: Record) -> "Unit":
        game, budget, scheme, share, number = record["unit"].split()
        return cls(Cell(game, int(budget), Scheme.parse(scheme), Fraction(share)), int(number))


# ---- playing: in the processes of a pool -----------------------------------------------------------------------------------


class Seats:
    """The two players of a pair, the one with quotas first. Owns their engines.

    Engines without processes take 0.3 ms to make and are new for each pair, so that its seed is all it depends on. Those with
    processes take 20 ms, as long as a short pair, and stay while pairs of the same cell follow each other.
    """

    def __init__(self):
        self._cell: Cell | None = None
        self._owned = ExitStack()

    def take(self, game: CompiledGame, cell: Cell, seed: int) -> list[Choose]:
        if cell != self._cell or cell.scheme.cores == 1:
            self._owned.close()
            self._cell, self.spent = cell, Spent()
            self._players = [self._player(game, cell, stay, seed + i) for i, stay in enumerate((float(cell.share), 0.0))]
        vars(self.spent).update(vars(Spent()))
        return self._players

    def _player(self, game: CompiledGame, cell: Cell, stay: float, seed: int) -> Choose:
        settings = {**cell.scheme._asdict(), "stay": stay}
        search = self._owned.enter_context(engine_player(game, Budget(cell.budget), seed, settings, self.spent))

        def choose(state) -> int:
            moves = game.legal_moves(state)
            return moves[0] if len(moves) == 1 else search(state)

        return choose


SEATS = Seats()


def play(unit: Unit) -> Record:
    cell, number = unit
    game = load_game(cell.game)
    opening = openings(game, 1, OPENING_PLIES, seed_of(SEED, f"opening {cell.game} {number}"))[0]
    seed = seed_of(SEED, unit.name)
    first, second = SEATS.take(game, cell, seed)
    start = time.perf_counter()
    games = play_pair(game, opening, first, second, seed)
    took_s = time.perf_counter() - start
    spent = SEATS.spent
    if spent.simulations != spent.moves * cell.budget:
        raise AssertionError(f"{unit.name}: {spent.simulations} simulations in {spent.moves} searches")
    scores = [played.score for played in games]
    return {"unit": unit.name, "scores": scores, "searches": spent.moves, "search_s": spent.seconds, "took_s": took_s}


def live_in_pool(owner: int) -> None:
    """Ctrl-C is the owner's business. But where the owner was killed, nobody waits for this process any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        while os.getppid() == owner:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def run(cells: list[Cell], arguments: argparse.Namespace) -> None:
    """Blocks until all pairs are in the file."""
    with Records(Path(arguments.out)) as records, ExitStack() as owned:
        done = {Unit.of(record) for record in records.all}
        pools = {}
        for cores in sorted({cell.scheme.cores for cell in cells}):  # every worker of every engine at work has a core
            processes = max(1, arguments.processes // cores)
            pools[cores] = ProcessPoolExecutor(processes, initializer=live_in_pool, initargs=(os.getpid(),))
            owned.callback(pools[cores].shutdown, cancel_futures=True)
        for first in range(0, arguments.pairs, ROUND):
            start = time.perf_counter()
            numbers = range(first, min(first + ROUND, arguments.pairs))
            units = [Unit(cell, number) for cell in cells for number in numbers if not cell.is_textbook]
            units = [unit for unit in units if unit not in done]
            for cores, pool in pools.items():
                for pair in as_completed([pool.submit(play, unit) for unit in units if unit.cell.scheme.cores == cores]):
                    records.append(pair.result())
            took_s = time.perf_counter() - start
            print(f"pairs {numbers.start} to {numbers.stop - 1} of every cell: {took_s:.0f} s", file=sys.stderr, flush=True)


# ---- the page ---------------------------------------------------------------------------------------------------------------


class Page:
    def __init__(self, cells: list[Cell], records: list[Record]):
        self.cells = cells
        self._records: dict[Cell, list[Record]] = defaultdict(list)
        for record in records:
            self._records[Unit.of(record).cell].append(record)
        played = [cell for cell in cells if cell in self._records]
        self.counts = {cell: PairCounts.from_games(record["scores"] for record in self._records[cell]) for cell in played}

    def elo(self, **wanted: object) -> str:
        """Of all cells like this together."""
        alike = [cell for cell in self.cells if all(getattr(cell, key) == value for key, value in wanted.items())]
        counts = [self.counts[cell] for cell in alike if cell in self.counts]
        if not counts:
            return SAME if alike and all(cell.is_textbook for cell in alike) else ""
        middle, low, high = pooled([EloEstimate.from_pairs(count) for count in counts])
        text = f"{middle:+.0f} ({low:+.0f} to {high:+.0f})"
        return f"{f'**{text}**' if low * high > 0 else text}, {sum(count.pairs for count in counts):,}"

    def time(self, game: str, budget: int, scheme: Scheme) -> str:
        records = [record for cell in self.counts if cell[:3] == (game, budget, scheme) for record in self._records[cell]]
        if not records:
            return ""
        took_s, search_s, searches = (sum(record[key] for record in records) for key in ("took_s", "search_s", "searches"))
        return f"{took_s / len(records):.2f} s, {budget * searches / took_s / 1000:,.0f} k/s, {1 - search_s / took_s:.0%}"

    def text(self, arguments: argparse.Namespace) -> str:
        schemes = arguments.schemes
        found = [EloEstimate.from_pairs(count) for cell, count in self.counts.items() if cell.share == DEFAULT_SHARE]
        by_cell, by_share, times = {}, {}, {}
        for game, budget in product(arguments.games.split(","), arguments.budgets):
            at = {"game": game, "budget": budget, "share": DEFAULT_SHARE}
            by_cell[f"{game}, {budget:,}"] = [self.elo(scheme=scheme, **at) for scheme in schemes]
            times[f"{game}, {budget:,}"] = [self.time(game, budget, scheme) for scheme in schemes]
        by_cell["all"] = [self.elo(scheme=scheme, share=DEFAULT_SHARE) for scheme in schemes]
        for share in arguments.shares:
            by_share[share] = [*(self.elo(scheme=scheme, share=share) for scheme in schemes), self.elo(share=share)]
        return f"""# Visit quotas: do they cost strength?

With `stay={DEFAULT_SHARE}` against textbook search (`stay=0`) of the same scheme with as many simulations a move:
{self.elo(share=DEFAULT_SHARE) or 0} pairs, all cells together. {len(found)} cells were played; the intervals of \
{sum(estimate.low * estimate.high > 0 for estimate in found)} have no 0 in them. By chance alone, one in 20 has none.

    {command(arguments, max((count.pairs for count in self.counts.values()), default=0))}

Elo with its 95 % interval, and how many pairs; bold where 0 is outside. `{SAME}`: these are so few simulations that every quota
is 1, visits are the same one by one, and nothing is played. `all`: every cell weighted by the inverse of its variance.

{table(schemes, by_cell)}

## Which share

Of the visits a node has, how many a worker that is alone there may have outstanding. All games and budgets together, without
those that are the same search.

{table([*schemes, "all"], by_share)}

## What it took

Seconds a pair, simulations a second, and how much of the time was no search; all shares together. Rates say what the
run cost while several pairs were played at once, not how fast a scheme is.

{table(schemes, times)}"""


def pooled(found: list[EloEstimate]) -> Interval:
    """Each weighted by the inverse of its variance."""
    if len(found) == 1:
        return Interval(*found[0][:3])
    weights = [(2 * Z / (estimate.high - estimate.low)) ** 2 for estimate in found]
    middle = sum(weight * estimate.elo for weight, estimate in zip(weights, found, strict=True)) / sum(weights)
    half = Z / sum(weights) ** 0.5
    return Interval(middle, middle - half, middle + half)


def table(heads: list, rows: dict[Any, list[str]]) -> str:
    lines = [["", *heads], ["---"] * (1 + len(heads)), *([name, *row] for name, row in rows.items())]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def command(arguments: argparse.Namespace, pairs: int) -> str:
    lists = " ".join(f"--{key} {','.join(map(str, getattr(arguments, key)))}" for key in ("budgets", "schemes", "shares"))
    return f"python benchmarks/visit_quotas.py --games {arguments.games} {lists} --pairs {pairs} --out {Path(arguments.out).name}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_games(parser, GAMES)
    for name, kind, default in (
        ("budgets", int, "1000,10000"),
        ("schemes", Scheme.parse, f"{SERIAL},{TREE}-2,{SIMULATED}-16,{SIMULATED}-64"),
        ("shares", Fraction, "1/128,1/64,1/32,1/16,1/8"),
    ):
        parser.add_argument(f"--{name}", default=default, type=lambda text, kind=kind: [kind(part) for part in text.split(",")])
    parser.add_argument("--pairs", type=int, default=100, help="of games in each cell")
    parser.add_argument("--out", metavar="FILE", default="visit_quotas.jsonl", help="where pairs are kept")
    parser.add_argument("--processes", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--report", action="store_true", help="play nothing, print what is known")
    arguments = parser.parse_args()
    games = chosen_games(arguments, GAMES)
    cells = list(starmap(Cell, product(games, arguments.budgets, arguments.schemes, arguments.shares)))
    try:
        if not arguments.report:
            run(cells, arguments)
        print(Page(cells, read_records(Path(arguments.out))).text(arguments))
    except DistmctsError as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit("stopped; the same command goes on")


if __name__ == "__main__":
    main()
