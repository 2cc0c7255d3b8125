"""What can be said after a comparison, in plain sentences: which scheme to use here, and how sure that is.

The rule for every sentence: only games decide what plays better; a lead is certain only if its whole interval lies beyond the
other's; all else is said to be undecided. A wrong "use this" costs the reader more than an honest "not known yet".
"""

import math
from collections.abc import Callable, Iterable
from typing import Any

from distmcts.parallel.names import ROOT, SERIAL

Row = dict[str, Any]

BEYOND = 1200  # an Elo bound of this size says "this much or more"
FEW_PAIRS = 20  # below this, even a true 150 Elo is often inside the noise
DECIDED_PAIRS = 10  # enough if a sequential test ended the match: such a test may be looked at after every pair
MEASURED = ("speed", "quality", "matches", "simulated_workers", "simulated_machines")
MOST_NAMES = 6  # in one sentence; the tables have them all
BUSY = 0.25  # load per core at the start, above which rates are doubtful


def advice(summary: Row) -> list[str]:
    """Sentences, the most important first."""
    return [
        *_so_far(summary),
        *_at_equal_time(summary),
        *_at_equal_simulations(summary),
        *_rates(summary),
        *_simulated(summary, "simulated_workers", "reading", "workers"),
        *_simulated(summary, "simulated_machines", "rule", "machines"),
        *_doubts(summary),
    ]


def known(value: Any) -> float | None:
    """The number, if it is one."""
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None


def elo_text(elo: Any) -> str:
    number = known(elo)
    if number is None:
        return "unknown"
    if abs(number) >= BEYOND:
        return f"above +{BEYOND}" if number > 0 else f"below -{BEYOND}"
    return f"{round(number):+d}" if round(number) else "0"


def simulated_name(rows: list[Row], kind: str, count: str) -> Callable[[Row], str]:
    """What tells simulated rows apart beside the count: the kind, and each other number that is not the same in all."""
    varied = [key for key in ("workers", "simulations") if key != count and len({row.get(key) for row in rows}) > 1]
    return lambda row: ", ".join([str(row.get(kind)), *(f"{row.get(key)} {key}" for key in varied)])


def _so_far(summary: Row) -> list[str]:
    if summary.get("finished"):
        return []
    done, planned = summary.get("units_done", 0), summary.get("units_planned", "?")
    return [f"The comparison is not finished ({done} of {planned} units are done): all that follows may still change."]


def _at_equal_time(summary: Row) -> list[str]:
    setting = f"For {summary.get('game') or 'this game'}{_time(summary)} on this machine"
    rows = _against_serial(summary, "time")
    if not rows:
        hint = " Agreement and regret are hints; games decide." if summary.get("quality") else ""
        return [f"{setting}, this run cannot say which scheme to use: no scheme played against serial at equal time.{hint}"]
    enough = [row for row in rows if _is_enough(row)]
    if not enough:
        most = max(row["pairs"] for row in rows)
        return [f"{setting} there were too few games to tell which scheme to use: at most {_count(most, 'pair')} against serial."]
    stronger = [row for row in enough if _is_stronger(row)]
    weaker = [row for row in enough if row["elo_high"] < 0]
    said = _choice(setting, enough, stronger, weaker) + _gain(summary, stronger)
    open_ = [row for row in enough if row not in stronger and row not in weaker]
    if open_ and stronger:
        said.append(f"Not shown to be stronger than serial: {_names(open_)}.")
    if weaker and len(weaker) < len(enough):
        said.append(f"Weaker than serial at equal time (whole interval below 0): {_names(weaker)}.")
    few = [row for row in rows if row not in enough]
    if few:
        said.append(f"Too few games to tell: {_names(few)}.")
    return said


