"""Cluster nodes as processes on this machine: to try things out, and for tests. One node with all cores would search better."""

import os
import shlex
import sys
from collections.abc import Sequence

from launch.commands import NodeCommand, node_arguments
from launch.config import LaunchConfig
from launch.processes import Process
from launch.run_folder import RunFolder


class Children:
    """Nodes that are child processes of ours, or whose ssh is."""

    commands: list[NodeCommand]

    def preview(self) -> list[str]:
        return [f"{shlex.join(command.arguments)}  # the invitation on standard input" for command in self.commands]

    def start(self, folder: RunFolder, invitation: str) -> Sequence[Process]:
        return start_all(self.commands, folder, invitation)

    def close(self) -> None:
        pass


class Local(Children):
    """The cores are divided among the nodes, unless a number of workers is given."""

    bind = "tcp://127.0.0.1:*"
    reach = None

    def __init__(self, config: LaunchConfig):
        count = config.local.nodes
        share = max(1, len(os.sched_getaffinity(0)) // count)
        options = config.node.model_copy(update={"workers": config.node.workers or share})
        names = [f"node-{number}" for number in range(1, count + 1)]
        self.commands = [NodeCommand(name, [sys.executable, *node_arguments(name, options)]) for name in names]


def start_all(commands: list[NodeCommand], folder: RunFolder, invitation: str) -> list[Process]:
    """Start nodes as children, each with the invitation on its standard input; if one cannot be started, none is left."""
    started: list[Process] = []
    try:
        for name, arguments in commands:
            started.append(Process(name, arguments, folder.log(name), line=invitation))
    except BaseException:
        for process in started:
            process.end(0.0)
        raise
    return started
