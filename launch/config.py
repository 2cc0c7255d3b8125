"""What to launch, as the user asks for it: the job, and how cluster nodes are started. Keys, defaults, limits."""

import re
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from distmcts.cluster.order import Order, make_order
from distmcts.cluster.rules import CLUSTER_KEYS
from distmcts.cluster.sockets import check_address
from distmcts.configuration import Section, validated
from distmcts.errors import InputError
from distmcts.settings import MAX_WORKERS, check_keys, make_settings

HOST = re.compile(r"[A-Za-z0-9_.\[][A-Za-z0-9_.:@%\[\]-]*")  # never what ssh would take for an option

Way = Literal["local", "ssh", "slurm", "ray"]
Nodes = Annotated[int, Field(ge=1, le=10_000)]
Workers = Annotated[int, Field(ge=1, le=MAX_WORKERS)]
Line = Annotated[str, Field(pattern=r"^[^\n]*$")]


class NodeOptions(Section):
    """Of every cluster node."""

    workers: Workers | None = None
    memory: str | int | None = None

    @field_validator("memory")
    @classmethod
    def _size(cls, memory: str | int | None) -> str | int | None:
        make_settings(memory=memory)
        return memory


class Reachable(Section):
    """Where the coordinator listens on this machine, and by what address others reach it."""

    bind: str = "tcp://*:*"
    reach: str | None = None  # a port of * is the one that was bound

    @field_validator("bind", "reach")
    @classmethod
    def _address(cls, address: str | None) -> str | None:
        return address if address is None else check_address(address, binding=True)


class LocalOptions(Section):
    nodes: Nodes = 2


class SshOptions(Reachable):
    hosts: tuple[str, ...] = ()
    python: Line = "python3"  # goes to the remote shell as it is, which expands ~ and the like
    options: tuple[str, ...] = ()

    @field_validator("hosts")
    @classmethod
    def _hosts(cls, hosts: tuple[str, ...]) -> tuple[str, ...]:
        for host in hosts:
            if not HOST.fullmatch(host):
                raise InputError(f"ssh.hosts: {host!r} is not the name of a host, as in node1 or user@node1")
        return hosts


class SlurmOptions(Section):
    nodes: Nodes = 2
    time: Annotated[str, Field(pattern=r"^[0-9:-]+$")] = "01:00:00"
    partition: Line | None = None
    cpus_per_task: Workers | None = None  # none: whole machines
    sbatch: tuple[Line, ...] = ()
    setup: str = ""
    python: Line | None = None  # none: the one that launches
    port: Annotated[int, Field(ge=1, le=65535)] | None = None  # none: any that is free

    @field_validator("time", mode="before")
    @classmethod
    def _clock(cls, time: Any) -> Any:
        """Unquoted, YAML reads 01:00:00 as a number of seconds, and 90 is a number of minutes to Slurm."""
        if isinstance(time, int) and not isinstance(time, bool):
            raise InputError(f"slurm.time={time}: write it in quotes, as in '01:30:00' or '90' (minutes)")
        return time


class RayOptions(Reachable):
    address: str = "auto"  # of a Ray cluster; auto: the one this machine belongs to; local: a new one that ends with the run
    nodes: Nodes | None = None  # none: every machine of the cluster


class LaunchConfig(Section):
    """A launch: what to search, and on what. If the job is null, the cluster stays up, for others to use."""

    job: dict[str, Any] | None  # cannot be forgotten by accident: null must be written
    on: Way = "local"
    node: NodeOptions = NodeOptions()
    local: LocalOptions = LocalOptions()
    ssh: SshOptions = SshOptions()
    slurm: SlurmOptions = SlurmOptions()
    ray: RayOptions = RayOptions()

    @field_validator("job")
    @classmethod
    def _job(cls, job: dict[str, Any] | None) -> dict[str, Any] | None:
        if job is None:
            return None
        check_keys(job, CLUSTER_KEYS, place="job.", kind="key")
        if not job.get("game"):
            raise InputError("'job.game' is missing; `distmcts games` lists them")
        return job

    @property
    def name(self) -> str:
        """What a run is called."""
        return self.job["game"] if self.job else "cluster"

    def order(self) -> Order | None:
        """The search as it is ordered from the cluster. Loads the game, so everything that can be wrong is found here."""
        if self.job is None:
            return None
        options = {key: value for key, value in self.job.items() if value is not None}
        return make_order(options.pop("game"), options.pop("position", None), **options)


def make_config(given: dict[str, Any], source: str) -> LaunchConfig:
    """A configuration from what was given; raises InputError with one line that names the source and the key."""
    if True in given:  # YAML reads a bare `on` as true
        given = {"on" if key is True else key: value for key, value in given.items() if key is not True or "on" not in given}
    config = validated(LaunchConfig, given, source)
    if config.on == "ssh" and not config.ssh.hosts:
        raise InputError(f"{source}: 'ssh.hosts' is missing: the names of the machines, as in ssh.hosts='[node1, node2]'")
    return config
