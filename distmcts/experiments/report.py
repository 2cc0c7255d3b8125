"""The report of a comparison: one HTML page that needs nothing but itself."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from distmcts.errors import InputError
from distmcts.experiments.advice import advice, elo_text, known
from distmcts.experiments.plots import overhead_ends, plots
from distmcts.files import write_whole
from distmcts.parallel.names import SERIAL

Row = dict[str, Any]
UNKNOWN = "\N{EN DASH}"


class Column(NamedTuple):
    header: str
    cell: Callable[[Row], str]
    is_number: bool = True


class Table(NamedTuple):
    name: str  # the id on the page
    caption: str
    all_columns: list[Column]
    rows: list[Row]

    @property
    def columns(self) -> list[Column]:
        """Those in which anything is known."""
        return [column for column in self.all_columns if any(column.cell(row) != UNKNOWN for row in self.rows)]


def write_report(summary: Row, path: Path) -> None:
    """Write the page, whole or not at all: whoever reloads it during a run never sees half of it."""
    page = render(summary)
    try:
        write_whole(Path(path), page)
    except OSError as error:
        raise InputError(f"cannot write the report to {str(path)!r}: {error.strerror}") from None


def render(summary: Row) -> str:
    """The page as text."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["minus"] = _minus
    budgets = summary.get("budgets") or {}
    seconds, simulations = known(budgets.get("seconds")), known(budgets.get("simulations"))
    return environment.get_template("report.html.j2").render(
        title=summary.get("title") or "Parallel schemes compared",
        game=summary.get("game"),
        state=_state(summary),
        seconds=None if seconds is None else f"{seconds:g} s",
        simulations=None if simulations is None else f"{simulations:,.0f} simulations",
        advice=advice(summary),
        plots={name: Markup(svg) for name, svg in plots(summary).items()},
        tables={table.name: table for table in _tables(summary) if table.rows},
        tuned=bool((summary.get("tuning") or {}).get("tuned")),
        manifest=summary.get("manifest") or {},
        notes=summary.get("notes") or [],
    )


def _state(summary: Row) -> str:
    done, planned = summary.get("units_done", 0), summary.get("units_planned", "?")
    return f"Finished: all {done} units." if summary.get("finished") else f"So far: {done} of {planned} units."


