"""The record file: nothing in it is lost, half-written or counted twice; damage is named."""

import json
import os
import subprocess
import sys

import pytest

from distmcts.errors import InputError, SearchError
from distmcts.records import Records, read_records


def some(number: int) -> dict:
    return {"unit": f"pair/{number}", "kind": "pair", "scores": [1.0, 0.5], "value": 1 / 3}


def fill(path, count):
    with Records(path) as records:
        for number in range(count):
            records.append(some(number))


def test_what_was_appended_is_read(tmp_path):
    path = tmp_path / "records.jsonl"
    fill(path, 3)
    assert read_records(path) == [some(0), some(1), some(2)]
    assert [json.loads(line)["unit"] for line in path.read_text().splitlines()] == ["pair/0", "pair/1", "pair/2"]
    with Records(path) as records:
        assert records.all == [some(0), some(1), some(2)]


def test_a_half_written_last_line_is_cut_off_wherever_it_broke(tmp_path):
    path = tmp_path / "records.jsonl"
    fill(path, 3)
    whole = path.read_bytes()
    second = whole.index(b"\n", whole.index(b"\n") + 1) + 1
    for length in range(second, len(whole)):
        path.write_bytes(whole[:length])
        with Records(path) as records:
            assert records.all == [some(0), some(1)]
            records.append(some(2))
        assert path.read_bytes() == whole


def test_damage_names_the_line_and_changes_nothing(tmp_path):
    path = tmp_path / "records.jsonl"
    fill(path, 4)
    whole = path.read_bytes()
    lines = whole.splitlines(keepends=True)
    for broken in (lines[1].replace(b"0.5", b"0.0"), b"not json\n", b"[]\n", b"{}\n", b"\n", lines[1][5:]):
        path.write_bytes(b"".join([lines[0], broken, *lines[2:]]))
        before = path.read_bytes()
        for read in (Records, read_records):
            with pytest.raises(InputError, match=r"records\.jsonl, line 2: this record is damaged"):
                read(path)
        assert path.read_bytes() == before


def test_a_second_process_is_refused(tmp_path):
    path = tmp_path / "records.jsonl"
    code = f"from pathlib import Path; from distmcts.records import Records; Records(Path({str(path)!r}))"
    with Records(path):
        other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert other.returncode != 0 and "another process is working on this run" in other.stderr
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_a_full_disk_loses_nothing(tmp_path, monkeypatch):
    path = tmp_path / "records.jsonl"
    with Records(path) as records:
        records.append(some(0))
        write = os.write
        monkeypatch.setattr("os.write", lambda file, data: write(file, data[:10]))
        with pytest.raises(SearchError, match="No space left on device; every record before this one is safe"):
            records.append(some(1))
        monkeypatch.undo()
        assert read_records(path) == [some(0)]
        records.append(some(1))
    assert read_records(path) == [some(0), some(1)]


def test_a_file_that_is_written_anew_is_still_ours(tmp_path):
    path = tmp_path / "records.jsonl"
    fill(path, 5)
    with Records(path) as records:
        records.rewrite([some(3), some(4)])
        assert read_records(path) == [some(3), some(4)]
        with pytest.raises(InputError, match="another process is working"):
            Records(path)
        records.append(some(5))
    assert read_records(path) == [some(3), some(4), some(5)]
