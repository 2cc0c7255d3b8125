"""`distmcts keys`: make the keys of a cluster, and say whose may come in."""

import json
import socket
from pathlib import Path
from typing import Annotated

import typer

from distmcts.commands.options import AsJson, Keys

app = typer.Typer(
    help="Make keys for a cluster, allow those of others, or list them.", no_args_is_help=True, rich_markup_mode=None
)


@app.command("new")
def new(name: Annotated[str, typer.Argument(help="Name of the key. Default: the host's name.")] = "", keys: Keys = None) -> None:
    """Make a key pair for this machine. The secret half never leaves it; the public one is for others."""
    from distmcts.cluster.keys import key_folder, new_key

    public = new_key(keys or key_folder(), name or socket.gethostname())
    print(f"secret: {public}_secret (stays here)")
    print(f"public: {public} (give it to the others; there: distmcts keys allow {public.name})")


@app.command("allow")
def allow(public: Annotated[Path, typer.Argument(help="A public key file, NAME.key.")], keys: Keys = None) -> None:
    """Let the owner of a public key in (at the coordinator), or trust a coordinator (at a node)."""
    from distmcts.cluster.keys import allow as allow_key
    from distmcts.cluster.keys import key_folder

    print(f"allowed: {allow_key(keys or key_folder(), public)}")
    if public.name.endswith("_secret"):
        print("distmcts: that was a secret key file; only its public half was taken, but it should not have left its machine")


@app.command("list")
def list_them(keys: Keys = None, as_json: AsJson = False) -> None:
    """Show own and allowed keys; public halves only."""
    from distmcts.cluster.keys import describe, key_folder

    folder = keys or key_folder()
    rows = list(describe(folder))
    if as_json:
        print(json.dumps([{"whose": whose, "name": name, "public": public} for whose, name, public in rows]))
        return
    if not rows:
        print(f"no keys in {folder}; make one with `distmcts keys new`")
    width = max((len(name) for _, name, _ in rows), default=0)
    for whose, name, public in rows:
        print(f"{whose:<8} {name.ljust(width)}  {public}")
