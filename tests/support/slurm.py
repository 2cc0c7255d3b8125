"""A real Slurm cluster on this machine: munged, slurmctld, and one slurmd for each cluster node, without accounting."""

import os
import re
import secrets
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import psutil

from tests.support.daemons import daemon, end_all, free_ports, program, wait_until

# cred_expire: a job that is requeued waits for the life of its credential, by default over 100 s.
# config_overrides: a cluster node may claim more than the hardware.
CONFIG = """\
ClusterName=proof
SlurmctldHost={hostname}(127.0.0.1)
SlurmctldPort={port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge/socket,cred_expire=5
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/log/slurmctld.log
SlurmdLogFile={folder}/log/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/builtin
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
PropagateResourceLimits=NONE
SlurmctldTimeout=30
SlurmdTimeout=30
InactiveLimit=0
KillWait=2
MinJobAge=30
{nodes}
PartitionName=main Nodes={names} Default=YES MaxTime=INFINITE State=UP
"""
NODE = "NodeName={name} NodeHostname={hostname} NodeAddr=127.0.0.1 Port={port} CPUs=2 RealMemory=4000 State=UNKNOWN"
ENDED = {"BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED", "TIMEOUT"}
LONGEST_SOCKET_NAME = 107  # bytes, a limit of the system


@dataclass
class Slurm:
    """Give `environment` to sbatch, srun and the rest, or let `run` do it. `slurmd` has the daemon of each cluster node."""

    environment: dict[str, str]
    slurmd: dict[str, subprocess.Popen] = field(default_factory=dict)

    def run(self, *arguments: str | Path, timeout_s: float = 60, **options) -> subprocess.CompletedProcess:
        """Run a command of Slurm to its end. Always bounded: without a controller srun waits for ever."""
        return subprocess.run(
            list(map(str, arguments)), env=self.environment, capture_output=True, text=True, timeout=timeout_s, **options
        )

    def wait_for_job(self, job_id: int | str, timeout_s: float) -> str:
        """Block until a job has ended; its last state, such as COMPLETED. Slurm forgets a job 30 s after its end."""
        deadline = time.monotonic() + timeout_s
        while True:
            shown = self.run("scontrol", "--oneliner", "show", "job", str(job_id))
            state = re.search(r"\bJobState=(\w+)", shown.stdout)
            if not state:
                raise RuntimeError(f"job {job_id} is not known: {shown.stdout}{shown.stderr}")
            if state[1] in ENDED:
                return state[1]
            if time.monotonic() > deadline:
                raise TimeoutError(f"after {timeout_s} s job {job_id} is {state[1]}: {shown.stdout}")
            time.sleep(0.1)


@contextmanager
def start_slurm(folder: Path, nodes: int = 2) -> Iterator[Slurm]:
    """Cluster nodes n1, n2, ... of 2 CPUs each, all idle. At exit whatever runs with this environment is ended, jobs included.

    Must be given a folder of its own.
    """
    folder = folder.resolve()
    for name in ("munge", "state", "spool", "log"):
        (folder / name).mkdir(parents=True)
    names = [f"n{number}" for number in range(1, nodes + 1)]
    config = _write_config(folder, names)
    # A test that itself runs in a Slurm job must not take that job for its own.
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("SLURM", "SBATCH_", "SRUN_"))}
    slurm = Slurm({**inherited, "SLURM_CONF": str(config)})

    with ExitStack() as stack:
        stack.callback(end_all, partial(_is_of_cluster, folder))
        output = stack.enter_context(open(folder / "log" / "output.log", "w"))
        started = []

        def start(*arguments: str | Path) -> subprocess.Popen:
            options = {"stdin": subprocess.DEVNULL, "stdout": output, "stderr": output, "env": slurm.environment}
            started.append(stack.enter_context(daemon(arguments, **options)))
            return started[-1]

        start(*_munged(folder / "munge"))
        wait_until((folder / "munge" / "socket").exists, "munged listens", started, folder / "log")
        start(program("slurmctld"), "-D", "-c")
        for name in names:
            slurm.slurmd[name] = start(program("slurmd"), "-D", "-N", name)

        def idle() -> bool:
            return slurm.run("sinfo", "--noheader", "--format=%t %D").stdout.split() == ["idle", str(nodes)]

        wait_until(idle, f"{nodes} cluster nodes are idle", started, folder / "log")
        yield slurm


def _write_config(folder: Path, names: list[str]) -> Path:
    hostname = socket.gethostname().split(".")[0]  # Slurm compares short names
    controller, *ports = free_ports(1 + len(names))
    rows = [NODE.format(name=name, hostname=hostname, port=port) for name, port in zip(names, ports, strict=True)]
    config = folder / "slurm.conf"
    values = {"folder": folder, "hostname": hostname, "port": controller, "nodes": "\n".join(rows), "names": ",".join(names)}
    config.write_text(CONFIG.format(**values))
    return config


def _is_of_cluster(folder: Path, process: psutil.Process) -> bool:
    """Jobs have the configuration in their environment; slurmstepd writes its title over its own, but has the log open."""
    if process.name() == "slurmstepd":
        return any(Path(file.path).is_relative_to(folder) for file in process.open_files())
    return process.environ().get("SLURM_CONF") == str(folder / "slurm.conf")


def _munged(folder: Path) -> list[str | Path]:
    """The command of the daemon that signs messages between the others; its key is made for the occasion."""
    if len(os.fsencode(folder / "socket")) > LONGEST_SOCKET_NAME:
        raise ValueError(f"{folder / 'socket'} is too long for the name of a socket; start_slurm needs a shorter folder")
    (folder / "key").touch(mode=0o600)
    (folder / "key").write_bytes(secrets.token_bytes(1024))
    files = {"key-file": "key", "socket": "socket", "pid-file": "pid", "log-file": "log", "seed-file": "seed"}
    places = [f"--{option}={folder / name}" for option, name in files.items()]
    return [program("munged"), "--force", "--foreground", "--num-threads=2", *places]
