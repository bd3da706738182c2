"""Files as bytes: opened, decompressed, cut into whole lines, decoded.

Two ways to read: a `Source` has a text at hand (a plain file, read piece by piece by several
threads, or decompressed content), `blocks` streams a corpus that may be larger than memory.
"""

from __future__ import annotations

import codecs
import os
import re
import sys
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from heldout.data.words import PADDING, Bytes
from heldout.errors import FormatError, InputError, MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

BOM: Final = codecs.BOM_UTF8
PIECE: Final = 1 << 20
BLOCK: Final = 8 << 20
UTF16: Final = "this is UTF-16: convert it to UTF-8, for example with iconv -f UTF-16 -t UTF-8"

EXTENSIONS: Final = {".gz": "gzip", ".xz": "lzma", ".bz2": "bz2", ".zst": "zstd"}
"""Extensions of compressed files, and their compression."""

MAGIC: Final = {
    b"\x1f\x8b": "gzip",
    b"\xfd7zXZ\0": "lzma",
    b"BZh": "bz2",
    b"\x28\xb5\x2f\xfd": "zstd",
}
"""First bytes of compressed files: they tell the compression, not the name, so that pipes work."""

_ENDINGS: Final = re.compile(
    r"(\.(run|trec|res|qrels|dat|txt|hyp|out|toml|jsonl?|ndjson|csv|tsv|parquet|sgml?|xml"
    r"|gz|xz|bz2|zst))+$",
    re.IGNORECASE,
)
_MODULES: Final = frozenset({"_lzma", "zlib", "zstandard", "zstd", "_zstd", "compression"})
_local = threading.local()


def file_stem(path: str) -> str:
    """Return the name of a file without folders and without extensions of known formats.

    Others stay: the .5 of lambda=0.5 is not one.
    """
    base = os.path.basename(path)  # noqa: PTH119 - pathlib is slow to import
    return _ENDINGS.sub("", base) or base


@contextmanager
def readable(path: str) -> Iterator[None]:
    """Turn errors about a file into one line."""
    try:
        yield
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except PermissionError:
        raise InputError(f"{path}: permission denied") from None
    except IsADirectoryError:
        raise InputError(f"{path} is a directory: give the path of a file in it") from None
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


# Compression


def _compression(start: bytes) -> str:
    return next((name for magic, name in MAGIC.items() if start.startswith(magic)), "")


def _decompressor(compression: str) -> Callable[[], Any]:
    """Return what makes an object with decompress(), eof and unused_data, as all libraries do."""
    if compression == "gzip":
        import zlib

        return lambda: zlib.decompressobj(wbits=31)  # 31: with header and checksum of gzip
    if compression == "zstd":
        return _zstd().ZstdDecompressor if sys.version_info >= (3, 14) else _zstd_frame
    module = import_module(compression)
    new: Callable[[], Any] = getattr(module, f"{compression.upper()}Decompressor")
    return new


def _zstd_frame() -> Any:
    return _zstd().ZstdDecompressor().decompressobj()


def _zstd() -> Any:
    try:
        return import_module("compression.zstd" if sys.version_info >= (3, 14) else "zstandard")
    except ImportError:
        raise MissingExtraError("zstd files need a package: pip install zstandard") from None


def _decompress(pieces: Iterable[bytes], compression: str) -> Iterator[bytes]:
    """Decompress one or more members: ``cat a.gz b.gz`` makes a file of two."""
    new = _decompressor(compression)
    member, inside = new(), False
    for piece in pieces:
        rest = piece
        while inside or (rest := rest.lstrip(b"\0")):  # members may be padded with zeros
            if not rest:
                break
            yield member.decompress(rest)
            inside = not member.eof
            rest = b"" if inside else member.unused_data
            if not inside:
                member = new()
    if inside:  # not all libraries notice
        raise EOFError("its end is missing")


def compress(content: bytes, ending: str) -> bytes:
    """Compress content as the extension of a file says."""
    compression = EXTENSIONS[ending]
    if compression == "zstd" and sys.version_info < (3, 14):
        return _zstd().ZstdCompressor().compress(content)  # type: ignore[no-any-return]
    module = _zstd() if compression == "zstd" else import_module(compression)
    return module.compress(content)  # type: ignore[no-any-return]


