"""A worker may be killed anywhere. With the compiler off, "anywhere" can be tried line by line."""

import os
import subprocess
import sys

import pytest

from tests.tree.kill_everywhere import SCHEMES, VARIANTS


def kills_survived(scheme: str, variant: str, step: int, offset: int) -> int:
    command = [sys.executable, "-m", "tests.tree.kill_everywhere", scheme, variant, str(step), str(offset)]
    answer = subprocess.run(command, env={**os.environ, "NUMBA_DISABLE_JIT": "1"}, capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr[-2000:]
    return int(answer.stdout)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_killed_at_any_line(scheme):
    assert kills_survived(scheme, "plain", 1, 0) > 500


@pytest.mark.parametrize("variant", [variant for variant in VARIANTS if variant != "plain"])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_killed_at_any_line_with_features(scheme, variant):
    step = 3 if variant.startswith("python") else 1  # their longer lines of rules are not what is tested
    assert kills_survived(scheme, variant, step, 0) > 100
