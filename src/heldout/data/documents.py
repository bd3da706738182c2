"""Documents: numbered, and streamed in batches of bytes.

A corpus can be larger than memory. Only ids, offsets and lengths are held; the text comes in
batches of UTF-8 bytes, without a Python object per document.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, overload

import numpy as np

from heldout.data.ids import Ids, as_id, distinct_ids
from heldout.data.notes import named_few
from heldout.errors import InputError
from heldout.notes import Note

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heldout.data.words import Bytes, Ints

__all__ = [
    "BATCH",
    "DocumentTexts",
    "Documents",
    "MemoryDocuments",
    "TextBatch",
    "TextDigest",
    "documents_of",
    "empty_documents",
    "empty_note",
    "stretches",
]

BATCH: Final = 16 << 20
"""Approximate number of bytes of text in a batch."""


@dataclass(frozen=True, slots=True, eq=False)
class TextBatch:
    """Consecutive documents.

    Parameters
    ----------
    first
        The number of its first document in collection order.
    ids
        Their ids.
    text
        Valid UTF-8, one document after another.
    offsets
        Document ``i`` of the batch is ``text[offsets[i]:offsets[i + 1]]``.
    """

    first: int
    ids: Sequence[str]
    text: Bytes
    offsets: Ints

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def raw(self, place: int) -> bytes:
        """Return the bytes of a document of the batch."""
        return self.text[self.offsets[place] : self.offsets[place + 1]].tobytes()

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Yield id and text of each document."""
        for place, one in enumerate(self.ids):
            yield one, self.raw(place).decode()


class Documents(ABC):
    """All documents of a collection, in a fixed order."""

    __slots__ = ("_digest", "_hashes")

    @property
    @abstractmethod
    def ids(self) -> Ids:
        """All ids in collection order."""

    @property
    @abstractmethod
    def notes(self) -> tuple[Note, ...]:
        """What is unusual in them."""

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        return f"<{len(self)} documents>"

    def size_hint(self) -> int:
        """Return the number of documents; 0 if files would have to be read to know it."""
        return len(self)

    @abstractmethod
    def batches(self, size: int = BATCH) -> Iterator[TextBatch]:
        """Return all documents, in batches of about `size` bytes of text at most.

        A longer document is a batch of its own.
        """

    @abstractmethod
    def text(self, number: int) -> str:
        """Return the text of one document; this may be slow in compressed files."""

    @property
    def texts(self) -> DocumentTexts:
        """The texts in collection order: a sequence that reads each text when it is used."""
        return DocumentTexts(self)

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Yield id and text of every document."""
        for batch in self.batches():
            yield from batch.pairs()

    def digest(self) -> str:
        """Return the SHA-256 of ids, lengths and texts; computed once."""
        held: str | None = getattr(self, "_digest", None)
        if held is None:
            digest = TextDigest()
            for batch in self.batches():
                digest.add(batch)
            held = digest.hexdigest()
            self._digest = held
        return held

    def text_hashes(self) -> NDArray[np.uint64]:
        """Return 128 bits of each document's text, as documents × 2; computed once.

        Texts that differ only in case and white space have the same hash; that of an empty document
        is 0.
        """
        held: NDArray[np.uint64] | None = getattr(self, "_hashes", None)
        if held is None:
            from heldout.compiled import announce
            from heldout.data.text_hashes import hash_kernel, text_hashes  # compiled loops

            announce("the search for duplicates", hash_kernel)
            held = np.concatenate([text_hashes(batch) for batch in self.batches()])
            held.flags.writeable = False
            self._hashes = held
        return held


class DocumentTexts(Sequence[str]):
    """The texts of documents, read when they are used.

    Parameters
    ----------
    documents
        The documents.

    Examples
    --------
    >>> texts = documents_of({"a": "one text", "b": "another"}).texts
    >>> len(texts), texts[-1], list(texts)
    (2, 'another', ['one text', 'another'])
    """

    __slots__ = ("_documents",)

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    def __len__(self) -> int:
        return len(self._documents)

    def __repr__(self) -> str:
        return f"<{len(self)} texts>"

    def __iter__(self) -> Iterator[str]:
        return (text for _, text in self._documents.pairs())

    @overload
    def __getitem__(self, place: int) -> str: ...

    @overload
    def __getitem__(self, place: slice) -> list[str]: ...

    def __getitem__(self, place: int | slice) -> str | list[str]:
        """Return the text at a position, or a list of texts."""
        numbers = range(len(self))[place]
        if isinstance(numbers, range):
            return [self._documents.text(number) for number in numbers]
        return self._documents.text(numbers)


class TextDigest:
    """The hash of streamed documents, which does not depend on batch size or file format.

    Three streams are hashed: the ids (each followed by a zero byte), the lengths in bytes (eight
    bytes each, little-endian) and the text; then the three hashes together.
    """

    def __init__(self) -> None:
        self._streams = tuple(hashlib.sha256() for _ in range(3))

    def add(self, batch: TextBatch) -> None:
        """Add the next batch."""
        ids, lengths, text = self._streams
        ids.update("".join(f"{one}\0" for one in batch.ids).encode())
        lengths.update(np.diff(batch.offsets).astype("<i8").tobytes())
        text.update(np.ascontiguousarray(batch.text[batch.offsets[0] : batch.offsets[-1]]).data)

    def hexdigest(self) -> str:
        """Return the hash of all batches so far."""
        return hashlib.sha256(b"".join(one.digest() for one in self._streams)).hexdigest()


class MemoryDocuments(Documents):
    """Documents held in memory, made by `documents_of`."""

    __slots__ = ("_offsets", "_text", "ids", "notes")
    ids: Ids
    notes: tuple[Note, ...]

    def __init__(self, ids: Ids, text: Bytes, offsets: Ints) -> None:
        self.ids = ids
        self._text = text
        self._offsets = offsets
        self._text.flags.writeable = False
        self._offsets.flags.writeable = False
        self.notes = tuple(self._empty())

    def _empty(self) -> Iterator[Note]:
        numbers = empty_documents(TextBatch(0, self.ids, self._text, self._offsets))
        if len(numbers):
            yield empty_note(len(numbers), [self.ids[number] for number in numbers[:5]])

    def batches(self, size: int = BATCH) -> Iterator[TextBatch]:
        """Yield all documents, in batches of about `size` bytes of text at most."""
        for begin, end in stretches(self._offsets, size):
            base = int(self._offsets[begin])
            text = self._text[base : int(self._offsets[end])]
            offsets = self._offsets[begin : end + 1] - base
            yield TextBatch(begin, self.ids[begin:end], text, offsets)

    def text(self, number: int) -> str:
        """Return the text of one document."""
        if not 0 <= number < len(self):
            raise IndexError(f"document {number} of {len(self)}")
        return self._text[self._offsets[number] : self._offsets[number + 1]].tobytes().decode()


def stretches(offsets: Ints, size: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of consecutive documents of at most `size` bytes (or one longer document)."""
    begin, last = 0, len(offsets) - 1
    while begin < last:
        end = int(np.searchsorted(offsets, offsets[begin] + size, "right")) - 1
        end = min(max(end, begin + 1), last)
        yield begin, end
        begin = end


