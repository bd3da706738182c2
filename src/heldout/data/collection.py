"""Collection: documents, queries and judgements, joined and checked once; View: a part of it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from heldout.data.documents import Documents, PartDocuments, documents_of
from heldout.data.qrels import Qrels, empty_qrels
from heldout.data.queries import Queries, queries_of
from heldout.errors import InputError
from heldout.notes import Note, count_of, named_few

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import ArrayLike

    from heldout.data.documents import Weights
    from heldout.data.words import Flags, Ints


class Collection:
    """A test collection: documents, queries and relevance judgements.

    Judgements of documents or queries that the collection does not have are ignored, with a note.

    Parameters
    ----------
    documents
        `Documents`, ``{id: text}``, pairs of id and text, or texts alone (ids ``0``, ``1``, …).
    queries
        `Queries`, ``{id: text}``, or pairs of id and text.
    qrels
        `Qrels` or ``{query: {document: grade}}``; None for a collection without judgements.
    name
        Its name.
    notes
        Earlier notes about it; new ones are added.

    Examples
    --------
    >>> small = Collection({"d1": "red apples", "d2": "pears"}, {"q1": "apple"}, {"q1": {"d1": 1}})
    >>> small
    Collection('collection', 2 documents, 1 query, 1 judgement)
    >>> small.documents.text(0), small.queries.texts, small.qrels.to_dict()
    ('red apples', ('apple',), {'q1': {'d1': 1}})
    """

    def __init__(
        self,
        documents: Documents | Mapping[str, str] | Sequence[tuple[str, str]] | Sequence[str],
        queries: Queries | Mapping[str, str] | Sequence[tuple[str, str]],
        qrels: Qrels | Mapping[str, Mapping[str, int]] | None = None,
        *,
        name: str = "collection",
        notes: Iterable[Note] = (),
    ) -> None:
        self.name = name
        self.documents = documents_of(documents)
        self.queries = queries_of(queries)
        given = qrels if isinstance(qrels, Qrels) else Qrels.of(qrels) if qrels else empty_qrels()
        self.qrels, self.judgements, new = _join(self.documents, self.queries, given)
        self.notes: tuple[Note, ...] = (*notes, *self.documents.notes, *self.queries.notes(), *new)

    def __repr__(self) -> str:
        return f"Collection({self.name!r}, {self.sizes()})"

    def sizes(self) -> str:
        """Return the numbers of documents, queries and judgements in words."""
        return (
            f"{count_of(len(self.documents), 'document')}, "
            f"{count_of(len(self.queries), 'query', 'queries')}, "
            f"{count_of(len(self.qrels), 'judgement')}"
        )

    def fingerprint(self) -> str:
        """Return the SHA-256 of the content, which does not depend on the file format.

        The order of documents and queries matters; the order of judgements, the names of files and
        the name of the collection do not.
        """
        return self._fingerprint

    @cached_property
    def _fingerprint(self) -> str:
        queries = hashlib.sha256()
        for pair in self.queries.pairs():
            for text in pair:
                raw = text.encode()
                queries.update(len(raw).to_bytes(8, "little") + raw)
        rows, names = self.qrels, self.qrels.queries
        cells = zip(rows.query_of_row().tolist(), rows.docs, rows.grades.tolist(), strict=True)
        lines = sorted(f"{names[query]}\0{doc}\0{grade}\0" for query, doc, grade in cells)
        qrels = hashlib.sha256("".join(lines).encode())
        parts = bytes.fromhex(self.documents.digest), queries.digest(), qrels.digest()
        return hashlib.sha256(b"".join(parts)).hexdigest()


@dataclass(frozen=True, slots=True, eq=False)
class Judgements:
    """Judgements by number of query and document in the collection, in the order of the qrels."""

    queries: Ints
    documents: Ints
    grades: Ints

    def __len__(self) -> int:
        return len(self.grades)


def _join(
    documents: Documents, queries: Queries, qrels: Qrels
) -> tuple[Qrels, Judgements, list[Note]]:
    """Keep the judgements whose query and document are known, with notes about the others."""
    if not len(qrels):
        note = Note("no-judgements", "the collection has no judgements", "info", 0)
        nothing = np.zeros(0, np.int64)
        return qrels, Judgements(nothing, nothing, qrels.grades), [note]
    numbers = {name: number for number, name in enumerate(queries.ids)}
    of_query = np.array([numbers.get(name, -1) for name in qrels.queries], np.int64)
    query = of_query[qrels.query_of_row()]
    docs = qrels.docs.tolist()
    document = documents.ids.find(docs)
    for what, places, judged, known in (
        ("queries", query, qrels.queries, queries.ids),
        ("documents", document, docs, documents.ids[:3]),
    ):
        if not (places >= 0).any():
            raise InputError(
                f"the judgements and the collection have no {what} in common: the judgements have "
                f"{named_few(judged, len(judged), 3)}; the collection has "
                f"{named_few(known, len(known) + 1, 3)}: do they belong together?"
            )
    unknown, keep = query < 0, (query >= 0) & (document >= 0)
    notes = [
        *_left_out(qrels, unknown, "unknown-queries", "queries"),
        *_left_out(qrels, ~unknown & ~keep, "absent-documents", "documents"),
    ]
    kept = qrels.take(np.flatnonzero(keep))
    judged_queries = set(kept.queries)
    unjudged = [query_id for query_id in queries.ids if query_id not in judged_queries]
    if unjudged:
        named = named_few(unjudged, len(unjudged))
        message = f"queries without a judgement: {len(unjudged)} ({named})"
        notes.append(Note("unjudged-queries", message, "info", len(unjudged)))
    return kept, Judgements(query[keep], document[keep], kept.grades), notes


def _left_out(qrels: Qrels, rows: Flags, code: str, what: str) -> list[Note]:
    places, of_row = np.flatnonzero(rows), qrels.query_of_row()
    named = [f"query {qrels.queries[of_row[row]]} document {qrels.docs[row]}" for row in places[:5]]
    message = f"judgements of {what} that the collection lacks, ignored: {len(places)}"
    message += f" ({named_few(named, len(places))})"
    return [Note(code, message, count=len(places))] if named else []


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
    >>> whole = Collection(["a", "b", "c"], {"q": "a"}, {"q": {"0": 1, "2": 1}})
    >>> drawn = View(whole, [2, 1, 0])
    >>> drawn.n_documents, drawn.documents.ids[:], drawn.qrels.to_dict()
    (3, ['0', '1'], {'q': {'0': 1}})
    >>> list(drawn.documents.pairs()), drawn.queries.texts
    ([('0', 'a'), ('1', 'b')], ('a',))
    """

    def __init__(
        self,
        collection: Collection,
        document_weights: ArrayLike | None = None,
        query_weights: ArrayLike | None = None,
    ) -> None:
        self.collection = collection
        self.document_weights = _weights(document_weights, len(collection.documents), "document")
        self.query_weights = _weights(query_weights, len(collection.queries), "query")

    def __repr__(self) -> str:
        sizes = f"{self.n_documents:,} documents, {self.n_queries:,} queries"
        return f"View({self.collection.name!r}, {sizes})"

    @property
    def documents(self) -> Documents:
        """The documents that are in the view, each once; their text is read when it is used."""
        whole, present = self.collection.documents, self.document_weights > 0
        return whole if present.all() else PartDocuments(whole, present.astype(np.int32))

    @property
    def queries(self) -> Queries:
        """The queries that are in the view, each once."""
        whole, present = self.collection.queries, np.flatnonzero(self.query_weights)
        return whole if len(present) == len(whole) else whole.take(present.tolist())

    @property
    def n_documents(self) -> int:
        """The number of documents, each counted as often as it is in the view."""
        return int(self.document_weights.sum())

    @property
    def n_queries(self) -> int:
        """The number of queries, each counted as often as it is in the view."""
        return int(self.query_weights.sum())

    @cached_property
    def qrels(self) -> Qrels:
        """The judgements of its queries and documents; made on first use.

        They have no queries without judgements.
        """
        rows = self.collection.judgements
        keep = (self.document_weights[rows.documents] > 0) & (self.query_weights[rows.queries] > 0)
        return self.collection.qrels.take(np.flatnonzero(keep))


def _weights(given: ArrayLike | None, size: int, what: str) -> Weights:
    if given is None:
        return np.broadcast_to(np.int32(1), size)  # one number in memory
    values = np.asarray(given)
    is_whole = values.dtype.kind in "biu" and values.shape == (size,)
    if not is_whole or (size and not 0 <= int(values.min()) <= int(values.max()) < 1 << 31):
        raise InputError(
            f"{what} weights: expected {size} booleans, or integers from 0 to 2,147,483,647, got "
            f"{values.dtype} of shape {values.shape}"
        )
    weights = values.astype(np.int32)  # a copy, so that the caller cannot change it
    weights.flags.writeable = False
    return weights
