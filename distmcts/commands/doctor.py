"""`distmcts doctor`: what this machine offers, and whether what distmcts rests on works here."""

import json
import os
import platform
import sys
from collections.abc import Callable

from distmcts.commands.options import AsJson


def run(as_json: AsJson = False) -> int:
    """Check memory, cores, atomics and the compile cache; exit code 1 if something is broken."""
    rows = [(name, *_look(look)) for name, look in _LOOKS.items()]
    if as_json:
        print(json.dumps([{"what": name, "ok": ok, "found": found} for name, ok, found in rows]))
    else:
        width = max(len(name) for name, *_ in rows)
        for name, ok, found in rows:
            print(f"{'ok  ' if ok else 'FAIL'}  {name.ljust(width)}  {found}")
    return 0 if all(ok for _, ok, _ in rows) else 1


def _look(look: Callable[[], tuple[bool, str]]) -> tuple[bool, str]:
    try:
        return look()
    except Exception as error:  # whatever it is, it is a finding
        return False, f"{type(error).__name__}: {error}"


def _python() -> tuple[bool, str]:
    return sys.version_info >= (3, 11), f"{platform.python_version()} on {platform.platform()}"


def _packages() -> tuple[bool, str]:
    from importlib.metadata import version

    names = ("numpy", "numba", "llvmlite", "multiprocess", "psutil", "pyzmq", "msgspec")
    return True, ", ".join(f"{name} {version(name)}" for name in names)


def _cores() -> tuple[bool, str]:
    usable = len(os.sched_getaffinity(0))
    return True, f"{usable} usable of {os.cpu_count()}; load {os.getloadavg()[0]:.2f}"


def _memory() -> tuple[bool, str]:
    from distmcts.tree.segment import available_bytes, show_bytes

    free = available_bytes()
    return free > 1 << 28, f"{show_bytes(free)} of shared memory available"


def _segment() -> tuple[bool, str]:
    from distmcts.tree.segment import Segment, shared_backing, sweep_orphans

    Segment(1 << 20, shared_backing()).close()
    swept = sweep_orphans()
    kind = "memfd: leaves no names behind" if hasattr(os, "memfd_create") else "named segments"
    return True, kind + (f"; swept {len(swept)} orphans" if swept else "")


def _cache() -> tuple[bool, str]:
    from distmcts.kernels.jit import CACHE_FOLDER
    from distmcts.tree.segment import show_bytes

    size = sum(path.stat().st_size for path in CACHE_FOLDER.rglob("*") if path.is_file())
    return True, f"{CACHE_FOLDER}, {show_bytes(size)}"


def _search() -> tuple[bool, str]:
    """The real thing, small: two processes on one tree, and the conservation laws."""
    from distmcts.engine import Engine

    with Engine("tic_tac_toe", workers=2, memory="16MiB", seed=1) as engine:
        engine.search(simulations=100_000)
        [audit] = engine.audit()
    return audit.visits == 100_000, f"2 workers, 100,000 simulations asked for, {audit.visits:,} counted"


_LOOKS = {
    "python": _python,
    "packages": _packages,
    "cores": _cores,
    "shared memory": _memory,
    "segment": _segment,
    "compile cache": _cache,
    "parallel search": _search,
}
