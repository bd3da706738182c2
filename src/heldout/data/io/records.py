"""Documents that are read as records with an id: JSON lines, TREC, tables."""

from __future__ import annotations

from abc import abstractmethod
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from heldout.data.documents import BATCH, Documents, TextBatch, TextDigest
from heldout.data.files import is_compressed
from heldout.data.ids import Ids
from heldout.data.io.survey import Stamps, Survey
from heldout.errors import FormatError, InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from heldout.data.files import Reading
    from heldout.data.words import Ints
    from heldout.notes import Note

__all__ = ["Record", "RecordDocuments", "joined_text"]

_NEVER: Final = -1


class Record(NamedTuple):
    """One document of a file.

    Parameters
    ----------
    id
        Its id.
    text
        Its text, valid UTF-8.
    offset
        Where it begins in the file, so that it can be read alone; -1 if that is not possible.
    line
        The number of the line, or row, where it begins.
    """

    id: str
    text: bytes
    offset: int
    line: int


class _Contents(NamedTuple):
    """What is known once all files have been read."""

    ids: Ids
    offsets: Ints
    digest: str


class RecordDocuments(Documents):
    """Documents in one file or several, read record by record, when they are needed.

    Parameters
    ----------
    files
        The files, in collection order.
    reading
        Encoding and fields.
    """

    __slots__ = ("_contents", "_files", "_first", "_notes", "_reading", "_stamps")

    def __init__(self, files: Sequence[str], reading: Reading) -> None:
        self._files = tuple(files)
        self._reading = reading
        self._stamps = self.stamps()
        self._contents: _Contents | None = None
        self._notes: tuple[Note, ...] | None = None

    @property
    def ids(self) -> Ids:
        """All ids in collection order."""
        return self._known().ids

    @property
    def notes(self) -> tuple[Note, ...]:
        """What is unusual in them."""
        if self._notes is None:
            self._known()
        return self._notes or ()

    def digest(self) -> str:
        """Return the SHA-256 of ids, lengths and texts."""
        return self._known().digest

    def _known(self) -> _Contents:
        """Return the contents; the files are read when they are first needed."""
        if self._contents is None:
            self._contents = self._read()
        return self._contents

    def _read(self) -> _Contents:
        columns, digest, offsets = [], TextDigest(), []
        for batch, starts in self._checked(BATCH):
            columns.append(Ids.of(batch.ids))
            digest.add(batch)
            offsets.append(starts)
        compact = Ids.stack(columns)
        twice = compact.first_duplicate()
        if twice is not None:
            raise FormatError(
                self.place(twice[1]),
                f"the document id {compact[twice[1]]!r} appears twice (first at "
                f"{self.place(twice[0])}): keep one of them",
            )
        return _Contents(compact, np.concatenate(offsets), digest.hexdigest())

    def _checked(self, size: int) -> Iterator[tuple[TextBatch, Ints]]:
        """Yield batches and the offsets of their records; afterwards the notes are known."""
        self._stamps.check()
        survey = Survey()
        for batch, starts in self._stream(size):
            if "" in batch.ids:
                place = self.place(survey.count + list(batch.ids).index(""))
                raise FormatError(place, "the document has an empty id")
            survey.add(batch)
            yield batch, starts
        if not survey.count:
            raise InputError(f"{', '.join(self._files)}: no documents found")
        fields = self._reading.fields
        if fields is not None and survey.empty == survey.count:
            raise InputError(
                f"{self._files[0]}: no document has text in the fields {', '.join(fields)}"
            )
        if self._notes is None:
            self._notes = tuple(survey.notes(self.place, self._stamps.files))

    def size_hint(self) -> int:
        """Return the number of documents; 0 if the files have not been read yet."""
        return 0 if self._contents is None else len(self._contents.ids)

    def stamps(self) -> Stamps:
        """Return the sizes and times of the files, by which changes are noticed."""
        return Stamps(self._files)

    @abstractmethod
    def records(self, path: str, begin: int) -> Iterator[Record]:
        """Yield the documents of a file from byte `begin`, which is 0 or the offset of a record."""

    def batches(self, size: int = BATCH) -> Iterator[TextBatch]:
        """Return all documents, in batches of about `size` bytes of text at most."""
        return (batch for batch, _ in self._checked(size))

    def text(self, number: int) -> str:
        """Return the text of one document."""
        if not 0 <= number < len(self):
            raise IndexError(f"document {number} of {len(self)}")
        self._stamps.check()
        offset = int(self._known().offsets[number])
        path = self._files[int(np.searchsorted(self._first, number, "right")) - 1]
        if offset == _NEVER or is_compressed(path):
            return self._nth(number)[1].text.decode()
        return next(self.records(path, offset)).text.decode()

    def place(self, number: int) -> str:
        """Return ``file:line`` of a document, found by reading the file again; for messages."""
        path, record = self._nth(number)
        return f"{path}:{record.line}"

    def _nth(self, number: int) -> tuple[str, Record]:
        everything = ((path, record) for path in self._files for record in self.records(path, 0))
        found = next(islice(everything, number, None), None)
        if found is None:
            raise InputError(f"{self._files[-1]} changed while it was read: read it again")
        return found

    def _stream(self, size: int) -> Iterator[tuple[TextBatch, Ints]]:
        """Yield batches, and the offsets of their records in the files."""
        gathered: list[Record] = []
        held = count = 0
        firsts = []
        for path in self._files:
            firsts.append(count)
            for record in self.records(path, 0):
                if gathered and held + len(record.text) > size:
                    yield _gather(gathered, count - len(gathered))
                    gathered, held = [], 0
                gathered.append(record)
                held += len(record.text)
                count += 1
        self._first = np.array(firsts, np.int64)
        if gathered:
            yield _gather(gathered, count - len(gathered))


def _gather(records: list[Record], first: int) -> tuple[TextBatch, Ints]:
    lengths = np.fromiter((len(record.text) for record in records), np.int64, len(records))
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    text = np.frombuffer(b"".join([record.text for record in records]), np.uint8)
    starts = np.fromiter((record.offset for record in records), np.int64, len(records))
    return TextBatch(first, [record.id for record in records], text, offsets), starts


def joined_text(parts: Sequence[str]) -> str:
    r"""Return the fields of a document that are not empty as lines of one text.

    Examples
    --------
    >>> joined_text(["A title", "", "a text"])
    'A title\na text'
    """
    return "\n".join(part for part in parts if part)
