"""The shared memory of an engine: sizes, cache lines, and that nothing is left behind, however its owner ends."""

import gc
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest

from distmcts import Engine
from distmcts.errors import InputError
from distmcts.tree import segment
from distmcts.tree.segment import LINE, NAMES, Segment, parse_bytes, show_bytes

ROOT = Path(__file__).parents[2]
SMALL = {"game": "tic_tac_toe", "workers": 2, "memory": "1MiB"}
NO_PROCESS = (1 << 22) + 1  # Linux never gives a number so high

# A plain program that uses the library and handles no signals. It says who its workers are, then searches or waits.
PROGRAM = """
import signal, sys, time, distmcts
signal.signal(signal.SIGINT, signal.default_int_handler)  # who starts tests in the background has Ctrl-C ignored
backing, action = sys.argv[1:]
with distmcts.Engine("tic_tac_toe", workers=2, memory="1MiB", backing=backing) as engine:
    print(*engine.worker_pids(), flush=True)
    engine.search(seconds=60) if action == "search" else time.sleep(60)
"""

needs_names = pytest.mark.skipif(not NAMES.is_dir(), reason="this system has no /dev/shm, where named segments live")


def names(pid: int) -> list[str]:
    """The named segments of a process."""
    return [path.name for path in NAMES.glob(f"distmcts-{pid}-*")]


def becomes_true(condition: Callable[[], bool], seconds: float = 5.0) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def has_ended(process: psutil.Process) -> bool:
    """Gone, or waiting to be buried by whoever inherits the children of the dead."""
    try:
        return process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


@contextmanager
def another_program(backing: str, action: str) -> Iterator[tuple[subprocess.Popen, list[psutil.Process]]]:
    """PROGRAM as it runs, and its workers."""
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, backing, action],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    workers: list[psutil.Process] = []
    try:
        line = process.stdout.readline()
        assert line, process.stderr.read()
        workers = [psutil.Process(int(pid)) for pid in line.split()]
        if action == "search":
            assert becomes_true(lambda: min(worker.cpu_times().user for worker in workers) > 0.1, seconds=30)
        yield process, workers
    finally:
        process.kill()
        process.wait()
        becomes_true(lambda: all(map(has_ended, workers)))  # they remove the name, if they are given the time
        for worker in workers:
            with suppress(psutil.NoSuchProcess):
                worker.kill()
        process.communicate()  # ends when the last worker has let go of the pipes


# ---- sizes ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, size",
    [
        (123, 123),
        ("0", 0),
        ("7", 7),
        ("64b", 64),
        ("3KiB", 3 << 10),
        ("512MiB", 512 << 20),
        ("2GiB", 2 << 30),
        ("1.5gib", 3 << 29),
        ("10 kb", 10_000),
        ("5MB", 5_000_000),
        (" 1.5 GB ", 1_500_000_000),
    ],
)
def test_parse_bytes(text, size):
    assert parse_bytes(text) == size


@pytest.mark.parametrize(
    "text", ["", "MiB", "-1", "-1MiB", "1e9", "1,5GB", "5 potatoes", "1 GiB 2", "nan", "0x10", None, True, [1]]
)
def test_not_a_size(text):
    with pytest.raises(InputError, match="is not a size; write for example 512MiB or 2GiB"):
        parse_bytes(text)


def test_show_bytes():
    sizes = [0, 1023, 1024, 3 << 19, 2 << 30, 5 << 40]
    assert [show_bytes(size) for size in sizes] == ["0 B", "1023 B", "1.0 KiB", "1.5 MiB", "2.0 GiB", "5120.0 GiB"]


# ---- arrays -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("backing", ["memfd", "named", "private"])
def test_arrays_are_zero_apart_and_on_cache_lines(backing):
    memory = Segment(4 * LINE, backing)
    arrays = [memory.take("u1", 1), memory.take("i8", 9), memory.take("i4", 3)]
    for number, array in enumerate(arrays, 1):
        assert array.ctypes.data % LINE == 0
        assert (array == 0).all()
        array[:] = number
    assert [set(array.tolist()) for array in arrays] == [{1}, {2}, {3}]
    with pytest.raises(AssertionError, match="planned too small"):
        memory.take("u1", 1)
    del array, arrays
    memory.close()
    assert memory.name is None


