"""A whole comparison: planned, measured, interrupted again and again, resumed, summed up."""

import csv
import random
import shutil
import signal
import time
from pathlib import Path

import pytest
import yaml

from distmcts.errors import InputError
from distmcts.experiments.compare import run_comparison
from distmcts.experiments.config import make_config
from distmcts.experiments.plan import Plan
from distmcts.experiments.results import results_csv
from distmcts.experiments.run_folder import new_run, open_run
from distmcts.experiments.summary import summarise
from distmcts.records import read_records
from distmcts.registry import load_game
from tests.support.command import ROOT, distmcts, start

# Nothing in it depends on the clock, so every run of it must give the same records.
DETERMINISTIC = {
    "game": "tic_tac_toe",
    "schemes": ["serial", "root"],
    "workers": [1, 2],
    "budgets": {"simulations": 60},
    "speed": {"repeats": 0},
    "tuning": {"c": [0.5, 1.5], "positions": 3},
    "quality": {"positions": 4, "reference_simulations": 2000, "solved": 4, "at": ["simulations"]},
    "matches": {"pairs": 6, "least_pairs": 2, "opening_plies": 2, "elo1": 400, "at": ["simulations"]},
    "simulated_workers": {"pairs": 3, "simulations": 100, "workers": [1, 16], "readings": ["virtual_loss", "none"]},
    "simulated_machines": {"pairs": 2, "simulations": 120, "machines": [1, 3], "rules": ["sum", "vote", "share"]},
}


def without_times(records: list[dict]) -> list[dict]:
    """What must be equal; where a run was resumed is not part of it."""
    kept = [record for record in records if record["kind"] != "resumed"]
    return [{key: value for key, value in record.items() if key != "took_s"} for record in kept]


@pytest.fixture(scope="module")
def whole_run(tmp_path_factory) -> Path:
    config = make_config(DETERMINISTIC, "test")
    folder = new_run(config, [], tmp_path_factory.mktemp("runs") / "whole")
    run_comparison(folder, config)
    return folder


def summary_of(folder: Path) -> dict:
    config, manifest = open_run(folder)
    return summarise(config, manifest, read_records(folder / "records.jsonl"))


def test_a_run_measures_everything_once(whole_run):
    records = read_records(whole_run / "records.jsonl")
    names = [record["unit"] for record in records]
    assert len(names) == len(set(names))
    summary = summary_of(whole_run)
    assert summary["finished"] and 0 < summary["units_done"] <= summary["units_planned"]
    assert {row["cell"] for row in summary["quality"]} == {"serial x1", "root x1", "root x2"}
    assert {row["cell"] for row in summary["matches"]} == {"root x1", "root x2"}
    assert [row["factor"] for row in summary["curve"]] == [0.5, 2.0]
    assert len(summary["simulated_workers"]) == 4 and len(summary["simulated_machines"]) == 6
    assert summary["tuning"]["tuned"] and {row["c"] for row in summary["tuning"]["rows"]} <= {0.5, 1.5}
    for row in summary["matches"]:
        assert row["wins"] + row["draws"] + row["losses"] == 2 * row["pairs"]
        assert row["elo_low"] <= row["elo"] <= row["elo_high"]


def test_tuning_has_positions_of_its_own(whole_run):
    records = read_records(whole_run / "records.jsonl")
    answered = {record["position"] for record in records if record["kind"] == "answer"}
    tuned = {record["position"] for record in records if record["kind"] == "tune"}
    assert answered == {0, 1, 2, 3} and tuned == {4, 5, 6}
    assert len({record["text"] for record in records if record["kind"] == "reference"}) == 7


@pytest.mark.parametrize("path", sorted((ROOT / "configs").glob("[cs]*_*.yaml")), ids=lambda path: path.stem)
def test_templates_can_be_planned(path):
    given = yaml.safe_load(path.read_text())
    if "schemes" in given:
        config = make_config(given, path.name)
        load_game(config.game, **config.game_parameters)
        assert Plan(config, config.quality.solved, config.quality.positions).counts().total() > 100


def test_the_same_seed_gives_the_same_records(whole_run, tmp_path):
    config = make_config(DETERMINISTIC, "test")
    folder = new_run(config, [], tmp_path / "again")
    run_comparison(folder, config)
    again = read_records(folder / "records.jsonl")
    assert without_times(again) == without_times(read_records(whole_run / "records.jsonl"))


def test_a_finished_run_is_left_alone(whole_run):
    before = (whole_run / "records.jsonl").read_bytes()
    run_comparison(whole_run, open_run(whole_run)[0])
    assert (whole_run / "records.jsonl").read_bytes() == before


