"""`distmcts coordinator`: the one process of a cluster that hands out jobs and merges what nodes find."""

import re
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from distmcts.commands import interrupts
from distmcts.commands.logs import log_to_stderr
from distmcts.commands.options import Keys
from distmcts.errors import DistmctsError, InputError


def run(
    bind: Annotated[
        str, typer.Option(help="Address to listen on; tcp://*:5555: all of this machine's.")
    ] = "tcp://127.0.0.1:5555",
    keys: Keys = None,
    key: Annotated[str | None, typer.Option(help="Name of our own key, if the folder has several.")] = None,
    recovery: Annotated[Path | None, typer.Option(help="Recovery file: what a restarted coordinator goes on from.")] = None,
    invite: Annotated[
        Path | None, typer.Option(help="Write an invitation here, for nodes and clients: address and keys in one private file.")
    ] = None,
    reach: Annotated[
        str | None,
        typer.Option(help="Address to put into the invitation, if others use another one; a port of *: the one bound."),
    ] = None,
    at_term: Annotated[
        bool, typer.Option("--checkpoint-at-term", help="Make a checkpoint on SIGTERM, too: for schedulers that send it.")
    ] = False,
    open_to_all: Annotated[bool, typer.Option("--no-keys", help="Neither encrypt nor check who comes in.")] = False,
) -> int:
    """Run a coordinator until Ctrl-C. SIGUSR1: write a checkpoint to the recovery file, send the nodes home, and end.

    On this machine's loopback addresses no keys are needed; on others both sides must know each other's keys.
    """
    from distmcts.cluster.keys import AllowedKeys, Invitation, key_folder, make_pair, own_key, write_invitation
    from distmcts.cluster.serve import CoordinatorServer
    from distmcts.cluster.sockets import check_address, is_everywhere, is_local

    check_address(bind, binding=True)
    log = log_to_stderr("distmcts.coordinator")
    pair = allowed = guest = None
    if keys is not None or not (is_local(bind) or open_to_all):
        folder = keys or key_folder()
        pair = make_pair("coordinator") if invite and not folder.is_dir() else own_key(folder, key)
        guest = _guest(invite, pair.public) if invite else None
        allowed = AllowedKeys(folder if folder.is_dir() else None, {"guest": guest.public} if guest else {})
    if reach is not None:
        check_address(reach, binding=True)
    with CoordinatorServer(bind, pair, allowed, recovery) as server:
        for number in (signal.SIGUSR1, *([signal.SIGTERM] if at_term else [])):
            signal.signal(number, lambda *_: server.checkpoint())
        port = server.address[server.address.rindex(":") :]
        address = server.address if reach is None else re.sub(r":\*$", port, reach)
        if invite is not None:
            if is_everywhere(address):
                raise InputError(f"--invite: others cannot reach {address}; give --reach the address that they can use")
            keys_of_it = (pair.public, guest.public, guest.secret) if pair else (None, None, None)
            write_invitation(invite, Invitation(address, *keys_of_it))
        log.info("at %s%s", server.address, f", recovery file {recovery}" if recovery else "")
        if pair is None and not is_local(bind):
            log.warning("anybody who can reach %s can use this cluster", bind)
        print(address, flush=True)
        try:
            server.run(interrupts.check)
        except KeyboardInterrupt:
            print("distmcts: coordinator ended; nodes wait a while for another one", file=sys.stderr)
            return 130
        return 0


def _guest(invite: Path, coordinator: str):
    """The key pair of guests: the one an earlier coordinator with the same key invited them with, so that they can come back."""
    from distmcts.cluster.keys import KeyPair, make_pair, read_invitation

    if invite.exists():
        with suppress(DistmctsError):
            before = read_invitation(invite)
            if before.coordinator_key == coordinator:
                return KeyPair("guest", before.public, before.secret)
    return make_pair("guest")
