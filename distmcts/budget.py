"""What ends a search: a number of simulations, seconds, or whichever comes first. It always ends: without a budget, after
DEFAULT_SECONDS."""

from numbers import Real
from typing import Any

from distmcts.errors import InputError

DEFAULT_SECONDS = 5.0
MAX_SIMULATIONS = 10**12  # counts are exact up to here


def make_budget(simulations: Any = None, seconds: Any = None) -> tuple[int | None, float | None]:
    """The budget of one search: simulations and seconds, of which one may be None. InputError if it cannot be one."""
    if simulations is not None and not (_is_number(simulations) and 1 <= simulations <= MAX_SIMULATIONS and simulations % 1 == 0):
        raise InputError(f"simulations={simulations!r}: must be a whole number from 1 to {MAX_SIMULATIONS}")
    if seconds is not None and not (_is_number(seconds) and 0 < seconds < float("inf")):
        raise InputError(f"seconds={seconds!r}: must be a positive number")
    if simulations is None and seconds is None:
        seconds = DEFAULT_SECONDS
    return None if simulations is None else int(simulations), None if seconds is None else float(seconds)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)
