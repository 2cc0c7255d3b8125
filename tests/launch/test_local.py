"""`distmcts launch` on this machine: from nothing to a result, and out again at any time."""

import json
import os
import signal
import stat
from pathlib import Path

import psutil
import pytest

from distmcts.result import Result
from launch.run_folder import RunFolder
from tests.launch.launched import (
    LONG_S,
    SMALL,
    check_sum,
    entries,
    is_searching,
    launched,
    nothing_left,
    processes_of,
    wait_for,
)
from tests.support.command import ROOT, distmcts, start

pytestmark = pytest.mark.xdist_group("launch-local")  # one after the other: each has processes for all cores
TEMPLATE = ROOT / "configs" / "cluster_local.yaml"


def test_from_nothing_to_a_merged_result(tmp_path):
    done = distmcts("launch", str(TEMPLATE), "job.seconds=1", "--json", cwd=tmp_path, timeout_s=LONG_S)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    check_sum(found)
    assert {node["name"]: node["state"] for node in found["cluster_nodes"]} == {"node-1": "finished", "node-2": "finished"}
    (run,) = (tmp_path / "runs").iterdir()
    assert run.name.startswith("awale-") and found["run"] == str(run)
    written = json.loads((run / "result.json").read_text())
    assert written == {key: value for key, value in found.items() if key != "run"}
    assert {log.name for log in (run / "logs").iterdir()} == {"coordinator.log", "node-1.log", "node-2.log"}
    nothing_left(run)
    assert sorted(path.name for path in run.iterdir()) == ["config.yaml", "logs", "recovery.jsonl", "result.json"]
    # Looked at again, it is the same result, as a table.
    again = distmcts("launch", "--resume", str(run), timeout_s=LONG_S)
    assert again.returncode == 0 and "has finished already" in again.stderr
    assert f"{found['simulations']:,} simulations" in again.stdout and "node-2" in again.stdout


@pytest.mark.parametrize(
    "number, code",
    [
        pytest.param(signal.SIGINT, 130, id="ctrl-c"),
        pytest.param(signal.SIGTERM, 143, id="sigterm", marks=pytest.mark.long),
    ],
)
def test_stopped_it_leaves_nothing_running_and_goes_on_later(tmp_path, number, code):
    run = tmp_path / "run"
    launcher = launched(run, *SMALL, "job.seconds=6")
    assert stat.S_IMODE((run / "invitation.json").stat().st_mode) == 0o600
    check_no_secrets(run)
    launcher.send_signal(number)
    out, err = launcher.communicate(timeout=LONG_S)
    assert launcher.returncode == code, err
    assert out == ""
    assert err.splitlines() == [f"distmcts: stopped; resume with: distmcts launch --resume {run}"]
    nothing_left(run)
    assert not (run / "invitation.json").exists() and not (run / "result.json").exists()
    (checkpoint,) = entries(run, "suspended")
    assert 0 < checkpoint["seconds_left"] < 6

    done = distmcts("launch", "--resume", str(run), "--json", timeout_s=LONG_S)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    check_sum(found)
    assert 5.5 < found["elapsed_s"] < 10
    assert len(found["cluster_nodes"]) == 4  # two before, two after
    nothing_left(run)


def check_no_secrets(run: Path) -> None:
    """Keys are in no argument and no log."""
    secret = json.loads((run / "invitation.json").read_text())["secret"]
    assert len(secret) == 40
    for process in processes_of(run):
        assert secret not in " ".join(process.cmdline())
    for log in (run / "logs").iterdir():
        assert secret not in log.read_text()


def test_a_killed_launcher_takes_everything_with_it(tmp_path):
    run = tmp_path / "run"
    launcher = launched(run, *SMALL, "job.seconds=60")
    launcher.kill()
    launcher.communicate(timeout=LONG_S)
    nothing_left(run)
    assert entries(run, "suspended")  # even then there is a checkpoint


def test_a_killed_node_is_named_in_the_result(tmp_path):
    run = tmp_path / "run"
    launcher = launched(run, *SMALL, "job.seconds=5", "--json")
    (victim,) = [child for child in psutil.Process(launcher.pid).children() if "node-1" in child.cmdline()]
    os.kill(victim.pid, signal.SIGKILL)
    out, err = launcher.communicate(timeout=LONG_S)
    assert launcher.returncode == 0, err
    found = json.loads(out)
    check_sum(found)
    states = {node["name"]: node["state"] for node in found["cluster_nodes"]}
    assert states["node-1"].startswith("lost") and states["node-2"] == "finished"
    assert err.startswith("distmcts: node node-1 has ended (killed by signal 9), its log: ") and err.count("\n") == 1
    nothing_left(run)


@pytest.mark.long
def test_all_nodes_dead_is_said_at_once(tmp_path):
    run = tmp_path / "run"
    launcher = launched(run, *SMALL, "job.seconds=600")
    for child in psutil.Process(launcher.pid).children():
        if "node" in child.cmdline():
            child.kill()
    _, err = launcher.communicate(timeout=30)
    assert launcher.returncode == 2
    stopped, why = err.splitlines()[-2:]
    assert "--resume" in stopped
    assert why.startswith("distmcts: all nodes have ended: node-1: ")
    nothing_left(run)


