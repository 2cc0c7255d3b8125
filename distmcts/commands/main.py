"""The entry point of the `distmcts` command: dispatch, and errors as one clear line."""

import os
import sys
import warnings

import typer

from distmcts.commands import bench, compare, coordinator, doctor, games, interrupts, keys, launch, node, report, search, status
from distmcts.errors import DistmctsError

ClickException = next(c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException")  # typer may bring its own click

app = typer.Typer(
    name="distmcts",
    help="Monte Carlo Tree Search on shared memory, many processes and many machines.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("search")(search.run)
app.add_typer(games.app, name="games")
app.command("compare")(compare.run)
app.command("report")(report.run)
app.command("bench")(bench.run)
app.command("doctor")(doctor.run)
app.command("coordinator")(coordinator.run)
app.command("node")(node.run)
app.command("launch")(launch.run)
app.command("status")(status.run)
app.add_typer(keys.app, name="keys")


def main() -> None:
    """Run the command; leave with 0, 1 (a check failed), 2 (bad input), 130 (Ctrl-C) or 143 (SIGTERM)."""
    warnings.showwarning = lambda message, *_, **__: print(f"distmcts: {message}", file=sys.stderr)
    interrupts.install()
    try:
        code = app(standalone_mode=False)
        sys.stdout.flush()  # here, where it is caught if the reader has gone
    except DistmctsError as error:
        print(f"distmcts: {error}", file=sys.stderr)
        code = 2
    except ClickException as error:
        print(f"distmcts: {error.format_message()}", file=sys.stderr)
        code = error.exit_code
    except (typer.Abort, KeyboardInterrupt):
        code = 130
    except BrokenPipeError:  # the reader of our output has gone; Python would complain while it flushes
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    sys.exit(code if isinstance(code, int) else 0)


if __name__ == "__main__":
    main()
