"""A file of records: one line of JSON each, appended, and on the disk before work goes on.

The units of a run are kept like this, and a coordinator's recovery file; the file is the only truth, everything else is computed
from it. The last key of a line is a checksum of the others. A last line without an end was being written when the power failed:
it is cut off, and what it recorded is done again. Any other damage is an error that names the line: what is in the file may be
hours of work, and nothing in it is silently thrown away.
"""

import errno
import fcntl
import json
import os
import zlib
from pathlib import Path
from typing import Any

from distmcts.errors import InputError, SearchError, file_errors
from distmcts.files import whole_file

Record = dict[str, Any]


class Records:
    """Owns the open file. One process at a time: a second one is refused."""

    def __init__(self, path: Path, keep: bool = True):
        """`keep`: what is appended is also kept in `all`, for those who read on."""
        self.path = path
        self._keep = keep
        self._file = -1
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self.all: list[Record] = self._replay()
        except BlockingIOError:
            self.close()
            raise InputError(f"{path}: another process is working on this run") from None
        except OSError as error:
            self.close()
            raise InputError(f"{path}: {error.strerror}") from None
        except BaseException:
            self.close()
            raise

    def _replay(self) -> list[Record]:
        content = self.path.read_bytes()
        self._length = content.rfind(b"\n") + 1
        records = parse_records(content[: self._length], self.path)
        os.ftruncate(self._file, self._length)
        return records

    def append(self, record: Record, durable: bool = True) -> None:
        """Blocks until the record is on the disk; if it need not be `durable`, until it would survive the end of this process."""
        line = _line(record)
        try:
            if os.write(self._file, line) < len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            if durable:
                os.fsync(self._file)
        except OSError as error:
            os.ftruncate(self._file, self._length)
            raise SearchError(f"{self.path}: {error.strerror}; every record before this one is safe") from None
        self._length += len(line)
        if self._keep:
            self.all.append(record)

    def rewrite(self, records: list[Record]) -> None:
        """Replace all that is in the file, whole or not at all. Blocks until it is on the disk."""
        with whole_file(self.path) as file:
            file.writelines(map(_line, records))
        file = os.open(self.path, os.O_RDWR | os.O_APPEND)
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.close(self._file)
        self._file = file
        self._length = os.fstat(file).st_size

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def __enter__(self) -> "Records":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def read_records(path: Path) -> list[Record]:
    """All records of a run that may still be going on."""
    with file_errors(path):
        content = path.read_bytes()
    return parse_records(content[: content.rfind(b"\n") + 1], path)


def parse_records(content: bytes, path: Path) -> list[Record]:
    records = []
    for number, line in enumerate(content.splitlines(), start=1):
        record = _checked(line)
        if record is None:
            raise InputError(
                f"{path}, line {number}: this record is damaged; remove the line, and what it recorded is done again"
            )
        records.append(record)
    return records


def _checked(line: bytes) -> Record | None:
    try:
        record = json.loads(line)
        checksum = record.pop("checksum")
    except (ValueError, AttributeError, KeyError, TypeError):
        return None
    return record if checksum == _checksum(record) else None


def _line(record: Record) -> bytes:
    return (_text({**record, "checksum": _checksum(record)}) + "\n").encode()


def _text(record: Record) -> str:
    return json.dumps(record, separators=(",", ":"), allow_nan=False)


def _checksum(record: Record) -> str:
    return f"{zlib.crc32(_text(record).encode()):08x}"
