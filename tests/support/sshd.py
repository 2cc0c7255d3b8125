"""A real sshd on this machine, with keys made for the occasion: for `ssh -F` to two names, both of them this machine."""

import getpass
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.daemons import daemon, end_all, free_ports, program, wait_until

NAMES = ("alpha", "beta")
MARK = "DISTMCTS_TEST_SSHD"  # in the environment of every login, so that what it leaves running can be found

SERVER = """\
Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/hostkey
PidFile {folder}/sshd.pid
AuthorizedKeysFile {folder}/userkey.pub
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
MaxStartups 100
MaxSessions 100
SetEnv {mark}={folder}
Subsystem sftp internal-sftp
"""

CLIENT = """\
Host {names}
    HostName 127.0.0.1
    Port {port}
    User {user}
    IdentityFile {folder}/userkey
    IdentitiesOnly yes
    IdentityAgent none
    UserKnownHostsFile {folder}/known_hosts
    GlobalKnownHostsFile /dev/null
    StrictHostKeyChecking yes
    BatchMode yes
    ConnectTimeout 30
    LogLevel ERROR
"""


@dataclass
class Sshd:
    """`ssh -F config alpha` logs in."""

    config: Path
    names: tuple[str, ...]
    port: int


@contextmanager
def start_sshd(folder: Path) -> Iterator[Sshd]:
    """Ready to log in to. At exit the server ends, and with it every login and all that logins left running."""
    folder = folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    Path("/run/sshd").mkdir(parents=True, exist_ok=True)  # sshd as root wants it, and a system that boots makes it
    (port,) = free_ports(1)
    for key in ("hostkey", "userkey"):
        command = [program("ssh-keygen"), "-q", "-t", "ed25519", "-N", "", "-f", folder / key]
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL, timeout=60)
    (folder / "known_hosts").write_text(f"[127.0.0.1]:{port} {(folder / 'hostkey.pub').read_text()}")
    (folder / "sshd_config").write_text(SERVER.format(port=port, folder=folder, mark=MARK))
    config = folder / "ssh_config"
    config.write_text(CLIENT.format(names=" ".join(NAMES), port=port, user=getpass.getuser(), folder=folder))

    with ExitStack() as stack:
        stack.callback(end_all, lambda process: process.environ().get(MARK) == str(folder))
        log = stack.enter_context(open(folder / "sshd.log", "w"))
        # sshd starts itself again for each login, and so insists on its absolute path.
        command = [program("sshd"), "-D", "-e", "-f", folder / "sshd_config"]
        server = stack.enter_context(daemon(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log))
        wait_until(lambda: _answers(port), "sshd answers", [server], folder)
        yield Sshd(config, NAMES, port)


def _answers(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
            return connection.recv(4) == b"SSH-"
    except OSError:
        return False
