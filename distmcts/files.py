"""Writing files so that a reader, or a crash, never finds half of one; folders for new runs."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def whole_file(path: Path, mode: int = 0o666) -> Iterator[BinaryIO]:
    """A file to write to. At the end it takes the place of `path`, on the disk; if anything goes wrong, `path` is as before.

    `mode`: who may read and write it, from its first moment on; less what the user's umask takes away.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        draft.unlink(missing_ok=True)
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def free_run_folder(name: str) -> Path:
    """Where a new run can go: a folder that does not exist, with the name and the time in its own. Nothing is made."""
    stamped = f"{name}-{time.strftime('%Y%m%d-%H%M%S')}"
    candidates = [stamped, *(f"{stamped}-{number}" for number in range(2, 1000))]
    return next(path for path in (Path("runs", candidate) for candidate in candidates) if not path.exists())


def write_whole(path: Path, text: str) -> None:
    """Write a text; bytes in it that are not text (a command line may have some) become character references."""
    with whole_file(path) as file:
        file.write(text.encode("utf-8", "xmlcharrefreplace"))
