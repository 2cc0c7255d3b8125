"""A comparison on a cluster finds what it finds on one machine, whatever happens to the nodes."""

import json

import pytest
import yaml

from distmcts.errors import InputError
from distmcts.experiments.config import make_config
from distmcts.experiments.remote import check_remote
from distmcts.records import read_records
from tests.support.command import distmcts, start
from tests.support.real_cluster import real_cluster

SMALL = {
    "game": "tic_tac_toe",
    "schemes": ["serial", "root"],
    "workers": [2],
    "budgets": {"simulations": 100},
    "speed": {"repeats": 0},
    "tuning": {"c": [0.7, 1.4], "positions": 3},
    "quality": {"positions": 3, "reference_simulations": 2000, "solved": 2, "at": ["simulations"]},
    "matches": {"pairs": 3, "least_pairs": 2, "at": ["simulations"]},
    "simulated_machines": {"pairs": 3, "simulations": 200, "machines": [4], "rules": ["sum", "share"]},
}


def found(folder) -> dict:
    """Every unit's record, without how long it took."""
    kept = [record for record in read_records(folder / "records.jsonl") if record["kind"] not in ("begun", "finished", "resumed")]
    assert len({record["unit"] for record in kept}) == len(kept)
    return {record["unit"]: {key: value for key, value in record.items() if key != "took_s"} for record in kept}


def test_the_same_as_on_one_machine(tmp_path):
    config = tmp_path / "small.yaml"
    config.write_text(yaml.safe_dump(SMALL))
    done = distmcts("compare", "--config", str(config), "--out", str(tmp_path / "here"))
    assert done.returncode == 0, done.stderr
    with real_cluster(tmp_path) as cluster:
        run = start("compare", "--config", str(config), "--out", str(tmp_path / "there"), "--cluster", str(cluster.invitation))
        with cluster.client() as client:
            cluster.wait_for_log("coordinator", "begins")
            cluster.kill("alpha")
            _, err = run.communicate(timeout=120)
            assert run.returncode == 0, err
            assert any(row.name == "alpha" and "lost" in row.state for row in client.status().nodes)
    assert found(tmp_path / "there") == found(tmp_path / "here")
    assert (tmp_path / "there" / "report.html").exists()


@pytest.mark.parametrize(
    "changes, key",
    [
        ({"speed": {"repeats": 2}}, "speed.repeats"),
        ({"quality": {"positions": 1}}, "quality.at"),
        ({"matches": {"pairs": 1}}, "matches.at"),
    ],
)
def test_what_depends_on_the_machine_is_refused(tmp_path, changes, key):
    config = make_config({**SMALL, **changes}, "test")
    with pytest.raises(InputError, match=f"{key}: what depends on the machine"):
        check_remote(config)
    file = tmp_path / "config.yaml"
    file.write_text(json.dumps({**SMALL, **changes}))
    refused = distmcts("compare", "--config", str(file), "--cluster", "tcp://127.0.0.1:1", "--out", str(tmp_path / "run"))
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert not (tmp_path / "run").exists()
