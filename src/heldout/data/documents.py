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
    from collections.abc import Container

    from numpy.typing import NDArray

    from heldout.data.words import Bytes, Ints, Words

    Weights = NDArray[np.int32]

BATCH: Final = 16 << 20
"""Approximate number of bytes of text in a batch."""

_BLANK: Final = np.zeros(256, np.bool_)
_BLANK[[9, 10, 11, 12, 13, 32]] = True


@dataclass(frozen=True, slots=True, eq=False)
class TextBatch:
    """Consecutive documents."""

    first: int  # the number of its first document in collection order
    ids: Sequence[str]
    text: Bytes  # valid UTF-8, one document after another
    offsets: Ints  # document i of the batch is text[offsets[i]:offsets[i + 1]]

    @classmethod
    def of(cls, first: int, ids: Sequence[str], texts: list[bytes]) -> TextBatch:
        """Join the texts of documents."""
        offsets = np.zeros(len(texts) + 1, np.int64)
        np.cumsum(list(map(len, texts)), out=offsets[1:])
        return cls(first, ids, np.frombuffer(b"".join(texts), np.uint8), offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def raw(self, place: int) -> bytes:
        """Return the bytes of a document of the batch."""
        return self.text[self.offsets[place] : self.offsets[place + 1]].tobytes()

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Yield id and text of each document."""
        for place, one in enumerate(self.ids):
            yield one, self.raw(place).decode()

    def word_counts(self) -> Ints:
        """Return the number of words, separated by white space, of each document.

        Examples
        --------
        >>> next(documents_of(["two words", "", " one"]).batches()).word_counts().tolist()
        [2, 0, 1]
        """
        blank = _BLANK[self.text]
        begins = ~blank
        begins[1:] &= blank[:-1]
        filled = np.flatnonzero(np.diff(self.offsets))
        first = self.offsets[filled]
        begins[first] = ~blank[first]  # the byte before belongs to another document
        counts = np.zeros(len(self), np.int64)
        if len(filled):
            counts[filled] = np.add.reduceat(begins, first, dtype=np.int64)
        return counts


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


class Documents(ABC):
    """All documents of a collection, in a fixed order."""

    ids: Ids  # all of them, in collection order
    notes: tuple[Note, ...] = ()  # what is unusual in them
    _digest: str | None = None
    _hashes: Words | None = None

    @abstractmethod
    def batches(self, size: int = BATCH) -> Iterator[TextBatch]:
        """Return all documents, in batches of about `size` bytes of text at most.

        A longer document is a batch of its own.
        """

    @abstractmethod
    def text(self, number: int) -> str:
        """Return the text of one document; this may be slow in compressed files."""

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        return f"<{len(self)} documents>"

    def size_hint(self) -> int:
        """Return the number of documents; 0 if files would have to be read to know it."""
        return len(self)

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
        if self._digest is None:
            digest = TextDigest()
            for batch in self.batches():
                digest.add(batch)
            self._digest = digest.hexdigest()
        return self._digest

    def text_hashes(self) -> Words:
        """Return 128 bits of each document's text, as documents × 2; computed once.

        Texts that differ only in case and white space have the same hash; that of an empty document
        is 0.
        """
        if self._hashes is None:
            from heldout.compiled import announce
            from heldout.data.text_hashes import hash_kernel, text_hashes  # compiled loops

            announce("the search for duplicates", hash_kernel)
            self._hashes = np.concatenate([text_hashes(batch) for batch in self.batches()])
            self._hashes.flags.writeable = False
        return self._hashes

    def _check(self, number: int) -> None:
        if not 0 <= number < len(self):
            raise IndexError(f"document {number} of {len(self)}")


class DocumentTexts(Sequence[str]):
    """The texts of documents, read when they are used.

    Examples
    --------
    >>> texts = documents_of({"a": "one text", "b": "another"}).texts
    >>> len(texts), texts[-1], list(texts)
    (2, 'another', ['one text', 'another'])
    """

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
        numbers = range(len(self))[place]
        if isinstance(numbers, range):
            return [self._documents.text(number) for number in numbers]
        return self._documents.text(numbers)


class MemoryDocuments(Documents):
    """Documents held in memory."""

    def __init__(self, ids: Ids, text: Bytes, offsets: Ints) -> None:
        self.ids = ids
        self._text = text
        self._offsets = offsets
        text.flags.writeable = offsets.flags.writeable = False
        short = np.flatnonzero(np.diff(offsets) < 64).tolist()
        empty = [number for number in short if not self._raw(number).strip()]
        self.notes = empty_note(len(empty), [ids[number] for number in empty[:5]])

    def _raw(self, number: int) -> bytes:
        return self._text[self._offsets[number] : self._offsets[number + 1]].tobytes()

    def batches(self, size: int = BATCH) -> Iterator[TextBatch]:
        """Yield all documents, in batches of about `size` bytes of text at most."""
        offsets, begin = self._offsets, 0
        while begin < len(self):
            end = int(np.searchsorted(offsets, offsets[begin] + size, "right")) - 1
            end = max(end, begin + 1)
            text = self._text[int(offsets[begin]) : int(offsets[end])]
            yield TextBatch(
                begin, self.ids[begin:end], text, offsets[begin : end + 1] - offsets[begin]
            )
            begin = end

    def text(self, number: int) -> str:
        """Return the text of one document."""
        self._check(number)
        return self._raw(number).decode()


def empty_note(count: int, names: Sequence[str]) -> tuple[Note, ...]:
    """Return a note about empty documents that names some of them; nothing if there are none."""
    if not count:
        return ()
    text = f"empty documents: {count} ({named_few(names, count)})"
    return (Note("empty-documents", text, "info", count),)


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
            texts = [
                batch.raw(place) for place in np.repeat(np.arange(len(batch)), wanted).tolist()
            ]
            if texts:
                yield TextBatch.of(first, self.ids[first : first + len(texts)], texts)
            first += len(texts)

    def text(self, number: int) -> str:
        """Return the text of one document."""
        self._check(number)
        return self._whole.text(int(self.numbers[number]))


def copy_names(names: Sequence[str], taken: Container[str]) -> list[str]:
    """Return unique names for copies: the second ``a`` is ``a~2``.

    Examples
    --------
    >>> copy_names(["a", "a", "b"], ["a", "b"]), copy_names(["a", "a"], ["a", "a~2"])
    (['a', 'a~2', 'b'], ['a', 'a~~2'])
    """
    counts: dict[str, int] = {}
    found = []
    for name in names:
        times = counts[name] = counts.get(name, 0) + 1
        copy, mark = name, "~"
        while times > 1 and (copy == name or copy in taken):
            copy, mark = f"{name}{mark}{times}", mark + "~"
        found.append(copy)
    return found


def documents_of(
    given: Documents | Mapping[str, str] | Sequence[tuple[str, str]] | Sequence[str],
) -> Documents:
    """Make documents from ``{id: text}``, pairs of id and text, or texts alone (ids 0, 1, …).

    Examples
    --------
    >>> documents = documents_of({"a": "one text", "b": "another"})
    >>> len(documents), documents.text(1)
    (2, 'another')
    """
    if isinstance(given, Documents):
        return given
    if isinstance(given, str | bytes):
        raise InputError("documents: expected a mapping, pairs or a list of texts, got a string")
    listed = list(given.items() if isinstance(given, Mapping) else given)
    if not listed:
        raise InputError("no documents were given")
    texts = [one for one in listed if isinstance(one, str)]
    if len(texts) == len(listed):
        ids = Ids.numbered(len(texts))
    else:
        if any(isinstance(one, str) or len(one) != 2 for one in listed):
            raise InputError("documents: expected pairs of id and text, or texts alone")
        ids = distinct_ids([as_id(one[0]) for one in listed])
        texts = [one[1] for one in listed]
    batch = TextBatch.of(0, ids, [_encoded(text, ids, n) for n, text in enumerate(texts)])
    return MemoryDocuments(ids, batch.text, batch.offsets)


def _encoded(text: str, ids: Ids, number: int) -> bytes:
    if not isinstance(text, str):
        raise InputError(
            f"document {ids[number]!r}: the text is {type(text).__name__}, expected str"
        )
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"document {ids[number]!r}: character {error.start + 1} is half of a surrogate pair, "
            "which is not valid Unicode: decode the text again from its source"
        ) from None
