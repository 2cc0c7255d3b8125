"""`distmcts launch --on slurm`, under a real Slurm: a job from nothing to a result, and through what happens to jobs."""

import json
import os
import re
import subprocess

import pytest

from tests.launch.launched import LONG_S, check_sum, entries, is_searching, nothing_left, processes_of, wait_for
from tests.support.command import ROOT, distmcts
from tests.support.parts import why_no_slurm
from tests.support.slurm import start_slurm

pytestmark = [
    pytest.mark.xdist_group("launch-slurm"),
    pytest.mark.skipif(bool(why_no_slurm()), reason=why_no_slurm()),
]
SMALL = ("job.game=connect_four", "node.workers=1", "node.memory=64MiB", "--on", "slurm")


@pytest.fixture(scope="module")
def slurm(tmp_path_factory):
    with start_slurm(tmp_path_factory.mktemp("slurm")) as slurm:
        yield slurm


def launch(slurm, *arguments: str, **options) -> subprocess.CompletedProcess:
    return distmcts("launch", *arguments, **{"timeout_s": LONG_S, **slurm.environment, **options})


def submitted(slurm, run, *arguments: str) -> str:
    """The id of a job that is searching."""
    done = launch(slurm, *SMALL, "--out", str(run), "--json", *arguments)
    assert done.returncode == 0, done.stderr
    job = json.loads(done.stdout)["slurm_job"]
    wait_for(lambda: is_searching(run), "the search has begun")
    return job


def test_two_machines_from_nothing_to_a_result(slurm, tmp_path):
    run = tmp_path / "run"
    done = launch(slurm, *SMALL, "job.seconds=2", "--follow", "--json", "--out", str(run))
    assert done.returncode == 0, done.stderr + (run / "logs" / "slurm.log").read_text()
    found = json.loads(done.stdout)
    check_sum(found)
    assert {node["name"]: node["state"] for node in found["cluster_nodes"]} == {"n1": "finished", "n2": "finished"}
    assert re.search(r"job \d+: (PENDING|RUNNING)", done.stderr)
    job = (run / "slurm_job_id").read_text().strip()
    assert slurm.wait_for_job(job, LONG_S) == "COMPLETED"
    nothing_left(run)
    assert {log.name for log in (run / "logs").iterdir()} == {
        "slurm.log",
        "srun.log",
        "coordinator.log",
        "n1.log",
        "n2.log",
    }
    assert "2 nodes with 2 workers" in (run / "logs" / "slurm.log").read_text()
    assert not (run / "invitation.json").exists()


def test_a_checkpoint_then_it_goes_on(slurm, tmp_path):
    run = tmp_path / "run"
    job = submitted(slurm, run, "job.seconds=6")
    done = distmcts("status", str(run), "--json", timeout_s=LONG_S)
    assert done.returncode == 0, done.stderr
    assert {node["name"] for node in json.loads(done.stdout)["nodes"]} == {"n1", "n2"}

    slurm.run("scancel", "--signal=USR1", "--batch", job)
    wait_for(lambda: entries(run, "suspended"), "a checkpoint")
    done = launch(slurm, "--resume", str(run), "--follow", "--json")  # does not hand it in again, only waits
    assert done.returncode == 0, done.stderr
    assert (run / "slurm_job_id").read_text().strip() == job
    found = json.loads(done.stdout)
    check_sum(found)
    assert 5.5 < found["elapsed_s"] < 10
    before = [node for node in found["cluster_nodes"] if node["state"] != "finished"]
    after = [node for node in found["cluster_nodes"] if node["state"] == "finished"]
    assert {node["name"] for node in before} == {node["name"] for node in after} == {"n1", "n2"}
    assert all(node["simulations"] > 0 for node in found["cluster_nodes"])
    assert slurm.wait_for_job(job, LONG_S) == "COMPLETED"
    nothing_left(run)


def test_the_others_go_on_when_a_node_dies(slurm, tmp_path):
    run = tmp_path / "run"
    job = submitted(slurm, run, "job.seconds=5")
    nodes = [process for process in processes_of(run) if process.cmdline()[3:4] == ["node"] and "n2" in process.cmdline()]
    for process in nodes:  # and its worker
        process.kill()
    assert nodes
    done = launch(slurm, "--resume", str(run), "--follow", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    check_sum(found)
    states = {node["name"]: node["state"] for node in found["cluster_nodes"]}
    assert states["n1"] == "finished" and states["n2"].startswith("lost")
    assert slurm.wait_for_job(job, LONG_S) == "COMPLETED"


@pytest.mark.long
def test_requeued_by_somebody_else_it_goes_on(slurm, tmp_path):
    run = tmp_path / "run"
    job = submitted(slurm, run, "job.seconds=6")
    assert slurm.run("scontrol", "requeue", job).returncode == 0
    done = launch(slurm, "--resume", str(run), "--follow", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    check_sum(found)
    assert entries(run, "suspended")  # the time it stood in the queue is not searched time
    assert 5.5 < found["elapsed_s"] < 10
    assert len(found["cluster_nodes"]) == 4
    assert slurm.wait_for_job(job, LONG_S) == "COMPLETED"


@pytest.mark.long
def test_cancelled_it_says_so_and_can_be_gone_on_with(slurm, tmp_path):
    run = tmp_path / "run"
    job = submitted(slurm, run, "job.seconds=4")
    slurm.run("scancel", job)
    assert slurm.wait_for_job(job, LONG_S) == "CANCELLED"
    nothing_left(run)
    assert entries(run, "suspended")
    done = launch(slurm, "--resume", str(run), "--follow", "--json")
    assert done.returncode == 0, done.stderr
    check_sum(json.loads(done.stdout))
    assert (run / "slurm_job_id").read_text().strip() != job


def test_a_job_that_cannot_be_done_says_why(slurm, tmp_path):
    arguments = ("job.game=connect_four", "node.memory=900TiB", "--on", "slurm", "--follow", "--out", str(tmp_path / "run"))
    done = launch(slurm, *arguments)
    assert done.returncode == 2
    last = done.stderr.splitlines()[-1]
    assert "has ended (FAILED) without a result" in last and "memory" in last


def test_what_slurm_refuses_is_said_in_one_line(slurm, tmp_path):
    done = launch(slurm, *SMALL, "slurm.partition=moon", "--out", str(tmp_path / "run"))
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1 and "invalid partition" in done.stderr


def test_a_dry_run_prints_the_script_and_makes_nothing(tmp_path):
    done = distmcts("launch", str(ROOT / "configs" / "cluster_slurm.yaml"), "--dry-run", cwd=tmp_path, timeout_s=LONG_S)
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.iterdir()) == []
    name, rest = done.stdout.split("\n", 1)
    script, _, command = rest.rstrip().rpartition("\n\n")
    assert name.endswith("/job.sh") and command == f"sbatch --parsable {name.removeprefix('# ')}"
    assert script.startswith("#!/bin/bash") and "#SBATCH --requeue" in script and "srun " in script
    checked = subprocess.run(["bash", "-n"], input=script, capture_output=True, text=True, timeout=LONG_S)
    assert checked.returncode == 0, checked.stderr


def test_without_slurm_there_is_one_clear_line(tmp_path):
    done = distmcts("launch", *SMALL, "--out", "run", cwd=tmp_path, timeout_s=LONG_S, PATH=os.path.dirname(os.__file__))
    assert done.returncode == 2
    assert done.stderr.startswith("distmcts: there is no `sbatch` on this machine") and done.stderr.count("\n") == 1
