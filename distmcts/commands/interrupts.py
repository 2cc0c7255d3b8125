"""Ctrl-C and SIGTERM, so that neither can get lost.

Both raise an exception wherever the program is. If that is in a destructor or a callback of the interpreter, Python prints the
exception and goes on. So the signal is remembered as well, and loops call `check` now and then.
"""

import signal
import sys
from types import FrameType

_received: int | None = None
_both_exit = False


def install() -> None:
    """Handle both signals from now on; SIGTERM ends the program in order, so that shared memory and workers are given back."""
    signal.signal(signal.SIGINT, _handle)
    signal.signal(signal.SIGTERM, _handle)
    sys.unraisablehook = _unraisable


def let_both_exit() -> None:
    """From now on Ctrl-C raises SystemExit as SIGTERM does: for a command that can be resumed later. A search takes
    KeyboardInterrupt as a wish to see what was found, and ends."""
    global _both_exit
    _both_exit = True


def taken() -> None:
    """The signal has been dealt with: `check` need not raise for it."""
    global _received
    _received = None


def check() -> None:
    """Raise for a signal that came and has not been dealt with."""
    if _received is not None:
        _raise(_received)


def _handle(number: int, frame: FrameType | None) -> None:
    global _received
    _received = number
    _raise(number)


def _raise(number: int) -> None:
    if number == signal.SIGINT and not _both_exit:
        raise KeyboardInterrupt
    raise SystemExit(128 + number)


def _unraisable(what) -> None:
    if not issubclass(what.exc_type, (KeyboardInterrupt, SystemExit)):
        sys.__unraisablehook__(what)
