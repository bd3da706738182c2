"""Files as bytes, unpacked where they are packed with gzip, xz, bzip2 or zstd.

A kilobyte can unpack to gigabytes. No text that means anything packs so well, so a stream that
grows beyond all measure is refused; whoever means it can unpack the file first.
"""

from __future__ import annotations

import codecs
import sys
from contextlib import contextmanager
from importlib import import_module
from io import BufferedReader, BytesIO, RawIOBase
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

from heldout.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "BOM",
    "LEAST_LIMIT",
    "PACKERS",
    "RATIO",
    "is_packed",
    "open_stream",
    "pack",
    "packing_of",
    "readable",
    "sniff",
    "unpack",
]

RATIO: Final = 200
"""How many times its size a file may unpack to: runs reach 20, made-up ones 70."""

LEAST_LIMIT: Final = 1 << 22
"""Bytes that may come out of any file, however small."""

BOM: Final = codecs.BOM_UTF8

_BUFFER: Final = 1 << 17
_UNPACKERS: Final = frozenset({"_lzma", "zlib", "zstandard", "zstd", "_zstd", "compression"})
# A block of zstd holds up to 128 kB in as few as four bytes: more at a time could be gigabytes.
_ZSTD_PIECE: Final = 1 << 11

PACKERS: Final = {".gz": "gzip", ".xz": "lzma", ".bz2": "bz2", ".zst": ""}
"""Endings of packed files, and the module that packs them."""

MAGIC: Final = {
    b"\x1f\x8b": "gzip",
    b"\xfd7zXZ\0": "lzma",
    b"BZh": "bz2",
    b"\x28\xb5\x2f\xfd": "zstd",
}
"""First bytes of packed files, and what they are packed with."""


def packing_of(start: bytes) -> str:
    """How a file with these first bytes is packed; empty if it is not."""
    return next((name for magic, name in MAGIC.items() if start.startswith(magic)), "")


def open_stream(path: str) -> IO[bytes]:
    """Open a file for reading, unpacked if its first bytes say that it is packed."""
    packing = _packing(path)
    with readable(path):
        file = Path(path).open("rb")  # noqa: SIM115 - closed by the caller
        return open_packed(file, packing, Path(path).stat().st_size, path) if packing else file


def is_packed(path: str) -> bool:
    """Whether a file is packed, told by its first bytes."""
    return bool(_packing(path))


def sniff(path: str, size: int = 1 << 16) -> bytes:
    """The first bytes of a file, unpacked, without a byte order mark."""
    with readable(path), open_stream(path) as file:
        return file.read(size).removeprefix(BOM)


def _packing(path: str) -> str:
    """The module that unpacks a file; empty when it is plain."""
    with readable(path):
        if Path(path).is_dir():
            raise InputError(f"{path} is a directory: give the path of a file in it")
        with Path(path).open("rb") as file:
            magic = file.read(6)
    return packing_of(magic)


@contextmanager
def readable(path: str) -> Iterator[None]:
    """Turn what can go wrong with a file into one sentence."""
    try:
        yield
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except PermissionError:
        raise InputError(f"{path}: no permission to read it") from None
    except OSError as error:
        if error.errno is not None:
            raise InputError(f"{path}: cannot be read ({error.strerror or error})") from None
        raise _broken(path, error) from None
    except ValueError as error:  # a path that no system can have
        raise InputError(f"{path!r}: cannot be read ({error})") from None
    except EOFError as error:
        raise _broken(path, error) from None
    except Exception as error:
        # lzma, zlib and zstd have errors of their own; importing them only to name them is slow.
        if type(error).__module__.split(".")[0] not in _UNPACKERS:
            raise
        raise _broken(path, error) from None


def _broken(path: str, error: Exception) -> InputError:
    return InputError(
        f"{path} is compressed and broken or cut short ({error}): fetch or write it again"
    )


def open_packed(file: IO[bytes], packing: str, size: int, name: str) -> IO[bytes]:
    """What comes out of a packed file, as a stream.

    Parameters
    ----------
    file
        The packed file, open at its beginning; it is closed with the stream.
    packing
        As `packing_of` tells it.
    size
        The length of the packed file in bytes.
    name
        What to call it in messages.
    """
    return BufferedReader(_Bounded(_opened(file, packing), file, size, name), _BUFFER)


def unpack(content: bytes, packing: str, name: str) -> bytes:
    """What a packed file holds, all at once."""
    whole = BytesIO()
    with open_packed(BytesIO(content), packing, len(content), name) as stream:
        while piece := stream.read(1 << 20):
            whole.write(piece)
    return whole.getvalue()


def pack(content: bytes, ending: str) -> bytes:
    """Pack content as the ending of a file says."""
    if ending != ".zst":
        packed: bytes = import_module(PACKERS[ending]).compress(content)
        return packed
    if sys.version_info >= (3, 14):
        from compression import zstd

        return zstd.compress(content)  # type: ignore[no-any-return]
    import zstandard

    return zstandard.ZstdCompressor().compress(content)


def _opened(file: IO[bytes], packing: str) -> Any:
    if packing != "zstd":
        return import_module(packing).open(file, "rb")
    if sys.version_info >= (3, 14):
        from compression import zstd

        return zstd.open(file, "rb")
    return _ZstdStream(file)


class _Bounded(RawIOBase):
    """A stream that refuses to give more than its packed file can mean."""

    def __init__(self, stream: Any, file: IO[bytes], size: int, name: str) -> None:
        super().__init__()
        self._stream, self._file, self._name = stream, file, name
        self._size = size
        self._given = 0

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        if not self.closed:
            self._stream.close()
            self._file.close()
        super().close()

    def readinto(self, buffer: Any) -> int:
        try:
            count: int = self._stream.readinto(buffer)
        except MemoryError:
            raise InputError(f"{self._name}: there is not the memory to unpack it") from None
        self._given += count
        if self._given > max(LEAST_LIMIT, RATIO * self._size):
            raise InputError(
                f"{self._name}: {self._size:,} packed bytes hold more than {self._given:,}, which "
                f"is over {RATIO} times as much, and no text packs so well: if you trust it, "
                "unpack it first"
            )
        return count


class _ZstdStream(RawIOBase):
    """A zstd file as a stream.

    The package's own readers take a file that is cut short for a whole one.
    """

    def __init__(self, file: IO[bytes]) -> None:
        super().__init__()
        try:
            import zstandard
        except ImportError:
            raise MissingExtraError("zstd files need a package: pip install zstandard") from None
        self._new = zstandard.ZstdDecompressor().decompressobj
        self._frame = self._new()
        self._file = file
        self._ready = memoryview(b"")
        self._inside = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready and (piece := self._file.read(_ZSTD_PIECE)):
            self._ready = memoryview(self._unpacked(piece))
        if not self._ready and self._inside:
            raise EOFError("the end is missing")
        count = min(len(buffer), len(self._ready))
        buffer[:count] = self._ready[:count]
        self._ready = self._ready[count:]
        return count

    def _unpacked(self, piece: bytes) -> bytes:
        parts = []
        while piece:
            parts.append(self._frame.decompress(piece))
            self._inside = not self._frame.eof
            piece = b"" if self._inside else self._frame.unused_data
            if not self._inside:  # files may be joined, each with frames of its own
                self._frame = self._new()
        return b"".join(parts)
