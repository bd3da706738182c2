"""Documents: numbered, and streamed in batches of bytes.

A corpus can be larger than memory. Only ids, offsets and lengths are held; the text comes in
batches of UTF-8 bytes, without a Python object per document.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, repeat
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from heldout.data.files import Reading, encoded
from heldout.data.ids import Ids, as_id, distinct_ids
from heldout.data.words import offsets_of
from heldout.errors import FormatError, InputError
from heldout.notes import Note, named_few

if TYPE_CHECKING:
    from collections.abc import Container

    from numpy.typing import NDArray

    from heldout.data.words import Bytes, Ints, Words

    Weights = NDArray[np.int32]

BATCH: Final = 16 << 20  # bytes of text, approximately

Record: TypeAlias = tuple[str, bytes, int, int]
"""Id, text in UTF-8, offset from which it can be read alone (-1: it cannot), and line or row."""

Records: TypeAlias = Callable[[str, int, Reading], Iterator[Record]]
"""Yields the documents of a file from byte 0, or from the offset of a record."""


@dataclass(frozen=True, slots=True, eq=False)
class TextBatch:
    """Consecutive documents."""

    first: int  # the number of its first document in collection order
    ids: Sequence[str]
    text: Bytes  # valid UTF-8, one document after another
    offsets: Ints  # document i of the batch is text[offsets[i]:offsets[i + 1]]

    @classmethod
    def of(cls, first: int, ids: Sequence[str], texts: Sequence[bytes]) -> TextBatch:
        """Join the texts of documents."""
        offsets = offsets_of(list(map(len, texts)))
        return cls(first, ids, np.frombuffer(b"".join(texts), np.uint8), offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def raw(self, place: int) -> bytes:
        """Return the bytes of a document of the batch."""
        return self.text[self.offsets[place] : self.offsets[place + 1]].tobytes()

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Yield id and text of each document."""
        for place, doc_id in enumerate(self.ids):
            yield doc_id, self.raw(place).decode()


class TextDigest:
    """The hash of streamed documents, which does not depend on batch size or file format."""

    def __init__(self) -> None:
        self._streams = tuple(hashlib.sha256() for _ in range(3))

    def add(self, batch: TextBatch) -> None:
        """Add the next batch."""
        ids, lengths, text = self._streams
        ids.update("".join(f"{doc_id}\0" for doc_id in batch.ids).encode())
        lengths.update(np.diff(batch.offsets).astype("<i8").tobytes())
        text.update(np.ascontiguousarray(batch.text[batch.offsets[0] : batch.offsets[-1]]).data)

    def hexdigest(self) -> str:
        """Return the hash of all batches so far."""
        return hashlib.sha256(b"".join(stream.digest() for stream in self._streams)).hexdigest()


class Documents(ABC):
    """All documents of a collection, in a fixed order."""

    ids: Ids  # all of them, in collection order
    notes: tuple[Note, ...] = ()  # what is unusual in them

    @abstractmethod
    def batches(self, size: int = BATCH) -> Iterator[TextBatch]:
        """Return all documents, in batches of about `size` bytes; a longer one has its own."""

    @abstractmethod
    def raw(self, number: int) -> bytes:
        """Return the bytes of one document; this may be slow in compressed files."""

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        return f"<{len(self)} documents>"

    def size_hint(self) -> int:
        """Return the number of documents; 0 if files would have to be read to know it."""
        return len(self.ids) if "ids" in vars(self) else 0

    def text(self, number: int) -> str:
        """Return the text of one document."""
        return self.raw(range(len(self))[number]).decode()

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Yield id and text of every document."""
        for batch in self.batches():
            yield from batch.pairs()

    def word_counts(self) -> Ints:
        """Return the number of words, separated by white space, of each document."""
        raw = (batch.raw(place) for batch in self.batches() for place in range(len(batch)))
        return np.fromiter((len(text.split()) for text in raw), np.int64)

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of ids, lengths and texts."""
        digest = TextDigest()
        for batch in self.batches():
            digest.add(batch)
        return digest.hexdigest()

    @cached_property
    def text_hashes(self) -> Words:
        """128 bits of each text (documents × 2), which ignore case and white space; 0 if empty."""
        from heldout.compiled import announce
        from heldout.data.text_hashes import hash_kernel, text_hashes  # compiled loops

        announce("the search for duplicates", hash_kernel)
        return np.concatenate([text_hashes(batch) for batch in self.batches()])


