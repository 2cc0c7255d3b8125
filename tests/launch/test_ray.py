"""`distmcts launch --on ray`, on a real Ray cluster of two machines, both of them this one."""

import json
import os
import subprocess
import sys
from contextlib import suppress

import psutil
import pytest

from tests.launch.launched import LONG_S, check_sum, launched, nothing_left, wait_for
from tests.support.command import ROOT, distmcts
from tests.support.parts import why_no_ray

pytestmark = pytest.mark.xdist_group("launch-ray")
needs_ray = pytest.mark.skipif(bool(why_no_ray()), reason=why_no_ray())
MARK = "DISTMCTS_TEST_RAY"  # in the environment of all that this Ray starts
SMALL = ("job.game=connect_four", "node.workers=1", "node.memory=64MiB", "--on", "ray")

# In a process of its own: Ray starts threads and takes signals, and pytest should have neither.
CLUSTER = """
import sys
from ray.cluster_utils import Cluster
small = {"num_cpus": 1, "object_store_memory": 80 << 20, "include_dashboard": False}
cluster = Cluster(initialize_head=True, head_node_args=small)
try:
    cluster.add_node(num_cpus=1, object_store_memory=80 << 20)
    print(cluster.address, flush=True)
    sys.stdin.read()
finally:
    cluster.shutdown()
"""


@pytest.fixture(scope="module")
def address():
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "RAY_USAGE_STATS_ENABLED": "0", MARK: str(os.getpid())}
    options = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", CLUSTER], env=environment, **options) as cluster:
        started = []
        try:
            address = cluster.stdout.readline().strip()
            assert address, cluster.communicate(timeout=LONG_S)[1]
            started = psutil.Process(cluster.pid).children(recursive=True)
            yield address
        finally:
            cluster.stdin.close()
            try:
                cluster.wait(60)
            except subprocess.TimeoutExpired:
                cluster.kill()
            for process in psutil.wait_procs(started, 10)[1]:
                process.kill()


def nodes() -> list[psutil.Process]:
    """Nodes, and their workers, on the machines of this Ray."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.environ().get(MARK) == str(os.getpid()) and process.cmdline()[1:4] == ["-m", "distmcts", "node"]:
                found.append(process)
    return found


@needs_ray
def test_two_machines_from_nothing_to_a_result(address, tmp_path):
    run = tmp_path / "run"
    arguments = (*SMALL, f"ray.address={address}", "ray.reach=tcp://127.0.0.1:*", "job.seconds=2", "--json", "--out", str(run))
    done = distmcts("launch", *arguments, timeout_s=LONG_S)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    check_sum(found)
    assert [node["state"] for node in found["cluster_nodes"]] == ["finished", "finished"]
    names = {node["name"] for node in found["cluster_nodes"]}
    assert len(names) == 2
    assert {log.name for log in (run / "logs").iterdir()} == {"coordinator.log", *(f"{name}.log" for name in names)}
    for name in names:  # what a node said on its machine has come here
        assert "sent home" in (run / "logs" / f"{name}.log").read_text()
    nothing_left(run)
    assert nodes() == []


@needs_ray
def test_a_killed_launcher_ends_the_nodes(address, tmp_path):
    run = tmp_path / "run"
    launcher = launched(run, *SMALL, f"ray.address={address}", "ray.reach=tcp://127.0.0.1:*", "job.seconds=600")
    assert nodes()
    launcher.kill()
    launcher.communicate(timeout=LONG_S)
    wait_for(lambda: not nodes(), "nodes on Ray's machines have ended", 60)
    nothing_left(run)


@needs_ray
def test_more_machines_than_there_are(address, tmp_path):
    arguments = (*SMALL, f"ray.address={address}", "ray.nodes=3", "--out", str(tmp_path / "run"))
    done = distmcts("launch", *arguments, timeout_s=LONG_S)
    assert done.returncode == 2
    assert done.stderr == "distmcts: Ray has 2 machines that could take a node; 3 are wanted\n"


@needs_ray
def test_no_ray_cluster_there(tmp_path):
    done = distmcts("launch", *SMALL, "ray.address=127.0.0.1:1", "--out", str(tmp_path / "run"), timeout_s=LONG_S)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("distmcts: cannot join the Ray cluster '127.0.0.1:1': ")
    assert "Traceback" not in done.stderr


@needs_ray
def test_a_dry_run_starts_nothing(tmp_path):
    done = distmcts("launch", str(ROOT / "configs" / "cluster_ray.yaml"), "--dry-run", cwd=tmp_path, timeout_s=LONG_S)
    assert done.returncode == 0, done.stderr
    assert "-m distmcts coordinator" in done.stdout and "-m distmcts node --invitation - " in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_without_ray_there_is_one_clear_line(tmp_path):
    (tmp_path / "ray.py").write_text("raise ImportError('No module named ray')\n")
    done = distmcts("launch", *SMALL, "--dry-run", cwd=tmp_path, timeout_s=LONG_S, PYTHONPATH=f"{tmp_path}:{ROOT}")
    assert done.returncode == 2
    assert done.stderr == "distmcts: ray cannot be imported (No module named ray): pip install 'distmcts[ray]'\n"
