"""Files as bytes: opened, decompressed, cut into whole lines, decoded.

Two ways to read: a `Source` has a text at hand (a plain file, read piece by piece by several
threads, or decompressed content), `blocks` streams a corpus that may be larger than memory.
"""

from __future__ import annotations

import codecs
import os
import re
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from heldout.data.words import PADDING, Bytes
from heldout.errors import Argument, FormatError, InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

BOM: Final = codecs.BOM_UTF8
PIECE: Final = 1 << 20
BLOCK: Final = 8 << 20
HEAD: Final = 1 << 16  # bytes by which a format is recognized

UTF16: Final = "this is UTF-16: convert it to UTF-8, for example with iconv -f UTF-16 -t UTF-8"
UTF16_MARKS: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)

EXTENSIONS: Final = {
    ".gz": ("gzip", b"\x1f\x8b"),
    ".xz": ("lzma", b"\xfd7zXZ\0"),
    ".bz2": ("bz2", b"BZh"),
    ".zst": ("zstd", b"\x28\xb5\x2f\xfd"),
}
"""Extensions of compressed files, and compression with the first bytes that identify it."""

_ENDINGS: Final = re.compile(
    r"(\.(run|trec|res|qrels|dat|txt|hyp|out|toml|jsonl?|ndjson|csv|tsv|parquet|sgml?|xml"
    r"|gz|xz|bz2|zst))+$",
    re.IGNORECASE,
)
_MODULES: Final = frozenset({"_lzma", "zlib", "zstandard", "zstd", "_zstd", "compression"})
_FIRST_LINE: Final = re.compile(rb"^[^\S\n]*[^\s#][^\r\n]*", re.MULTILINE)


def file_stem(path: str) -> str:
    """Return a file name without its known extensions; the .5 of lambda=0.5 is not one."""
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
    except ValueError as error:  # an invalid path
        raise InputError(f"{path!r}: cannot be read ({error})") from None
    except Exception as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise InputError(f"{path}: cannot be read ({error.strerror or error})") from None
        # lzma, zlib and zstd raise their own errors; importing them to name these is slow.
        is_own = type(error).__module__.split(".")[0] in _MODULES
        if not is_own and not isinstance(error, OSError | EOFError):
            raise
        raise InputError(
            f"{path}: the compressed file is damaged or truncated ({error}): download or write it "
            "again"
        ) from None


# Compression


def _compression(start: bytes) -> str:
    return next((name for name, magic in EXTENSIONS.values() if start.startswith(magic)), "")


def _codec(compression: str) -> tuple[Callable[[bytes], bytes], Callable[[], Any]]:
    """Return what compresses, and what makes an object with decompress(), eof and unused_data."""
    if compression == "gzip":
        import zlib  # its own module does not tell where a member ends

        return import_module("gzip").compress, lambda: zlib.decompressobj(wbits=31)
    if compression != "zstd":
        module = import_module(compression)
        return module.compress, getattr(module, f"{compression.upper()}Decompressor")
    if sys.version_info >= (3, 14):
        zstd = import_module("compression.zstd")
        return zstd.compress, zstd.ZstdDecompressor
    zstd = import_module("zstandard")
    return zstd.ZstdCompressor().compress, lambda: zstd.ZstdDecompressor().decompressobj()


def _decompress(pieces: Iterable[bytes], compression: str) -> Iterator[bytes]:
    """Decompress one or more members: ``cat a.gz b.gz`` makes a file of two."""
    _, new = _codec(compression)
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
    return _codec(EXTENSIONS[ending][0])[0](content)


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


def read_head(path: str) -> bytes:
    """Return the first bytes of a file, decompressed, without a byte order mark."""
    head = b""
    for piece in read_pieces(path, size=HEAD):
        head += piece
        if len(head) >= HEAD:
            break
    return head[:HEAD].removeprefix(BOM)


# A text at hand


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Source:
    """One input: a plain file, read when needed, or content that is at hand."""

    name: str  # in messages: the path as the user gave it, or <stdin>
    size: int
    path: str | None = None  # None: the text is in `content`
    content: bytes = b""

    def read(self, begin: int, end: int) -> bytes:
        """Return the bytes from `begin` to `end`."""
        if self.path is None:
            return self.content[begin:end]
        with readable(self.name), open(self.path, "rb") as file:  # noqa: PTH123
            file.seek(begin)
            content = file.read(end - begin)
        if len(content) < end - begin:
            raise InputError(f"{self.name} became shorter while it was read: read it again")
        return content

    def head(self, length: int = HEAD) -> bytes:
        """Return the first bytes of the text."""
        return self.read(0, min(self.size, length))

    def whole(self) -> bytes:
        """Return the whole text."""
        return self.read(0, self.size)

    def spans(self) -> list[tuple[int, int]]:
        """Return where pieces of about a megabyte begin and end, each with whole lines."""
        # The C library of Linux returns freed memory to the system above a threshold, which it
        # raises to the largest block that was freed. Freeing one, never touched, is enough: without
        # it, new memory pages for each piece are half of the time to read a run.
        np.empty(31 << 20, np.uint8)
        cuts, step = [0], 1 << 12
        while cuts[-1] < self.size:
            end, newline = cuts[-1] + PIECE, -1
            while end < self.size and newline < 0:
                newline = self.read(end, min(end + step, self.size)).find(b"\n")
                end += step if newline < 0 else newline + 1
            cuts.append(min(end, self.size))
        return list(pairwise(cuts))

    def piece(self, span: tuple[int, int]) -> Bytes:
        """Return the lines of a span, the last one with a newline, and `PADDING` bytes more."""
        begin, end = span
        raw = self.read(begin, min(end + PADDING, self.size))
        lacks_newline = end == self.size and not raw.endswith(b"\n")
        return np.frombuffer(raw.ljust(end - begin + lacks_newline + PADDING, b"\n"), np.uint8)

    def first_line(self) -> bytes:
        """Return the first line that is neither empty nor a comment."""
        match = _FIRST_LINE.search(self.head(1 << 20))
        return match[0] if match else b""

    def place(self, offset: int) -> str:
        """Return ``file:line`` of byte `offset`."""
        line = 1 + self.read(0, offset).count(b"\n")
        return f"{self.name}:{line}"


