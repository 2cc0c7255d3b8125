"""`distmcts launch`: start a coordinator and cluster nodes here or elsewhere, search, print the merged result, end everything."""

import json
import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from distmcts.commands import interrupts
from distmcts.commands.options import AsJson, apply_overrides, live_progress, read_config, split_overrides
from distmcts.errors import InputError


def run(
    config: Annotated[str, typer.Argument(help="YAML file; see configs/cluster_local.yaml.")] = "",
    overrides: Annotated[list[str] | None, typer.Argument(help="key=value on top, e.g. job.seconds=10 local.nodes=4.")] = None,
    on: Annotated[str | None, typer.Option(help="How nodes are started: local, ssh, slurm or ray.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder of the run. Default: runs/GAME-TIME.")] = None,
    resume: Annotated[Path | None, typer.Option(help="Resume the run in this folder.")] = None,
    attach: Annotated[
        Path | None,
        typer.Option(help="Only search: the coordinator and nodes of this run are up already. A Slurm job does this."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print what would run, and do nothing.")] = False,
    follow: Annotated[bool, typer.Option("--follow", help="Slurm: wait for the job's end and print the result.")] = False,
    as_json: AsJson = False,
) -> int:
    """Search on many machines: one command from nothing to the merged result. With job=null the cluster stays.

    Ctrl-C ends everything and prints the command to resume with; what was searched until then counts.
    """
    from launch.config import make_config
    from launch.run_folder import RunFolder, new_run, open_run, planned_folder

    again = resume or attach
    if again is not None:
        if config or overrides or on or out or dry_run or (resume and attach):
            raise InputError(
                "--resume and --attach take everything from the run: give one of them with its folder, and nothing else"
            )
        folder, settings = open_run(again)
    else:
        config, overrides = split_overrides(config, overrides)
        if not config and not overrides:
            raise InputError("launch what? e.g. `distmcts launch configs/cluster_local.yaml`")
        given = apply_overrides(read_config(Path(config) if config else None), overrides)
        settings = make_config(given | ({"on": on} if on else {}), config or "distmcts launch")
    if follow and settings.on != "slurm":
        raise InputError(f"--follow is for slurm; on {settings.on!r} the command always waits")
    order = settings.order()
    if order is None and (follow or attach):
        raise InputError("--follow, --attach: this run has no job to wait for; its cluster stays up until it is ended")
    if dry_run:
        print("\n".join(_preview(settings, RunFolder(planned_folder(settings, out)))))
        return 0
    if again is None:
        folder = new_run(settings, out)
    if (result := folder.read_result()) is not None:
        print(f"distmcts: {folder.path}: has finished already", file=sys.stderr)
    elif attach is not None:
        result = _attach(folder, settings, order)
    elif settings.on == "slurm":
        result = _submit(folder, settings, follow, as_json)
    elif order is None:
        _stay(folder, settings)
    else:
        result = _carry_out(folder, settings, order)
    if result is not None:
        whole = {"run": str(folder.path), **result.as_dict()}
        print(json.dumps(whole) if as_json else f"{order.game.draw(order.state)}\n\n{result}\nrun: {folder.path}")
        return 0 if folder.result.exists() else 1
    return 0


def _preview(settings, folder) -> list[str]:
    if settings.on == "slurm":
        from launch import slurm

        return slurm.preview(folder, settings)
    from launch.run import make_launcher, preview

    return preview(folder, make_launcher(settings))


def _carry_out(folder, settings, order):
    """Start everything from here, and search."""
    from launch.run import Run, Stopped, make_launcher

    interrupts.let_both_exit()
    launcher = make_launcher(settings)
    try:
        with _progress(order) as (on_status, on_progress), Run(folder, launcher) as launched:
            return launched.search(order, on_status, on_progress)
    except (SystemExit, Stopped):
        print(f"distmcts: stopped; resume with: {folder.resume_command}", file=sys.stderr)
        raise


def _stay(folder, settings):
    """A cluster for others, until Ctrl-C."""
    from launch.run import Run, Stopped, make_launcher

    interrupts.let_both_exit()
    launcher = make_launcher(settings)

    try:
        with Run(folder, launcher) as launched:
            with live_progress(None, None) as (on_status, _):
                launched.wait_for_nodes(on_status)
            print(f"the cluster is up; use it with: --cluster {shlex.quote(str(folder.path))}; Ctrl-C ends it", flush=True)
            launched.stay()
    except (SystemExit, Stopped):
        print(f"distmcts: stopped; start it again with: {folder.resume_command}", file=sys.stderr)
        raise


def _attach(folder, settings, order):
    from launch.run import attach

    interrupts.let_both_exit()  # the job is not ours to end
    with _progress(order) as (on_status, on_progress):
        return attach(folder, settings.slurm.nodes if settings.on == "slurm" else 1, order, on_status, on_progress)


def _submit(folder, settings, follow: bool, as_json: bool):
    """Hand the job to Slurm, or find it there; returns its result, if it is waited for."""
    from launch import slurm

    job = slurm.submit(folder, settings)
    if follow:
        try:
            return slurm.follow(folder, job, lambda text: print(f"distmcts: {text}", file=sys.stderr))
        except (KeyboardInterrupt, SystemExit):
            print(f"distmcts: job {job} goes on; follow it again: {folder.resume_command} --follow", file=sys.stderr)
            raise
    print(
        json.dumps({"run": str(folder.path), "slurm_job": job})
        if as_json
        else slurm.what_next(folder, job, stays=settings.job is None)
    )
    return None


def _progress(order):
    return live_progress(order.search.simulations, order.search.seconds)
