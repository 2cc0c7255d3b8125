"""Whatever the user gives that cannot be used: one line that says what is wrong, no traceback, exit code 2."""

from collections.abc import Callable
from math import inf, nan
from pathlib import Path
from typing import NamedTuple

import pytest

import distmcts
from distmcts.commands.options import apply_overrides, read_config
from distmcts.errors import DistmctsError, InputError
from tests.support.command import distmcts as run

ROOT = Path(__file__).parents[1]
FINISHED = "xxx/oo./..."


def search(game: str = "tic_tac_toe", **given) -> Callable[[], object]:
    return lambda: distmcts.search(game, **{"workers": 1, "memory": "1MiB", **given})


class Case(NamedTuple):
    arguments: str  # of `distmcts search`, or of distmcts if it starts with the name of another command
    said: str  # part of the line
    call: Callable[[], object] | None = None  # the same mistake in Python


CASES = [
    Case("tic_tac_to", "unknown game 'tic_tac_to': did you mean 'tic_tac_toe'?", search("tic_tac_to")),
    Case("", "which game?"),
    Case("tic_tac_toe wrkers=2", "unknown setting 'wrkers': did you mean 'workers'?", search(wrkers=2)),
    Case("tic_tac_toe simulatons=5", "unknown setting 'simulatons': did you mean 'simulations'?"),
    Case("tic_tac_toe state=3", "unknown setting 'state'"),
    Case("tic_tac_toe --parallel tre", "unknown parallel 'tre': did you mean 'tree'?", search(parallel="tre")),
    Case(f"tic_tac_toe --position {FINISHED}", "no legal move: the game is over", search(state=FINISHED)),
    Case("tic_tac_toe --position xo./...", "tic_tac_toe position 'xo./...': expected", search(state="xo./...")),
    Case("tic_tac_toe position=3", "position"),
    Case("tic_tac_toe --simulations 0", "simulations=0: must be", search(simulations=0)),
    Case("tic_tac_toe --simulations -5", "simulations=-5: must be", search(simulations=-5)),
    Case("tic_tac_toe simulations=.nan", "simulations=nan: must be", search(simulations=nan)),
    Case("tic_tac_toe --seconds 0", "seconds=0.0: must be", search(seconds=0.0)),
    Case("tic_tac_toe --seconds -1", "seconds=-1.0: must be", search(seconds=-1.0)),
    Case("tic_tac_toe --seconds nan", "seconds=nan: must be", search(seconds=nan)),
    Case("tic_tac_toe seconds=soon", "seconds='soon': must be", search(seconds="soon")),
    Case("tic_tac_toe --workers 0", "workers=0: ", search(workers=0)),
    Case("tic_tac_toe --memory 1KiB", "memory 1.0 KiB is too small", search(memory="1KiB")),
    Case("tic_tac_toe --memory 900TiB", "is more than there is", search(memory="900TiB")),
    Case("tic_tac_toe --memory lots", "memory 'lots' is not a size", search(memory="lots")),
    Case("tic_tac_toe cutoff=3", "cutoff=3: tic_tac_toe has no evaluation", search(cutoff=3)),
    Case("tic_tac_toe final=vote", "final='vote' needs", search(final="vote")),
    Case("hex game_parameters.sise=5", "'sise'; its parameters: size", search("hex", game_parameters={"sise": 5})),
    Case("hex game_parameters=5", "game_parameters"),
    Case("--config {folder}/none.yaml", "none.yaml': No such file", lambda: read_config(Path("none.yaml"))),
    Case("--config {folder}", "Is a directory"),
    Case("--config {folder}/torn.yaml", "torn.yaml', line 2: not valid YAML"),
    Case("--config {folder}/list.yaml", "list.yaml': expected 'key: value' lines"),
    Case("--config {folder}/misspelt.yaml", "unknown setting 'paralel': did you mean 'parallel'?"),
    Case("--config {folder}/number.yaml", "unknown setting"),
    Case("--config {folder}/binary.yaml", "binary.yaml': not valid YAML"),
    Case("tic_tac_toe workers", "'workers' is not of the form key=value", lambda: apply_overrides({}, ["workers"])),
    Case("tic_tac_toe =2", "'=2' is not of the form key=value", lambda: apply_overrides({}, ["=2"])),
    Case("tic_tac_toe c=[", "'c=[': the value is not valid YAML", lambda: apply_overrides({}, ["c=["])),
    Case("tic_tac_toe c=2 c.deep=3", "'c' has no keys of its own", lambda: apply_overrides({"c": 1}, ["c.d=2"])),
    Case("--nonsense", "--nonsense"),
    Case("games check tic_tac_to", "did you mean 'tic_tac_toe'?", lambda: distmcts.load_game("tic_tac_to")),
    Case("games nonsense", "'nonsense'"),
    Case("bench tic_tac_toe --seconds nan", "seconds=nan: must be"),
    Case("bench tic_tac_toe --workers 0", "workers=0: must be"),
    Case(
        "tic_tac_toe --cluster nowhere",
        "'nowhere': is neither an address, as in tcp://127.0.0.1:5555, nor an invitation",
        lambda: distmcts.Cluster("nowhere"),
    ),
    Case("tic_tac_toe --cluster http://x", "address 'http://x': expected tcp://HOST:PORT", lambda: distmcts.Cluster("http://x")),
    Case("tic_tac_toe --merge share", "merge=share: needs --cluster"),
    Case("tic_tac_toe --cluster tcp://127.0.0.1:1 --merge shares", "unknown merge rule 'shares': did you mean 'share'?"),
    Case("tic_tac_toe --cluster tcp://127.0.0.1:1 --merge share solver=true", "solver: what it needs to know is not exchanged"),
    Case("tic_tac_toe --cluster tcp://127.0.0.1:1 merge_s=0", "merge_s=0: must be a number from 0.01 to 60"),
    Case("tic_tac_toe --cluster tcp://127.0.0.1:1 --audit", "--audit looks at the trees of this machine"),
    Case("node", "give either the coordinator's address or --invitation"),
    Case("node tcp://127.0.0.1", "address 'tcp://127.0.0.1': expected tcp://HOST:PORT"),
    Case("node tcp://127.0.0.1:99999", "address 'tcp://127.0.0.1:99999'"),
    Case("node tcp://10.0.0.1:5555 --keys {folder}", "has no secret key; make one with `distmcts keys new`"),
    Case("node tcp://127.0.0.1:5555 --workers 0", "workers=0: "),
    Case(f"node tcp://127.0.0.1:5555 --name {'x' * 61}", "must have 1 to 60 printable characters"),
    Case("node --invitation {folder}/list.yaml", "list.yaml: is not an invitation to a cluster"),
    Case("coordinator --bind tcp://1.2.3.4.5.6:5 --no-keys", "cannot bind to tcp://1.2.3.4.5.6:5"),
    Case("coordinator --bind tcp://*:5555 --keys {folder}", "has no secret key"),
    Case("coordinator --recovery {folder}/list.yaml", "list.yaml, line 1: this record is damaged"),
    Case("status tcp://127.0.0.1:1 --once", "no answer from tcp://127.0.0.1:1 for 5 s; is a coordinator running there?"),
    Case("launch {folder}/none.yaml", "No such file"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    made = tmp_path_factory.mktemp("configs")
    (made / "torn.yaml").write_text("game: [tic_tac_toe\nworkers: }")
    (made / "list.yaml").write_text("- tic_tac_toe\n- 2\n")
    (made / "misspelt.yaml").write_text("game: tic_tac_toe\nparalel: tree\n")
    (made / "number.yaml").write_text("game: tic_tac_toe\n1: 3\n")
    (made / "binary.yaml").write_bytes(b"\xff\xfe\x00\x80")
    return made


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.arguments)
def test_the_command_says_it_in_one_line(case, folder):
    arguments = case.arguments.format(folder=folder).split()
    if not arguments or arguments[0] not in ("games", "bench", "node", "coordinator", "status", "launch"):
        arguments = ["search", *arguments]
    answer = run(*arguments)
    assert "Traceback" not in answer.stderr
    assert answer.stderr.count("\n") == 1
    assert answer.stderr.startswith("distmcts: ")
    assert case.said in answer.stderr
    assert answer.stdout == ""
    assert answer.returncode == 2


@pytest.mark.parametrize("case", [case for case in CASES if case.call], ids=lambda case: case.arguments)
def test_python_raises_it(case):
    with pytest.raises(InputError) as error:
        case.call()
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "given",
    [
        {"simulations": inf},
        {"simulations": "many"},
        {"simulations": 1.5},
        {"simulations": 10**26},
        {"simulations": True},
        {"seconds": inf},
        {"workers": -2},
        {"workers": "two"},
        {"workers": 1.5},
        {"seed": -1},
        {"seed": 0.5},
        {"c": -1},
        {"c": nan},
        {"weight": inf},
        {"cutoff": -1},
        {"synchronisation": "lockfre"},
        {"memory": "-5MiB"},
        {"memory": [5]},
        {"memory": True},
        {"memory": 0},
        {"backing": "private"},
    ],
    ids=str,
)
def test_python_names_the_key(given):
    with pytest.raises(InputError) as error:
        search(**given)()
    [key] = given
    assert key in str(error.value)
    assert "\n" not in str(error.value)


