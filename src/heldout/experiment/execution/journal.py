"""The journal: one checksummed line for each finished task, so that a killed run can go on.

A line is a checksum, a blank, a JSON object and a line end, appended in one write, so that it is
safe from the end of the process; it is flushed to the disk, where it is safe from the end of the
power, at the latest with the first line half a second later. Arrays stand in it as their bytes, so
that what is read back is what was written, bit by bit. A line that was cut off, or that is not what
its checksum says, ends the journal: it and all that follows are dropped, and their tasks are done
again.
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
from heldout.experiment.execution.regular_files import open_regular

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

__all__ = ["Journal", "Record", "decode", "encode"]

Record = dict[str, Any]
"""What a task gives: plain values and arrays by name."""

_ARRAY = "array"

_KIND: Final = re.compile(r"[<|][biufcSU][0-9]{1,9}")
"""How arrays of plain values are named; NumPy knows more, some of which it warns of."""

_LONGEST: Final = 1 << 30
"""Bytes of a record: what goes on without an end was not written here."""

FLUSH_SECONDS: Final = 0.5
"""A disk takes longer to flush than many a task takes; a power cut costs this much work."""


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
        return {key: _packed(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_packed(one) for one in value]
    return value


def _unpacked(value: Any) -> Any:
    if isinstance(value, dict) and set(value) == {_ARRAY}:
        kind, shape, data = value[_ARRAY]
        if kind == "float":
            return float(data)
        if not _KIND.fullmatch(kind):
            raise ValueError(f"an array of {kind}")
        return np.frombuffer(base64.b64decode(data), np.dtype(kind)).reshape(shape).copy()
    if isinstance(value, dict):
        return {key: _unpacked(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_unpacked(one) for one in value]
    return value


def _checksum(text: bytes) -> bytes:
    return hashlib.blake2b(text, digest_size=16).hexdigest().encode()


def encode(record: Record) -> bytes:
    """A record as a line.

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
    """A record from its line; None if the line is not whole."""
    checksum, _, text = line.partition(b" ")
    if not line.endswith(b"\n") or checksum != _checksum(text[:-1]):
        return None
    try:
        found = _unpacked(json.loads(text))
    except (ValueError, TypeError, SyntaxError, OverflowError, RecursionError, MemoryError):
        return None  # a right checksum says who counted it, not that it is a record
    return found if isinstance(found, dict) else None


class Journal:
    """An append-only file of records.

    Parameters
    ----------
    path
        The file; it is made if it is not there.

    Attributes
    ----------
    records
        What was in it when it was opened, in order.
    dropped
        How many bytes at its end were not whole and have been cut off.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.records: list[Record] = []
        self.dropped = 0
        self._flushed = -math.inf
        self._file = open_regular(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
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
        """Append a record; when this returns, a killed process does not lose it."""
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
                f"{self.path}: cannot be written ({error.strerror}); what was finished before is "
                "there: make room and go on with --resume"
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
