"""What goes wrong through no fault of the program: one line for the user, and no traceback on the command line."""

import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path


class DistmctsError(Exception):
    """Base of all errors that are meant for the user."""


class InputError(DistmctsError, ValueError):
    """Something the user gave cannot be used."""


class GameError(DistmctsError):
    """A game broke its contract."""


class SearchError(DistmctsError):
    """A search could not go on."""


@contextmanager
def file_errors(path: Path) -> Iterator[None]:
    """What goes wrong with files is told to the user: which file, and what the system says."""
    try:
        yield
    except OSError as error:
        raise InputError(f"{error.filename or path}: {error.strerror}") from None


def unknown(kind: str, given: str, allowed: Iterable[str]) -> InputError:
    """An error that names what was given, what is allowed, and what was probably meant."""
    names = sorted(allowed)
    nearest = difflib.get_close_matches(str(given), names, n=1, cutoff=0.5)
    hint = f"did you mean {nearest[0]!r}? " if nearest else ""
    return InputError(f"unknown {kind} {given!r}: {hint}allowed: {', '.join(names)}")
