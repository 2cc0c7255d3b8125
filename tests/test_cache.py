"""Compiled code is kept between processes, and never outlives the source it was made from."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from distmcts.kernels import jit

ROOT = Path(__file__).parents[1]
RULE = "DIAGONAL = np.uint64(0b100_010_001)"
NEW_RULE = "DIAGONAL = np.uint64(0b000_000_011)"  # the two cells a1 and b1 win

SEARCH = """
import json
import distmcts
from distmcts.kernels.simulate import run_worker
from house.noughts import TicTacToe

result = distmcts.search(TicTacToe(), parallel="serial", seed=7, simulations=2000, memory="1MiB")
stats = getattr(run_worker, "stats", None)  # there is none without the compiler
print(json.dumps({
    "moves": [[move.name, move.visits, move.value] for move in result.moves],
    "hits": sum(stats.cache_hits.values()) if stats else None,
    "misses": sum(stats.cache_misses.values()) if stats else None,
}))
"""


def python(script: str, *folders: Path, **environment: str) -> str:
    """What a script prints that finds packages in these folders, and else in the repository."""
    path = os.pathsep.join(map(str, [*folders, ROOT]))
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | {"PYTHONPATH": path, "PYTHONSAFEPATH": "1"} | environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture
def house(tmp_path) -> Path:
    """A package of somebody else with a game in it, and a folder for compiled code of its own."""
    package = tmp_path / "house"
    package.mkdir()
    (package / "__init__.py").touch()
    shutil.copy(ROOT / "games" / "tic_tac_toe.py", package / "noughts.py")
    return package


def edit(path: Path, old: str, new: str) -> None:
    """Replace one piece of text, and keep the file's time and size: neither may be what tells the versions apart."""
    text = path.read_text()
    assert text.count(old) == 1
    assert len(old) == len(new)
    times = path.stat()
    path.write_text(text.replace(old, new))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def test_an_edited_rule_is_played(house, tmp_path):
    """PYTHONDONTWRITEBYTECODE: Python's own cache of a module goes by time and size."""
    settings = {"DISTMCTS_CACHE_DIR": str(tmp_path / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}

    def search(**more: str) -> dict:
        return json.loads(python(SEARCH, tmp_path, **settings, **more))

    first = search()
    assert (first["hits"], first["misses"]) == (0, 1)
    second = search()
    assert (second["hits"], second["misses"]) == (1, 0)
    assert second["moves"] == first["moves"]
    assert first["moves"][0][0] == "b2"

    edit(house / "noughts.py", RULE, NEW_RULE)
    edited = search()
    assert (edited["hits"], edited["misses"]) == (0, 1)
    assert edited["moves"] != first["moves"]
    assert {name for name, _, _ in edited["moves"][:2]} == {"a1", "b1"}
    assert edited["moves"] == search(NUMBA_DISABLE_JIT="1")["moves"]

    edit(house / "noughts.py", NEW_RULE, RULE)
    back = search()
    assert (back["hits"], back["misses"]) == (1, 0)
    assert back["moves"] == first["moves"]


@pytest.mark.parametrize("imported", ["function", "module", "constant", "function of a function"])
def test_rules_in_another_file(house, tmp_path, imported):
    """Wherever a rule stands, an edit of it makes the game another one for the compiler."""
    game, lines = house / "noughts.py", house / "lines.py"
    text = game.read_text()
    start, end = text.index("@kernel\ndef has_line"), text.index("def initial")
    lines.write_text(text[: text.index('"""', 3) + 4] + text[text.index("import numpy") : end])
    if imported == "constant":
        text = text.replace(RULE, "from house.lines import DIAGONAL")
    elif imported == "module":
        text = text[:start] + "from house import lines\n\n\n" + text[end:].replace("has_line(", "lines.has_line(")
    elif imported == "function":
        text = text[:start] + "from house.lines import has_line\n\n\n" + text[end:]
    else:
        text = text[:start] + "from house.between import has_line\n\n\n" + text[end:]
        between = "from distmcts.kernels.jit import kernel\nfrom house import lines\n\n\n"
        between += "@kernel\ndef has_line(marks):\n    return lines.has_line(marks)\n"
        (house / "between.py").write_text(between)
    game.write_text(text)

    def type_name() -> str:
        script = "from house.noughts import TicTacToe; game = TicTacToe(); assert game.perft(3) == 504; print(game.type_name)"
        return python(script, tmp_path, NUMBA_DISABLE_JIT="1", PYTHONDONTWRITEBYTECODE="1")

    before = type_name()
    assert type_name() == before
    edit(lines, RULE, "DIAGONAL = np.uint64(0b100_011_001)")
    assert type_name() != before


def test_an_edited_kernel_has_another_folder(tmp_path):
    """A copy of the package serves the same cache, until one of its kernels is edited."""
    for package in ("distmcts", "games"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    script = "from distmcts.kernels import jit; print(jit.__file__, jit.CACHE_FOLDER)"
    cache = {"DISTMCTS_CACHE_DIR": str(tmp_path / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
    original = python(script, **cache).split()
    copied = python(script, tmp_path, **cache).split()
    assert [Path(file).is_relative_to(tmp_path) for file in (original[0], copied[0])] == [False, True]
    assert original[1] == copied[1]
    edit(tmp_path / "distmcts" / "kernels" / "backup.py", "def backup(", "def backuq(")
    edited = python(script, tmp_path, **cache).split()
    assert edited[1] != copied[1]


def test_the_folder_is_named_by_the_kernels():
    kernels = sorted((ROOT / "distmcts" / "kernels").glob("*.py"))
    assert jit.fingerprint(*kernels) == jit.KERNELS_FINGERPRINT
    assert jit.KERNELS_FINGERPRINT in jit.CACHE_FOLDER.name


def test_fingerprint_is_of_the_content(tmp_path):
    one, other = tmp_path / "one.py", tmp_path / "other.py"
    one.write_text("x = 1\n")
    other.write_text("x = 1\n")
    assert jit.fingerprint(one) == jit.fingerprint(other)
    edit(other, "x = 1", "x = 2")
    assert jit.fingerprint(one) != jit.fingerprint(other)
    assert jit.fingerprint(one, other) != jit.fingerprint(other, one)


@pytest.mark.parametrize("statement", ["import distmcts", "from distmcts.commands import main"])
def test_importing_loads_no_compiler(statement):
    script = f"{statement}; import sys; print([name for name in ('numba', 'numpy') if name in sys.modules])"
    assert python(script) == "[]"


def test_other_users_of_numba_keep_their_cache(tmp_path):
    """Only the kernels go into the folder; numba's own setting is as it was."""
    script = "import numba; before = numba.config.CACHE_DIR; import distmcts.engine; "
    script += "print(numba.config.CACHE_DIR == before)"
    assert python(script, NUMBA_CACHE_DIR=str(tmp_path / "theirs")) == "True"
