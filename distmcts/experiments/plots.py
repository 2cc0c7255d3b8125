"""The figures of a report, as SVG text that stands inside one HTML page.

Text stays text, so that it can be searched, read aloud and scaled. Colours are those of Okabe and Ito, each with a marker and a
line style or hatching of its own: no figure needs colour to be understood. Ids carry the name of the plot, because in one page
the ids of all figures share one space, and a clash would clip one figure by the frame of another.
"""

import io
import math
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple
from xml.etree import ElementTree

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from distmcts.experiments.advice import BEYOND, elo_text, known
from distmcts.parallel.names import SERIAL, SIMULATED

Row = dict[str, Any]

WIDTH = 5.4  # inches; so text of 12 pt is 11 pixels high where a phone shows the figure 350 pixels wide
STYLE = {
    "svg.fonttype": "none",
    "text.parse_math": False,  # names are text, whatever is in them
    "font.size": 12,
    "axes.titlesize": 12,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "legend.frameon": False,
    "legend.fontsize": 11,
    "legend.handlelength": 2.8,
    "hatch.linewidth": 0.7,
    "lines.linewidth": 1.6,
    "lines.markersize": 7.5,
}
BLUE, VERMILLION, GREEN, PURPLE, SKY, ORANGE, BLACK = [
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#56B4E9",
    "#E69F00",
    "#000000",
]
COLOURS = (BLUE, VERMILLION, GREEN, PURPLE, SKY, ORANGE, BLACK)  # yellow is left out: it cannot be seen on white
MARKERS = "osD^vPX*<"
LINES = ("-", "--", "-.", ":", (0, (6, 1, 1, 1, 1, 1)))  # 7, 9 and 5 have no common divisor: 315 different looks
STAGES = {
    "select": (SKY, ""),
    "expand": (ORANGE, "//"),
    "playout": (GREEN, ".."),
    "backup": ("#F0E442", "\\\\"),
    "waiting": ("#bbbbbb", "xx"),
}
MOST_BARS = 16  # a taller figure is no longer seen as one; the table has them all
LONGEST_NAME = 42  # letters; what the width holds beside a number
MARK = 0.07  # where a line or bar stands below its name, in rows
BUDGETS = {"time": "at equal time", "simulations": "at equal simulations"}


class Look(NamedTuple):
    color: str
    marker: str
    linestyle: Any


class Point(NamedTuple):
    count: int  # workers or machines
    value: float
    low: float
    high: float
    decided: bool = True  # drawn hollow if not


Series = dict[str, list[Point]]


def plots(summary: Row) -> dict[str, str]:
    """SVG text by the name of the plot; a plot without numbers is left out."""
    drawn = {
        "plot-speedup": (_speedup, "Speedup in simulations per second against the number of workers"),
        "plot-stages": (_stages, "Share of each worker's time by step of the simulation"),
        "plot-strength": (_strength, "Strength speedup against the number of workers"),
        "plot-overhead": (_overhead, "Search overhead against the number of workers"),
        "plot-elo": (_elo, "Elo difference against the opponent, with intervals"),
        "plot-simulated-workers": (_simulated_workers, "Simulated: Elo against the number of workers"),
        "plot-simulated-machines": (_simulated_machines, "Simulated: Elo against the number of machines"),
    }
    found = {}
    with matplotlib.rc_context():
        matplotlib.rcdefaults()  # the user's matplotlibrc must not change a report
        for name, (draw, label) in drawn.items():
            matplotlib.rcParams.update({**STYLE, "svg.hashsalt": name})
            figure = draw(summary)
            if figure is not None:
                found[name] = _svg(figure, name, label)
    return found


def _svg(figure: Figure, name: str, label: str) -> str:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    root = ElementTree.fromstring(buffer.getvalue())  # the prolog and the reference to a DTD stay behind here
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]  # inside HTML the names of SVG need no namespace
        attributes = {key.rpartition("}")[2]: value for key, value in element.attrib.items()}
        for key, value in attributes.items():
            if key == "id":
                value = f"{name}-{value}"
            elif key == "href":
                value = value.replace("#", f"#{name}-", 1)
            attributes[key] = value.replace("url(#", f"url(#{name}-")
        element.attrib.clear()
        element.attrib.update(attributes)
        if element.tag == "style" and element.text:
            element.text = element.text.replace("*{", f"#{name} *{{")  # or it would style the whole page
    for metadata in root.findall("metadata"):
        root.remove(metadata)
    for key in ("height", "version"):
        root.attrib.pop(key, None)
    root.attrib.update({"width": "100%", "role": "img", "aria-label": label})
    return ElementTree.tostring(root, encoding="unicode")


