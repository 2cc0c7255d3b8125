"""The kernels as plain Python do exactly what the compiled ones do: the same seed gives the same tree, bit for bit."""

import json
import os
import subprocess
import sys

import pytest

from tests.support.command import ROOT

SCRIPT = """
import json, sys, warnings
import numpy as np
np.seterr(over="ignore")
import distmcts
from tests.support.trees import content
game, settings, simulations = json.loads(sys.argv[1])
with distmcts.Engine(game, memory="4MiB", seed=11, **settings) as engine:
    engine.search(simulations=simulations)
    engine.audit()
    print(json.dumps({name: column.tolist() for name, column in content(engine.trees[0]).items()}))
"""


def tree_of(disable_jit: bool, *request) -> dict:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "NUMBA_DISABLE_JIT": "1" if disable_jit else "0"}
    command = [sys.executable, "-W", "error::RuntimeWarning", "-c", SCRIPT, json.dumps(request)]
    answer = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr
    return json.loads(answer.stdout)


@pytest.mark.parametrize(
    ("game", "settings", "simulations"),
    [
        ("connect_four", {"parallel": "serial"}, 400),
        ("awale", {"parallel": "serial", "cutoff": 10}, 100),
        ("othello", {"parallel": "serial"}, 15),
        ("tic_tac_toe", {"parallel": "simulated", "workers": 8}, 2000),
        ("tic_tac_toe", {"parallel": "simulated", "workers": 8, "in_flight": "wu_uct", "weight": 2}, 2000),
    ],
)
def test_same_tree(game, settings, simulations):
    assert tree_of(True, game, settings, simulations) == tree_of(False, game, settings, simulations)
