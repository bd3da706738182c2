"""A text file of any size as blocks of whole lines, unpacked on the way.

`heldout.data.io.source` holds what is packed in memory, which is right for runs and qrels.
A corpus can be larger than memory, so here a packed file is a stream.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from heldout.data.io.compression import BOM, open_stream, readable
from heldout.data.io.decode import UTF16, looks_like_utf16
from heldout.errors import FormatError, InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = [
    "BLOCK",
    "LONGEST",
    "Block",
    "Reading",
    "Replaced",
    "blocks",
    "text_lines",
]

BLOCK: Final = 8 << 20
LONGEST: Final = 1 << 26
"""Bytes that a line, or a document of TREC, may have: nobody writes longer ones by hand."""

ErrorPolicy = Literal["strict", "replace"]


@dataclass(frozen=True, slots=True)
class Reading:
    """How the text of files is read.

    Parameters
    ----------
    encoding
        Their encoding, by a name that Python knows.
    errors
        ``strict`` stops at the first byte that is wrong in that encoding, ``replace`` puts the
        character � in its place and counts it.
    fields
        The fields of a document that are read, in this order; None for the usual ones.
    """

    encoding: str = "utf-8"
    errors: ErrorPolicy = "strict"
    fields: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if self.errors not in {"strict", "replace"}:
            raise InputError(f"errors={self.errors!r}: expected 'strict' or 'replace'")
        try:
            name = codecs.lookup(self.encoding).name
            newline = "\n".encode(name)
        except (LookupError, TypeError, ValueError):
            raise InputError(
                f"encoding {self.encoding!r} is not known; utf-8, latin-1 and cp1252 are"
            ) from None
        if newline != b"\n":
            raise InputError(
                f"{self.encoding} cannot be read in lines of bytes: convert the files first, e.g. "
                f"iconv -f {self.encoding} -t UTF-8"
            )
        # A byte order mark is skipped in any case.
        object.__setattr__(self, "encoding", "utf-8" if name == "utf-8-sig" else name)

    @property
    def is_utf8(self) -> bool:
        """Whether bytes can be handed on as they are."""
        return self.encoding in {"utf-8", "ascii"}


class Replaced:
    """Counts what was replaced, and remembers where it was first."""

    __slots__ = ("count", "first")

    def __init__(self) -> None:
        self.count = 0
        self.first = ""

    def decode(self, raw: bytes, reading: Reading, where: Callable[[int], str]) -> str:
        """Decode bytes; `where` tells the place (``file:line``) of a byte in them."""
        try:
            return raw.decode(reading.encoding)
        except UnicodeDecodeError as error:
            if reading.errors == "strict":
                raise FormatError(where(error.start), _complaint(error)) from None
            self._remember(where(error.start))
        text = raw.decode(reading.encoding, "replace")
        # What was � in the file already is no loss of ours.
        self.count += text.count("\ufffd")
        if reading.is_utf8:
            self.count -= raw.count("\ufffd".encode())
        return text

    def encode(self, text: str, reading: Reading, where: Callable[[], str]) -> bytes:
        """Encode a text from JSON, which may hold half of a surrogate pair."""
        try:
            return text.encode()
        except UnicodeEncodeError as error:
            if reading.errors == "strict":
                raise FormatError(
                    where(),
                    f"{text[error.start : error.end]!r} is half of a surrogate pair, which is no "
                    "valid Unicode: mend it, or have it replaced (--errors replace)",
                ) from None
            self._remember(where())
        halves = sum(0xD800 <= ord(character) < 0xE000 for character in text)
        self.count += halves
        return "".join(
            "\ufffd" if 0xD800 <= ord(character) < 0xE000 else character for character in text
        ).encode()

    def _remember(self, place: str) -> None:
        self.first = self.first or place


def _complaint(error: UnicodeDecodeError) -> str:
    found = error.object[error.start]
    if error.start == 0 and looks_like_utf16(error.object):
        return UTF16
    other = "latin-1" if error.encoding == "utf-8" else "utf-8"
    return (
        f"the byte 0x{found:02x} is not {error.encoding.upper()}: name the encoding of the file "
        f"(--encoding {other}), or have such bytes replaced (--errors replace)"
    )


class Block(NamedTuple):
    """Some whole lines.

    Parameters
    ----------
    raw
        Their bytes as they stand in the file, each line with its newline; the last line of a file
        may have none.
    offset
        Where they begin in the unpacked file.
    line
        The number of the first, from 1.
    """

    raw: bytes
    offset: int
    line: int


def blocks(path: str, begin: int = 0, line: int = 1, size: int = BLOCK) -> Iterator[Block]:
    """The lines of a file in blocks of about `size` bytes, from byte `begin` on.

    A byte order mark at the very beginning belongs to no line.
    """
    with readable(path), open_stream(path) as file:
        if begin:
            file.seek(begin)
        pending: list[bytes] = []
        waiting = 0
        while piece := file.read(size):
            if not begin and not pending and piece.startswith(BOM):
                begin, piece = len(BOM), piece[len(BOM) :]
            cut = piece.rfind(b"\n") + 1
            if not cut:
                pending.append(piece)
                waiting += len(piece)
                if waiting > LONGEST:
                    raise FormatError(
                        f"{path}:{line}", f"a line of more than {LONGEST:,} bytes: no text has such"
                    )
                continue
            raw = b"".join([*pending, piece[:cut]]) if pending or cut < len(piece) else piece
            yield Block(raw, begin, line)
            begin += len(raw)
            line += raw.count(b"\n")
            pending = [piece[cut:]] if cut < len(piece) else []
            waiting = len(piece) - cut
        if any(pending):
            yield Block(b"".join(pending), begin, line)


def text_lines(path: str, reading: Reading, replaced: Replaced) -> Iterator[tuple[int, str]]:
    """Number and text of each line, with its end."""
    for block in blocks(path):
        lines = block.raw.split(b"\n")
        last = len(lines) - 1
        for place, raw in enumerate(lines):
            if place == last and not raw:
                break
            where = f"{path}:{block.line + place}"
            text = replaced.decode(raw, reading, lambda _, where=where: where)  # type: ignore[misc]
            yield block.line + place, text + ("\n" if place < last else "")