def test_nodes_that_cannot_start_are_not_waited_for(tmp_path):
    """Here the coordinator is there, and no node can get to its game."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "ssh").write_text(
        "#!/bin/sh\ncase $* in *-G*) echo hostname 127.0.0.1;; *) echo no such host >&2; exit 255;; esac\n"
    )
    (tmp_path / "bin" / "ssh").chmod(0o755)
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    arguments = ("launch", *SMALL, "ssh.hosts=[alpha, beta]", "--on", "ssh", "--out", "run")
    done = distmcts(*arguments, cwd=tmp_path, timeout_s=30, PATH=path)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == "distmcts: all nodes have ended: " + "; ".join(
        f"{name}: (exit code 255), its log: no such host" for name in ("alpha", "beta")
    )
    nothing_left(tmp_path / "run")


@pytest.mark.long
def test_a_coordinator_that_dies_is_said(tmp_path):
    run = tmp_path / "run"
    launcher = launched(run, *SMALL, "job.seconds=600")
    (coordinator,) = [child for child in psutil.Process(launcher.pid).children() if "coordinator" in child.cmdline()]
    coordinator.kill()
    _, err = launcher.communicate(timeout=60)
    assert launcher.returncode == 2
    assert "the coordinator has ended (killed by signal 9), its log: " in err and "--resume" in err
    nothing_left(run)


def test_a_run_is_never_written_over(tmp_path):
    run = tmp_path / "run"
    done = distmcts("launch", *SMALL, "job.seconds=0.3", "--out", str(run), timeout_s=LONG_S)
    assert done.returncode == 0, done.stderr
    before = (run / "result.json").read_bytes()
    done = distmcts("launch", *SMALL, "job.seconds=0.3", "--out", str(run), timeout_s=LONG_S)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1 and f"--resume {run}" in done.stderr
    assert (run / "result.json").read_bytes() == before


@pytest.mark.long
def test_two_at_once_are_refused(tmp_path):
    run = tmp_path / "run"
    launcher = launched(run, *SMALL, "job.seconds=60")
    second = distmcts("launch", "--resume", str(run), timeout_s=LONG_S)
    assert second.returncode == 2
    assert "another process is working on this run" in second.stderr
    assert is_searching(run) and launcher.poll() is None
    done = distmcts("status", str(run), "--json", timeout_s=LONG_S)  # the one that runs is not disturbed
    assert done.returncode == 0, done.stderr
    assert {node["name"] for node in json.loads(done.stdout)["nodes"]} == {"node-1", "node-2"}
    launcher.terminate()
    launcher.communicate(timeout=LONG_S)
    nothing_left(run)


def test_a_dry_run_makes_nothing(tmp_path):
    done = distmcts("launch", str(TEMPLATE), "node.memory=1GiB", "--dry-run", cwd=tmp_path, timeout_s=LONG_S)
    assert done.returncode == 0, done.stderr
    coordinator, *nodes = done.stdout.splitlines()
    assert "-m distmcts coordinator --bind 'tcp://127.0.0.1:*'" in coordinator
    assert len(nodes) == 2
    assert "-m distmcts node --invitation - --name node-2 --workers" in nodes[1] and "--memory 1GiB" in nodes[1]
    assert list(tmp_path.iterdir()) == []


def test_a_job_that_fails_says_why(tmp_path):
    """A node refuses what cannot be had there: here more memory than any machine has."""
    done = distmcts("launch", "job.game=connect_four", "job.seconds=1", "node.memory=900TiB", "--out", "run", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    nothing_left(tmp_path / "run")


def test_wait_for_says_what_it_waited_for():
    with pytest.raises(AssertionError, match="the moon"):
        wait_for(lambda: False, "the moon", 0.1)


def test_a_cluster_that_stays(tmp_path):
    """Without a job it is there for others, until it is ended; nothing is left then."""
    run = tmp_path / "run"
    launcher = start("launch", "job=null", "node.workers=1", "node.memory=64MiB", "--out", str(run), cwd=tmp_path)
    assert launcher.stdout.readline() == f"the cluster is up; use it with: --cluster {run}; Ctrl-C ends it\n"
    for _ in range(2):
        answer = distmcts("search", "tic_tac_toe", "--simulations", "3000", "--cluster", str(run), "--json")
        assert json.loads(answer.stdout)["simulations"] == 3000, answer.stderr
    launcher.send_signal(signal.SIGINT)
    _, err = launcher.communicate(timeout=LONG_S)
    assert (launcher.returncode, err) == (130, f"distmcts: stopped; start it again with: distmcts launch --resume {run}\n")
    nothing_left(run)


def test_a_full_disk_does_not_cost_the_result(tmp_path):
    folder = RunFolder(tmp_path)
    folder.result.mkdir()  # cannot be replaced by a file
    result = Result("game()", 0, None, 0.0, (), 1, 1.0, "test", 1, 1, 0, 0.0, {})
    with pytest.warns(UserWarning, match="result.json: could not be written: Is a directory"):
        folder.write_result(result)
    assert [path.name for path in tmp_path.iterdir()] == ["result.json"]
