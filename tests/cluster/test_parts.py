"""The parts of a cluster are what they claim to be: each is started, used as a test would use it, and leaves nothing behind."""

import os
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from tests.support.daemons import free_ports, program
from tests.support.hosts import INTERFACES, NAMESPACES, Host, start_hosts
from tests.support.parts import why_no_namespaces, why_no_ray, why_no_slurm, why_no_sshd, why_no_switch
from tests.support.slurm import start_slurm
from tests.support.sshd import start_sshd
from tests.support.switch import start_switch

ROOT = Path(__file__).parents[2]
LONG_S = 60  # for what takes no time on a machine that is not overloaded
PORT = 5000  # any will do on a host, where nobody else listens

needs_slurm = pytest.mark.skipif(bool(why_no_slurm()), reason=why_no_slurm())
needs_sshd = pytest.mark.skipif(bool(why_no_sshd()), reason=why_no_sshd())
needs_namespaces = pytest.mark.skipif(bool(why_no_namespaces()), reason=why_no_namespaces())
needs_switch = pytest.mark.skipif(bool(why_no_switch()), reason=why_no_switch())

KINDS = [
    pytest.param(start_hosts, marks=needs_namespaces, id="hosts"),
    pytest.param(start_switch, marks=needs_switch, id="switch"),
]