def _tables(summary: Row) -> list[Table]:
    def by_budget(section: str) -> list[Row]:
        rows = summary.get(section) or []
        return [row for budget in ("time", "simulations") for row in rows if row.get("budget") == budget]

    def rows_of(section: str) -> list[Row]:
        return summary.get(section) or []

    cell = Column("scheme", lambda row: str(row.get("cell") or row.get("scheme")), is_number=False)
    scheme = Column("scheme", _text("scheme"), is_number=False)
    budget = Column("at equal", _text("budget"), is_number=False)
    amount = Column("at equal", _amount, is_number=False)
    simulations = Column("simulations a move", _number("simulations", ",.0f"))
    pairs = Column("pairs of games", _number("pairs", ",.0f"))
    elo = [Column("Elo", _elo("elo")), Column("interval", _span(_elo("elo_low"), _elo("elo_high")))]
    opponents = {row.get("opponent") for row in rows_of("matches")}
    stages = _stages(rows_of("speed"))
    simulated = [*elo, Column("score", _number("score", ".1%")), pairs]
    return [
        Table(
            "table-speed",
            "Speed of each cell (a scheme with a number of workers)",
            [
                cell,
                Column("backend", _text("backend"), is_number=False),
                Column("simulations/s", _number("rate", ",.0f")),
                Column("speedup", _number("speedup", ".2f")),
                Column("interval", _span(_number("speedup_low", ".2f"), _number("speedup_high", ".2f"))),
                *([] if "waiting" in stages else [Column("waiting for locks", _number("lock_wait", ".1%"))]),
                Column("duplicated", _number("duplicated", ".1%")),
                Column("bytes/simulation", _number("bytes_per_simulation", ".1f")),
                Column("repeats", _number("repeats", ",.0f")),
            ],
            rows_of("speed"),
        ),
        Table(
            "table-stages",
            "Share of the workers' time",
            [cell, *(Column(stage, _stage(stage)) for stage in stages)],
            rows_of("speed") if stages else [],
        ),
        Table(
            "table-strength",
            "Strength speedup and search overhead",
            [
                cell,
                budget,
                Column(
                    "strength speedup", lambda row: _number("speedup", ".2f")(row) + (" (beyond)" if row.get("beyond") else "")
                ),
                Column("interval", _span(_number("low", ".2f"), _number("high", ".2f"))),
                Column("search overhead", _share("overhead")),
                Column("interval", _span(_share("overhead_low"), _share("overhead_high"))),
            ],
            [row | overhead_ends(row) for row in by_budget("strength")],
        ),
        Table(
            "table-matches",
            "Matches against serial" if opponents == {SERIAL} else "Matches",
            [
                cell,
                budget,
                *([] if opponents == {SERIAL} else [Column("against", _text("opponent"), is_number=False)]),
                *elo,
                Column("likelihood of superiority", _number("los", ".1%")),
                Column("is it stronger?", _text("decision"), is_number=False),
                Column(
                    "wins, draws, losses",
                    lambda row: " / ".join(_number(key, ",.0f")(row) for key in ("wins", "draws", "losses")),
                ),
                pairs,
            ],
            by_budget("matches"),
        ),
        Table(
            "table-quality",
            "Quality of the moves chosen",
            [
                cell,
                amount,
                Column("agreement", _number("agreement", ".0%")),
                Column("interval", _span(_number("agreement_low", ".0%"), _number("agreement_high", ".0%"))),
                Column("regret", _number("regret", ".3f")),
                Column("interval", _span(_number("regret_low", ".3f"), _number("regret_high", ".3f"))),
                Column("positions", _number("positions", ",.0f")),
                Column("solved positions", _number("solved_positions", ",.0f")),
            ],
            by_budget("quality"),
        ),
        Table(
            "table-simulated-workers",
            "Simulated workers on one shared tree",
            [
                Column("reading", _text("reading"), is_number=False),
                Column("workers", _number("workers", ",.0f")),
                *simulated,
                simulations,
            ],
            rows_of("simulated_workers"),
        ),
        Table(
            "table-simulated-machines",
            "Simulated machines that merge their trees",
            [
                Column("rule", _text("rule"), is_number=False),
                Column("machines", _number("machines", ",.0f")),
                Column("workers on each", _number("workers", ",.0f")),
                *simulated,
                Column("simulations a move, together", _number("simulations", ",.0f")),
            ],
            rows_of("simulated_machines"),
        ),
        Table(
            "table-curve",
            "What more or less of the budget is worth to serial",
            [Column("budget, times", _number("factor", "g")), budget, *elo, pairs],
            by_budget("curve"),
        ),
        Table(
            "table-tuning",
            "c of each scheme, and the candidates it was chosen from",
            [scheme, Column("c", _number("c", "g")), Column("candidates: c (regret, agreement)", _candidates, is_number=False)],
            (summary.get("tuning") or {}).get("rows") or [],
        ),
    ]


def _minus(text: str) -> str:
    """Numbers below zero with the sign made for it."""
    return re.sub(r"(?<![\w-])-(?=\d)", "\N{MINUS SIGN}", text)


def _text(key: str) -> Callable[[Row], str]:
    return lambda row: UNKNOWN if row.get(key) is None else str(row[key])


def _number(key: str, form: str) -> Callable[[Row], str]:
    def cell(row: Row) -> str:
        number = known(row.get(key))
        return UNKNOWN if number is None else _minus(format(number, form))

    return cell


def _amount(row: Row) -> str:
    form, unit = ("g", " s") if row.get("budget") == "time" else (",.0f", "")
    return f"{_text('budget')(row)}, {_number('amount', form)(row)}{unit}"


def _share(key: str) -> Callable[[Row], str]:
    """A share more or less."""

    def cell(row: Row) -> str:
        share = known(row.get(key))
        return "0%" if share is not None and abs(share) < 0.005 else _number(key, "+.0%")(row)

    return cell


def _elo(key: str) -> Callable[[Row], str]:
    return lambda row: UNKNOWN if known(row.get(key)) is None else _minus(elo_text(row[key]))


def _span(low: Callable[[Row], str], high: Callable[[Row], str]) -> Callable[[Row], str]:
    def cell(row: Row) -> str:
        ends = low(row), high(row)
        return UNKNOWN if ends == (UNKNOWN, UNKNOWN) else " to ".join(ends)

    return cell


def _stages(rows: list[Row]) -> list[str]:
    return list(dict.fromkeys(stage for row in rows for stage in row.get("stages") or {}))


def _stage(stage: str) -> Callable[[Row], str]:
    return lambda row: _number(stage, ".0%")(row.get("stages") or {})


def _candidates(row: Row) -> str:
    def one(tried: Row) -> str:
        return f"{_number('c', 'g')(tried)} ({_number('regret', '.3f')(tried)}, {_number('agreement', '.0%')(tried)})"

    return "; ".join(one(tried) for tried in row.get("candidates") or []) or UNKNOWN
