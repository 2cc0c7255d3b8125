"""The decorators of all compiled code, and the folder its machine code is cached in.

numba's own cache looks at the file that defines a function and at nothing it calls. So the folder's name carries a
fingerprint of every kernel source: an edited kernel can never be served from an older build. Game sources are covered
apart, by the name of the game's type (tags.py).
"""

import hashlib
import inspect
import os
import sys
import tempfile
import warnings
from pathlib import Path

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


def part(function):
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


def switch(condition, on, off):
    """A function that is `on` where `condition(arguments)` holds and `off` elsewhere, decided when kernels are compiled.

    `condition` gets the arguments' types then, and without the compiler the arguments themselves. What is not chosen is not even
    looked at by the compiler. Both functions are plain ones with the same argument names.
    """

    def call(*args):
        return (on if condition(*args) else off)(*args)

    def choose(*args):
        return on if condition(*args) else off

    call.__signature__ = choose.__signature__ = inspect.signature(on)
    overload(call, jit_options=OPTIONS)(choose)
    return call
