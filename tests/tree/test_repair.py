"""A worker may be killed anywhere. With the compiler off, "anywhere" can be tried line by line."""

import os
import subprocess
import sys

import pytest

from tests.tree.kill_everywhere import SCHEMES


def kills_survived(scheme: str, step: int, offset: int, game: str = "hex") -> int:
    command = [sys.executable, "-m", "tests.tree.kill_everywhere", scheme, str(step), str(offset), game]
    answer = subprocess.run(command, env={**os.environ, "NUMBA_DISABLE_JIT": "1"}, capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr[-2000:]
    return int(answer.stdout)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_killed_at_any_line(scheme):
    assert kills_survived(scheme, 1, 0) > 500


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("game", ["nim", "dice_race"])
def test_killed_at_any_line_with_a_game_in_python(scheme, game):
    assert kills_survived(scheme, 3, 0, game) > 100