def _choice(setting: str, enough: list[Row], stronger: list[Row], weaker: list[Row]) -> list[str]:
    if len(weaker) == len(enough):
        return [f"{setting}, use serial: every parallel scheme that was matched with it at equal time lost to it."]
    if not stronger and all(row.get("decision") == "not stronger" for row in enough):
        return [f"{setting}, use serial: the tests found no parallel scheme stronger than it by as much as they ask for."]
    if not stronger:
        best = max(enough, key=lambda row: row["elo"])
        return [
            f"{setting} it is undecided whether any parallel scheme is stronger than serial; serial is the safe choice. "
            f"The best of them was {best['cell']}: {_result(best)}."
        ]
    best = max(stronger, key=lambda row: row["elo"])
    said = [f"{setting}, use {best['cell']}: stronger than serial, {_result(best)}."]
    rivals = [row for row in enough if row is not best and row["elo_high"] >= best["elo_low"]]
    if rivals:
        said.append(f"Whether it is also stronger than {_names(rivals, 'or')} is undecided: their intervals overlap.")
    elif len(enough) > 1:
        said.append("It is also ahead of every other scheme matched with serial at equal time: no interval reaches its own.")
    if len(enough) > 2:
        said.append(
            f"It was chosen as the best of {len(enough)} results, so its true lead is probably smaller than the one measured."
        )
    return said


def _gain(summary: Row, stronger: list[Row]) -> list[str]:
    """What the lead of the best is worth in serial's time."""
    if not stronger:
        return []
    best = max(stronger, key=lambda row: row["elo"])
    for row in summary.get("strength") or []:
        factor, low, high = (known(row.get(key)) for key in ("speedup", "low", "high"))
        if row.get("budget") == "time" and row.get("cell") == best["cell"] and factor is not None:
            if row.get("beyond"):
                return [
                    f"It plays like serial with about {factor:.2f} times the time; a guess: serial was not tried with so much."
                ]
            between = "" if low is None or high is None else f", interval {low:.2f} to {high:.2f}"
            doubt = "" if low is None or low > 1 else "; so by this measure the gain is not certain"
            return [f"It plays like serial with {factor:.2f} times the time ({row.get('workers')} workers{between}){doubt}."]
    return []


def _at_equal_simulations(summary: Row) -> list[str]:
    rows = [row for row in _against_serial(summary, "simulations") if _is_enough(row)]
    if not rows:
        return []
    amount = known((summary.get("budgets") or {}).get("simulations"))
    setting = f"At {amount:,.0f} simulations a move" if amount else "At equal simulations"
    weaker = [row for row in rows if row["elo_high"] < 0]
    if weaker:
        return [f"{setting}, time left aside, weaker than serial (whole interval below 0): {_names(weaker)}."]
    return [f"{setting} no scheme was shown to be weaker than serial; that is not proof that nothing is lost."]


def _rates(summary: Row) -> list[str]:
    speed = [
        row
        for row in summary.get("speed") or []
        if known(row.get("speedup")) is not None and known(row.get("workers")) is not None
    ]
    said = []
    roots = [row for row in speed if str(row.get("scheme")).startswith(ROOT) and row["speedup"] > 1]
    if roots:
        best = max(roots, key=lambda row: row["speedup"])
        rate = "the highest rate" if best["speedup"] >= max(row["speedup"] for row in speed) else "a high rate"
        said.append(
            f"{best['cell']} has {rate}, {best['speedup']:.2f} times serial's, but a rate is not strength: "
            "root's trees learn nothing from each other while they search."
        )
    cores = known((summary.get("manifest") or {}).get("cores"))
    if cores and any(row["workers"] > cores for row in speed):
        said.append(
            f"Cells with more than {_count(cores, 'worker')} had to share cores: a larger machine may rank them otherwise."
        )
    return said


