"""An index as the documents of an experiment: ids and hashes are in it, and no file is read.

A collection of millions of documents takes a minute to read, and its index a millisecond to open.
Texts are not in the index: whoever needs them names the collection, and the index beside it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from heldout.data.document_ids import DocumentIds
from heldout.data.documents import BATCH, Documents
from heldout.data.words import PADDING, hash_fields
from heldout.errors import InputError
from heldout.retrieve.indexing.strings import gather

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from heldout.data.documents import TextBatch
    from heldout.data.words import Ints, Words
    from heldout.notes import Note
    from heldout.retrieve.index import Index

__all__ = ["IndexedDocuments"]

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
    """The documents of an index."""

    __slots__ = ("ids", "index", "notes")
    ids: DocumentIds
    notes: tuple[Note, ...]

    def __init__(self, index: Index) -> None:
        self.index = index
        self._digest = index.documents_digest
        self._hashes = index.text_hashes
        self.ids = IndexIds(index)
        self.notes = ()

    def batches(self, _size: int = BATCH) -> Iterator[TextBatch]:
        """Raise an error: there are no texts."""
        raise _no_texts()

    def text(self, _number: int) -> str:
        """Raise an error: there are no texts."""
        raise _no_texts()


def _no_texts() -> InputError:
    return InputError(
        "an index has no texts, which are needed here: name the collection, and give the index "
        "beside it (--index)"
    )
