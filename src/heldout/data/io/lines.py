"""The line corpus of MeTA: one document per line, whose id is the line number from 0.

Whole blocks are processed instead of lines: the newlines of a block are found and removed at once,
so that a corpus streams as fast as memory allows.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from heldout.data.documents import BATCH, Documents, TextBatch, TextDigest, stretches
from heldout.data.files import blocks, is_compressed, readable
from heldout.data.ids import Ids
from heldout.data.io.survey import Stamps, Survey
from heldout.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from heldout.data.files import Block, Reading
    from heldout.data.words import Ints
    from heldout.notes import Note

__all__ = ["LineDocuments"]

_NEWLINE = 10
_RETURN = 13


class LineDocuments(Documents):
    """Documents that are the lines of a file.

    Parameters
    ----------
    path
        The file, compressed or not. Its last line may lack a newline; empty lines are empty
        documents; a carriage return before a newline is part of the line end.
    reading
        Its encoding.
    """

    __slots__ = ("_lengths", "_path", "_reading", "_stamps", "_starts", "ids", "notes")
    ids: Ids
    notes: tuple[Note, ...]

    def __init__(self, path: str, reading: Reading) -> None:
        self._path = path
        self._reading = reading
        self._stamps = Stamps([path])
        survey, digest = Survey(), TextDigest()
        starts, lengths = [], []
        for block in blocks(path):
            batch = self._batch(block, survey.count)
            survey.add(batch)
            digest.add(batch)
            lengths.append(np.diff(batch.offsets))
            starts.append(block.offset + _line_starts(block.raw))
        if not survey.count:
            raise InputError(f"{path} is empty: expected one document per line")
        end = block.offset + len(block.raw) + (not block.raw.endswith(b"\n"))
        # Text that needs no conversion is read directly at the offsets of its lines.
        direct = reading.is_utf8 and not is_compressed(path)
        self._starts: Ints | None = np.concatenate([*starts, [end]]) if direct else None
        self._lengths = np.concatenate(lengths)
        self._digest = digest.hexdigest()
        self.ids = Ids.numbered(survey.count)
        self.notes = tuple(survey.notes(lambda number: f"{path}:{number + 1}", [path]))

    def batches(self, size: int = BATCH) -> Iterator[TextBatch]:
        """Yield all documents, in batches of about `size` bytes of text at most."""
        self._stamps.check()
        if self._starts is not None:
            yield from self._direct(self._starts, size)
            return
        first = 0
        for block in blocks(self._path):
            batch = self._batch(block, first)
            for begin, end in stretches(batch.offsets, size):
                base = batch.offsets[begin]
                text = batch.text[base : batch.offsets[end]]
                offsets = batch.offsets[begin : end + 1] - base
                yield TextBatch(first + begin, batch.ids[begin:end], text, offsets)
            first += len(batch)

    def _direct(self, starts: Ints, size: int) -> Iterator[TextBatch]:
        with readable(self._path), Path(self._path).open("rb", buffering=0) as file:
            for begin, end in stretches(starts, size):
                file.seek(int(starts[begin]))
                raw = _read_all(file, int(starts[end] - starts[begin]))
                offsets = np.concatenate(([0], np.cumsum(self._lengths[begin:end])))
                text = np.frombuffer(_without_line_ends(raw), np.uint8)
                if len(text) != offsets[-1]:
                    raise InputError(f"{self._path} changed while it was read: read it again")
                yield TextBatch(begin, self.ids[begin:end], text, offsets)

    def text(self, number: int) -> str:
        """Return the text of one document."""
        if not 0 <= number < len(self):
            raise IndexError(f"document {number} of {len(self)}")
        if self._starts is None:
            for batch in self.batches():
                if number < batch.first + len(batch):
                    return batch.raw(number - batch.first).decode()
        else:
            self._stamps.check()
            with readable(self._path), Path(self._path).open("rb") as file:
                file.seek(int(self._starts[number]))
                return file.read(int(self._lengths[number])).decode()
        raise InputError(f"{self._path} changed after it was opened: read it again")

    def _batch(self, block: Block, first: int) -> TextBatch:
        """Return the lines of a block without line ends, checked or converted to UTF-8."""
        raw = block.raw
        if not (self._reading.is_utf8 and _is_valid(raw, self._reading.encoding)):
            raw = self._decoded(block)
        text = np.frombuffer(_without_line_ends(raw), np.uint8)
        ends = np.flatnonzero(np.frombuffer(raw, np.uint8) == _NEWLINE)
        if not raw.endswith(b"\n"):
            ends = np.append(ends, len(raw))
        # Each line end before a document shortens the text by one or two bytes.
        gone = np.arange(len(ends))
        if b"\r" in raw:  # searching for one byte is much faster than for two
            data = np.frombuffer(raw, np.uint8)
            inside = np.minimum(ends, len(raw) - 1)
            returns = (data[inside] == _NEWLINE) & (ends > 0) & (data[ends - 1] == _RETURN)
            gone = gone + np.cumsum(returns)
        offsets = np.concatenate(([0], ends - gone))
        ids = [str(number) for number in range(first, first + len(ends))]
        return TextBatch(first, ids, text, offsets)

    def _decoded(self, block: Block) -> bytes:
        """Convert the lines to UTF-8 one by one, so that each keeps its number."""
        lines = []
        for place, line in enumerate(block.raw.split(b"\n")):
            where = f"{self._path}:{block.line + place}"
            lines.append(self._reading.decode(line, lambda _, where=where: where))  # type: ignore[misc]
        return "\n".join(lines).encode()


def _is_valid(raw: bytes, encoding: str) -> bool:
    if raw.isascii():
        return True
    try:
        raw.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


def _without_line_ends(raw: bytes) -> bytes:
    return (raw.replace(b"\r\n", b"") if b"\r" in raw else raw).replace(b"\n", b"")


def _line_starts(raw: bytes) -> Ints:
    ends = np.flatnonzero(np.frombuffer(raw, np.uint8) == _NEWLINE)
    starts = np.concatenate(([0], ends + 1))
    return starts[:-1] if raw.endswith(b"\n") else starts


def _read_all(file: object, size: int) -> bytes:
    """Read `size` bytes from an unbuffered file, which may return fewer at a time."""
    parts = []
    while size and (part := file.read(size)):  # type: ignore[attr-defined]
        parts.append(part)
        size -= len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)