def empty_documents(batch: TextBatch) -> list[int]:
    """Return the positions of the documents of a batch that have only white space."""
    lengths = np.diff(batch.offsets)
    # Only short texts are checked: a long text of white space alone is implausible.
    short = np.flatnonzero(lengths < 64).tolist()
    return [place for place in short if not batch.raw(place).strip()]


def empty_note(count: int, names: Sequence[str]) -> Note:
    """Return a note about empty documents that names some of them."""
    text = f"empty documents: {count} ({named_few(names, count)})"
    return Note("empty-documents", text, "info", count)


def documents_of(
    given: Documents | Mapping[str, str] | Sequence[tuple[str, str]] | Sequence[str],
) -> Documents:
    """Make documents from Python objects.

    Parameters
    ----------
    given
        ``{id: text}``, pairs of id and text, or a list of texts (their ids are then ``0``, ``1``,
        …).

    Examples
    --------
    >>> documents = documents_of({"a": "one text", "b": "another"})
    >>> len(documents), documents.text(1)
    (2, 'another')
    """
    if isinstance(given, Documents):
        return given
    ids, contents = _two_lists(given)
    if not contents:
        raise InputError("no documents were given")
    numbered = ids is None
    named: Ids = Ids.numbered(len(contents)) if ids is None else distinct_ids(ids)
    encoded = [_encoded(text, str(n) if numbered else named[n]) for n, text in enumerate(contents)]
    lengths = np.fromiter(map(len, encoded), np.int64, len(encoded))
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    return MemoryDocuments(named, np.frombuffer(b"".join(encoded), np.uint8), offsets)


def _two_lists(
    given: Mapping[str, str] | Sequence[tuple[str, str]] | Sequence[str],
) -> tuple[list[str] | None, list[str]]:
    if isinstance(given, str | bytes):
        raise InputError("documents: expected a mapping, pairs or a list of texts, got a string")
    if isinstance(given, Mapping):
        return [as_id(one) for one in given], list(given.values())
    listed = list(given)
    if all(isinstance(one, str) for one in listed):
        return None, [one for one in listed if isinstance(one, str)]
    if any(isinstance(one, str) or len(one) != 2 for one in listed):
        raise InputError("documents: expected pairs of id and text, or texts alone")
    return [as_id(one[0]) for one in listed], [one[1] for one in listed]


def _encoded(text: str, name: str) -> bytes:
    if not isinstance(text, str):
        raise InputError(f"document {name!r}: the text is {type(text).__name__}, expected str")
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"document {name!r}: character {error.start + 1} is half of a surrogate pair, which is "
            "not valid Unicode: decode the text again from its source"
        ) from None
