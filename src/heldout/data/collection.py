"""Collection: documents, queries and judgements, joined and checked once; View: a part of it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from heldout.data.documents import Documents, PartDocuments, documents_of
from heldout.data.notes import count_of, named_few
from heldout.data.qrels import Qrels, empty_qrels
from heldout.data.queries import Queries, queries_of
from heldout.errors import InputError
from heldout.notes import Note

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from heldout.data.documents import Weights
    from heldout.data.words import Flags, Ints
    from heldout.notes import Code

    Where = Callable[[str, str], str]

DocumentsLike = Documents | Mapping[str, str] | Sequence[tuple[str, str]] | Sequence[str]
QueriesLike = Queries | Mapping[str, str] | Sequence[tuple[str, str]]
QrelsLike = Qrels | Mapping[str, Mapping[str, int]]


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
    where
        Returns the place (``file:line``) of a judgement of a query and a document, for the notes.

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
        documents: DocumentsLike,
        queries: QueriesLike,
        qrels: QrelsLike | None = None,
        *,
        name: str = "collection",
        notes: Iterable[Note] = (),
        where: Where | None = None,
    ) -> None:
        self.name = name
        self.documents = documents_of(documents)
        self.queries = queries_of(queries)
        given = qrels if isinstance(qrels, Qrels) else Qrels.of(qrels) if qrels else empty_qrels()
        self.qrels, self.judgements, new = _join(self.documents, self.queries, given, where)
        self.notes: tuple[Note, ...] = (
            *notes,
            *self.documents.notes,
            *self.queries.notes(),
            *new,
        )

    @classmethod
    def read(cls, source: str | os.PathLike[str]) -> Collection:
        """Read a collection; `heldout.read_collection` has more options."""
        from heldout.data.collection_files import read_collection  # circular import

        return read_collection(source)

    def __repr__(self) -> str:
        return f"Collection({self.name!r}, {self.sizes()})"

    def sizes(self) -> str:
        """Return the numbers of documents, queries and judgements in words."""
        return (
            f"{count_of(len(self.documents), 'document')}, "
            f"{count_of(len(self.queries), 'query', 'queries')}, "
            f"{count_of(len(self.qrels), 'judgement')}"
        )

    def view(self) -> View:
        """Return the whole collection as a `View`."""
        return View(self)

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
        cells = (
            self.qrels.query_of_row().tolist(),
            self.qrels.docs.tolist(),
            self.qrels.grades.tolist(),
        )
        names = self.qrels.queries
        rows = sorted(f"{names[q]}\0{d}\0{g}\0" for q, d, g in zip(*cells, strict=True))
        qrels = hashlib.sha256("".join(rows).encode())
        parts = bytes.fromhex(self.documents.digest()), queries.digest(), qrels.digest()
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
    documents: Documents, queries: Queries, qrels: Qrels, where: Where | None
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
    _refuse_strangers(query, qrels.queries, queries.ids, "queries")
    _refuse_strangers(document, docs, documents.ids[:3], "documents")
    unknown, keep = query < 0, (query >= 0) & (document >= 0)
    notes = [
        *_left_out(qrels, unknown, "unknown-queries", "queries", where),
        *_left_out(qrels, ~unknown & ~keep, "absent-documents", "documents", where),
    ]
    kept = qrels.take(np.flatnonzero(keep))
    unjudged = len(queries) - len(kept.queries)
    if unjudged:
        judged = set(kept.queries)
        names = (one for one in queries.ids if one not in judged)
        message = f"queries without a judgement: {unjudged} ({named_few(names, unjudged)})"
        notes.append(Note("unjudged-queries", message, "info", unjudged))
    return kept, Judgements(query[keep], document[keep], kept.grades), notes


def _refuse_strangers(found: Ints, judged: Sequence[str], known: Sequence[str], what: str) -> None:
    if (found >= 0).any():
        return
    raise InputError(
        f"the judgements and the collection have no {what} in common: the judgements have "
        f"{named_few(judged, len(judged), 3)}; the collection has "
        f"{named_few(known, len(known) + 1, 3)}: do they belong together?"
    )


def _left_out(qrels: Qrels, rows: Flags, code: Code, what: str, where: Where | None) -> list[Note]:
    places = np.flatnonzero(rows)
    if not len(places):
        return []
    query_of_row = qrels.query_of_row()
    named = []
    for row in places[:5].tolist():
        query, doc = qrels.queries[int(query_of_row[row])], qrels.docs[row]
        place = where(query, doc) if where is not None else ""
        named.append(f"query {query} document {doc}{f' in {place}' if place else ''}")
    count = len(places)
    message = f"judgements of {what} that the collection lacks, ignored: {count}"
    return [Note(code, f"{message} ({named_few(named, count)})", count=count)]


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
    >>> drawn.n_documents, drawn.document_numbers().tolist(), drawn.qrels.to_dict()
    (3, [0, 1], {'q': {'0': 1}})
    >>> list(drawn.documents.texts), drawn.queries.texts
    (['a', 'b'], ('a',))
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

    @cached_property
    def qrels(self) -> Qrels:
        """The judgements of its queries and documents; made on first use.

        They have no queries without judgements.
        """
        rows = self.collection.judgements
        keep = np.ones(len(rows), np.bool_)
        if self.document_weights is not None:
            keep &= self.document_weights[rows.documents] > 0
        if self.query_weights is not None:
            keep &= self.query_weights[rows.queries] > 0
        return self.collection.qrels.take(np.flatnonzero(keep))


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
