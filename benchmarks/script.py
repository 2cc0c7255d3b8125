"""What benchmarks have in common as scripts: options, and figures as JSON."""

import argparse
import json
import sys
from collections.abc import Collection
from pathlib import Path
from typing import Any


def options_of(doc: str, rounds: int | None = None) -> argparse.ArgumentParser:
    """A parser whose help is the script's own text. `rounds`: the default, of scripts that measure in rounds."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", metavar="FILE")
    if rounds is not None:
        parser.add_argument("--rounds", type=int, default=rounds)
    return parser


def add_games(parser: argparse.ArgumentParser, games: Collection[str]) -> None:
    parser.add_argument("--games", default=",".join(games), help="comma-separated, out of: " + ", ".join(games))


def chosen_games(arguments: argparse.Namespace, games: Collection[str]) -> list[str]:
    names = arguments.games.split(",")
    if unknown := set(names) - set(games):
        sys.exit(f"unknown game {sorted(unknown)[0]!r}; allowed: {', '.join(games)}")
    return names


def need_open_spiel() -> None:
    try:
        import pyspiel  # noqa: F401
    except ModuleNotFoundError:
        sys.exit("needs OpenSpiel: pip install 'distmcts[interop]'")


def write_json(arguments: argparse.Namespace, found: Any) -> None:
    """If the user asked for it."""
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(found, indent=1))
