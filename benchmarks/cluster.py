"""What merging costs a node, and how many nodes one coordinator can serve.

    python benchmarks/cluster.py [--game awale] [--seconds 6] [--rounds 3] [--nodes 10,50,200] [--json FILE]

1. Two real nodes on this machine, one worker each, search with every merge rule at the usual pace (3 reports a second) and with
   hardly any reports, in turns. The share of a node's time in which its search stood still for merging is what nodes measured;
   the ratio of rates within a round says what all of it costs, whatever it was spent on.
2. Simulated nodes, which send the reports of real searches and do not search, talk to a real coordinator by `share`. Its share of
   one core, and the time from a report to the answer with what the others know, by the number of nodes.
"""

import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import zmq
from script import options_of, write_json

from distmcts import Cluster, Engine, load_game
from distmcts.cluster.keys import Invitation, read_invitation
from distmcts.cluster.merging import MERGE_S, pack
from distmcts.cluster.messages import TO_NODES, Beat, Ending, Go, Hello, Others, Prepare, Reader, Ready, Report, Stop, write
from distmcts.cluster.order import make_order
from distmcts.cluster.rules import RULES
from distmcts.cluster.sockets import Connection
from distmcts.tree.share import Ledger, Statistic, own

HARDLY_S = 60.0  # between two reports: none before the last
TREES = 8  # real searches that reports are taken from
SIMULATIONS = 100_000


