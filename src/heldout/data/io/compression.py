"""Files as bytes, decompressed if they are compressed with gzip, xz, bzip2 or zstd."""

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
    "compress",
    "compression_of",
    "decompress",
    "is_compressed",
    "open_stream",
    "readable",
    "refuse_directory",
    "sniff",
]

BOM: Final = codecs.BOM_UTF8

_BUFFER: Final = 1 << 17
_MODULES: Final = frozenset({"_lzma", "zlib", "zstandard", "zstd", "_zstd", "compression"})

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
        return _opened(path, compression) if compression else open(path, "rb")  # noqa: PTH123


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


def decompress(content: bytes, compression: str) -> bytes:
    """Return the decompressed content of a file."""
    with _opened(BytesIO(content), compression) as stream:
        whole: bytes = stream.read()
    return whole


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


def _opened(file: str | IO[bytes], compression: str) -> Any:
    if compression != "zstd":
        return import_module(compression).open(file, "rb")
    if sys.version_info >= (3, 14):
        from compression import zstd

        return zstd.open(file, "rb")
    return BufferedReader(_ZstdStream(file), _BUFFER)


class _ZstdStream(RawIOBase):
    """A zstd file as a stream.

    The readers of the package accept truncated files.
    """

    def __init__(self, file: str | IO[bytes]) -> None:
        super().__init__()
        try:
            import zstandard
        except ImportError:
            raise MissingExtraError("zstd files need a package: pip install zstandard") from None
        self._new = zstandard.ZstdDecompressor().decompressobj
        self._frame = self._new()
        self._file = open(file, "rb") if isinstance(file, str) else file  # noqa: PTH123, SIM115
        self._ready = memoryview(b"")
        self._inside = False

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self._file.close()
        super().close()

    def readinto(self, buffer: Any) -> int:
        while not self._ready and (piece := self._file.read(_BUFFER)):
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
