"""Documents that an index knows: their files are not read again, unless a text is shown.

An index keeps path, size and time of the files that it was built from, the ids, and the digest and
hashes of the texts. If the files are as they were then, nothing more is needed for an experiment or
a search.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from heldout.data.document_ids import DocumentIds
from heldout.data.documents import BATCH, Documents
from heldout.data.origin import Origin
from heldout.data.words import PADDING, hash_fields
from heldout.errors import InputError
from heldout.retrieve.index import Index
from heldout.retrieve.indexing.strings import gather

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from heldout.data.documents import TextBatch
    from heldout.data.io.blocks import Reading
    from heldout.data.words import Ints, Words
    from heldout.notes import Note

    Open = Callable[[], Documents]

__all__ = ["IndexedDocuments", "known_to"]

_PIECE: Final = 1 << 18


class IndexIds(DocumentIds):
    """The ids of the documents of an index, found by their bytewise order."""

    __slots__ = ("_index", "_sorted")

    def __init__(self, index: Index) -> None:
        self._index = index
        self._sorted: NDArray[np.int32] | None = None

    def __len__(self) -> int:
        return self._index.n_documents

    def _one(self, number: int) -> str:
        return self._index.document_ids[number]

    def some(self, begin: int, end: int) -> Sequence[str]:
        """The ids of documents `begin` to `end`."""
        return self._index.document_ids[begin:end]

    def take(self, numbers: NDArray[np.integer]) -> list[str]:
        """The ids of some documents."""
        return gather(self._index.document_ids, numbers)[:]

    def hashes(self) -> Words:
        """64 bits of each id."""
        data, offsets = self._index.document_ids.data, self._index.document_ids.offsets
        found = np.empty(len(self), np.uint64)
        for begin in range(0, len(self), _PIECE):
            ends = offsets[begin : begin + _PIECE + 1]
            own = np.concatenate((data[ends[0] : ends[-1]], np.zeros(PADDING, np.uint8)))
            starts = ends[:-1] - ends[0]
            found[begin : begin + _PIECE] = hash_fields(own, starts, np.diff(ends))
        return found

    def find(self, wanted: Sequence[str]) -> Ints:
        """The numbers of some ids; -1 for an id that is not here."""
        if self._sorted is None:
            self._sorted = np.empty(len(self), np.int32)
            self._sorted[self._index.id_order] = np.arange(len(self), dtype=np.int32)
        return np.fromiter(map(self._find, wanted), np.int64, len(wanted))

    def _find(self, wanted: str) -> int:
        assert self._sorted is not None  # noqa: S101 - set by `find`
        raw, sought = self._index.document_ids.raw, wanted.encode(errors="surrogatepass")
        low, high = 0, len(self)
        while low < high:
            middle = (low + high) >> 1
            if raw(int(self._sorted[middle])) < sought:
                low = middle + 1
            else:
                high = middle
        number = int(self._sorted[low]) if low < len(self) else -1
        return number if number >= 0 and raw(number) == sought else -1


class IndexedDocuments(Documents):
    """The documents of an index, whose files have not changed since.

    Parameters
    ----------
    index
        The index.
    read
        Reads the files, when a text is needed.
    """

    __slots__ = ("_index", "_opened", "_read", "ids", "notes")
    ids: DocumentIds
    notes: tuple[Note, ...]

    def __init__(self, index: Index, read: Open) -> None:
        self._index = index
        self._read = read
        self._opened: Documents | None = None
        self._digest = index.documents_digest
        self._hashes = index.text_hashes
        self.ids = IndexIds(index)
        self.notes = () if index.origin is None else index.origin.notes

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process opens the index again."""
        return _reopened, (self._index.path, self._index.fingerprint, self._read)

    def batches(self, size: int = BATCH) -> Iterator[TextBatch]:
        """All documents, read from their files."""
        return self._open().batches(size)

    def text(self, number: int) -> str:
        """The text of one document; the first one that is asked for takes a while."""
        return self._open().text(number)

    def origin(self) -> Origin | None:
        """Where they were read from."""
        return self._index.origin

    def _open(self) -> Documents:
        if self._opened is None:
            opened = self._read()
            if opened.digest() != self._digest:
                raise InputError(
                    "the documents have changed since they were indexed, although size and time of "
                    "their files are the same: build the index again with heldout index"
                )
            self._opened = opened
        return self._opened


def _reopened(path: str, fingerprint: str, read: Open) -> IndexedDocuments:
    index = Index.open(path)
    if index.fingerprint != fingerprint:
        raise InputError(
            f"{path} is a different index here than where the work was started: it must be the "
            "same for all workers"
        )
    return IndexedDocuments(index, read)


def known_to(
    index: Index,
) -> Callable[[str, Sequence[str], Reading, Open], Documents | None]:
    """Return a function that finds documents in an index instead of reading their files.

    It takes the format, the files, how they are read, and a function that reads them; it gives None
    if the index was not built from these files as they are now.
    """

    def find(kind: str, files: Sequence[str], reading: Reading, read: Open) -> Documents | None:
        if index.origin is None or not index.path:
            return None
        try:
            now = Origin.of(kind, files, reading)
        except OSError:
            return None  # reading them says what is wrong
        return IndexedDocuments(index, read) if index.origin.same_files(now) else None

    return find