class FileDocuments(Documents):
    """Documents in one file or several, in this order."""

    def __init__(self, files: Sequence[str], reading: Reading, records: Records) -> None:
        self._files = tuple(files)
        self._reading = reading
        self._records = records

    @cached_property
    def ids(self) -> Ids:  # type: ignore[override]
        """All ids in collection order; the files are read on first use."""
        columns, digest, offsets = [], TextDigest(), []
        for batch, begins in self._stream(BATCH):
            columns.append(Ids.of(batch.ids))
            digest.add(batch)
            offsets.append(np.array(begins, np.int64))
        ids = Ids.stack(columns)
        twice = ids.first_duplicate()
        if twice is not None:
            first, again = (f"{path}:{record[3]}" for path, record in map(self._read, twice))
            raise FormatError(
                again,
                f"the document id {ids[twice[1]]!r} appears twice (first at {first}): keep one of "
                "them",
            )
        self._offsets: Ints = np.concatenate(offsets)
        self.digest = digest.hexdigest()
        return ids

    @cached_property
    def notes(self) -> tuple[Note, ...]:  # type: ignore[override]
        """What is unusual in them; set by `_stream`, for whatever purpose they are read first."""
        for _ in self.batches():
            pass
        return self.notes

    def batches(self, size: int = BATCH) -> Iterator[TextBatch]:
        """Return all documents, in batches of about `size` bytes of text at most."""
        return (batch for batch, _ in self._stream(size))

    def _stream(self, size: int) -> Iterator[tuple[TextBatch, Sequence[int]]]:
        """Yield batches and the offsets of their records; afterwards the notes are known."""
        ids: list[str] = []
        texts: list[bytes] = []
        offsets: list[int] = []
        room, done = size, 0
        firsts, empty = [], []
        for path in self._files:
            firsts.append(done + len(ids))
            for doc_id, text, offset, line in self._records(path, 0, self._reading):
                if len(text) > room and ids:
                    yield TextBatch.of(done, ids, texts), offsets
                    done += len(ids)
                    ids, texts, offsets, room = [], [], [], size
                if not doc_id:
                    raise FormatError(f"{path}:{line}", "the document has an empty id")
                if len(text) < 64 and not text.strip():  # a long text of blanks is implausible
                    empty.append(doc_id)
                ids.append(doc_id)
                texts.append(text)
                offsets.append(offset)
                room -= len(text)
        if not ids:
            raise InputError(f"{', '.join(self._files)}: no documents found")
        fields = self._reading.fields
        if fields is not None and len(empty) == done + len(ids):
            raise InputError(
                f"{self._files[0]}: no document has text in the fields {', '.join(fields)}"
            )
        self._first = np.array(firsts, np.int64)
        message = f"empty documents: {len(empty)} ({named_few(empty, len(empty))})"
        self.notes = (Note("empty-documents", message, "info", len(empty)),) if empty else ()
        yield TextBatch.of(done, ids, texts), offsets

    def raw(self, number: int) -> bytes:
        """Return the bytes of one document."""
        return self._read(number, int(self._offsets[number]))[1][1]

    def _read(self, number: int, offset: int = -1) -> tuple[str, Record]:
        """Read a document and name its file; without an offset, those before it are read, too."""
        place = int(np.searchsorted(self._first, number, "right")) - 1
        path, skipped = self._files[place], 0
        if offset < 0:
            offset, skipped = 0, number - int(self._first[place])
        records = self._records(path, offset, self._reading)
        record = next(islice(records, skipped, None), None)
        if record is None:
            raise InputError(f"{path} changed while it was read: read it again")
        return path, record


class MemoryDocuments(FileDocuments):
    """Documents held in memory."""

    def __init__(self, ids: Ids, texts: Sequence[bytes]) -> None:
        super().__init__(
            ["documents"], Reading(), lambda *_: zip(ids, texts, repeat(-1), repeat(0))
        )
        self.ids = ids
        self._texts = texts

    def raw(self, number: int) -> bytes:
        """Return the bytes of one document."""
        return self._texts[number]


class PartDocuments(Documents):
    """Some of the documents of a collection, each repeated by its weight; no text is copied."""

    def __init__(self, whole: Documents, weights: Weights) -> None:
        self._whole = whole
        self._weights = weights
        self.numbers: Ints = np.repeat(np.arange(len(weights)), weights)
        self.ids = distinct_ids(copy_names(whole.ids.take(self.numbers).tolist(), whole.ids))

    def batches(self, size: int = BATCH) -> Iterator[TextBatch]:
        """Yield the documents in batches of at most about `size` bytes, not counting copies."""
        first = 0
        for batch in self._whole.batches(size):
            wanted = self._weights[batch.first : batch.first + len(batch)]
            texts = [batch.raw(row) for row in np.repeat(np.arange(len(batch)), wanted).tolist()]
            if texts:
                yield TextBatch.of(first, self.ids[first : first + len(texts)], texts)
            first += len(texts)

    def raw(self, number: int) -> bytes:
        """Return the bytes of one document."""
        return self._whole.raw(int(self.numbers[number]))


def copy_names(names: Sequence[str], taken: Container[str]) -> list[str]:
    """Return unique names for copies: the second ``a`` is ``a~2``, or ``a~~2`` if that is taken."""
    counts: dict[str, int] = {}
    copies = []
    for name in names:
        times = counts[name] = counts.get(name, 0) + 1
        copy, mark = name, "~"
        while times > 1 and (copy == name or copy in taken):
            copy, mark = f"{name}{mark}{times}", mark + "~"
        copies.append(copy)
    return copies


def documents_of(
    given: Documents | Mapping[str, str] | Sequence[tuple[str, str]] | Sequence[str],
) -> Documents:
    """Make documents from ``{id: text}``, pairs of id and text, or texts alone (ids 0, 1, …)."""
    if isinstance(given, Documents):
        return given
    names, texts = text_pairs(given, "document", numbered=True)
    if not names:
        raise InputError("no documents were given")
    raw = [encoded(text, f"document {name!r}") for name, text in zip(names, texts, strict=True)]
    return MemoryDocuments(distinct_ids(names), raw)


def text_pairs(given: Any, what: str, *, numbered: bool = False) -> tuple[list[str], list[str]]:
    """Return ids and texts, given as ``{id: text}`` or pairs, or as texts alone if `numbered`."""
    pairs = list(given.items() if isinstance(given, Mapping) else given)
    if numbered and not isinstance(given, str) and all(isinstance(text, str) for text in pairs):
        pairs = list(enumerate(pairs))
    if any(
        isinstance(pair, str) or not isinstance(pair, Sized) or len(pair) != 2 for pair in pairs
    ):
        raise InputError(f"{what}: expected a mapping, or pairs of id and text")
    for name, text in pairs:
        if not isinstance(text, str):
            raise InputError(f"{what} {name!r}: the text is {type(text).__name__}, expected str")
    return [as_id(name) for name, _ in pairs], [text for _, text in pairs]
