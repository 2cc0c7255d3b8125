"""`distmcts games` and `distmcts games check`."""

import json
import subprocess
import sys

from distmcts.registry import list_games
from tests.support.command import ROOT, distmcts


def games(*arguments: str) -> subprocess.CompletedProcess:
    return distmcts("games", *arguments)


def test_list():
    done = games()
    assert (done.returncode, done.stderr) == (0, "")
    *lines, gap, note = done.stdout.splitlines()
    assert [line.split()[0] for line in lines] == list(list_games())
    assert gap == "" and note.startswith("open_spiel:NAME")
    assert any(line.startswith("hex ") and line.endswith("[size=11]") for line in lines)


def test_list_as_json():
    found = json.loads(games("--json").stdout)
    assert found == list_games()
    assert found["awale"] == "games.awale:Awale"


def test_check():
    done = games("check", "hex", "size=3", "--games", "20")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert len(lines) == 8
    assert all(line.startswith("ok    ") for line in lines)
    assert "ok    perft: 9 72" in lines


def test_check_as_json():
    done = games("check", "tic_tac_toe", "--games", "20", "--json")
    checks = json.loads(done.stdout)
    assert done.returncode == 0
    assert [set(check) for check in checks] == [{"name", "passed", "detail"}] * 8
    assert all(check["passed"] for check in checks)


def test_a_game_that_fails(tmp_path):
    """A game of another package, found by its entry point; the exit code says that it is broken."""
    (tmp_path / "broken-1.dist-info").mkdir()
    (tmp_path / "broken-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1\n")
    entry = "[distmcts.games]\nwrong_nim = tests.support.broken_games:WrongPerftCounts\n"
    (tmp_path / "broken-1.dist-info" / "entry_points.txt").write_text(entry)
    script = f"import sys; sys.path.append({str(tmp_path)!r}); from distmcts.commands.main import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", script, "games", "check", "wrong_nim", "--games", "5"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1, done.stderr
    assert [line for line in done.stdout.splitlines() if not line.startswith("ok  ")] == [
        "FAIL  perft: perft(3) is 27, should be 28"
    ]
