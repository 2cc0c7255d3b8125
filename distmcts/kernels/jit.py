"""The decorators of all compiled code, and the folder its machine code is cached in.

numba's own cache looks at the file that defines a function and at nothing it calls. So the folder's name carries a
fingerprint of every kernel source: an edited kernel can never be served from an older build. Game sources are covered
apart, by the name of the game's type (tags.py).
"""

import functools
import hashlib
import inspect
import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numba
from numba.extending import overload

# No reference counting: kernels allocate nothing, and counting costs an atomic add per array per call.
OPTIONS = {"nogil": True, "error_model": "numpy", "_nrt": False, "forceinline": True}


def fingerprint(*paths: Path, text: str = "") -> str:
    digest = hashlib.sha256(text.encode())
    for path in paths:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


KERNELS_FINGERPRINT = fingerprint(*sorted(Path(__file__).parent.glob("*.py")))


def _wanted_folder() -> Path:
    chosen = os.environ.get("DISTMCTS_CACHE_DIR") or os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "distmcts"


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _cache_folder() -> Path:
    name = f"kernels-{KERNELS_FINGERPRINT}-py{sys.version_info.major}{sys.version_info.minor}"
    wanted = _wanted_folder() / name
    if _writable(wanted):
        return wanted
    user = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")
    spare = Path(tempfile.gettempdir()) / f"distmcts-{user}" / name
    if not _writable(spare) or (hasattr(os, "getuid") and spare.stat().st_uid != os.getuid()):
        spare = Path(tempfile.mkdtemp(prefix="distmcts-")) / name
        spare.mkdir()
    warnings.warn(f"cache folder {wanted} cannot be written; compiled code goes to {spare}", stacklevel=2)
    return spare


CACHE_FOLDER = _cache_folder()


def kernel(function):
    """Compile a function that other kernels and game rules call; it becomes part of them."""
    return numba.njit(**OPTIONS)(function)


def inner(function):
    """A kernel that only kernels call: without the door for Python, which costs a third of the compile time."""
    return numba.njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, **OPTIONS)(function)


def entry(function):
    """A kernel that the host calls: its machine code, with everything it calls, is cached on disk."""
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(CACHE_FOLDER)  # numba reads it while decorating; other users' functions keep theirs
    try:
        return numba.njit(cache=True, **OPTIONS)(function)
    finally:
        numba.config.CACHE_DIR = before


# ---- what is decided when kernels are compiled ----------------------------------------------------------------------------

Condition = Callable[
    [Any, Any], bool
]  # of the game and the mode: their types in compiled code, or without the compiler themselves


def switch(default):
    """A function with several bodies, one of which is taken for good when a kernel that calls it is compiled.

        @switch
        def enter(mode, tree, node): ...                # the body where no case applies

        @enter.when(is_alone)
        def _enter_alone(mode, tree, node): ...         # the first case that applies is taken; a case may be a switch itself

    A condition looks at the arguments named `game` and `mode`. A body that is not taken is not even looked at by the compiler.
    """
    cases: list[tuple[Condition, Callable]] = []
    names = _parameters(default)

    def body_for(*args):
        chosen = next((body for condition, body in cases if condition(*_game_and_mode(names, args))), default)
        return chosen.body_for(*args) if hasattr(chosen, "body_for") else chosen

    return _decided(default, body_for, cases)


def chain(passed: str | None = None):
    """A function made of all cases that apply, one after the other; of the default if none does.

    Features come in the order of their table (modes.uses gives conditions a `place`), whatever was imported first.

    `passed`: the argument that each case returns, changed or not, and the next one is given.
    """

    def decorate(default):
        cases: list[tuple[Condition, Callable]] = []
        names = _parameters(default)
        joined: dict[tuple[Callable, ...], Callable] = {}

        def body_for(*args):
            in_order = sorted(cases, key=lambda case: getattr(case[0], "place", 0))
            bodies = tuple(body for condition, body in in_order if condition(*_game_and_mode(names, args)))
            if len(bodies) < 2:
                return bodies[0] if bodies else default
            if bodies not in joined:
                joined[bodies] = _one_after_the_other(default.__name__, names, passed, bodies)
            return joined[bodies]

        return _decided(default, body_for, cases)

    return decorate


def _parameters(function) -> list[str]:
    return list(inspect.signature(function).parameters)


def _game_and_mode(names, args):
    given = dict(zip(names, args, strict=True))
    return given.get("game"), given.get("mode")


def _decided(default, body_for, cases):
    """The function that kernels call."""

    @functools.wraps(default)
    def call(*args):
        return body_for(*args)(*args)

    def when(condition: Condition):
        def add(body):
            if _parameters(body) != _parameters(default):
                raise TypeError(f"{body.__qualname__} must have the parameters of {default.__qualname__}: {_parameters(default)}")
            cases.append((condition, body))
            return body

        return add

    def chosen(*args):
        return body_for(*args)

    chosen.__signature__ = inspect.signature(default)
    overload(call, jit_options=OPTIONS)(chosen)
    call.when = when
    call.body_for = body_for
    return call


def _one_after_the_other(name: str, names: list[str], passed: str | None, bodies: Sequence[Callable]) -> Callable:
    arguments = ", ".join(names)
    target = f"{passed} = " if passed else ""
    lines = [f"def {name}({arguments}):", *(f"    {target}body_{i}({arguments})" for i in range(len(bodies)))]
    scope = {f"body_{i}": inner(body) for i, body in enumerate(bodies)}
    exec("\n".join([*lines, f"    return {passed}"]), scope)
    return scope[name]
