"""`distmcts search`: what it prints, where its settings come from, and how it ends."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest

from tests.support.command import COMMAND, ROOT, distmcts

NAMES = Path("/dev/shm")
SMALL = ["search", "tic_tac_toe", "--simulations", "2000", "--parallel", "serial", "--seed", "1"]


def answer(*arguments: str) -> dict:
    done = distmcts(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def segments(pid: int) -> list[str]:
    """Shared memory that a process has given a name."""
    return [path.name for path in NAMES.glob(f"distmcts-{pid}-*")]


@contextmanager
def long_search(*settings: str) -> Iterator[tuple[subprocess.Popen, list[psutil.Process]]]:
    """A search of half a minute in a process group of its own, and its workers, once they have begun to search."""
    process = subprocess.Popen(
        [*COMMAND, "search", "awale", "--seconds", "30", "--workers", "2", *settings],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    workers: list[psutil.Process] = []
    try:
        patience = time.monotonic() + 120  # kernels may have to be compiled
        while not workers or sum(worker.cpu_times().user for worker in workers) < 0.3:
            assert process.poll() is None, process.stderr.read()
            assert time.monotonic() < patience
            time.sleep(0.02)
            children = psutil.Process(process.pid).children()
            workers = children if len(children) == 2 else []
        yield process, workers
    finally:
        process.kill()
        for worker in workers:
            with suppress(psutil.NoSuchProcess):
                worker.kill()
        process.communicate()


def test_table():
    done = distmcts(*SMALL, "--audit")
    assert done.returncode == 0
    assert done.stderr == ""
    drawing, table = done.stdout.split("\n\n")
    assert drawing.splitlines() == ["  a b c", "1 . . .", "2 . . .", "3 . . ."]
    header, *rows, summary, audit = table.splitlines()
    assert header.split() == ["move", "visits", "share", "value", "line"]
    assert [row.startswith("* ") for row in rows] == [True] + [False] * 8
    assert {row.lstrip("* ").split()[0] for row in rows} == {f"{column}{row}" for column in "abc" for row in "123"}
    visits = [int(row.lstrip("* ").split()[1].replace(",", "")) for row in rows]
    assert visits == sorted(visits, reverse=True)
    assert sum(visits) == 2000
    assert re.fullmatch(r"2,000 simulations in .* s = .* a second, serial, .* ended by: 2000 simulations", summary)
    assert re.fullmatch(r"audit: [\d,]+ nodes, all conservation laws hold", audit)


@pytest.fixture(scope="module")
def found() -> dict:
    return answer(*SMALL, "--audit")


def test_json(found):
    assert found["game"] == "tic_tac_toe()"
    assert found["simulations"] == sum(move["visits"] for move in found["moves"]) == 2000
    assert found["stopped_by"] == "2000 simulations"
    assert found["simulations_per_second"] == pytest.approx(2000 / found["elapsed_s"])
    assert (found["settings"]["parallel"], found["settings"]["seed"]) == ("serial", 1)
    assert found["replaced_workers"] == 0
    assert 9 < found["audited_nodes"] <= found["nodes"] < found["bytes_used"]
    assert [set(move) for move in found["moves"]] == [{"move", "name", "visits", "value", "line", "proven"}] * 9
    [best] = [move for move in found["moves"] if move["move"] == found["best_move"]]
    assert best["name"] == best["line"][0] == found["best_move_name"]
    assert best["value"] == found["value"]
    assert best["visits"] == max(move["visits"] for move in found["moves"])


def test_a_seed_gives_the_same_answer(found):
    again = answer(*SMALL)
    assert again["moves"] == found["moves"]
    assert "audited_nodes" not in again


def test_position():
    """x wins at once at the end of the top row."""
    found = answer(*SMALL, "--position", "xx./oo./...")
    assert (found["best_move_name"], found["value"]) == ("c1", 1.0)


def test_where_settings_come_from(tmp_path):
    """An option goes before key=value, and that before the file; the game may stand in the file too."""
    config = tmp_path / "search.yaml"
    settings = ["parallel: serial", "simulations: 50", "c: 0.5", "weight: 2.5", "seed: 3"]
    config.write_text("\n".join(["game: hex", "game_parameters: {size: 4}", *settings]))
    found = answer("search", "c=0.75", "seed=4", "game_parameters.size=3", "--seed", "5", "--config", str(config))
    assert found["game"] == "hex(size=3)"
    assert found["simulations"] == 50
    settings = found["settings"]
    assert [settings[key] for key in ("weight", "c", "seed", "parallel")] == [2.5, 0.75, 5, "serial"]


@pytest.mark.parametrize("to_all", [True, False], ids=["to the group", "to the command"])
def test_ctrl_c_shows_what_was_found(to_all):
    with long_search("backing=named") as (process, workers):
        assert len(segments(process.pid)) == 1
        (os.killpg if to_all else os.kill)(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=10)
        assert process.returncode == 130
        assert err == "distmcts: interrupted; this is what was found so far\n"
        assert re.search(r"\* [A-F] +[\d,]+ +\d", out)
        assert "ended by: interrupted" in out
        assert psutil.wait_procs(workers, timeout=5)[1] == []
        assert segments(process.pid) == []


@pytest.mark.parametrize("to_all", [True, False], ids=["to the group", "to the command"])
def test_sigterm_leaves_nothing_behind(to_all):
    with long_search("backing=named") as (process, workers):
        assert len(segments(process.pid)) == 1
        (os.killpg if to_all else os.kill)(process.pid, signal.SIGTERM)
        _, err = process.communicate(timeout=10)
        assert process.returncode == 143
        assert "Traceback" not in err
        assert psutil.wait_procs(workers, timeout=5)[1] == []
        assert segments(process.pid) == []


def test_nothing_has_a_name_by_default():
    with long_search() as (process, _):
        assert segments(process.pid) == []


@pytest.mark.parametrize("arguments", [SMALL, [*SMALL, "--json"], ["games"], ["--help"]], ids=" ".join)
def test_a_reader_that_goes_away(arguments):
    """As in `distmcts ... | head -1`, at its worst: nobody has read anything."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"}
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    process.stdout.close()
    with process.stderr:
        assert process.stderr.read() == ""
    assert process.wait(timeout=60) in (0, 1)