def _simulated(summary: Row, section: str, kind: str, count: str) -> list[str]:
    """What the largest simulated count says. Never a recommendation: nobody ran it."""
    rows = [row for row in summary.get(section) or [] if _complete(row) and known(row.get(count)) is not None]
    if not rows:
        return []
    largest = max(row[count] for row in rows)
    last = sorted((row for row in rows if row[count] == largest), key=lambda row: -row["elo"])
    name = simulated_name(rows, kind, count)
    setting = f"Simulated, not run on real {count}: {largest:,.0f} {count} against serial with as many simulations"
    if any(row["pairs"] < FEW_PAIRS for row in last):
        return [f"{setting} played too few games to tell."]
    results = "; ".join(f"{name(row)}: {_result(row, pairs=False)}" for row in last)
    best = last[0]
    rivals = [row for row in last if row is not best and row["elo_high"] >= best["elo_low"]]
    if len(last) == 1:
        verdict = ""
    elif rivals:
        verdict = f" Which of {_join([name(row) for row in (best, *rivals)])} is best is undecided: their intervals overlap."
    else:
        verdict = f" {name(best)} is ahead of the others there: no interval reaches its own."
    return [f"{setting}, in Elo: {results}.{verdict}"]


def _doubts(summary: Row) -> list[str]:
    if not any(summary.get(section) for section in MEASURED):
        return []
    said = []
    tuning = summary.get("tuning") or {}
    played = dict.fromkeys(row.get("scheme") for row in summary.get("matches") or [])
    if not tuning.get("tuned"):
        said.append("c was not tuned: a scheme may look weak only because the c used does not suit it.")
    else:
        tuned = {row.get("scheme") for row in tuning.get("rows") or []}
        missing = [str(scheme) for scheme in played if scheme not in tuned]
        if missing:
            said.append(f"c was not tuned for {_join(missing)}: they may look weak only because the c used does not suit them.")
    manifest = summary.get("manifest") or {}
    load, cores = known(manifest.get("load_at_start")), known(manifest.get("cores"))
    if load is not None and cores and load / cores > BUSY:
        said.append(
            f"The machine was busy at the start (load {load:.1f} on {_count(cores, 'core')}): results at equal time are doubtful."
        )
    said.append(
        "All this holds for this game, these budgets and this machine; another game or more time a move can turn it round."
    )
    return said


def _against_serial(summary: Row, budget: str) -> list[Row]:
    rows = summary.get("matches") or []
    wanted = [
        row for row in rows if row.get("budget") == budget and row.get("opponent") == SERIAL and row.get("scheme") != SERIAL
    ]
    return [row for row in wanted if _complete(row)]


def _complete(row: Row) -> bool:
    return all(known(row.get(key)) is not None for key in ("elo", "elo_low", "elo_high", "pairs"))


def _is_enough(row: Row) -> bool:
    is_decided = row.get("decision") in ("stronger", "not stronger")
    return row["pairs"] >= (DECIDED_PAIRS if is_decided else FEW_PAIRS)


def _is_stronger(row: Row) -> bool:
    """Both the interval and the sequential test must say so: each alone errs too often when looked at during a run."""
    return row["elo_low"] > 0 and row.get("decision") in ("stronger", None)


def _result(row: Row, pairs: bool = True) -> str:
    games = f", {_count(row['pairs'], 'pair')}" if pairs else ""
    unit = " Elo" if pairs else ""
    return f"{elo_text(row['elo'])}{unit} (interval {elo_text(row['elo_low'])} to {elo_text(row['elo_high'])}{games})"


def _time(summary: Row) -> str:
    seconds = known((summary.get("budgets") or {}).get("seconds"))
    return f" at {seconds:g} s a move" if seconds else ""


def _count(number: float, thing: str) -> str:
    return f"{number:,.0f} {thing}{'' if number == 1 else 's'}"


def _names(rows: Iterable[Row], last: str = "and") -> str:
    """Strongest first."""
    return _join([str(row.get("cell")) for row in sorted(rows, key=lambda row: -row["elo"])], last)


def _join(names: list[str], last: str = "and") -> str:
    if len(names) > MOST_NAMES:
        names = [*names[: MOST_NAMES - 1], f"{len(names) - MOST_NAMES + 1} others"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {last} {names[-1]}"
