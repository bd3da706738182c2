"""One side of a split as a separate collection."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from heldout.data.collection import Collection
from heldout.data.document_ids import document_ids
from heldout.data.documents import BATCH, Documents, TextBatch
from heldout.data.judgements import empty_qrels
from heldout.data.queries import Queries
from heldout.data.run import Qrels

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence

    from numpy.typing import NDArray

    from heldout.data.view import View
    from heldout.data.words import Ints

    Weights = NDArray[np.int32]

__all__ = ["Part", "PartDocuments", "part_of"]


class Part(NamedTuple):
    """One side of a split as a collection, with the original ids.

    Parameters
    ----------
    collection
        The side.
    documents, queries
        The ids of its documents and queries in the whole collection.
    """

    collection: Collection
    documents: Sequence[str]
    queries: Sequence[str]


class PartDocuments(Documents):
    """Some of the documents of a collection, each repeated by its weight.

    Parameters
    ----------
    whole
        All documents.
    weights
        How often each is included.
    """

    __slots__ = ("_weights", "_whole", "ids", "notes", "numbers")

    def __init__(self, whole: Documents, weights: Weights) -> None:
        self._whole = whole
        self._weights = weights
        self.numbers: Ints = np.repeat(np.arange(len(weights)), weights)
        names = whole.ids
        self.ids = document_ids(copy_names([names[at] for at in self.numbers.tolist()], names))
        self.notes = ()

    def batches(self, size: int = BATCH) -> Iterator[TextBatch]:
        """Yield the documents in batches of at most about `size` bytes, not counting copies."""
        first = 0
        for batch in self._whole.batches(size):
            wanted = self._weights[batch.first : batch.first + len(batch)]
            places = np.repeat(np.arange(len(batch)), wanted).tolist()
            if not places:
                continue
            texts = [batch.raw(place) for place in places]
            lengths = np.fromiter(map(len, texts), np.int64, len(texts))
            offsets = np.concatenate(([0], np.cumsum(lengths)))
            text = np.frombuffer(b"".join(texts), np.uint8)
            yield TextBatch(first, self.ids[first : first + len(texts)], text, offsets)
            first += len(texts)

    def text(self, number: int) -> str:
        """Return the text of one document."""
        if not 0 <= number < len(self):
            raise IndexError(f"document {number} of {len(self)}")
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
        if times == 1:
            found.append(name)
            continue
        mark = "~"
        while f"{name}{mark}{times}" in taken:
            mark += "~"
        found.append(f"{name}{mark}{times}")
    return found


def part_of(view: View) -> Part:
    """Make a collection from a view."""
    whole = view.collection
    documents: Documents = whole.documents
    originals: Sequence[str] = whole.documents.ids
    if view.document_weights is not None:
        documents = PartDocuments(whole.documents, view.document_weights)
        originals = [whole.documents.ids[at] for at in documents.numbers.tolist()]
    queries, asked = _queries(view)
    drawn = any(_drawn(one) for one in (view.document_weights, view.query_weights))
    qrels = _judged_copies(view, documents.ids, queries.ids) if drawn else view.qrels
    side = Collection(documents, queries, qrels if len(qrels) else None, name=whole.name)
    return Part(side, originals, asked)


def _drawn(weights: Weights | None) -> bool:
    return weights is not None and int(weights.max(initial=0)) > 1


def _queries(view: View) -> tuple[Queries, tuple[str, ...]]:
    """Return the queries of a side, and their original ids."""
    whole, weights = view.collection.queries, view.query_weights
    if weights is None:
        return whole, whole.ids
    places = np.repeat(np.arange(len(weights)), weights).tolist()

    def some(column: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(column[place] for place in places)

    asked = some(whole.ids)
    names = tuple(copy_names(asked, set(whole.ids)))
    fields = {name: some(column) for name, column in whole.fields.items()}
    return Queries(names, some(whole.texts), fields), asked


def _judged_copies(view: View, documents: Sequence[str], queries: Sequence[str]) -> Qrels:
    """Return the judgements of repeated documents or queries: each copy has all of them."""
    rows = view.collection.judgements
    query, asked = _copies(view.query_weights, rows.queries, len(view.collection.queries))
    document, found = _copies(view.document_weights, rows.documents, len(view.collection.documents))
    pairs = asked * found
    row = np.repeat(np.arange(len(rows)), pairs)
    if not len(row):
        return empty_qrels()
    turn = np.arange(len(row)) - np.repeat(np.cumsum(pairs) - pairs, pairs)
    mine = (query[row] + turn // found[row]).tolist()
    others = (document[row] + turn % found[row]).tolist()
    return Qrels.from_columns(
        [queries[at] for at in mine], [documents[at] for at in others], rows.grades[row]
    )


def _copies(weights: Weights | None, units: Ints, size: int) -> tuple[Ints, Ints]:
    """Return the first position and the number of copies of the unit of each judgement."""
    times = np.ones(size, np.int64) if weights is None else weights.astype(np.int64)
    return (np.cumsum(times) - times)[units], times[units]
