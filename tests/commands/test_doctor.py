"""`distmcts doctor`: a healthy machine passes, a sick one is told what is wrong."""

import json
import os
import subprocess
from pathlib import Path

from distmcts.commands import doctor
from tests.support.command import distmcts

ROOT = Path(__file__).parents[2]
LOOKED_AT = ["python", "packages", "cores", "shared memory", "segment", "compile cache", "parallel search"]


def run(*arguments: str) -> subprocess.CompletedProcess:
    return distmcts("doctor", *arguments)


def test_table():
    done = run()
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert [line[6:23].strip() for line in lines] == LOOKED_AT
    assert all(line.startswith("ok    ") for line in lines)
    assert lines[-1].endswith("2 workers, 100,000 simulations asked for, 100,000 counted")


def test_json():
    done = run("--json")
    assert done.returncode == 0
    rows = json.loads(done.stdout)
    assert [row["what"] for row in rows] == LOOKED_AT
    assert [set(row) for row in rows] == [{"what", "ok", "found"}] * len(LOOKED_AT)
    [cache] = [row["found"] for row in rows if row["what"] == "compile cache"]
    if "DISTMCTS_CACHE_DIR" in os.environ:
        assert cache.startswith(os.environ["DISTMCTS_CACHE_DIR"])


def test_what_is_broken_is_a_finding(monkeypatch, capsys):
    def broken():
        raise OSError("no room")

    monkeypatch.setattr(doctor, "_LOOKS", {"python": doctor._python, "segment": broken})
    assert doctor.run(as_json=False) == 1
    ok, failed = capsys.readouterr().out.splitlines()
    assert ok.startswith("ok    python ")
    assert failed == "FAIL  segment  OSError: no room"
