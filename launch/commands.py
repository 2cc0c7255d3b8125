"""The commands that every launcher runs. A cluster node is started by the same command everywhere."""

from typing import NamedTuple

from launch.config import NodeOptions
from launch.run_folder import RunFolder


class NodeCommand(NamedTuple):
    """How one cluster node is started; its invitation goes down standard input, and the end of that ends it."""

    name: str
    arguments: list[str]


def node_arguments(name: str, options: NodeOptions, invitation: str = "-") -> list[str]:
    """What follows `python`. No key is among them: everybody on a machine can read arguments."""
    workers = [] if options.workers is None else ["--workers", str(options.workers)]
    memory = [] if options.memory is None else ["--memory", str(options.memory)]
    return ["-m", "distmcts", "node", "--invitation", invitation, "--name", name, *workers, *memory]


def coordinator_arguments(folder: RunFolder, bind: str, reach: str | None) -> list[str]:
    """What follows `python`. The folder of keys is there only if somebody made it; otherwise new keys are made."""
    files = ["--keys", str(folder.keys), "--invite", str(folder.invitation), "--recovery", str(folder.recovery)]
    return ["-m", "distmcts", "coordinator", "--bind", bind, *([] if reach is None else ["--reach", reach]), *files]


def different_names(wanted: list[str]) -> list[str]:
    """The same names, with -2, -3 and so on for repeated ones."""
    names: list[str] = []
    for name in wanted:
        candidates = (name, *(f"{name}-{number}" for number in range(2, len(wanted) + 2)))
        names.append(next(candidate for candidate in candidates if candidate not in names))
    return names
