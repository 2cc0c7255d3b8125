"""The layers of the code: imports point downward only, kernels stand alone, files are short and named for what they are."""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# Lowest first. A module may import from lower layers, and within its own package.
LAYERS = [
    ["distmcts.errors", "distmcts.files", "distmcts.version"],
    ["distmcts.records", "distmcts.configuration", "distmcts.budget"],
    ["distmcts.kernels"],
    ["distmcts.game"],
    ["distmcts.python_game"],
    ["games"],
    ["distmcts.registry"],
    ["distmcts.tree"],
    ["distmcts.parallel"],
    ["distmcts.settings", "distmcts.result"],
    ["distmcts.answer", "distmcts.demands"],
    ["distmcts.engine"],
    ["distmcts.conformance", "distmcts.interop", "distmcts.match", "distmcts.cluster"],
    ["distmcts.experiments"],
    ["launch"],
    ["distmcts.commands"],
    ["distmcts", "distmcts.__main__"],  # the face of it all
]
LEVEL = {place: level for level, places in enumerate(LAYERS) for place in places}
BELOW_KERNELS = {"numpy", "numba", "llvmlite", *sys.stdlib_module_names}
LONGEST = 400  # lines
SAYS_NOTHING = {"utils", "helpers", "common", "core", "base", "manager"}


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(path): path for folder in ("distmcts", "games", "launch") for path in sorted((ROOT / folder).rglob("*.py"))}
FOLDERS = ("distmcts", "games", "launch", "benchmarks", "tests")
FILES = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]


def imports(source: str, module: str, is_package: bool = False) -> Iterator[str]:
    """Every module that a source imports, also inside functions and for types only."""
    package = module.split(".") if is_package else module.split(".")[:-1]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = package[: len(package) - node.level + 1] if node.level else []
            origin = ".".join([*start, *([node.module] if node.module else [])])
            for alias in node.names:  # `from distmcts.tree import view` imports a module, not a name in one
                inner = f"{origin}.{alias.name}"
                yield inner if inner in MODULES else origin


def place_of(module: str) -> str | None:
    """The entry of LAYERS that a module belongs to; None if it is not ours."""
    if module.split(".")[0] not in ("distmcts", "games", "launch"):
        return None
    if module in LEVEL:
        return module
    return next((place for place in LEVEL if place != "distmcts" and module.startswith(place + ".")), "")


def goes_up(module: str, imported: str) -> bool:
    here, there = place_of(module), place_of(imported)
    return there is not None and here != there and LEVEL[there] >= LEVEL[here]


RAW_OFFSETS = re.compile(r"\* ?(WORDS|HALVES)\b|\b(IN_FLIGHT_BITS|IN_FLIGHT_MASK|CHILD_COUNT_MASK|ONE_VISIT)\b")
KNOW_OFFSETS = {f"distmcts/kernels/{name}.py" for name in ("layout", "node", "atomics")}
SCHEME_NAMES = {"serial", "leaf", "root", "tree", "simulated"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_only_three_files_know_where_the_fields_of_a_node_lie(path):
    where = str(path.relative_to(ROOT))
    found = [line for line in path.read_text().splitlines() if RAW_OFFSETS.search(line)]
    assert where in KNOW_OFFSETS or path == Path(__file__) or not found, found


@pytest.mark.parametrize("module", MODULES)
def test_the_name_of_a_scheme_stands_in_one_place(module):
    constants = (node.value for node in ast.walk(ast.parse(MODULES[module].read_text())) if isinstance(node, ast.Constant))
    used = {value for value in constants if isinstance(value, str)} & SCHEME_NAMES
    assert used == (SCHEME_NAMES if module == "distmcts.parallel.names" else set())


@pytest.mark.parametrize("module", MODULES)
def test_every_module_has_a_layer(module):
    assert place_of(module), f"{module} has no place in LAYERS"


@pytest.mark.parametrize("module", MODULES)
def test_imports_point_downward(module):
    path = MODULES[module]
    found = imports(path.read_text(), module, path.name == "__init__.py")
    assert [imported for imported in found if goes_up(module, imported)] == []


@pytest.mark.parametrize("module", [module for module in MODULES if place_of(module) == "distmcts.kernels"])
def test_kernels_stand_alone(module):
    found = set(imports(MODULES[module].read_text(), module))
    others = {name for name in found if name.split(".")[0] not in BELOW_KERNELS}
    assert {name for name in others if place_of(name) != "distmcts.kernels"} == set()


def test_what_counts_as_an_import():
    source = """
import os.path
from distmcts.tree import view
from distmcts.errors import InputError
def late():
    from ..engine import Engine
    from . import merge
"""
    expected = ["os.path", "distmcts.tree.view", "distmcts.errors", "distmcts.engine", "distmcts.tree.merge"]
    assert sorted(imports(source, "distmcts.tree.plan")) == sorted(expected)
    assert [name for name in expected if goes_up("distmcts.tree.plan", name)] == ["distmcts.engine"]
    assert goes_up("distmcts.settings", "distmcts.result")
    assert goes_up("distmcts.kernels.jit", "distmcts")
    assert not goes_up("distmcts.commands.main", "distmcts.commands.search")


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_are_short_and_named_for_what_they_are(path):
    lines = path.read_text().count("\n")
    assert lines <= LONGEST
    assert SAYS_NOTHING.isdisjoint(path.stem.split("_"))


def test_no_test_module_imports_another():
    """What several need stands in tests/support: a test can then be changed without a look at all the others."""
    found = []
    for path in sorted((ROOT / "tests").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tests"):
                names = [*node.module.split("."), *(alias.name for alias in node.names)]
                found += [(name_of(path), name) for name in names if name.startswith("test_")]
    assert found == []
