"""`distmcts compare`: measure parallel schemes against each other, and write a report."""

import shlex
import sys
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Annotated

import typer

from distmcts.commands import interrupts
from distmcts.commands.options import KeysForCluster, apply_overrides, read_config, split_overrides
from distmcts.commands.report import write_outputs
from distmcts.errors import DistmctsError, InputError

CONTACT_S = 10.0  # with a coordinator


def run(
    game: Annotated[str, typer.Argument(help="Name of a game.")] = "",
    overrides: Annotated[
        list[str] | None, typer.Argument(help="key=value on top, e.g. workers=[1,2,4] matches.pairs=100.")
    ] = None,
    config: Annotated[Path | None, typer.Option(help="YAML file; see configs/compare_quick.yaml.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder of the run. Default: runs/GAME-TIME.")] = None,
    resume: Annotated[Path | None, typer.Option(help="Resume the run in this folder.")] = None,
    cluster: Annotated[
        str | None,
        typer.Option(help="Carry units out on a cluster: its address, invitation or run folder.", metavar="ADDRESS"),
    ] = None,
    keys: KeysForCluster = None,
) -> None:
    """Compare serial, leaf, root and tree parallelization of a game: speed, strength, overhead; a report to look at."""
    if cluster is not None:
        from distmcts.cluster.client import Cluster

        with Cluster(cluster, keys=keys, contact_s=CONTACT_S) as found:
            found.status()  # if nobody is there, nothing is begun
    if resume is not None:
        if game or overrides or config or out:
            raise InputError("--resume takes everything from the run: give the folder and nothing else")
        folder = resume
    else:
        folder = _begin(game, overrides or [], config, out, cluster is not None)
    _measure(folder, cluster, keys)
    print(f"report: {folder / 'report.html'}")


def _begin(game: str, overrides: list[str], config: Path | None, out: Path | None, on_cluster: bool) -> Path:
    game, overrides = split_overrides(game, overrides)
    options = apply_overrides(read_config(config), overrides)
    if game:
        options["game"] = game
    if not options.get("game"):
        raise InputError("which game? e.g. `distmcts compare connect_four`, or --config configs/compare_quick.yaml")

    from distmcts.experiments.config import make_config
    from distmcts.experiments.remote import check_remote
    from distmcts.experiments.run_folder import new_run
    from distmcts.experiments.sides import check_memory
    from distmcts.registry import load_game

    settings = make_config(options, str(config) if config else "distmcts compare")
    if load_game(settings.game, **settings.game_parameters).in_python:
        raise InputError(f"{settings.game}: is a game in Python; compare is for compiled games, see `distmcts games`")
    check_memory(settings)
    if on_cluster:
        check_remote(settings)
    return new_run(settings, [*([game] if game else []), *overrides], out)


def _measure(folder: Path, where: str | None, keys: Path | None) -> None:
    from distmcts.cluster.client import Cluster
    from distmcts.experiments.compare import run_comparison
    from distmcts.experiments.remote import check_remote
    from distmcts.experiments.run_folder import RECORDS, open_run

    settings, _ = open_run(folder)
    if where is not None:
        check_remote(settings)
    before = (folder / RECORDS).stat().st_size
    try:
        with _progress() as show, Cluster(where, keys=keys) if where is not None else nullcontext() as cluster:

            def on_progress(status) -> None:
                interrupts.check()
                show(status)

            run_comparison(folder, settings, on_progress, cluster)
    except BaseException as error:
        # An error before anything was measured would only come again: then there is nothing to resume.
        if not isinstance(error, DistmctsError) or (folder / RECORDS).stat().st_size != before:
            with suppress(DistmctsError):
                write_outputs(folder)
            again = shlex.join(
                [
                    "distmcts",
                    "compare",
                    "--resume",
                    str(folder),
                    *(["--cluster", where] if where else []),
                    *(["--keys", str(keys)] if keys else []),
                ]
            )
            print(f"distmcts: stopped; resume with: {again}", file=sys.stderr)
        raise
    write_outputs(folder)


@contextmanager
def _progress():
    """A callable that shows how far along a comparison is, with the time left; only on a terminal."""
    if not sys.stderr.isatty():
        yield lambda status: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    columns = (BarColumn(), TextColumn("{task.completed} of {task.total}"), TextColumn("{task.fields[left]}"))
    with Progress(*columns, TextColumn("[dim]{task.description}"), console=Console(stderr=True), transient=True) as display:
        task = display.add_task("starting", total=None, left="")

        def show(status) -> None:
            left = "" if status.left_s is None else f"{_clock(status.left_s)} left"
            display.update(task, description=status.unit, completed=status.done, total=status.most, left=left)

        yield show


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