def test_a_game_like_no_other():
    with pytest.raises(InputError, match="^unknown game 'backgammon': allowed: awale, connect_four"):
        distmcts.load_game("backgammon")


def test_the_size_of_a_board():
    with pytest.raises(InputError, match="hex: size must be a whole number from 2 to 19, not 99"):
        distmcts.load_game("hex", size=99)


def test_errors_can_be_told_from_others():
    assert issubclass(InputError, DistmctsError)
    assert issubclass(InputError, ValueError)


@pytest.mark.parametrize("game, other", [("awale", "connect_four"), ("connect_four", "awale")])
def test_a_state_of_another_game(game, other):
    state = distmcts.load_game(other).initial_state()
    with pytest.raises(InputError, match=f"a state of {game}") as error:
        distmcts.search(game, state, simulations=1)
    assert "\n" not in str(error.value)


def test_an_engine_goes_on_after_bad_input():
    with distmcts.Engine("tic_tac_toe", parallel="serial", memory="1MiB", seed=1) as engine:
        with pytest.raises(InputError):
            engine.search(simulations=0)
        with pytest.raises(InputError):
            engine.advance(9)
        with pytest.raises(InputError):
            engine.set_position(FINISHED)
        assert engine.search(simulations=100).simulations == 100


def test_a_cache_folder_that_cannot_be_written(tmp_path):
    """It is below a regular file: nobody can make it, not even root."""
    file = tmp_path / "file"
    file.touch()
    spare = tmp_path / "spare"
    spare.mkdir()
    arguments = ["search", "tic_tac_toe", "--parallel", "serial", "--simulations", "1000"]
    answer = run(*arguments, DISTMCTS_CACHE_DIR=str(file / "cache"), TMPDIR=str(spare))
    assert answer.returncode == 0
    assert "1,000 simulations" in answer.stdout
    assert answer.stderr.count("\n") == 1
    assert f"distmcts: cache folder {file / 'cache'}" in answer.stderr
    assert "cannot be written; compiled code goes to" in answer.stderr
    assert [path for path in spare.rglob("*run_worker*.nbc") if path.stat().st_size]