def test_a_match_that_is_decided_ends_and_others_go_on(whole_run):
    """Serial search with 60 simulations, and a test that almost any result decides at once."""
    given = {**DETERMINISTIC, "matches": {**DETERMINISTIC["matches"], "elo0": -1000, "elo1": -400}}
    config = make_config(given, "test")
    first = [record for record in read_records(whole_run / "records.jsonl") if record["kind"] in ("tune", "reference")]
    match = "cells/simulations/root x2"
    draws = [{"unit": f"pair/{match}/{i}", "kind": "pair", "match": match, "number": i, "scores": [0.5, 0.5]} for i in range(5)]
    left = {unit.name for batch in Plan(config, 4, 4).batches([*first, *draws]) for unit in batch}
    assert not any(name.startswith("pair/cells/simulations/root x2/") for name in left)
    assert "pair/cells/simulations/root x1/5" in left


INTERRUPTIONS = 20


@pytest.mark.timeout(400)
def test_twenty_interruptions_change_nothing(whole_run, tmp_path):
    """Ctrl-C, SIGTERM and SIGKILL at random moments, each time resumed with the printed command."""
    chooser = random.Random(7)
    config = make_config(DETERMINISTIC, "test")
    folder = new_run(config, [], tmp_path / "run")
    records = folder / "records.jsonl"
    total = len(read_records(whole_run / "records.jsonl"))
    interrupted = 0
    for turn in range(4 * INTERRUPTIONS):
        before = records.read_bytes().count(b"\n")
        process = start("compare", "--resume", "run", cwd=tmp_path)
        how = chooser.choice([signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
        goal = min(total - 2, max(before + 1, (turn + 1) * total // (INTERRUPTIONS + 4)))
        deadline = time.monotonic() + 60
        while process.poll() is None and records.read_bytes().count(b"\n") < goal and time.monotonic() < deadline:
            time.sleep(0.002)
        time.sleep(chooser.uniform(0, 0.01))
        if interrupted < INTERRUPTIONS and process.poll() is None:
            process.send_signal(how)
            interrupted += 1
        output, errors = process.communicate(timeout=120)
        if process.returncode == 0:
            break
        assert "Traceback" not in errors
        if how != signal.SIGKILL:
            assert "resume with: distmcts compare --resume run" in errors
            assert (folder / "report.html").exists()
    assert interrupted == INTERRUPTIONS
    assert "report: run/report.html" in output
    assert without_times(read_records(records)) == without_times(read_records(whole_run / "records.jsonl"))
    assert (folder / "results.csv").read_text() == results_csv(summary_of(whole_run))


def test_ctrl_c_before_anything_is_measured_says_how_to_go_on(tmp_path):
    process = start("compare", "tic_tac_toe", "--out", "a run", cwd=tmp_path)
    deadline = time.monotonic() + 60
    while not (tmp_path / "a run" / "records.jsonl").exists() and time.monotonic() < deadline:
        time.sleep(0.002)
    time.sleep(0.05)  # it compiles, or looks for positions
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 130
    assert errors == "distmcts: stopped; resume with: distmcts compare --resume 'a run'\n"


def test_timed_cells(tmp_path):
    """What depends on the clock: not equal from run to run, but complete and sensible."""
    given = {
        "game": "connect_four",
        "schemes": ["serial", "leaf", "root vote", "tree wu_uct", "tree node-locks", "tree threads"],
        "workers": [2],
        "budgets": {"simulations": 100, "seconds": 0.003},
        "speed": {"repeats": 2, "positions": 1, "simulations": 20_000},
        "quality": {"positions": 2, "reference_simulations": 1000, "solved": 0, "at": ["time"]},
        "matches": {"pairs": 1, "at": ["time"], "factors": [2.0]},
    }
    config = make_config(given, "test")
    folder = new_run(config, [], tmp_path / "run")
    run_comparison(folder, config)
    summary = summary_of(folder)
    assert len(summary["speed"]) == 6 and len(summary["strength"]) == 5
    for row in summary["speed"]:
        assert row["rate"] > 0 and 0 < row["bytes_per_simulation"] < 60
        assert sum(row["stages"].values()) == pytest.approx(1.0)
    by_scheme = {row["scheme"]: row for row in summary["speed"]}
    assert by_scheme["leaf"]["duplicated"] > 0.4  # two playouts of every leaf
    assert by_scheme["serial"]["duplicated"] < 0.05
    assert by_scheme["leaf"]["stages"]["waiting"] > by_scheme["serial"]["stages"]["waiting"] == 0
    rows = list(csv.DictReader(results_csv(summary).splitlines()))
    assert {row["section"] for row in rows} == {"speed", "quality", "match", "curve", "strength"}


BAD = [
    ({"game": "tic_tac_toe", "workers": []}, "test: workers=[]"),
    ({"game": "tic_tac_toe", "matches": {"elo0": 60}}, "elo0 must be below elo1"),
    ({"game": "tic_tac_toe", "workrs": [1]}, "test: unknown key 'workrs': did you mean 'workers'?"),
    ({"game": "tic_tac_toe", "matches": {"pars": 1}}, "test: unknown key 'matches.pars': did you mean 'matches.pairs'?"),
    ({"game": "tic_tac_toe", "schemes": ["tre"]}, "unknown scheme 'tre': did you mean 'tree'?"),
    ({"game": "tic_tac_toe", "schemes": ["root node-locks"]}, "unknown choice in scheme 'root node-locks'"),
    ({"game": "tic_tac_toe", "schemes": ["tree none wu_uct"]}, "contradicts"),
    ({"game": "tic_tac_toe", "workers": [0]}, "test: workers.0=0"),
    ({"game": "tic_tac_toe", "workers": [100_000]}, "test: workers.0=100000"),
    ({"game": "tic_tac_toe", "budgets": {"seconds": -1}}, "test: budgets.seconds=-1"),
    ({"game": "tic_tac_toe", "simulated_machines": {"rules": ["sun"]}}, "did you mean 'sum'?"),
    ({"game": "tic_tac_toe", "simulated_workers": {"readings": ["wu"]}}, "unknown reading"),
    ({"schemes": ["tree"]}, "'game' is missing"),
    ({1: 2}, "keys must be names"),
]


def test_what_stands_twice_is_measured_once():
    twice = {
        "game": "tic_tac_toe",
        "schemes": ["serial", "tree", " tree"],
        "workers": [2, 2],
        "tuning": {"c": [1, 1.0, 2]},
        "matches": {"at": ["time", "time"], "factors": [2, 2.0, 1]},
        "simulated_workers": {"pairs": 1, "workers": [4, 4], "readings": ["none", "none"]},
    }
    config = make_config(twice, "test")
    names = [unit.name for batch in Plan(config, 2, 2).batches([{"unit": "", "kind": ""}]) for unit in batch]
    assert len(names) == len(set(names))
    assert config.schemes == ("serial", "tree") and config.matches.factors == (2.0,)


def test_a_changed_configuration_is_refused(whole_run, tmp_path):
    shutil.copytree(whole_run, tmp_path / "run")
    text = (tmp_path / "run" / "config.yaml").read_text()
    (tmp_path / "run" / "config.yaml").write_text(text.replace("seed: 1", "seed: 2"))
    assert "config.yaml: was changed after the run began" in fails(["compare", "--resume", "run"], tmp_path)


def test_a_report_without_a_reference_is_still_made(whole_run, tmp_path):
    """A damaged line was removed, as the error message says; the rest still counts."""
    shutil.copytree(whole_run, tmp_path / "run")
    path = tmp_path / "run" / "records.jsonl"
    path.write_text("".join(line for line in path.read_text().splitlines(True) if '"reference/0"' not in line))
    assert distmcts("report", "run", cwd=tmp_path).returncode == 0


@pytest.mark.parametrize(("given", "said"), BAD)
def test_bad_configurations(given, said):
    with pytest.raises(InputError) as error:
        make_config(given, "test")
    assert said in str(error.value) and "\n" not in str(error.value)


def fails(arguments: list[str], cwd: Path) -> str:
    done = distmcts(*arguments, cwd=cwd)
    assert done.returncode == 2 and len(done.stderr.strip().splitlines()) == 1 and "Traceback" not in done.stderr
    return done.stderr


def test_bad_commands(tmp_path, whole_run):
    (tmp_path / "bad.yaml").write_text("game: tic_tac_toe\nmatchs: {}\n")
    assert "bad.yaml: unknown key 'matchs': did you mean 'matches'?" in fails(["compare", "--config", "bad.yaml"], tmp_path)
    assert "did you mean 'tic_tac_toe'?" in fails(["compare", "tic_tac_to"], tmp_path)
    assert "already holds a run" in fails(["compare", "tic_tac_toe", "--out", str(whole_run)], tmp_path)
    assert "is not a run" in fails(["compare", "--resume", "nowhere"], tmp_path)
    assert "is not a run" in fails(["report", "nowhere"], tmp_path)
    (tmp_path / "file").write_text("")
    assert "Not a directory" in fails(["compare", "tic_tac_toe", "--out", "file/run"], tmp_path)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "config.yaml").write_text("precious")
    assert "full: is not empty" in fails(["compare", "tic_tac_toe", "--out", "full"], tmp_path)
    assert (tmp_path / "full" / "config.yaml").read_text() == "precious"
    assert "speed.simulations: 9,000,000,000 simulations take" in fails(
        ["compare", "tic_tac_toe", "speed.simulations=9000000000"], tmp_path
    )
    assert not (tmp_path / "runs").exists()
