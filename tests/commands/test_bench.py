"""`distmcts bench`: every scheme is measured, and one that was measured is recommended."""

import json
import subprocess

import pytest

from tests.support.command import distmcts


def bench(*arguments: str) -> subprocess.CompletedProcess:
    return distmcts("bench", "tic_tac_toe", "memory=8MiB", "--seconds", "3", *arguments)


@pytest.mark.long
def test_json():
    done = bench("--workers", "2", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert found["game"] == "tic_tac_toe"
    rows = found["rows"]
    assert {(row["parallel"], row["synchronisation"], row.get("stay"), row["workers"]) for row in rows} == {
        *(("serial", "lockfree", stay, 1) for stay in (None, 0.0)),
        *(("tree", "lockfree", 0.0, count) for count in (1, 2)),
        *(("tree", way, None, count) for way in ("lockfree", "node-locks", "global-lock") for count in (1, 2)),
        *((parallel, "lockfree", None, count) for parallel in ("root", "leaf") for count in (1, 2)),
    }
    assert rows[0]["parallel"] == "serial"
    assert rows[0]["speedup"] == 1
    assert all(row["simulations_per_second"] > 0 for row in rows)
    assert found["recommended"] in rows
    rivals = [row["speedup"] for row in rows if row["parallel"] in ("serial", "tree", "root")]
    assert found["recommended"]["speedup"] == max(rivals)


def test_table():
    done = bench("--workers", "1")
    assert (done.returncode, done.stderr) == (0, "")
    header, *rows, _, recommended, warning = done.stdout.splitlines()
    assert header.split() == ["scheme", "workers", "simulations/s", "speedup"]
    names = [row[:24].strip() for row in rows]
    assert names == [
        "serial",
        "serial textbook",
        "tree lockfree textbook",
        "tree lockfree",
        "tree node-locks",
        "tree global-lock",
        "root",
        "leaf",
    ]
    assert all(row.endswith("x") for row in rows)
    assert recommended.startswith("most simulations per second here: parallel=")
    assert "a rate is not strength" in warning