def _looks(names: Iterable[str]) -> dict[str, Look]:
    unique = dict.fromkeys(names)
    return {name: Look(COLOURS[i % 7], MARKERS[i % 9], LINES[i % 5]) for i, name in enumerate(unique)}


def _scheme_looks(summary: Row) -> dict[str, Look]:
    """One look for a scheme in all figures."""
    return _looks(_scheme(row) for section in ("speed", "strength", "matches") for row in summary.get(section) or [])


def _scheme(row: Row) -> str:
    return str(row.get("scheme") or row.get("cell"))


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}\N{HORIZONTAL ELLIPSIS}"


def _series(rows: Iterable[Row], name: Callable[[Row], str], count: str, value: str, low: str, high: str) -> Series:
    found: Series = {}
    for row in rows:
        middle, at = known(row.get(value)), known(row.get(count))
        if middle is not None and at is not None and at >= 1:
            ends = [known(row.get(key)) for key in (low, high)]
            bounds = [middle if end is None else end for end in ends]
            found.setdefault(name(row), []).append(Point(int(at), middle, *bounds, decided=not row.get("beyond")))
    return {label: sorted(points) for label, points in found.items()}


def _speedup(summary: Row) -> Figure | None:
    rows = summary.get("speed") or []
    backends: dict[str, set[Any]] = {}
    for row in rows:
        backends.setdefault(_scheme(row), set()).add(row.get("backend"))

    def name(row: Row) -> str:
        return f"{_scheme(row)}, {row.get('backend')}" if len(backends[_scheme(row)]) > 1 else _scheme(row)

    series = _series(rows, name, "workers", "speedup", "speedup_low", "speedup_high")
    if not series:
        return None
    looks = _scheme_looks(summary) if set(series) <= set(backends) else _looks(series)
    figure, (ax,) = _figure([""], series)
    _against_count(ax, series, looks, ideal=lambda workers: workers)
    _finish_ratio(ax, "simulations/s, times serial", "workers")
    return _with_legend(figure, [ax])


def _strength(summary: Row) -> Figure | None:
    panels = {}
    for budget in BUDGETS:
        rows = [row for row in summary.get("strength") or [] if row.get("budget") == budget]
        if series := _series(rows, _scheme, "workers", "speedup", "low", "high"):
            panels[budget] = series
    if not panels:
        return None
    figure, axes = _figure([BUDGETS[budget] for budget in panels], [label for series in panels.values() for label in series])
    for ax, (budget, series) in zip(axes, panels.items(), strict=True):
        # At equal time all workers' work counts; at equal simulations the best they can do is to lose nothing.
        _against_count(ax, series, _scheme_looks(summary), ideal=(lambda workers: workers) if budget == "time" else lambda _: 1)
        _finish_ratio(ax, "strength speedup", "workers" if ax is axes[-1] else "")
    return _with_legend(figure, axes)


def _overhead(summary: Row) -> Figure | None:
    rows = [row | overhead_ends(row) for row in summary.get("strength") or [] if row.get("budget") == "simulations"]
    series = _series(rows, _scheme, "workers", "overhead", "overhead_low", "overhead_high")
    if not series:
        return None
    figure, (ax,) = _figure(["at equal simulations"], series)
    _against_count(ax, series, _scheme_looks(summary), ideal=lambda _: 0)
    ax.yaxis.set_major_formatter(lambda share, _: f"{share:+.0%}".replace("-", "\N{MINUS SIGN}") if share else "0")
    ax.set(ylabel="more simulations needed", xlabel="workers")
    return _with_legend(figure, [ax])


def overhead_ends(row: Row) -> Row:
    """The interval of a search overhead, 1 / strength speedup - 1, from that of the speedup; empty if there is none."""
    low, high = known(row.get("low")), known(row.get("high"))
    if known(row.get("overhead")) is None or not low or not high or low <= 0:
        return {}
    return {"overhead_low": min(1 / high - 1, row["overhead"]), "overhead_high": max(1 / low - 1, row["overhead"])}


def _simulated_workers(summary: Row) -> Figure | None:
    return _simulated(summary.get("simulated_workers") or [], "reading", "workers", "simulated workers (log scale)")


def _simulated_machines(summary: Row) -> Figure | None:
    return _simulated(summary.get("simulated_machines") or [], "rule", "machines", "simulated machines (log scale)")


