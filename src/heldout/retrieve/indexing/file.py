"""The index on disk: one file with memory-mapped sections and a header with their checksums.

The first 64 bytes: magic, format version, and offset, length and SHA-256 of the header. Then the
sections, each aligned to 64 bytes, little-endian. Then the header, as JSON: the position and
SHA-256 of each section, and the analyzer.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import struct
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, Final

import numpy as np

from heldout.data.parallel import run_threads
from heldout.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

__all__ = [
    "FORMAT",
    "IndexWriter",
    "Opened",
    "digest",
    "fingerprint_of",
    "is_index",
    "open_sections",
]

FORMAT: Final = 2
"""Increased whenever another file would be misread or its terms would differ."""

_MAGIC: Final = b"heldoutX"
_HEAD: Final = struct.Struct("<8sIIQQ32s")
_ALIGN: Final = 64
_AGAIN: Final = "build the index again"


@dataclass(frozen=True, slots=True)
class Section:
    """One array of the file."""

    name: str
    dtype: str
    count: int
    offset: int
    sha256: str


@dataclass(frozen=True, slots=True, eq=False)
class Opened:
    """What a file holds: its arrays (memory maps), their digests, and the rest of its header."""

    arrays: Mapping[str, NDArray[Any]]
    digests: Mapping[str, str]
    header: Mapping[str, Any]


class IndexWriter:
    """Writes the sections of an index, in any order, each from beginning to end.

    Parameters
    ----------
    file
        Open for writing, empty.
    sizes
        Type and number of elements of each section.
    threads
        With more than one, data are hashed while they are written.
    """

    def __init__(
        self, file: IO[bytes], sizes: Mapping[str, tuple[str, int]], threads: int = 1
    ) -> None:
        self._file = file
        self._threads = threads
        self._sizes = sizes
        self._begins: dict[str, int] = {}
        self._hashes = {name: hashlib.sha256() for name in sizes}
        self._written = dict.fromkeys(sizes, 0)
        end = _HEAD.size
        for name, (dtype, count) in sizes.items():
            self._begins[name] = -(-end // _ALIGN) * _ALIGN
            end = self._begins[name] + count * np.dtype(dtype).itemsize
        self._end = end

    def write(self, name: str, array: NDArray[Any]) -> None:
        """Append elements to a section."""
        data = np.ascontiguousarray(array, self._sizes[name][0]).data.cast("B")
        self._file.seek(self._begins[name] + self._written[name])
        takers: list[Callable[[memoryview], object]] = [
            self._file.write,
            self._hashes[name].update,
        ]
        run_threads(lambda take: take(data), takers, self._threads)  # both take about as long
        self._written[name] += len(data)

    def finish(self, signature: str, description: Mapping[str, Any]) -> None:
        """Write the header, after all sections."""
        sections = [
            Section(name, dtype, count, self._begins[name], self._hashes[name].hexdigest())
            for name, (dtype, count) in self._sizes.items()
        ]
        header = {
            "fingerprint": fingerprint_of(signature, {one.name: one.sha256 for one in sections}),
            "signature": signature,
            **description,
            "sections": [
                {
                    "name": one.name,
                    "dtype": one.dtype,
                    "count": one.count,
                    "offset": one.offset,
                    "sha256": one.sha256,
                }
                for one in sections
            ],
        }
        text = json.dumps(header, ensure_ascii=True, indent=1).encode()
        self._file.seek(self._end)
        self._file.write(text)
        self._file.seek(0)
        self._file.write(
            _HEAD.pack(_MAGIC, FORMAT, 0, self._end, len(text), hashlib.sha256(text).digest())
        )


def digest(array: NDArray[Any]) -> str:
    """Return the SHA-256 of an array as stored in the file."""
    little = array.dtype.newbyteorder("<")
    return hashlib.sha256(np.ascontiguousarray(array, little).data.cast("B")).hexdigest()


def fingerprint_of(signature: str, digests: Mapping[str, str]) -> str:
    """Return a fingerprint of analyzer and content."""
    lines = [signature, *(f"{name} {digests[name]}" for name in sorted(digests))]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def is_index(path: str | os.PathLike[str]) -> bool:
    """Return whether a file begins like an index, damaged or not."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - a path of any kind
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False


def open_sections(path: str | os.PathLike[str]) -> Opened:
    """Map a file into memory after checking its header and size (not every byte)."""
    name = os.fspath(path)
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - a path of any kind
            head = file.read(_HEAD.size)
            _check_head(name, head)
            size = file.seek(0, os.SEEK_END)
            *_, begin, length, checksum = _HEAD.unpack(head)
            if begin + length != size:
                raise InputError(
                    f"{name}: the index has {size:,} bytes, expected {begin + length:,}; "
                    f"the file was truncated or extended: {_AGAIN}"
                )
            content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except OSError as error:
        raise InputError(f"{name}: the index cannot be read ({error.strerror})") from None
    text = content[begin : begin + length]
    if hashlib.sha256(text).digest() != checksum:
        raise InputError(f"{name}: the header of the index is damaged: {_AGAIN}")
    header = json.loads(text)
    sections = [Section(**one) for one in header["sections"]]
    arrays = {one.name: _mapped(content, one) for one in sections}
    return Opened(arrays, {one.name: one.sha256 for one in sections}, header)


def _check_head(name: str, head: bytes) -> None:
    if not head.startswith(_MAGIC):
        raise InputError(f"{name}: not an index of heldout: build one, or give another file")
    if len(head) < _HEAD.size:
        raise InputError(f"{name}: the index is truncated in its first bytes: {_AGAIN}")
    version = _HEAD.unpack(head)[1]
    if version != FORMAT:
        raise InputError(
            f"{name}: the index has format {version}, but this version of heldout reads format "
            f"{FORMAT}: {_AGAIN}"
        )


def _mapped(content: mmap.mmap, section: Section) -> NDArray[Any]:
    if not section.count:
        return np.empty(0, section.dtype)
    return np.frombuffer(content, section.dtype, section.count, section.offset)