def test_head():
    command = f"'{sys.executable}' -m distmcts games | head -1"
    pipe = subprocess.run(command, shell=True, cwd=ROOT, capture_output=True, text=True)
    assert pipe.stdout.startswith("awale ")
    assert pipe.stdout.count("\n") == 1
    assert pipe.stderr == ""


def on_terminal(*arguments: str) -> tuple[str, str]:
    """What a command prints to its output, and to a terminal."""
    terminal, theirs = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=ROOT,
        env=os.environ | {"TERM": "xterm", "COLUMNS": "120"},
        stdout=subprocess.PIPE,
        stderr=theirs,
        text=True,
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            shown += os.read(terminal, 65536)
        except OSError:  # the other end is closed
            break
    os.close(terminal)
    with process.stdout:
        printed = process.stdout.read()
    assert process.wait(timeout=60) == 0
    return printed, shown.decode()


def test_progress_on_a_terminal():
    arguments = ["search", "tic_tac_toe", "--parallel", "serial", "--seconds", "0.5", "--json"]
    printed, shown = on_terminal(*arguments)
    assert json.loads(printed)["stopped_by"] == "0.5 seconds"
    assert re.search(r"searching .* [\d,]+ simulations, [\d,]+/s", shown)


def test_no_progress_in_a_file():
    done = distmcts("search", "tic_tac_toe", "--parallel", "serial", "--seconds", "0.5")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("command", ["", "search", "games", "games check", "bench", "doctor"])
def test_help_comes_without_the_compiler(command):
    script = (
        "import sys\n"
        "from distmcts.commands.main import main\n"
        "try:\n"
        "    main()\n"
        "except SystemExit as end:\n"
        "    code = end.code\n"
        "print([name for name in ('numba', 'numpy') if name in sys.modules], code)\n"
    )
    arguments = [*command.split(), "--help"]
    help_of = subprocess.run([sys.executable, "-c", script, *arguments], cwd=ROOT, capture_output=True, text=True)
    assert help_of.stderr == ""
    *text, loaded = help_of.stdout.splitlines()
    assert text[0].startswith("Usage: ")
    assert command in text[0]
    assert "  --help" in "\n".join(text)
    assert loaded == "[] 0"
