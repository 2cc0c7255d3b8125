"""Which unit comes next. Everything here follows from the configuration and the records, so a resumed run goes on as if it had
never stopped.

What the rest builds on comes first: tuning, and the reference searches. Then rounds: in each, every cell has one turn at
everything, in random order, so that a busy moment of the machine favours none. A match leaves the rounds when its sequential
test is sure.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Iterator

from distmcts.experiments.config import CompareConfig
from distmcts.experiments.sides import Side, sides
from distmcts.experiments.units import Answer, Endgame, Pair, Reference, Speed, Tune, Unit
from distmcts.experiments.variants import ONE_SERIAL, Cell
from distmcts.match.pairs import PairCounts
from distmcts.match.sprt import Sprt
from distmcts.records import Record

FALSE_ALARMS = 0.05  # chance that any match of a run says "stronger" by luck


def tuning_cells(config: CompareConfig) -> list[Cell]:
    """Each scheme once, with the most workers it is measured with."""
    most = max(config.workers)
    schemes = {cell.variant.name: cell for cell in config.cells() if cell == ONE_SERIAL or cell.workers == most}
    return list(schemes.values())


def tuned_c(config: CompareConfig, records: list[Record]) -> dict[str, float]:
    """The c of every scheme: the tried value that agrees most with the long searches; the configured one where none was tried."""
    agreed = tuning_agreement(records)
    chosen = {}
    for cell in tuning_cells(config):
        name = cell.variant.name
        tried = {c: sum(hits) for (scheme, c), hits in agreed.items() if scheme == name}
        chosen[name] = min(tried, key=lambda c: (-tried[c], abs(c - config.c))) if tried else config.c
    return chosen


def tuning_agreement(records: list[Record]) -> dict[tuple[str, float], list[bool]]:
    """For each scheme and c: whether it chose the move of the long search, position by position."""
    truth = reference_moves(records)
    agreed: dict[tuple[str, float], list[bool]] = defaultdict(list)
    for record in records:
        if record["kind"] == "tune" and record["position"] in truth:
            agreed[record["scheme"], record["c"]].append(record["move"] == truth[record["position"]])
    return agreed


def reference_moves(records: list[Record]) -> dict[int, int]:
    """The move of the long search in each position."""
    return {record["position"]: record["move"] for record in records if record["kind"] == "reference"}


def pair_counts(records: list[Record], match: str, below: int | None = None) -> PairCounts:
    """The pairs of a match, all or those with a number below a limit."""
    pairs = [record for record in records if record["kind"] == "pair" and record["match"] == match]
    return PairCounts.from_games(tuple(pair["scores"]) for pair in pairs if below is None or pair["number"] < below)


def most_pairs(config: CompareConfig, side: Side) -> int:
    return config.matches.pairs if side.group in ("cells", "curve") else getattr(config, side.group).pairs


def may_end_early(side: Side) -> bool:
    """Whether its match ends when a sequential test is sure. Calibration and simulation have a fixed number: they draw curves."""
    return side.group == "cells"


def is_decided(config: CompareConfig, side: Side, counts: PairCounts) -> bool:
    """Whether the sequential test needs no more pairs."""
    if not may_end_early(side) or counts.pairs < config.matches.least_pairs:
        return False
    return sequential_test(config).decide(counts) is not None


def sequential_test(config: CompareConfig) -> Sprt:
    """The chance of a false "stronger" is divided among the matches: many schemes, many chances to be lucky."""
    matches = max(1, (len(config.cells()) - 1) * len(config.matches.at))
    return Sprt(config.matches.elo0, config.matches.elo1, alpha=FALSE_ALARMS / matches)


class Plan:
    """The order of units. `solved` and `positions`: how many of them were found for this game."""

    def __init__(self, config: CompareConfig, solved: int, positions: int):
        self.config = config
        self.solved = solved
        self.all_positions = positions
        self.positions = min(positions, config.quality.positions)  # the others are for tuning

    def batches(self, records: list[Record]) -> Iterator[list[Unit]]:
        """All units that are not in the records, which grow meanwhile. Those of a batch do not depend on one another."""
        yield self._missing(self._first(), records)
        all_sides = sides(self.config, tuned_c(self.config, records))
        rounds = range(self._rounds(all_sides))
        if not any(may_end_early(side) for side in all_sides):
            rest = [unit for number in rounds for unit in self._round(number, self._playing(all_sides, number, records))]
            yield self._missing(rest, records)
            return
        for number in rounds:
            yield self._missing(self._round(number, self._playing(all_sides, number, records)), records)

    def _playing(self, all_sides: list[Side], number: int, records: list[Record]) -> list[Side]:
        return [side for side in all_sides if self._plays(side, number, records)]

    @staticmethod
    def _missing(units: list[Unit], records: list[Record]) -> list[Unit]:
        done = {record["unit"] for record in records}
        return [unit for unit in units if unit.name not in done]

    def by_name(self) -> dict[str, Unit]:
        """All units there can be: those of a run in which no match ends early."""
        all_sides = sides(self.config, tuned_c(self.config, []))
        units = self._first()
        for number in range(self._rounds(all_sides)):
            units.extend(self._round(number, [side for side in all_sides if number < most_pairs(self.config, side)]))
        return {unit.name: unit for unit in units}

    def counts(self) -> Counter[str]:
        """How many units of each kind there are, if no match ends early."""
        return Counter(name.partition("/")[0] for name in self.by_name())

    def _first(self) -> list[Unit]:
        config = self.config
        apart = range(self.positions, self.all_positions)
        tuning = [Tune(cell, c, i) for cell in tuning_cells(config) for c in config.tuning.c for i in apart]
        random.Random(f"{config.seed}/first").shuffle(tuning)
        return [*(Reference(i) for i in range(self.all_positions)), *tuning]

    def _rounds(self, all_sides: list[Side]) -> int:
        pairs = [most_pairs(self.config, side) for side in all_sides]
        return max([self.config.speed.repeats if self.config.speed.positions else 0, self.positions, self.solved, *pairs])

    def _plays(self, side: Side, number: int, records: list[Record]) -> bool:
        if number >= most_pairs(self.config, side):
            return False
        return not is_decided(self.config, side, pair_counts(records, side.match, below=number))

    def _round(self, number: int, active: list[Side]) -> list[Unit]:
        config = self.config
        units: list[Unit] = []
        for cell in config.cells():
            if number < config.speed.repeats:
                units.extend(Speed(cell, position, number) for position in range(config.speed.positions))
            if number < self.positions:
                units.extend(Answer(cell, at, number) for at in config.quality.at)
            if number < self.solved:
                units.append(Endgame(cell, number))
        units.extend(Pair(side.match, number) for side in active)
        random.Random(f"{config.seed}/{number}").shuffle(units)
        return units
