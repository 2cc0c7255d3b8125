"""Cluster nodes on other machines, through the system's ssh: the user's own configuration, keys, agent and jump hosts apply.

The invitation is the first line of the remote command's standard input, so no secret is an argument or a file over there. That
input stays open: when it ends, because we do or because the connection does, the node ends as well.
"""

import re
import shlex
import socket
import subprocess

from distmcts.cluster.sockets import is_everywhere
from distmcts.errors import InputError
from launch.commands import NodeCommand, different_names, node_arguments
from launch.config import LaunchConfig, SshOptions
from launch.local import Children

ASK_S = 10.0


class Ssh(Children):
    """A host that is listed twice gets two nodes."""

    def __init__(self, config: LaunchConfig):
        options = config.ssh
        self.bind = options.bind
        self.reach = options.reach
        if self.reach is None and is_everywhere(self.bind):
            self.reach = f"tcp://{_own_address(options)}:*"
        names = different_names([_name(host) for host in options.hosts])
        self.commands = [
            NodeCommand(name, ["ssh", "-T", "-o", "BatchMode=yes", *options.options, "--", host, _remote(name, config)])
            for name, host in zip(names, options.hosts, strict=True)
        ]


def _name(host: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]", "_", host.rpartition("@")[2])


def _remote(name: str, config: LaunchConfig) -> str:
    return f"{config.ssh.python} {shlex.join(node_arguments(name, config.node))}"


def _own_address(options: SshOptions) -> str:
    """The address of this machine on the way to the first host; ssh's configuration knows where that is."""
    host = options.hosts[0]
    hint = "give ssh.reach=tcp://ADDRESS:PORT, the address by which the hosts reach this machine"
    try:
        command = ["ssh", *options.options, "-G", "--", host]
        told = subprocess.run(command, capture_output=True, text=True, timeout=ASK_S, stdin=subprocess.DEVNULL)
        if told.returncode:
            raise InputError(f"ssh -G {host}: {' '.join(told.stderr.split()) or 'no reason given'}")
        found = re.search(r"^hostname (\S+)$", told.stdout, re.MULTILINE)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect((found[1] if found else host, 9))  # of a datagram socket: looks up the way, sends nothing
            return probe.getsockname()[0]
    except FileNotFoundError:
        raise InputError("there is no `ssh` on this machine; install an OpenSSH client") from None
    except subprocess.TimeoutExpired:
        raise InputError(f"ssh -G {host}: no answer within {ASK_S:g} s; {hint}") from None
    except OSError as error:
        raise InputError(f"cannot find the way to {host!r} ({error.strerror}); {hint}") from None
