"""Why a part of a cluster cannot be had here: what is missing and how to get it, or "" if nothing is.

For marks: `pytest.mark.skipif(bool(why_no_slurm()), reason=why_no_slurm())`.
"""

import functools
import importlib.util
import os
import subprocess

from tests.support.daemons import program
from tests.support.switch import TUN

SLURM = ("munged", "slurmctld", "slurmd", "sinfo", "squeue", "srun", "sbatch", "scancel", "scontrol")


@functools.cache
def why_no_slurm() -> str:
    return _why_not("Slurm", SLURM, "slurm-wlm munge")


@functools.cache
def why_no_sshd() -> str:
    return _why_not("sshd", ("sshd", "ssh", "ssh-keygen"), "openssh-server openssh-client")


@functools.cache
def why_no_namespaces() -> str:
    """It tries, in a namespace that ends with the trial: containers often forbid it, even to root."""
    why = _why_not("network namespaces", ("ip", "ss", "nsenter", "unshare"), "iproute2 util-linux")
    if why:
        return why
    trial = "ip link add name first type bridge && ip link add name second type veth peer name third"
    command = [program("unshare"), "--net", "--mount", "sh", "-c", trial]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    if done.returncode:
        needed = "needs a kernel with veth and bridge, and in a container --privileged"
        return f"network namespaces are not permitted here ({done.stderr.strip()}): {needed}"
    return ""


@functools.cache
def why_no_switch() -> str:
    if why := why_no_namespaces():
        return why
    try:
        os.close(os.open(TUN, os.O_RDWR))
    except OSError as error:
        return f"{TUN} cannot be opened ({error.strerror}): needs a kernel with tun, and in a container --device={TUN}"
    return ""


@functools.cache
def why_no_ray() -> str:
    return "" if importlib.util.find_spec("ray") else "the Python package ray is not installed: pip install 'distmcts[ray]'"


def _why_not(part: str, programs: tuple[str, ...], packages: str) -> str:
    missing = [name for name in (*programs, "setpriv") if not program(name)]
    if missing:
        return f"{part} needs {', '.join(missing)}: as root on Debian, apt-get install {packages}; .ci/run does"
    if os.geteuid():
        return f"{part} needs root: run the tests as root, or in a container that is"
    return ""
