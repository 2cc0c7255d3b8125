"""`distmcts games`: list the games; `distmcts games check NAME`: does a game keep the contract?"""

import json
from typing import Annotated

import typer

from distmcts.commands.options import AsJson, apply_overrides

app = typer.Typer(help="List the games, or check one.", invoke_without_command=True, rich_markup_mode=None)


@app.callback()
def list_them(context: typer.Context, as_json: AsJson = False) -> None:
    """List the games that can be searched."""
    if context.invoked_subcommand is not None:
        return
    from distmcts.registry import OPEN_SPIEL, list_games, load_game

    found = list_games()
    if as_json:
        print(json.dumps(found))
        return
    width = max(map(len, found))
    for name in found:
        game = load_game(name)
        parameters = ", ".join(f"{key}={value}" for key, value in game.parameters.items())
        print(
            f"{name.ljust(width)}  {(type(game).__doc__ or '').strip().splitlines()[0]}"
            + (f" [{parameters}]" if parameters else "")
        )
    print(
        f'\n{OPEN_SPIEL}NAME  any game of OpenSpiel with perfect information: {OPEN_SPIEL}chess, "{OPEN_SPIEL}hex(board_size=5)"'
    )


@app.command("check")
def check(
    name: Annotated[str, typer.Argument(help="Name of the game.")],
    parameters: Annotated[list[str] | None, typer.Argument(help="Its parameters as key=value.")] = None,
    games: Annotated[int, typer.Option(help="Random games to play.", min=1)] = 200,
    as_json: AsJson = False,
) -> int:
    """Test a game against the contract; exit code 1 if it fails."""
    from distmcts.conformance import check as run_checks
    from distmcts.registry import load_game

    game = load_game(name, **apply_overrides({}, parameters or []))
    checks = run_checks(game, games)
    if as_json:
        print(json.dumps([item._asdict() for item in checks]))
    else:
        for item in checks:
            print(f"{'ok  ' if item.passed else 'FAIL'}  {item.name}: {item.detail}")
    return 0 if all(item.passed for item in checks) else 1