@contextmanager
def coordinator(folder: Path) -> Iterator[tuple[psutil.Popen, Path]]:
    """A real one, with its invitation."""
    invitation = folder / "invitation.json"
    command = [sys.executable, "-m", "distmcts", "coordinator", "--bind", "tcp://127.0.0.1:*", "--invite", str(invitation)]
    process = psutil.Popen(
        [*command, "--recovery", str(folder / "recovery.jsonl")], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        while not invitation.exists():
            time.sleep(0.05)
        yield process, invitation
    finally:
        process.terminate()
        process.wait(10)


# ---- 1. what it costs a node -----------------------------------------------------------------------------------------------


def measure_nodes(game: str, seconds: float, rounds: int) -> list[dict]:
    shares: dict[str, list[float]] = {rule: [] for rule in RULES}
    ratios: dict[str, list[float]] = {rule: [] for rule in RULES}
    order = random.Random(1)
    with tempfile.TemporaryDirectory() as name, coordinator(Path(name)) as (_, invitation):
        command = [sys.executable, "-m", "distmcts", "node", "--invitation", str(invitation), "--workers", "1"]
        nodes = [subprocess.Popen([*command, "--name", f"node{i}"], stderr=subprocess.DEVNULL) for i in range(2)]
        try:
            with Cluster(invitation) as cluster:
                while len(cluster.status().nodes) < len(nodes):
                    time.sleep(0.1)
                cluster.search(game, seconds=1, memory="1GiB")  # compiled, and caches warm
                for _ in range(rounds):
                    rates = {}
                    for rule in order.sample([*RULES, "hardly"], len(RULES) + 1):
                        how = {"merge_s": HARDLY_S} if rule == "hardly" else {"merge": rule}
                        result = cluster.search(game, seconds=seconds, memory="1GiB", **how)
                        rates[rule] = result.simulations / result.elapsed_s
                        if rule != "hardly":
                            shares[rule] += [node.merging_s / node.elapsed_s for node in result.cluster_nodes]
                    for rule in RULES:
                        ratios[rule].append(rates[rule] / rates["hardly"])
                cluster.shut_down()
        finally:
            for node in nodes:
                try:
                    node.wait(10)
                except subprocess.TimeoutExpired:
                    node.kill()
    return [
        {
            "rule": rule,
            "merging": statistics.median(shares[rule]),
            "most": max(shares[rule]),
            "rate": statistics.median(ratios[rule]),
        }
        for rule in RULES
    ]


# ---- 2. how many nodes one coordinator serves ---------------------------------------------------------------------------------


def real_reports(game: str) -> list[dict]:
    """What real nodes would tell after some searching."""
    found = []
    for seed in range(TREES):
        with Engine(game, parallel="serial", memory="256MiB", seed=seed) as engine:
            engine.run(simulations=SIMULATIONS)
            found.append(own(engine.trees[0], Ledger()))
    return found


class SimulatedNode:
    """Talks like a node. Its reports grow from one to the next, as real ones do."""

    def __init__(self, context: zmq.Context, invitation: Invitation, number: int, told: dict):
        self.name = f"node{number}"
        self.connection = Connection(context, invitation, self.name.encode())
        self.told = told
        self.job = ""
        self.state = "idle"
        self.sequence = 0
        self.due = time.monotonic() + number % 100 / 100 * MERGE_S  # not all at once
        self.beat_due = 0.0
        self.sent: dict[int, float] = {}
        self.latencies: list[float] = []
        self.connection.send(write(Hello(self.name, 1, 1, "simulated")))

    def report(self, ending: Ending | None = None) -> None:
        self.sequence += 1
        grown = {path: Statistic(each.visits * self.sequence, each.value_sum * self.sequence) for path, each in self.told.items()}
        self.sent[self.sequence] = time.monotonic()
        self.connection.send(write(Report(self.job, self.name, 1, self.sequence, pack(grown), {}, ending)))

    def take(self, message) -> None:
        match message:
            case Prepare():
                if self.state == "idle":
                    self.job, self.state = message.job, "ready"
                    self.connection.send(write(Ready(self.job)))
            case Go():
                self.state = "searching"
            case Others():
                if message.sequence in self.sent:
                    self.latencies.append(time.monotonic() - self.sent[message.sequence])
            case Stop():
                if self.state == "searching":
                    self.report(Ending("time", 1.0, 0, 0, 0, 0.0, []))
                self.state = "idle"

    def turn(self, now: float) -> None:
        if self.state == "searching" and now >= self.due:
            self.due = max(self.due + MERGE_S, now - MERGE_S)
            self.report()
        if now >= self.beat_due:
            self.beat_due = now + 0.5
            job = "" if self.state == "idle" else self.job
            self.connection.send(write(Beat(job, "", self.state, self.sequence, 0)))


def measure_coordinator(game: str, count: int, seconds: float, reports: list[dict]) -> dict:
    reader = Reader(TO_NODES)
    with tempfile.TemporaryDirectory() as name, coordinator(Path(name)) as (process, path):
        context = zmq.Context()
        invitation = read_invitation(path)
        nodes = [SimulatedNode(context, invitation, i, reports[i % len(reports)]) for i in range(count)]
        poller = zmq.Poller()
        by_socket = {node.connection.socket: node for node in nodes}
        for socket in by_socket:
            poller.register(socket, zmq.POLLIN)
        with Cluster(path) as client:
            search = make_order(game, seconds=seconds + 5, merge="share")

            def turn() -> None:
                for socket, _ in poller.poll(1):
                    while socket.poll(0):
                        by_socket[socket].take(reader.read(socket.recv_multipart()[-1]))
                now = time.monotonic()
                for node in nodes:
                    node.turn(now)

            end = time.monotonic() + 2  # all have joined
            while time.monotonic() < end:
                turn()
            client.submit(search, "bench")
            while sum(node.state == "searching" for node in nodes) < count:
                turn()
            end = time.monotonic() + 2  # the pace is steady
            while time.monotonic() < end:
                turn()
            for node in nodes:
                node.latencies.clear()
            before, start = process.cpu_times(), time.monotonic()
            while time.monotonic() < start + seconds:
                turn()
            after, took = process.cpu_times(), time.monotonic() - start
        latencies = sorted(latency for node in nodes for latency in node.latencies)
        for node in nodes:
            node.connection.close()
        context.term()
    return {
        "nodes": count,
        "merges_per_second": len(latencies) / took / count,
        "cpu": (after.user + after.system - before.user - before.system) / took,
        "latency_median_s": statistics.median(latencies),
        "latency_95_s": latencies[int(0.95 * len(latencies))],
    }


def main() -> None:
    parser = options_of(__doc__, rounds=3)
    parser.add_argument("--game", default="awale")
    parser.add_argument("--seconds", type=float, default=6.0)
    parser.add_argument("--nodes", default="10,50,200")
    arguments = parser.parse_args()
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # simulated nodes have sockets of their own
    print(f"{load_game(arguments.game)!r}, {arguments.seconds:g} s a search, {arguments.rounds} rounds")
    rules = measure_nodes(arguments.game, arguments.seconds, arguments.rounds)
    print(f"{'merge rule':<12}{'time merging':>14}{'the most':>10}{'rate, to hardly any reports':>30}")
    for row in rules:
        print(f"{row['rule']:<12}{row['merging']:>14.2%}{row['most']:>10.2%}{row['rate']:>29.3f}x")
    reports = real_reports(arguments.game)
    sizes = statistics.mean(len(told) for told in reports)
    print(f"\nsimulated nodes, share, {1 / MERGE_S:.0f} reports a second each of {sizes:.0f} tree nodes on the average")
    print(f"{'nodes':>6}{'merges a second':>18}{'of one core':>13}{'latency, median':>17}{'95 %':>10}")
    rows = []
    for count in map(int, arguments.nodes.split(",")):
        rows.append(row := measure_coordinator(arguments.game, count, arguments.seconds, reports))
        print(
            f"{count:>6}{row['merges_per_second']:>18.2f}{row['cpu']:>13.1%}"
            f"{row['latency_median_s'] * 1000:>14.1f} ms{row['latency_95_s'] * 1000:>7.1f} ms"
        )
    write_json(arguments, {"game": arguments.game, "rules": rules, "coordinator": rows})


if __name__ == "__main__":
    main()
