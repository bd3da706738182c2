"""View: a part of a collection, as weights of its documents and queries, without a copy."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from heldout.data.part_documents import PartDocuments
from heldout.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from heldout.data.collection import Collection
    from heldout.data.documents import Documents
    from heldout.data.qrels import Qrels
    from heldout.data.queries import Queries
    from heldout.data.words import Ints

    Weights = NDArray[np.int32]

__all__ = ["View"]


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class View:
    """Some documents and some queries of a collection.

    Parameters
    ----------
    collection
        The collection.
    document_weights, query_weights
        For each document or query how often it is in the view: 0, 1, or more in a bootstrap sample;
        None: all once. Booleans are accepted.

    Examples
    --------
    >>> from heldout.data.collection import Collection
    >>> whole = Collection(["a", "b", "c"], {"q": "a"}, {"q": {"0": 1, "2": 1}})
    >>> drawn = View(whole, [2, 1, 0])
    >>> drawn.n_documents, drawn.document_numbers().tolist(), drawn.qrels.to_dict()
    (3, [0, 1], {'q': {'0': 1}})
    >>> list(drawn.documents.texts), drawn.queries.texts
    (['a', 'b'], ('a',))
    """

    collection: Collection
    document_weights: Weights | None
    query_weights: Weights | None
    _qrels: list[Qrels] = field(repr=False)

    def __init__(
        self,
        collection: Collection,
        document_weights: ArrayLike | None = None,
        query_weights: ArrayLike | None = None,
    ) -> None:
        values: dict[str, Any] = {
            "collection": collection,
            "document_weights": _weights(document_weights, len(collection.documents), "document"),
            "query_weights": _weights(query_weights, len(collection.queries), "query"),
            "_qrels": [],
        }
        for attribute, value in values.items():
            object.__setattr__(self, attribute, value)

    def __repr__(self) -> str:
        return (
            f"View({self.collection.name!r}, {self.n_documents} of "
            f"{len(self.collection.documents)} documents, {self.n_queries} of "
            f"{len(self.collection.queries)} queries)"
        )

    @property
    def documents(self) -> Documents:
        """The documents that are in the view, each once; their text is read when it is used."""
        whole, weights = self.collection.documents, self.document_weights
        if weights is None or bool((weights > 0).all()):
            return whole
        return PartDocuments(whole, (weights > 0).astype(np.int32))

    @property
    def queries(self) -> Queries:
        """The queries that are in the view, each once."""
        whole = self.collection.queries
        return whole if self.query_weights is None else whole.take(self.query_numbers().tolist())

    @property
    def n_documents(self) -> int:
        """The number of documents, each counted as often as it is in the view."""
        return _total(self.document_weights, len(self.collection.documents))

    @property
    def n_queries(self) -> int:
        """The number of queries, each counted as often as it is in the view."""
        return _total(self.query_weights, len(self.collection.queries))

    def document_numbers(self) -> Ints:
        """Return the numbers of the documents that are in the view, each once."""
        return _present(self.document_weights, len(self.collection.documents))

    def query_numbers(self) -> Ints:
        """Return the numbers of the queries that are in the view, each once."""
        return _present(self.query_weights, len(self.collection.queries))

    def query_ids(self) -> Sequence[str]:
        """Return the ids of the queries that are in the view, each once."""
        return [self.collection.queries.ids[number] for number in self.query_numbers().tolist()]

    @property
    def qrels(self) -> Qrels:
        """The judgements of its queries and documents; made on first use.

        They have no queries without judgements.
        """
        if not self._qrels:
            rows = self.collection.judgements
            keep = np.ones(len(rows), np.bool_)
            if self.document_weights is not None:
                keep &= self.document_weights[rows.documents] > 0
            if self.query_weights is not None:
                keep &= self.query_weights[rows.queries] > 0
            self._qrels.append(self.collection.qrels.take(np.flatnonzero(keep)))
        return self._qrels[0]


def _weights(given: ArrayLike | None, size: int, what: str) -> Weights | None:
    if given is None:
        return None
    values = np.asarray(given)
    if values.shape != (size,):
        raise InputError(f"{what} weights: expected {size} values, got shape {values.shape}")
    if values.dtype.kind not in "biu":
        raise InputError(f"{what} weights: expected integers or booleans, got {values.dtype}")
    if size and (int(values.min()) < 0 or int(values.max()) > np.iinfo(np.int32).max):
        raise InputError(f"{what} weights: expected values from 0 to 2,147,483,647")
    weights = values.astype(np.int32)  # a copy, so that the caller cannot change it
    weights.flags.writeable = False
    return weights


def _total(weights: Weights | None, size: int) -> int:
    return size if weights is None else int(weights.sum(dtype=np.int64))


def _present(weights: Weights | None, size: int) -> Ints:
    return np.arange(size) if weights is None else np.flatnonzero(weights)