def is_compressed(path: str) -> bool:
    """Return whether a file is compressed, by its first bytes."""
    with readable(path), open(path, "rb") as file:  # noqa: PTH123 - pathlib is slow to import
        return bool(_compression(file.read(6)))


def read_pieces(path: str, begin: int = 0, size: int = PIECE) -> Iterator[bytes]:
    """Yield the content of a file from byte `begin`, decompressed if its first bytes say so."""
    with readable(path), open(path, "rb") as file:  # noqa: PTH123 - pathlib is slow to import
        first = file.read(size)
        compression = _compression(first)
        if begin and not compression:
            file.seek(begin)
            first, begin = b"", 0
        pieces = chain([first] if first else [], iter(lambda: file.read(size), b""))
        for piece in _decompress(pieces, compression) if compression else pieces:
            if begin < len(piece):
                yield piece[begin:] if begin else piece
            begin = max(0, begin - len(piece))


def read_head(path: str, size: int = 1 << 16) -> bytes:
    """Return the first bytes of a file, decompressed, without a byte order mark."""
    head = b""
    for piece in read_pieces(path, size=size):
        head += piece
        if len(head) >= size:
            break
    return head[:size].removeprefix(BOM)


# A text at hand


class Piece(NamedTuple):
    """Some whole lines of a text, each with its newline."""

    data: Bytes  # followed by PADDING bytes
    size: int  # without the padding
    offset: int  # where they begin in the text


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Source:
    """One input: a plain file, read when needed, or the content of a pipe or compressed file."""

    name: str  # in messages: the path as the user gave it, or <stdin>
    size: int
    path: str | None = None  # None: the text is in `content`
    content: bytes = b""
    begin: int = 0  # after a byte order mark, if there is one

    def read(self, begin: int, end: int) -> bytes:
        """Return the bytes from `begin` to `end`."""
        if self.path is None:
            return self.content[begin:end]
        with readable(self.name), open(self.path, "rb", buffering=0) as file:  # noqa: PTH123
            file.seek(begin)
            parts = []
            while begin < end and (part := file.read(end - begin)):
                parts.append(part)
                begin += len(part)
            return b"".join(parts)

    def head(self, length: int = 1 << 16) -> bytes:
        """Return the first bytes of the text."""
        return self.read(self.begin, min(self.size, length))

    def whole(self) -> bytes:
        """Return the whole text."""
        return self.read(self.begin, self.size)

    def spans(self) -> list[tuple[int, int]]:
        """Return where pieces of about a megabyte begin and end, each with whole lines."""
        _keep_freed_memory()
        cuts = [self.begin]
        while cuts[-1] < self.size:
            cuts.append(self._line_end(cuts[-1] + PIECE))
        return list(pairwise(cuts))

    def _line_end(self, offset: int) -> int:
        """Return the end of the line that has a byte."""
        step = 1 << 12
        for at in range(offset, self.size, step):
            found = self.read(at, min(at + step, self.size)).find(b"\n")
            if found >= 0:
                return at + found + 1
        return self.size

    def piece(self, span: tuple[int, int]) -> Piece:
        """Read the lines of a span; the memory is that of the calling thread, and reused."""
        begin, end = span
        size = end - begin
        data = _buffer(size + 1 + PADDING)
        if self.path is None:
            data[:size] = np.frombuffer(self.content, np.uint8, size, begin)
        else:
            self._read_into(data[:size], begin)
        if data[size - 1] != 10:  # the last line of the file has no newline
            data[size] = 10
            size += 1
        data[size : size + PADDING] = 10
        return Piece(data[: size + PADDING], size, begin)

    def _read_into(self, data: Bytes, begin: int) -> None:
        filled = 0
        with open(str(self.path), "rb", buffering=0) as file:  # noqa: PTH123 - no second buffer
            file.seek(begin)
            while filled < len(data) and (count := file.readinto(data.data[filled:])):
                filled += count
        if filled < len(data):
            raise InputError(f"{self.name} became shorter while it was read: read it again")

    def lines_between(self, begin: int, end: int) -> int:
        """Return the number of line ends between two offsets."""
        steps = range(begin, end, PIECE)
        return sum(self.read(at, min(at + PIECE, end)).count(b"\n") for at in steps)

    def place(self, offset: int) -> str:
        """Return ``file:line`` of byte `offset`."""
        return f"{self.name}:{1 + self.lines_between(0, offset)}"


