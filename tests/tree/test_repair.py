"""A worker may be killed anywhere. With the compiler off, "anywhere" can be tried line by line."""

import os
import subprocess
import sys

import pytest

from tests.tree.kill_everywhere import SCHEMES, VARIANTS


def kills_survived(scheme: str, variant: str, step: int, offset: int) -> int:
    return without_compiler("tests.tree.kill_everywhere", scheme, variant, str(step), str(offset))


def without_compiler(module: str, *arguments: str) -> int:
    """The number that a script prints."""
    command = [sys.executable, "-m", module, *arguments]
    answer = subprocess.run(command, env={**os.environ, "NUMBA_DISABLE_JIT": "1"}, capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr[-2000:]
    return int(answer.stdout)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_killed_at_any_line(scheme):
    assert kills_survived(scheme, "plain", 1, 0) > 500


def stays_out_of_locks(scheme: str, variant: str) -> bool:
    """Where workers take locks nobody stays below nodes."""
    return "stay" not in variant or scheme in ("alone", "lockfree")


PAIRS = [(scheme, variant) for scheme in SCHEMES for variant in VARIANTS if stays_out_of_locks(scheme, variant)]


@pytest.mark.parametrize(("scheme", "variant"), [pair for pair in PAIRS if pair[1] != "plain"])
def test_killed_at_any_line_with_features(scheme, variant):
    """Every sixth line, beginning with another one for each scheme; all of them in the long version."""
    assert kills_survived(scheme, variant, 6, list(SCHEMES).index(scheme) % 6) > 50


@pytest.mark.parametrize("variant", VARIANTS)
def test_nobody_waits_for_a_worker_that_stands_still(variant):
    """Stalled at every eleventh line, while the other searches; at every single one in the long version."""
    assert without_compiler("tests.tree.stall_everywhere", variant, "11", str(list(VARIANTS).index(variant))) > 50


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("variant", VARIANTS)
def test_nobody_waits_wherever_it_stands_still(variant):
    assert without_compiler("tests.tree.stall_everywhere", variant, "1", "0") > 300


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(("scheme", "variant"), PAIRS)
def test_killed_at_really_any_line(scheme, variant):
    assert kills_survived(scheme, variant, 1, 0) > 300
