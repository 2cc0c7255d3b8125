"""`distmcts launch --on ssh`, through a real sshd with keys."""

import json
import os
import shlex
import sys
from contextlib import suppress

import psutil
import pytest

from tests.launch.launched import LONG_S, check_sum, launched, nothing_left, wait_for
from tests.support.command import ROOT, distmcts
from tests.support.daemons import free_ports
from tests.support.parts import why_no_sshd
from tests.support.sshd import MARK, start_sshd

pytestmark = [
    pytest.mark.xdist_group("launch-ssh"),
    pytest.mark.skipif(bool(why_no_sshd()), reason=why_no_sshd()),
]


@pytest.fixture(scope="module")
def sshd(tmp_path_factory):
    with start_sshd(tmp_path_factory.mktemp("sshd")) as sshd:
        yield sshd


def arguments(sshd, hosts: str = "[alpha, beta]") -> list[str]:
    python = f"PYTHONPATH={shlex.quote(str(ROOT))} {shlex.quote(sys.executable)}"  # the prefix goes to the remote shell as it is
    small = ["job.game=connect_four", "node.workers=1", "node.memory=64MiB", "--on", "ssh"]
    return [*small, f"ssh.hosts={hosts}", f"ssh.python={python}", f"ssh.options=['-F', '{sshd.config}']"]


def remote_nodes(sshd) -> list[psutil.Process]:
    """Also their workers. Everything that a login started has a mark in its environment."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.environ().get(MARK) == str(sshd.config.parent) and process.cmdline()[1:4] == ["-m", "distmcts", "node"]:
                found.append(process)
    return found


def test_two_machines_from_nothing_to_a_result(sshd, tmp_path):
    run = tmp_path / "run"
    done = distmcts("launch", *arguments(sshd), "job.seconds=2", "--json", "--out", str(run), timeout_s=LONG_S)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    check_sum(found)
    assert {node["name"]: node["state"] for node in found["cluster_nodes"]} == {"alpha": "finished", "beta": "finished"}
    assert {log.name for log in (run / "logs").iterdir()} == {"coordinator.log", "alpha.log", "beta.log"}
    assert "welcome at tcp://127.0.0.1:" in (run / "logs" / "beta.log").read_text()
    nothing_left(run)
    assert remote_nodes(sshd) == []


def test_a_killed_launcher_ends_the_remote_nodes(sshd, tmp_path):
    run = tmp_path / "run"
    launcher = launched(run, *arguments(sshd, "[alpha, alpha]"), "job.seconds=600")
    secret = json.loads((run / "invitation.json").read_text())["secret"]
    nodes = remote_nodes(sshd)
    commands = [" ".join(process.cmdline()) for process in nodes]
    assert any("--name alpha-2" in command for command in commands)  # a host that is listed twice
    for process in [*nodes, *psutil.Process(launcher.pid).children(recursive=True)]:
        assert secret not in " ".join(process.cmdline()) and secret not in str(process.environ())
    launcher.kill()
    launcher.communicate(timeout=LONG_S)
    wait_for(lambda: not remote_nodes(sshd), "remote nodes have ended", 30)
    nothing_left(run)


@pytest.mark.long
def test_through_a_tunnel(sshd, tmp_path):
    """For hosts that cannot reach this machine: they connect to themselves, and ssh carries it here."""
    here, there = free_ports(2)
    tunnel = f"ssh.options=['-F', '{sshd.config}', '-R', '{there}:127.0.0.1:{here}']"
    addresses = [f"ssh.bind=tcp://127.0.0.1:{here}", f"ssh.reach=tcp://127.0.0.1:{there}"]
    done = distmcts(
        *("launch", *arguments(sshd, "[alpha]"), tunnel, *addresses, "job.seconds=1", "--json", "--out", str(tmp_path / "run")),
        timeout_s=LONG_S,
    )
    assert done.returncode == 0, done.stderr
    check_sum(json.loads(done.stdout))
    assert f"tcp://127.0.0.1:{there}" in (tmp_path / "run" / "logs" / "alpha.log").read_text()


def test_hosts_that_do_not_let_us_in_are_named_at_once(sshd, tmp_path):
    refused = f"ssh.options=['-F', '{sshd.config}', '-o', 'IdentityFile=/dev/null', '-o', 'IdentitiesOnly=yes', '-o', 'Port=1']"
    done = distmcts("launch", *arguments(sshd), refused, "--out", str(tmp_path / "run"), timeout_s=60)
    assert done.returncode == 2
    assert "alpha: (exit code 255), its log: ssh: connect to host 127.0.0.1 port 1: Connection refused" in done.stderr


@pytest.mark.long
def test_a_host_that_does_not_let_us_in_is_left_out_and_named(sshd, tmp_path):
    """The other can still do it. This one is not in the configuration of ssh, which so has neither port nor key for it."""
    run = tmp_path / "run"
    hosts = arguments(sshd, "[alpha, 127.0.0.1]")
    done = distmcts("launch", *hosts, "job.seconds=1", "--json", "--out", str(run), timeout_s=LONG_S)
    assert done.returncode == 0, done.stderr
    assert [node["name"] for node in json.loads(done.stdout)["cluster_nodes"]] == ["alpha"]
    assert done.stderr.startswith("distmcts: node 127.0.0.1 has ended (exit code 255), its log: ")
    assert (run / "logs" / "127.0.0.1.log").read_text()


def test_a_dry_run_prints_what_would_run(sshd, tmp_path):
    done = distmcts("launch", *arguments(sshd, "['root@alpha', beta]"), "--dry-run", cwd=tmp_path, timeout_s=LONG_S)
    assert done.returncode == 0, done.stderr
    coordinator, alpha, beta = done.stdout.splitlines()
    assert "--bind 'tcp://*:*' --reach 'tcp://127.0.0.1:*'" in coordinator
    assert alpha.startswith(f"ssh -T -o BatchMode=yes -F {sshd.config} -- root@alpha ") and "--name alpha" in alpha
    assert "--name beta" in beta
    assert list(tmp_path.iterdir()) == []


def test_without_ssh_there_is_one_clear_line(tmp_path):
    folder = os.path.dirname(os.__file__)
    done = distmcts(
        "launch", "job.game=connect_four", "ssh.hosts=[alpha]", "--on", "ssh", cwd=tmp_path, timeout_s=60, PATH=folder
    )
    assert done.returncode == 2
    assert done.stderr.startswith("distmcts: there is no `ssh`") and done.stderr.count("\n") == 1