def _buffer(size: int) -> Bytes:
    """Return memory of this thread, reused so that it stays in the processor cache."""
    held: Bytes | None = getattr(_local, "buffer", None)
    if held is None or len(held) < size:
        held = np.empty(max(size, PIECE + (1 << 13)), np.uint8)
        _local.buffer = held
    return held


def _keep_freed_memory() -> None:
    """Keep the allocator from returning the memory of a piece before the next one needs it.

    The C library of Linux returns freed memory to the system above a threshold, which it raises to
    the largest block that was freed (up to 32 MB). Freeing one such block, never touched, is
    enough; without it, new memory pages for each piece are half of the time to read a run.
    """
    np.empty(31 << 20, np.uint8)


def open_source(path: str | os.PathLike[str]) -> Source:
    """Open a file, or standard input for ``-``; compressed content is decompressed."""
    name = os.fspath(path)
    if name == "-":
        return _in_memory("<stdin>", sys.stdin.buffer.read())
    with readable(name), open(name, "rb", buffering=0) as file:  # noqa: PTH123 - no second buffer
        size = os.fstat(file.fileno()).st_size
        start = file.read(6)
        if not _compression(start) and size >= len(start) > 0:
            return Source(name, size, name, begin=len(BOM) if start.startswith(BOM) else 0)
        # Compressed, or not a plain file (a pipe has no size): read all of it.
        return _in_memory(name, start + file.read())


def _in_memory(name: str, content: bytes) -> Source:
    compression = _compression(content)
    if compression:
        with readable(name):
            content = b"".join(_decompress([content], compression))
    if not content:
        raise InputError(f"{name} is empty")
    return Source(name, len(content), None, content, len(BOM) if content.startswith(BOM) else 0)


# A corpus as a stream


class Block(NamedTuple):
    """Some whole lines of a file; the last line of a file may have no newline."""

    raw: bytes
    offset: int  # in the decompressed file
    line: int  # the number of the first line, from 1


def blocks(path: str, begin: int = 0, line: int = 1, size: int = BLOCK) -> Iterator[Block]:
    """Yield the lines of a file in blocks of about `size` bytes, from byte `begin`."""
    pending: list[bytes] = []
    is_first = begin == 0
    for read in read_pieces(path, begin, size):
        piece = read
        if is_first and piece.startswith(BOM):
            begin, piece = len(BOM), piece[len(BOM) :]
        is_first = False
        cut = piece.rfind(b"\n") + 1
        if not cut:
            pending.append(piece)
            continue
        raw = b"".join([*pending, piece[:cut]])
        yield Block(raw, begin, line)
        begin += len(raw)
        line += raw.count(b"\n")
        pending = [piece[cut:]]
    if any(pending):
        yield Block(b"".join(pending), begin, line)


@dataclass(frozen=True, slots=True)
class Reading:
    """How the text of files is read."""

    encoding: str = "utf-8"
    fields: tuple[str, ...] | None = None  # of a document, in this order; None: the usual ones

    def __post_init__(self) -> None:
        try:
            name = codecs.lookup(self.encoding).name
            newline = "\n".encode(name)
        except (LookupError, TypeError, ValueError):
            raise InputError(
                f"encoding={self.encoding!r}: unknown encoding; try utf-8, latin-1 or cp1252"
            ) from None
        if newline != b"\n":
            raise InputError(
                f"encoding={self.encoding!r} is not supported: convert the files to UTF-8, for "
                f"example with iconv -f {self.encoding} -t UTF-8"
            )
        # A byte order mark is skipped in any case.
        object.__setattr__(self, "encoding", "utf-8" if name == "utf-8-sig" else name)

    @property
    def is_utf8(self) -> bool:
        """Whether the bytes need no conversion."""
        return self.encoding in {"utf-8", "ascii"}

    def decode(self, raw: bytes, where: Callable[[int], str]) -> str:
        """Decode bytes; `where` returns the place (``file:line``) of a byte in them."""
        try:
            return raw.decode(self.encoding)
        except UnicodeDecodeError as error:
            raise FormatError(where(error.start), _undecodable(error)) from None