def open_source(path: str | os.PathLike[str]) -> Source:
    """Open a file, or standard input for ``-``; compressed content is decompressed."""
    name = os.fspath(path)
    if name == "-":
        return _in_memory("<stdin>", sys.stdin.buffer.read())
    with readable(name), open(name, "rb", buffering=0) as file:  # noqa: PTH123 - no second buffer
        size = os.fstat(file.fileno()).st_size
        start = file.read(6)
        # A pipe has no size.
        if size >= len(start) > 0 and not _compression(start) and not start.startswith(BOM):
            return Source(name, size, name)
        return _in_memory(name, start + file.read())


def _in_memory(name: str, content: bytes) -> Source:
    compression = _compression(content)
    if compression:
        with readable(name):
            content = b"".join(_decompress([content], compression))
    content = content.removeprefix(BOM)
    if not content:
        raise InputError(f"{name} is empty")
    return Source(name, len(content), None, content)


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
            is_usable = "\n".encode(name) == b"\n"  # lines are cut before they are decoded
        except (LookupError, TypeError, ValueError):
            is_usable = False
        if not is_usable:
            raise InputError(
                "unknown encoding, or one that is not supported: try "
                "utf-8, latin-1 or cp1252, or convert the files with iconv -t UTF-8",
                argument="encoding",
                value=self.encoding,
            )
        # A byte order mark is skipped in any case.
        object.__setattr__(self, "encoding", "utf-8" if name == "utf-8-sig" else name)

    @property
    def is_utf8(self) -> bool:
        """Whether the bytes need no conversion."""
        return self.encoding in {"utf-8", "ascii"}


def raw_lines(path: str, begin: int = 0) -> Iterator[tuple[int, int, bytes]]:
    """Yield offset, number and bytes of each line; a newline at the end of a file ends no line."""
    for block in blocks(path, begin):
        offset = block.offset
        for number, raw in enumerate(block.raw.removesuffix(b"\n").split(b"\n"), block.line):
            yield offset, number, raw
            offset += len(raw) + 1


def text_lines(path: str, reading: Reading) -> Iterator[tuple[int, str]]:
    """Yield number and text of each line, with a newline."""
    for _, number, raw in raw_lines(path):
        yield number, decode_text(raw + b"\n", path, number, reading.encoding)


# Text


def decode_text(content: bytes, name: str, line: int = 1, encoding: str = "") -> str:
    """Decode whole lines from number `line`; by default UTF-8 without zero bytes."""
    place = -1 if encoding else content.find(0)
    reason: tuple[str | Argument, ...] = ("not a text file (byte 0x00)",)
    try:
        if place < 0:
            return content.decode(encoding or "utf-8")
    except UnicodeDecodeError as error:
        place = error.start
        other = "latin-1" if encoding == "utf-8" else "utf-8"
        reason = (f"byte 0x{content[place]:02x} is not {error.encoding.upper()}: ",)
        if encoding:
            reason += ("name the encoding of the file (", Argument("encoding", repr(other)), ")")
        else:
            reason += ("convert it, for example with iconv -f latin1 -t utf-8",)
    if content.startswith(UTF16_MARKS):
        reason = (UTF16,)
    line += content.count(b"\n", 0, place)
    raise FormatError(f"{name}:{line}", *reason)


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


def parse_json(text: str, name: str, line: int = 1, pairs_hook: Any = None) -> Any:
    """Parse a JSON text whose first line has the number `line`."""
    import json  # TREC files do not need it

    try:
        return json.loads(text, object_pairs_hook=pairs_hook)
    except json.JSONDecodeError as error:
        place = f"{name}:{line + error.lineno - 1}"
        raise FormatError(place, f"not JSON ({error.msg}, column {error.colno})") from None
    except (RecursionError, ValueError):
        place = f"{name}:{line}"
        raise FormatError(place, "JSON is nested too deeply, or a number is too long") from None


def json_object(text: str, name: str, line: int) -> dict[str, Any]:
    """Parse the JSON object in a line."""
    value = parse_json(text, name, line)
    if not isinstance(value, dict):
        place = f"{name}:{line}"
        raise FormatError(place, f"expected a JSON object, found {type(value).__name__}")
    return value


def parse_toml(content: bytes, name: str) -> tuple[dict[str, Any], str]:
    """Return the values and the text of a TOML file, which is called `name` in messages."""
    import tomllib  # seldom needed

    text = decode_text(content.removeprefix(BOM), name)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    try:
        return tomllib.loads(text), text
    except (ValueError, RecursionError) as error:  # also a number of thousands of digits
        raise FormatError(name, f"not valid TOML: {error}") from None


def toml_text(values: dict[str, Any]) -> str:
    """Return values as TOML; None is skipped, and Python objects raise a TypeError."""
    import tomli_w  # seldom needed

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {str(name): plain(item) for name, item in value.items() if item is not None}
        if isinstance(value, list | tuple):
            return [plain(item) for item in value]
        return os.fspath(value) if isinstance(value, os.PathLike) else value

    return tomli_w.dumps(plain(values))
