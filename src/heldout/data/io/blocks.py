"""Text files of any size as blocks of whole lines, decompressed while they are read.

`heldout.data.io.source` decompresses into memory, which is right for runs and qrels. A corpus can
be larger than memory, so that compressed files are streams here.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from heldout.data.io.compression import BOM, open_stream, readable
from heldout.data.io.decode import UTF16, looks_like_utf16
from heldout.errors import FormatError, InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = [
    "BLOCK",
    "Block",
    "Reading",
    "blocks",
    "encoded",
    "text_lines",
]

BLOCK: Final = 8 << 20


@dataclass(frozen=True, slots=True)
class Reading:
    """How the text of files is read.

    Parameters
    ----------
    encoding
        Their encoding, by its name in Python.
    fields
        The fields of a document to read, in this order; None for the usual ones.
    """

    encoding: str = "utf-8"
    fields: tuple[str, ...] | None = None

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
            raise FormatError(where(error.start), _complaint(error)) from None


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


def _complaint(error: UnicodeDecodeError) -> str:
    found = error.object[error.start]
    if error.start == 0 and looks_like_utf16(error.object):
        return UTF16
    other = "latin-1" if error.encoding == "utf-8" else "utf-8"
    return (
        f"byte 0x{found:02x} is not valid {error.encoding.upper()}: name the encoding of the file "
        f"(encoding='{other}')"
    )


class Block(NamedTuple):
    """Some whole lines.

    Parameters
    ----------
    raw
        Their bytes, each line with its newline; the last line of a file may have none.
    offset
        Where they begin in the decompressed file.
    line
        The number of the first line, from 1.
    """

    raw: bytes
    offset: int
    line: int


def blocks(path: str, begin: int = 0, line: int = 1, size: int = BLOCK) -> Iterator[Block]:
    """Yield the lines of a file in blocks of about `size` bytes, from byte `begin`.

    A byte order mark at the beginning is skipped.
    """
    with readable(path), open_stream(path) as file:
        if begin:
            file.seek(begin)
        pending: list[bytes] = []
        while piece := file.read(size):
            if not begin and not pending and piece.startswith(BOM):
                begin, piece = len(BOM), piece[len(BOM) :]
            cut = piece.rfind(b"\n") + 1
            if not cut:
                pending.append(piece)
                continue
            raw = b"".join([*pending, piece[:cut]]) if pending or cut < len(piece) else piece
            yield Block(raw, begin, line)
            begin += len(raw)
            line += raw.count(b"\n")
            pending = [piece[cut:]] if cut < len(piece) else []
        if any(pending):
            yield Block(b"".join(pending), begin, line)


def text_lines(path: str, reading: Reading) -> Iterator[tuple[int, str]]:
    """Yield number and text of each line, including its line end."""
    for block in blocks(path):
        lines = block.raw.split(b"\n")
        last = len(lines) - 1
        for place, raw in enumerate(lines):
            if place == last and not raw:
                break
            where = f"{path}:{block.line + place}"
            text = reading.decode(raw, lambda _, where=where: where)  # type: ignore[misc]
            yield block.line + place, text + ("\n" if place < last else "")