def _simulated(rows: list[Row], kind: str, count: str, xlabel: str) -> Figure | None:
    # A line joins what differs in its count alone: where another number varies too, it is in the name.
    varied = [key for key in ("workers", "simulations") if key != count and len({row.get(key) for row in rows}) > 1]

    def name(row: Row) -> str:
        return ", ".join([str(row.get(kind)), *(f"{row.get(key)} {key}" for key in varied)])

    series = _series(rows, name, count, "elo", "elo_low", "elo_high")
    if not series:
        return None
    figure, (ax,) = _figure([SIMULATED], series)
    low, high = _elo_limits([number for points in series.values() for point in points for number in point[1:4]])
    ax.set_ylim(low, high)
    _against_count(ax, series, _looks(series), ideal=lambda _: 0, ideal_label="as strong as serial")
    ax.set(ylabel="Elo", xlabel=xlabel)
    return _with_legend(figure, [ax])


def _elo_limits(numbers: Iterable[float]) -> tuple[float, float]:
    """An axis that holds zero and all numbers but those that only say "beyond"."""
    inside = [0.0, *(number for number in numbers if abs(number) < BEYOND)]
    margin = max(20.0, 0.08 * (max(inside) - min(inside)))
    return min(inside) - margin, max(inside) + margin


def _figure(titles: list[str], labels: Iterable[str]) -> tuple[Figure, list[Axes]]:
    legend = math.ceil((len(set(labels)) + 1) / _columns(labels))
    figure = Figure(figsize=(WIDTH, 3.1 * len(titles) + 0.24 * legend + 0.2), layout="constrained")
    figure.get_layout_engine().set(hspace=0.06)
    axes = list(figure.subplots(len(titles), squeeze=False)[:, 0])
    for ax, title in zip(axes, titles, strict=True):
        ax.set_title(title)
        ax.grid(axis="y")
    return figure, axes


def _columns(labels: Iterable[str]) -> int:
    return 1 if max(map(len, labels)) > 21 else 2


def _with_legend(figure: Figure, axes: list[Axes]) -> Figure:
    handles = {label: handle for ax in axes for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)}
    figure.legend(handles.values(), map(_short, handles), loc="outside lower center", ncols=_columns(handles))
    return figure


def _against_count(
    ax: Axes, series: Series, looks: dict[str, Look], ideal: Callable[[int], float], ideal_label: str = "ideal"
) -> None:
    """Points with intervals over a log axis of counts. Series stand side by side, so that no interval hides another."""
    counts = sorted({point.count for points in series.values() for point in points})
    places = [math.log2(count) for count in counts]
    gap = min((right - left for left, right in zip(places, places[1:], strict=False)), default=1.0)
    step = 0.6 * gap / len(series)
    bottom, top = ax.get_ylim() if not ax.get_autoscaley_on() else (-math.inf, math.inf)
    for i, (label, points) in enumerate(series.items()):
        look = looks[label]
        shift = (i - (len(series) - 1) / 2) * step
        x = [math.log2(point.count) + shift for point in points]
        y = [min(max(point.value, bottom), top) for point in points]
        ax.plot(x, y, **look._asdict(), label=label, zorder=3)
        ax.vlines(
            x, [max(point.low, bottom) for point in points], [min(point.high, top) for point in points], look.color, zorder=2
        )
        for place, height, point in zip(x, y, points, strict=True):
            if not point.decided:
                ax.plot(place, height, marker=look.marker, color=look.color, markerfacecolor="white", zorder=4)
            for end, limit, arrow in ((point.low, bottom, "v"), (point.high, top, "^")):
                if abs(end) >= BEYOND:
                    ax.plot(place, limit, marker=arrow, color=look.color, clip_on=False, zorder=4)
    half = 0.5 * gap  # levels, not a slope: then each point can be held against the ideal of its own count
    for place, count in zip(places, counts, strict=True):
        label = ideal_label if count == counts[0] else None
        ax.hlines(ideal(count), place - half, place + half, BLACK, linestyles="dotted", linewidth=2, label=label, zorder=1)
    ax.set_xticks(places, [str(count) for count in counts])
    ax.set_xlim(places[0] - half, places[-1] + half)


def _finish_ratio(ax: Axes, ylabel: str, xlabel: str) -> None:
    ax.set(ylabel=ylabel, xlabel=xlabel)
    top = ax.get_ylim()[1]
    if top > 6:  # with many workers an even axis would press all but the fastest into one line
        ax.set_yscale("log", base=2)
        ax.yaxis.set_major_formatter(lambda ratio, _: f"{ratio:g}")
    else:
        ax.set_ylim(0, top)


