"""What several commands share: options, a configuration file, overrides of the form key=value, live progress."""

import sys
from collections.abc import Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from distmcts.commands import interrupts
from distmcts.errors import InputError

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Keys = Annotated[Path | None, typer.Option("--keys", help="Folder of keys; default: $DISTMCTS_KEYS or ~/.config/distmcts/keys.")]
KeysForCluster = Annotated[Path | None, typer.Option("--keys", help="Folder of keys for --cluster; see `distmcts keys`.")]


def read_config(path: Path | None) -> dict[str, Any]:
    """A YAML file of settings; nothing if there is none."""
    if path is None:
        return {}
    import yaml

    try:
        content = yaml.safe_load(path.read_text())
    except OSError as error:
        raise InputError(f"configuration {str(path)!r}: {error.strerror}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        place = getattr(error, "problem_mark", None)
        line = f", line {place.line + 1}" if place else ""
        raise InputError(f"configuration {str(path)!r}{line}: not valid YAML") from None
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise InputError(f"configuration {str(path)!r}: expected 'key: value' lines")
    return content


def one_of(names: Sequence[str]) -> str:
    """Some names as a choice: a, b or c."""
    return f"{', '.join(names[:-1])} or {names[-1]}"


def is_override(text: str) -> bool:
    """Whether it is a `key=value`; the name of a game may have its parameters in brackets."""
    return "=" in text.partition("(")[0]


def split_overrides(first: str, overrides: list[str] | None) -> tuple[str, list[str]]:
    """The first argument and the overrides. The first may be left out: then what stands in its place is an override, too."""
    return ("", [first, *(overrides or [])]) if is_override(first) else (first, overrides or [])


def apply_overrides(config: dict[str, Any], overrides: list[str]) -> dict[str, Any]:
    """`c=1.0 game_parameters.rules=thesis` on top of a configuration; values are read as YAML."""
    import yaml

    result = dict(config)
    for override in overrides:
        key, equals, text = override.partition("=")
        if not equals or not key:
            raise InputError(f"{override!r} is not of the form key=value")
        place = result
        *folders, last = key.split(".")
        for folder in folders:
            inner = place.get(folder) or {}
            if not isinstance(inner, dict):
                raise InputError(f"{key!r}: {folder!r} has no keys of its own")
            place[folder] = dict(inner)
            place = place[folder]
        try:
            place[last] = yaml.safe_load(text)
        except yaml.YAMLError:
            raise InputError(f"{override!r}: the value is not valid YAML") from None
    return result


@contextmanager
def live_progress(wanted: int | None, seconds: float | None):
    """Two callables, for status and for progress of a search. They show something only on a terminal."""
    if not sys.stderr.isatty():
        yield None, lambda progress: interrupts.check()
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as display:
        task = display.add_task("starting", total=None, rate="")

        def on_status(text: str) -> None:
            display.update(task, description=text)

        def on_progress(progress) -> None:
            interrupts.check()
            rate = progress.simulations / progress.elapsed_s if progress.elapsed_s else 0.0
            if wanted is not None and (seconds is None or progress.simulations / wanted > progress.elapsed_s / seconds):
                total, done = wanted, progress.simulations
            else:
                total, done = seconds, min(progress.elapsed_s, seconds)
            shown = f"{progress.simulations:,} simulations, {rate:,.0f}/s"
            display.update(task, description="searching", total=total, completed=done, rate=shown)

        yield on_status, on_progress
