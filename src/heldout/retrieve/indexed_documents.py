"""An index as the documents of an experiment: ids and hashes are in it, and no file is read.

A collection of millions of documents takes a minute to read, and its index a millisecond to open.
Texts are not in the index: whoever needs them names the collection, and the index beside it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from heldout.data.documents import BATCH, Documents
from heldout.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from heldout.data.documents import TextBatch
    from heldout.data.ids import Ids
    from heldout.notes import Note
    from heldout.retrieve.index import Index


class IndexedDocuments(Documents):
    """The documents of an index."""

    __slots__ = ("ids", "index", "notes")
    ids: Ids
    notes: tuple[Note, ...]

    def __init__(self, index: Index) -> None:
        self.index = index
        self._digest = index.documents_digest
        self._hashes = index.text_hashes
        self.ids = index.document_ids
        self.notes = ()

    def batches(self, _size: int = BATCH) -> Iterator[TextBatch]:
        """Raise an error: there are no texts."""
        raise InputError(
            "an index has no texts, which are needed here: name the collection, and give the index "
            "beside it (--index)"
        )

    def text(self, _number: int) -> str:
        """Raise an error: there are no texts."""
        return next(self.batches()).raw(0).decode()