def _stages(summary: Row) -> Figure | None:
    rows = [row for row in summary.get("speed") or [] if any(known(share) for share in (row.get("stages") or {}).values())]
    if not rows:
        return None
    if is_cut := len(rows) > MOST_BARS:
        most = {_scheme(row): row for row in sorted(rows, key=lambda row: known(row.get("workers")) or 0)}
        rows = [row for row in rows if row is most[_scheme(row)]]
    stages = [*STAGES, *dict.fromkeys(stage for row in rows for stage in row["stages"] if stage not in STAGES)]
    figure = Figure(figsize=(WIDTH, 0.52 * len(rows) + 1.2), layout="constrained")
    ax = figure.subplots()
    starts = [0.0] * len(rows)
    for stage in stages:
        shares = [known(row["stages"].get(stage)) or 0.0 for row in rows]
        colour, hatch = STAGES.get(stage, ("white", "++"))
        look = {"color": colour, "hatch": hatch, "edgecolor": BLACK, "linewidth": 0.6}
        ax.barh([i + 0.16 for i in range(len(rows))], shares, 0.44, starts, label=stage, **look)
        for i, share in enumerate(shares):
            if share >= 0.08:
                box = {"boxstyle": "round,pad=0.12", "facecolor": "white", "edgecolor": "none"}
                ax.text(starts[i] + share / 2, i + 0.17, f"{share:.0%}", fontsize=10, ha="center", va="center_baseline", bbox=box)
        starts = [start + share for start, share in zip(starts, shares, strict=True)]
    ax.set_xlim(0, max(1.0, *starts))
    ax.xaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    ax.set_xlabel("share of the workers' time")
    ax.set_title("each scheme with its most workers" if is_cut else "")
    _name_rows(ax, [(_short(str(row.get("cell") or _scheme(row))), "") for row in rows])
    figure.legend(loc="outside lower center", ncols=3)
    return figure


def _elo(summary: Row) -> Figure | None:
    panels = {budget: _matches(summary, budget) for budget in BUDGETS}
    panels = {budget: rows for budget, rows in panels.items() if rows}
    if not panels:
        return None
    lengths = [len(rows) for rows in panels.values()]
    figure = Figure(figsize=(WIDTH, 0.52 * sum(lengths) + 0.85 * len(lengths)), layout="constrained")
    figure.get_layout_engine().set(hspace=0.04)
    axes = figure.subplots(len(lengths), squeeze=False, height_ratios=lengths)[:, 0]
    every = [row for rows in panels.values() for row in rows]
    numbers = [known(row.get(key)) for row in every for key in ("elo", "elo_low", "elo_high")]
    left, right = _elo_limits(number for number in numbers if number is not None)
    looks = _scheme_looks(summary)
    for ax, (budget, rows) in zip(axes, panels.items(), strict=True):
        ax.axvline(0, color=BLACK, linewidth=1, zorder=1)
        ax.grid(axis="x")
        for i, row in enumerate(rows):
            look, elo = looks[_scheme(row)], known(row["elo"])
            low, high = (elo if end is None else end for end in (known(row.get("elo_low")), known(row.get("elo_high"))))
            ax.hlines(i + MARK, max(low, left), min(high, right), look.color, linewidth=2.5, zorder=2)
            for end, limit, arrow in ((low, left, "<"), (high, right, ">")):
                if abs(end) >= BEYOND:
                    ax.plot(limit, i + MARK, marker=arrow, color=look.color, clip_on=False)
            face = look.color if low > 0 or high < 0 else "white"
            ax.plot(min(max(elo, left), right), i + MARK, marker=look.marker, color=look.color, markerfacecolor=face, zorder=3)
        ax.set_xlim(left, right)
        ax.set_title(BUDGETS[budget])
        _name_rows(ax, [_match_name(row) for row in rows])
    axes[-1].set_xlabel("Elo: to the right of 0 is stronger")
    return figure


def _matches(summary: Row, budget: str) -> list[Row]:
    return [row for row in summary.get("matches") or [] if row.get("budget") == budget and known(row.get("elo")) is not None]


def _match_name(row: Row) -> tuple[str, str]:
    opponent = row.get("opponent") or SERIAL
    against = "" if opponent == SERIAL else f" against {opponent}"
    return _short(f"{row.get('cell') or _scheme(row)}{against}"), elo_text(row["elo"]).replace("-", "\N{MINUS SIGN}")


def _name_rows(ax: Axes, names: list[tuple[str, str]]) -> None:
    """Names above their rows, not beside them: they are long, and a phone is narrow."""
    for i, (name, value) in enumerate(names):
        for x, text, side in ((0, name, "left"), (1, value, "right")):
            box = {"facecolor": "white", "edgecolor": "none", "pad": 1}
            ax.text(x, i - 0.27, text, fontsize=11, ha=side, va="center", transform=ax.get_yaxis_transform(), bbox=box)
    ax.set_ylim(len(names) - 0.45, -0.6)
    ax.set_yticks([])
    ax.spines["left"].set_visible(False)
