"""Files as bytes, decompressed if they are compressed with gzip, xz, bzip2 or zstd.

A kilobyte can decompress to gigabytes. No meaningful text compresses so well, so that a stream that
grows too large is refused; users who trust the file can decompress it first.
"""

from __future__ import annotations

import codecs
import os
import sys
from contextlib import contextmanager
from importlib import import_module
from io import BufferedReader, BytesIO, RawIOBase
from typing import IO, TYPE_CHECKING, Any, Final

from heldout.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "BOM",
    "EXTENSIONS",
    "LEAST_LIMIT",
    "RATIO",
    "compress",
    "compression_of",
    "decompress",
    "is_compressed",
    "open_stream",
    "readable",
    "refuse_directory",
    "sniff",
]

RATIO: Final = 200
"""The largest compression ratio: runs reach 20, synthetic ones 70."""

LEAST_LIMIT: Final = 1 << 22
"""Bytes that any file may decompress to, however small it is."""

BOM: Final = codecs.BOM_UTF8

_BUFFER: Final = 1 << 17
_MODULES: Final = frozenset({"_lzma", "zlib", "zstandard", "zstd", "_zstd", "compression"})
# A zstd block of four bytes can decompress to 128 kB: a larger piece could become gigabytes.
_ZSTD_PIECE: Final = 1 << 11

EXTENSIONS: Final = {".gz": "gzip", ".xz": "lzma", ".bz2": "bz2", ".zst": ""}
"""Extensions of compressed files, and the module that compresses them."""

MAGIC: Final = {
    b"\x1f\x8b": "gzip",
    b"\xfd7zXZ\0": "lzma",
    b"BZh": "bz2",
    b"\x28\xb5\x2f\xfd": "zstd",
}
"""First bytes of compressed files, and their compression."""


def compression_of(start: bytes) -> str:
    """Return the compression of a file with these first bytes; empty if there is none."""
    return next((name for magic, name in MAGIC.items() if start.startswith(magic)), "")


def open_stream(path: str) -> IO[bytes]:
    """Open a file for reading, decompressed if its first bytes are those of a compressed file."""
    compression = _compression(path)
    with readable(path):
        file = open(path, "rb")  # noqa: PTH123, SIM115 - closed by the caller
        return (
            open_compressed(file, compression, os.fstat(file.fileno()).st_size, path)
            if compression
            else file
        )


def is_compressed(path: str) -> bool:
    """Return whether a file is compressed, by its first bytes."""
    return bool(_compression(path))


def sniff(path: str, size: int = 1 << 16) -> bytes:
    """Return the first bytes of a file, decompressed, without a byte order mark."""
    with readable(path), open_stream(path) as file:
        return file.read(size).removeprefix(BOM)


def _compression(path: str) -> str:
    """Return the module that decompresses a file; empty if it is not compressed."""
    with readable(path):
        refuse_directory(path)
        with open(path, "rb") as file:  # noqa: PTH123 - pathlib is slow to import
            magic = file.read(6)
    return compression_of(magic)


def refuse_directory(path: str) -> None:
    """Raise an error for a directory in the place of a file."""
    if os.path.isdir(path):  # noqa: PTH112 - pathlib is slow to import
        raise InputError(f"{path} is a directory: give the path of a file in it")


@contextmanager
def readable(path: str) -> Iterator[None]:
    """Turn errors about a file into one line."""
    try:
        yield
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except PermissionError:
        raise InputError(f"{path}: permission denied") from None
    except OSError as error:
        if error.errno is not None:
            raise InputError(f"{path}: cannot be read ({error.strerror or error})") from None
        raise _broken(path, error) from None
    except ValueError as error:  # an invalid path
        raise InputError(f"{path!r}: cannot be read ({error})") from None
    except EOFError as error:
        raise _broken(path, error) from None
    except Exception as error:
        # lzma, zlib and zstd raise their own errors; importing them to name these is slow.
        if type(error).__module__.split(".")[0] not in _MODULES:
            raise
        raise _broken(path, error) from None


def _broken(path: str, error: Exception) -> InputError:
    return InputError(
        f"{path}: the compressed file is damaged or truncated ({error}): download or write it again"
    )


def open_compressed(file: IO[bytes], compression: str, size: int, name: str) -> IO[bytes]:
    """Return the decompressed content of a file as a stream.

    Parameters
    ----------
    file
        The compressed file, open at its beginning; it is closed with the stream.
    compression
        As returned by `compression_of`.
    size
        The length of the compressed file in bytes.
    name
        Its name in messages.
    """
    return BufferedReader(_Bounded(_opened(file, compression), file, size, name), _BUFFER)


def decompress(content: bytes, compression: str, name: str) -> bytes:
    """Return the decompressed content of a file."""
    whole = BytesIO()
    with open_compressed(BytesIO(content), compression, len(content), name) as stream:
        while piece := stream.read(1 << 20):
            whole.write(piece)
    return whole.getvalue()


def compress(content: bytes, ending: str) -> bytes:
    """Compress content as the extension of a file says."""
    if ending != ".zst":
        compressed: bytes = import_module(EXTENSIONS[ending]).compress(content)
        return compressed
    if sys.version_info >= (3, 14):
        from compression import zstd

        return zstd.compress(content)  # type: ignore[no-any-return]
    import zstandard

    return zstandard.ZstdCompressor().compress(content)


def _opened(file: IO[bytes], compression: str) -> Any:
    if compression != "zstd":
        return import_module(compression).open(file, "rb")
    if sys.version_info >= (3, 14):
        from compression import zstd

        return zstd.open(file, "rb")
    return _ZstdStream(file)


class _Bounded(RawIOBase):
    """A stream that raises an error if it grows too large for the size of its file."""

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
            raise InputError(f"{self._name}: not enough memory to decompress it") from None
        self._given += count
        if self._given > max(LEAST_LIMIT, RATIO * self._size):
            raise InputError(
                f"{self._name}: implausible compressed file: {self._size:,} bytes decompress to "
                f"more than {self._given:,}, over {RATIO} times as much; if you trust it, "
                "decompress it first"
            )
        return count


class _ZstdStream(RawIOBase):
    """A zstd file as a stream.

    The readers of the package accept truncated files.
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
            self._ready = memoryview(self._decompressed(piece))
        if not self._ready and self._inside:
            raise EOFError("its end is missing")
        count = min(len(buffer), len(self._ready))
        buffer[:count] = self._ready[:count]
        self._ready = self._ready[count:]
        return count

    def _decompressed(self, piece: bytes) -> bytes:
        parts = []
        while piece:
            parts.append(self._frame.decompress(piece))
            self._inside = not self._frame.eof
            piece = b"" if self._inside else self._frame.unused_data
            if not self._inside:  # files may be concatenated, each with its frames
                self._frame = self._new()
        return b"".join(parts)
