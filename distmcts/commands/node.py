"""`distmcts node`: let this machine take part in the searches of a coordinator."""

import socket
import sys
from pathlib import Path
from typing import Annotated

import typer

from distmcts.commands.logs import log_to_stderr
from distmcts.commands.options import Keys
from distmcts.errors import InputError

LONGEST_NAME = 60  # fits into a connection's identity, whatever the letters


def run(
    address: Annotated[str, typer.Argument(help="Address of the coordinator, unless an invitation has it.")] = "",
    invitation: Annotated[
        Path | None,
        typer.Option(
            help="File with address and keys. '-': the first line of standard input, and the node ends when that does.",
            envvar="DISTMCTS_INVITATION",
        ),
    ] = None,
    keys: Keys = None,
    key: Annotated[str | None, typer.Option(help="Name of our own key, if the folder has several.")] = None,
    coordinator: Annotated[str | None, typer.Option(help="Name of the coordinator's key, if several are allowed.")] = None,
    name: Annotated[
        str | None,
        typer.Option(
            help="Name of this node; several on one host need different ones. Default: the host's.", envvar="DISTMCTS_NODE_NAME"
        ),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(help="Worker processes, whatever searches ask for. Default: one per core.")
    ] = None,
    memory: Annotated[str | None, typer.Option(help="Memory budget, whatever searches ask for, e.g. 2GiB.")] = None,
    silence: Annotated[float, typer.Option(help="End after this many seconds without a sign of the coordinator.")] = 30.0,
) -> int:
    """Work for a coordinator until it sends us home, is silent for too long, or Ctrl-C.

    Exit code 0: sent home; 1: the coordinator is gone; 2: it does not let us in, or bad input.
    """
    if bool(address) == (invitation is not None):
        raise InputError("give either the coordinator's address or --invitation")
    name = name or socket.gethostname()
    if not (1 <= len(name) <= LONGEST_NAME and name.isprintable()):
        raise InputError(f"name={name[:LONGEST_NAME]!r}: must have 1 to {LONGEST_NAME} printable characters")
    if not 0 < silence < 1e6:
        raise InputError(f"silence={silence}: must be a positive number of seconds")
    from distmcts.cluster.client import find_invitation
    from distmcts.cluster.keys import parse_invitation
    from distmcts.cluster.node import ClusterNode
    from distmcts.settings import make_settings

    make_settings(workers=workers, memory=memory)  # complains now rather than at the first job
    from_stdin = invitation is not None and str(invitation) == "-"
    if from_stdin:
        found = parse_invitation(sys.stdin.readline(), "standard input")
    else:
        found = find_invitation(address or str(invitation), keys, key, coordinator)
    log = log_to_stderr("distmcts.node")
    node = ClusterNode(found, name, workers=workers, memory=memory, silence_s=silence)
    if from_stdin:
        node.end_with(sys.stdin)
    log.info("node %s, coordinator %s", node.name, found.address)
    reason, code = node.run()
    print(f"distmcts: {reason}", file=sys.stderr)
    return code
