"""The journal: one line with a checksum per finished task, so that a killed run can be resumed.

A line is a checksum, a space, a JSON object and a newline. It is appended in one write, so it
survives the end of the process. It is flushed to the disk at the latest with the first line half a
second later; after that it survives a power cut. Arrays are stored as their bytes (base64), so
that values are read back exactly.

The first line that is cut off or fails its checksum ends the journal: it and all lines after it
are dropped, and their tasks run again. Lines after a damaged one could be used, but a gap means
that the file was changed by somebody else, and running a task again is always right.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import os
import re
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np

from heldout.errors import InputError
from heldout.experiment.execution.folder import open_file

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

__all__ = ["Journal", "Record", "decode", "encode"]

Record = dict[str, Any]
"""The content of a line: plain values and arrays by name."""

_ARRAY = "array"

_KIND: Final = re.compile(r"[<|][biufcSU][0-9]{1,9}")
"""The NumPy types of arrays that may be in a journal: plain values, no objects."""

_LONGEST: Final = 1 << 30
"""The longest line in bytes; a longer one was not written by a run."""

FLUSH_SECONDS: Final = 0.5
"""A flush takes longer than many tasks; a power cut costs this much work."""


def _packed(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        little = value.astype(value.dtype.newbyteorder("<"), copy=False)
        data = base64.b64encode(np.ascontiguousarray(little).tobytes()).decode()
        return {_ARRAY: [little.dtype.str, list(value.shape), data]}
    if isinstance(value, np.generic):
        return _packed(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return {_ARRAY: ["float", [], repr(value)]}
    if isinstance(value, dict):
        return {key: _packed(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_packed(item) for item in value]
    return value


def _unpacked(value: Any) -> Any:
    if isinstance(value, dict) and set(value) == {_ARRAY}:
        kind, shape, data = value[_ARRAY]
        if kind == "float":
            return float(data)
        if not _KIND.fullmatch(kind):
            raise ValueError(f"unexpected array type {kind}")
        return np.frombuffer(base64.b64decode(data), np.dtype(kind)).reshape(shape).copy()
    if isinstance(value, dict):
        return {key: _unpacked(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_unpacked(item) for item in value]
    return value


def _checksum(text: bytes) -> bytes:
    return hashlib.blake2b(text, digest_size=16).hexdigest().encode()


def encode(record: Record) -> bytes:
    """Return a record as a line.

    Examples
    --------
    >>> decode(encode({"key": "a", "values": np.array([0.1, np.nan])}))
    {'key': 'a', 'values': array([0.1, nan])}
    >>> decode(encode({"key": "a"})[:-2]) is None
    True
    """
    text = json.dumps(_packed(record), ensure_ascii=True, allow_nan=False).encode()
    return _checksum(text) + b" " + text + b"\n"


def decode(line: bytes) -> Record | None:
    """Return the record of a line; None if the line is damaged."""
    checksum, _, text = line.partition(b" ")
    if not line.endswith(b"\n") or checksum != _checksum(text[:-1]):
        return None
    try:
        record = _unpacked(json.loads(text))
    except (ValueError, TypeError, SyntaxError, OverflowError, RecursionError, MemoryError):
        return None  # anybody can compute a checksum; the content need not be a record
    return record if isinstance(record, dict) else None


class Journal:
    """An append-only file of records.

    Parameters
    ----------
    path
        The file; it is created if it does not exist.

    Attributes
    ----------
    records
        The records in the file when it was opened, in order.
    dropped
        The number of bytes that were cut off at the end because they were damaged.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.records: list[Record] = []
        self.dropped = 0
        self._flushed = -math.inf
        self._file = open_file(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        self._read()

    def _read(self) -> None:
        kept = 0
        with open(self._file, "rb", closefd=False) as file:
            while line := file.readline(_LONGEST):
                record = decode(line)
                if record is None:
                    break
                self.records.append(record)
                kept += len(line)
        size = os.fstat(self._file).st_size
        self.dropped = size - kept
        if self.dropped:
            os.ftruncate(self._file, kept)
            os.fsync(self._file)

    def add(self, record: Record) -> None:
        """Append a record; after this returns, it survives the end of the process."""
        line = encode(record)
        try:
            written = os.write(self._file, line)
            while written < len(line):  # a full disk or a signal can cut a write short
                written += os.write(self._file, line[written:])
            if time.monotonic() >= self._flushed + FLUSH_SECONDS:
                os.fsync(self._file)
                self._flushed = time.monotonic()
        except OSError as error:
            raise InputError(
                f"{self.path}: cannot be written ({error.strerror}); finished tasks are kept: make "
                "room and continue with resume=True"
            ) from None

    def close(self) -> None:
        """Close the file."""
        if self._file >= 0:
            with suppress(OSError):
                os.close(self._file)
            self._file = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