def _undecodable(error: UnicodeDecodeError) -> str:
    if error.start == 0 and looks_like_utf16(error.object):
        return UTF16
    other = "latin-1" if error.encoding == "utf-8" else "utf-8"
    return (
        f"byte 0x{error.object[error.start]:02x} is not valid {error.encoding.upper()}: name the "
        f"encoding of the file (encoding='{other}')"
    )


def text_lines(path: str, reading: Reading) -> Iterator[tuple[int, str]]:
    """Yield number and text of each line, including its line end."""
    for block in blocks(path):
        lines = block.raw.split(b"\n")  # not splitlines: a carriage return alone ends no line
        ends = [*["\n"] * (len(lines) - 1), ""]
        for number, (raw, end) in enumerate(zip(lines, ends, strict=True), block.line):
            if raw or end:
                yield number, reading.decode(raw, lambda _, at=number: f"{path}:{at}") + end  # type: ignore[misc]


# Text


def looks_like_utf16(start: bytes) -> bool:
    """Return whether the first bytes of a file are those of a text in UTF-16.

    Examples
    --------
    >>> looks_like_utf16("a 1".encode("utf-16")), looks_like_utf16("q1 Q0 d1".encode("utf-16-be"))
    (True, True)
    >>> looks_like_utf16(b"q1 Q0 d1")
    False
    """
    if start[:2] in {codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE}:
        return True
    # Without a byte order mark, every second byte of a Latin text is 0.
    pairs = start[: min(len(start) // 2 * 2, 64)]
    zeros = (pairs[0::2].count(0), pairs[1::2].count(0))
    return len(pairs) >= 4 and min(zeros) == 0 and max(zeros) * 4 > len(pairs)


def decode_text(content: bytes, name: str, line: int = 1) -> str:
    """Decode whole lines of a text in UTF-8; `line` is the number of the first."""
    at = content.find(0)
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        at = error.start
    else:
        if at < 0:
            return text
    if line == 1 and looks_like_utf16(content):
        raise FormatError(f"{name}:1", UTF16)
    reason = f"byte 0x{content[at]:02x} is not UTF-8: save the file as UTF-8"
    if not content[at]:
        reason = "not a text file (byte 0x00)"
    line += content.count(b"\n", 0, at)
    raise FormatError(f"{name}:{line}", reason)


def encoded(text: str, where: str) -> bytes:
    """Encode a text from JSON, which may have half of a surrogate pair."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise FormatError(
            where,
            f"{text[error.start : error.end]!r} is half of a surrogate pair, which is not valid "
            "Unicode: correct the file",
        ) from None


def parse_json(
    text: str,
    name: str,
    line: int = 1,
    *,
    object_pairs_hook: Callable[[list[tuple[str, Any]]], Any] | None = None,
) -> Any:
    """Parse a JSON text whose first line has the number `line`."""
    import json  # TREC files do not need it

    try:
        return json.loads(text, object_pairs_hook=object_pairs_hook)
    except json.JSONDecodeError as error:
        place = f"{name}:{line + error.lineno - 1}"
        raise FormatError(place, f"not JSON ({error.msg}, column {error.colno})") from None
    except (RecursionError, ValueError):
        place = f"{name}:{line}"
        raise FormatError(place, "JSON is nested too deeply, or a number is too long") from None


def json_object(text: str, name: str, line: int) -> dict[str, Any]:
    """Parse the JSON object in a line."""
    found = parse_json(text, name, line)
    if not isinstance(found, dict):
        place = f"{name}:{line}"
        raise FormatError(place, f"expected a JSON object, found {type(found).__name__}")
    return found