CONNECT = """
import socket, sys, time
deadline = time.monotonic() + float(sys.argv[3])
while (left_s := deadline - time.monotonic()) > 0:
    try:
        socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=left_s).close()
    except OSError:
        time.sleep(0.05)
    else:
        sys.exit(0)
sys.exit(1)
"""
LISTEN = "import socket, sys, time; server = socket.create_server(('', int(sys.argv[1]))); time.sleep(600)"
ROUND_TRIPS = """
import socket, sys, time
connection = socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=60)
for _ in range(5):
    start = time.monotonic()
    connection.sendall(b"x")
    assert connection.recv(1) == b"x"
    print(time.monotonic() - start)
"""
COUNT = """
import socket, sys, time
out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for number in range(int(sys.argv[3])):
    out.sendto(str(number).encode(), (sys.argv[1], int(sys.argv[2])))
    time.sleep(0.001)
"""
DIE_WITH_HOSTS = """
import os, signal, subprocess
from {start.__module__} import {start.__name__} as start
with start(1) as network:
    sleeper = network.host[0].popen(["sleep", "1000"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    print(network.name, sleeper.pid, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def python(code: str, *arguments: object) -> list[str]:
    return [sys.executable, "-c", code, *map(str, arguments)]


def reaches(host: Host, address: str, port: int, within_s: float) -> bool:
    return host.popen(python(CONNECT, address, port, within_s)).wait(within_s + LONG_S) == 0


def has_ended(pid: int) -> bool:
    """Ended, though its parent may not have asked yet how."""
    with suppress(psutil.NoSuchProcess):
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    return True


def left_of(network: str) -> list[str]:
    return [path.name for place in (NAMESPACES, INTERFACES) for path in place.glob(f"{network}*")]


@needs_sshd
def test_ssh_logs_in_by_both_names(tmp_path):
    with start_sshd(tmp_path / "ssh") as sshd:
        for name in ("alpha", "beta"):
            command = ["ssh", "-F", sshd.config, name, "echo hi; exit 3"]
            done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=LONG_S)
            assert (done.stdout, done.stderr, done.returncode) == ("hi\n", "", 3)


@needs_sshd
def test_a_login_leaves_nothing_behind(tmp_path):
    with start_sshd(tmp_path) as sshd:
        command = ["ssh", "-F", sshd.config, "alpha", "setsid sleep 1000 </dev/null >/dev/null 2>&1 & echo $!"]
        left = int(subprocess.run(command, capture_output=True, check=True, stdin=subprocess.DEVNULL, timeout=LONG_S).stdout)
        assert not has_ended(left)
        logged_in = subprocess.Popen(["ssh", "-F", sshd.config, "beta", "sleep 1000"], stdin=subprocess.DEVNULL)
    assert has_ended(left)
    assert logged_in.wait(LONG_S) == 255
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", sshd.port), timeout=LONG_S)


@needs_slurm
def test_slurm_runs_jobs_on_two_cluster_nodes(tmp_path):
    with start_slurm(tmp_path / "slurm") as slurm:
        done = slurm.run("srun", "-N2", "hostname")
        assert done.stdout.split() == [socket.gethostname()] * 2, done.stderr

        job = submit(slurm, tmp_path / "names", "srun -N2 -n4 printenv SLURMD_NODENAME", "-N2", "-n4")
        assert slurm.wait_for_job(job, LONG_S) == "COMPLETED"
        assert sorted((tmp_path / "names").read_text().split()) == ["n1", "n1", "n2", "n2"]

        job = submit(slurm, tmp_path / "failure", "exit 3")
        assert slurm.wait_for_job(job, LONG_S) == "FAILED"

        job = submit(slurm, tmp_path / "endless", "sleep 1000")
        with pytest.raises(TimeoutError, match="is (PENDING|RUNNING)"):
            slurm.wait_for_job(job, 0.5)
        slurm.run("scancel", job)
        assert slurm.wait_for_job(job, LONG_S) == "CANCELLED"
        with pytest.raises(RuntimeError, match="job 999 is not known"):
            slurm.wait_for_job(999, LONG_S)


@needs_slurm
def test_slurm_leaves_nothing_behind(tmp_path):
    with start_slurm(tmp_path / "slurm", nodes=1) as slurm:
        done = tmp_path / "pid"
        submit(slurm, tmp_path / "output", f"echo $$ >{done}.new; mv {done}.new {done}; sleep 1000")
        for _ in range(600):
            if done.exists():
                break
            time.sleep(0.1)
        job = int(done.read_text())
        assert not has_ended(job)
    assert has_ended(job)
    assert slurm.slurmd["n1"].poll() is not None
    assert [process.pid for process in psutil.process_iter() if uses(process, tmp_path)] == []


def submit(slurm, output: Path, script: str, *options: str) -> str:
    done = slurm.run("sbatch", "--parsable", f"--output={output}", *options, f"--wrap={script}")
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def uses(process: psutil.Process, folder: Path) -> bool:
    """Whether it has a file open there: slurmstepd hides its environment, but keeps its log."""
    with suppress(psutil.Error):
        return process.pid != os.getpid() and any(Path(file.path).is_relative_to(folder) for file in process.open_files())
    return False


@pytest.mark.parametrize("start", KINDS)
def test_links_are_cut_and_healed(start):
    with start(2) as network:
        assert len({network.address, *(host.address for host in network.host)}) == 3
        first, second = network.host
        sleeper = second.popen(["sleep", "1000"])
        second.popen(python(LISTEN, PORT))
        with socket.create_server((network.address, 0)) as server:
            here = (network.address, server.getsockname()[1])
            there = (second.address, PORT)
            assert reaches(first, *here, LONG_S)
            assert reaches(first, *there, LONG_S)
            first.cut()
            assert not reaches(first, *here, 1)
            assert not reaches(first, *there, 1)
            assert reaches(second, *here, LONG_S)  # only that one is cut off
            first.heal()
            assert reaches(first, *here, LONG_S)
            assert reaches(first, *there, LONG_S)
            second.cut()
            assert not reaches(first, *there, 1)
            second.heal()
            assert reaches(first, *there, LONG_S)
    assert sleeper.poll() is not None
    assert left_of(network.name) == []


@pytest.mark.long
@pytest.mark.parametrize("start", KINDS)
def test_two_networks_at_once_are_apart(start):
    with start(1) as one, start(1) as other:
        assert one.address != other.address
        with socket.create_server((other.address, 0)) as server:
            assert not reaches(one.host[0], *server.getsockname(), 1)
            assert reaches(other.host[0], *server.getsockname(), LONG_S)


@pytest.mark.parametrize("start", KINDS)
def test_a_failure_leaves_nothing_behind(start):
    with pytest.raises(ZeroDivisionError), start(1) as network:
        assert left_of(network.name) != []
        raise ZeroDivisionError
    assert left_of(network.name) == []
    with pytest.raises(ValueError, match="0 hosts"), start(0):
        pass


@pytest.mark.long
@pytest.mark.parametrize("start", KINDS)
def test_what_a_killed_test_left_is_removed_by_the_next(start):
    done = subprocess.run(python(DIE_WITH_HOSTS.format(start=start)), cwd=ROOT, capture_output=True, text=True, timeout=LONG_S)
    name, sleeper = done.stdout.split()
    with start(1):
        assert left_of(name) == []
        assert has_ended(int(sleeper))


@needs_switch
def test_the_switch_delays():
    with start_switch(1, delay_s=0.02) as network, socket.create_server((network.address, 0)) as server:
        server.settimeout(LONG_S)
        echo = threading.Thread(target=answer, args=[server])
        echo.start()
        client = network.host[0].popen(python(ROUND_TRIPS, *server.getsockname()), stdout=subprocess.PIPE, text=True)
        trips_s = [float(line) for line in client.communicate(timeout=LONG_S)[0].split()]
        echo.join(LONG_S)
    assert len(trips_s) == 5
    assert min(trips_s) >= 0.035


def answer(server: socket.socket) -> None:
    connection, _ = server.accept()
    with connection:
        connection.settimeout(LONG_S)
        while got := connection.recv(100):
            connection.sendall(got)


@needs_switch
def test_the_switch_loses_the_same_packets_for_the_same_seed():
    arrived = [arrivals(seed) for seed in (1, 1, 2)]
    assert all(60 <= len(numbers) <= 140 for numbers in arrived)
    assert arrived[0] == arrived[1] != arrived[2]


def arrivals(seed: int, packets: int = 200) -> list[int]:
    """Which of the first packets of a host came through, in their order."""
    with start_switch(1, loss=0.5, seed=seed) as network, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as here:
        here.bind((network.address, 0))
        here.settimeout(LONG_S)
        network.host[0].popen(python(COUNT, *here.getsockname(), packets + 40))
        numbers = [int(here.recv(100))]
        while numbers[-1] < packets:  # one of the last forty comes through, and says that the rest has come or is lost
            numbers.append(int(here.recv(100)))
    return numbers[:-1]


def test_reasons_say_what_is_missing_and_how_to_get_it(monkeypatch):
    monkeypatch.setattr("tests.support.parts.program", lambda name: None)
    for why, missing, remedy in [
        (why_no_slurm, "slurmctld", "apt-get install slurm-wlm munge"),
        (why_no_sshd, "sshd", "apt-get install openssh-server"),
        (why_no_namespaces, "ip", "apt-get install iproute2"),
    ]:
        assert missing in why.__wrapped__() and remedy in why.__wrapped__()
    monkeypatch.setattr("tests.support.parts.program", program)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert "root" in why_no_sshd.__wrapped__() or not program("sshd")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert "distmcts[ray]" in why_no_ray.__wrapped__()


def test_free_ports_are_different_and_free():
    ports = free_ports(20)
    assert len(set(ports)) == 20
    for port in ports:
        socket.create_server(("127.0.0.1", port)).close()
