"""The shared memory of one engine: one segment, cut into the arrays of kernels/layout.py.

Three kinds:
  memfd     the default where worker processes share the tree, on Linux. It has no name, workers inherit it, and the system
            frees it when the last process that maps it is gone, however it went.
  named     elsewhere, or when asked for: a segment with one owner, whose name says who that is. A start sweeps the names of
            owners that are dead.
  private   where nobody else needs the memory: it can have huge pages, which come ten times faster and spare address look-ups.

Pages are zero when they come, and come when first touched: nothing is cleared by hand.
"""

import contextlib
import mmap
import os
import re
import sys
from pathlib import Path

import numpy as np
import psutil

from distmcts.errors import InputError, SearchError

LINE = 64  # bytes; every array starts on a cache line
NAMES = Path("/dev/shm")
NAME_PATTERN = re.compile(r"distmcts-(\d+)-(\d+)-\d+")
_serial = 0


class Segment:
    """Owns the memory: `close` gives it back. Arrays cut from it must not be used after that."""

    def __init__(self, size_bytes: int, backing: str):
        self.size_bytes = size_bytes
        self.name: str | None = None
        self._used = 0
        self._owner_pid = os.getpid()
        try:
            self._map = self._mapped(backing)
        except OSError as error:
            self._unlink()
            raise SearchError(f"cannot get {size_bytes} bytes of shared memory: {error.strerror}") from None
        if hasattr(mmap, "MADV_HUGEPAGE"):
            with contextlib.suppress(OSError):
                self._map.madvise(mmap.MADV_HUGEPAGE)  # for shared memory only some systems allow it

    def _mapped(self, backing: str) -> mmap.mmap:
        if backing == "private":
            return mmap.mmap(-1, self.size_bytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        descriptor = os.memfd_create("distmcts", os.MFD_CLOEXEC) if backing == "memfd" else self._named_descriptor()
        try:
            os.ftruncate(descriptor, self.size_bytes)
            return mmap.mmap(descriptor, self.size_bytes)
        finally:
            os.close(descriptor)

    def _named_descriptor(self) -> int:
        global _serial
        sweep_orphans()
        _serial += 1
        self.name = f"distmcts-{os.getpid()}-{_start_time(os.getpid())}-{_serial}"
        return os.open(NAMES / self.name, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)

    def take(self, dtype: str | np.dtype, count: int) -> np.ndarray:
        """The next `count` elements, starting on a cache line."""
        start = self._used
        length = np.dtype(dtype).itemsize * count
        self._used = start + aligned(length)
        if self._used > self.size_bytes:
            raise AssertionError("the segment was planned too small")
        return np.frombuffer(self._map, dtype, count, start)

    def close(self) -> None:
        """Give the memory back. The mapping itself goes when the last array on it does."""
        self._unlink()
        with contextlib.suppress(BufferError):  # arrays are still held by someone; the memory goes with them
            self._map.close()

    def _unlink(self) -> None:
        if os.getpid() == self._owner_pid:
            self.forget_name()

    def forget_name(self) -> None:
        """Remove the name, if there is one; the memory lives on in those who map it. A worker calls it when its owner is gone."""
        if self.name is not None:
            (NAMES / self.name).unlink(missing_ok=True)
            self.name = None


def shared_backing() -> str:
    return "memfd" if hasattr(os, "memfd_create") else "named"


def aligned(length: int) -> int:
    return (length + LINE - 1) // LINE * LINE


def sweep_orphans() -> list[str]:
    """Remove the named segments of owners that no longer live; return their names."""
    swept = []
    if not NAMES.is_dir():
        return swept
    for path in NAMES.iterdir():
        match = NAME_PATTERN.fullmatch(path.name)
        # The start time tells the owner from a later process with the same number.
        if match and _start_time(int(match[1])) != int(match[2]):
            path.unlink(missing_ok=True)
            swept.append(path.name)
    return swept


def _start_time(pid: int) -> int:
    """When a process started, in a unit of its own that no change of the clock touches; -1 if there is none."""
    try:
        if sys.platform.startswith("linux"):
            return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])  # ticks since the system started
        return int(psutil.Process(pid).create_time() * 100)
    except (OSError, psutil.NoSuchProcess):
        return -1


_UNITS = {"": 1, "b": 1, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40}
_UNITS |= {"kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}


def parse_bytes(text: str | int) -> int:
    """A memory budget: a number of bytes, or "512MiB", "2GiB", "1.5gb"."""
    if isinstance(text, int) and not isinstance(text, bool):
        return text
    match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([a-zA-Z]*)\s*", str(text))
    if not match or match[2].lower() not in _UNITS:
        raise InputError(f"memory {text!r} is not a size; write for example 512MiB or 2GiB")
    return int(float(match[1]) * _UNITS[match[2].lower()])


def show_bytes(size: float) -> str:
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024 or unit == "GiB":
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    raise AssertionError


def available_bytes() -> int:
    """How much shared memory can be had now: what is free in memory, and in /dev/shm where that is smaller."""
    free = psutil.virtual_memory().available
    if sys.platform.startswith("linux") and NAMES.is_dir():
        room = os.statvfs(NAMES)
        free = min(free, room.f_bavail * room.f_frsize)
    return free