# ---- names ------------------------------------------------------------------------------------------------------------------


@needs_names
def test_a_name_lives_as_long_as_its_engine():
    before = set(names(os.getpid()))
    with Engine(**SMALL, backing="named") as engine:
        [name] = set(names(os.getpid())) - before
        assert engine.search(simulations=1000).simulations == 1000
        assert (NAMES / name).exists()
    assert set(names(os.getpid())) == before


@needs_names
def test_a_name_goes_with_an_exception():
    before = names(os.getpid())
    with pytest.raises(ZeroDivisionError), Engine(**SMALL, backing="named"):
        assert len(names(os.getpid())) == len(before) + 1
        raise ZeroDivisionError
    assert names(os.getpid()) == before


@needs_names
def test_a_name_goes_when_an_engine_cannot_start():
    before = names(os.getpid())

    def interrupt(status):
        assert len(names(os.getpid())) == len(before) + 1
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Engine(**SMALL, backing="named", on_status=interrupt)
    assert names(os.getpid()) == before


@needs_names
def test_a_name_goes_with_an_engine_that_nobody_closed():
    before = names(os.getpid())
    engine = Engine(**SMALL, backing="named")
    workers = [psutil.Process(pid) for pid in engine.worker_pids()]
    assert len(names(os.getpid())) == len(before) + 1
    del engine
    gc.collect()
    assert names(os.getpid()) == before
    assert all(map(has_ended, workers))


@needs_names
@pytest.mark.parametrize("action", ["search", "wait"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=lambda number: number.name)
def test_nothing_is_left_of_a_program_that_is_ended(number, action):
    """After SIGTERM and SIGKILL it is the workers who notice, remove the name, and end."""
    with another_program("named", action) as (process, workers):
        assert len(names(process.pid)) == 1
        process.send_signal(number)
        assert process.wait(10) == -number
        assert becomes_true(lambda: not names(process.pid))
        assert becomes_true(lambda: all(map(has_ended, workers)))


def test_without_a_name_workers_end_as_well():
    with another_program("memfd", "search") as (process, workers):
        assert names(process.pid) == []
        process.kill()
        assert becomes_true(lambda: all(map(has_ended, workers)))


@needs_names
@pytest.mark.parametrize("backing", ["auto", "memfd"])
def test_a_memfd_has_no_name(backing):
    before = names(os.getpid())
    with Engine(**SMALL, backing=backing) as engine:
        engine.search(simulations=100)
        assert names(os.getpid()) == before


# ---- orphans ----------------------------------------------------------------------------------------------------------------


def orphans(folder: Path) -> list[Path]:
    """Segments as owners leave them that die with all their workers at once."""
    made = [
        folder / f"distmcts-{NO_PROCESS + os.getpid()}-123-1",
        folder / f"distmcts-{os.getpid()}-123-1",  # of an earlier process that had our number
    ]
    for path in made:
        path.write_bytes(bytes(4096))
    return made


@needs_names
def test_a_start_sweeps_orphans_but_not_the_living():
    with another_program("named", "wait") as (process, _):
        [theirs] = names(process.pid)
        dead = orphans(NAMES)
        with Engine(**SMALL, backing="named"):
            assert [path for path in dead if path.exists()] == []
            assert names(process.pid) == [theirs]
        assert names(process.pid) == [theirs]


def test_a_sweep_says_what_it_swept(tmp_path, monkeypatch):
    """In a folder of its own: engines of other tests sweep too."""
    monkeypatch.setattr(segment, "NAMES", tmp_path)
    owned = Segment(LINE, "named")
    dead = orphans(tmp_path)
    strangers = ["distmcts-notes", f"distmcts-{NO_PROCESS}-1-1.bak", f"sem.distmcts-{NO_PROCESS}-1-1"]
    for name in strangers:
        (tmp_path / name).touch()
    assert sorted(segment.sweep_orphans()) == sorted(path.name for path in dead)
    assert segment.sweep_orphans() == []
    assert {path.name for path in tmp_path.iterdir()} == {*strangers, owned.name}
    owned.close()
    assert {path.name for path in tmp_path.iterdir()} == set(strangers)
