"""Collection: documents, queries and judgements, joined and checked once."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from heldout.data.documents import Documents, documents_of
from heldout.data.judgements import Judgements, join
from heldout.data.notes import count_of
from heldout.data.qrels import Qrels, empty_qrels
from heldout.data.queries import Queries, queries_of

if TYPE_CHECKING:
    import os

    from heldout.data.judgements import Where
    from heldout.data.view import View
    from heldout.notes import Note

__all__ = ["Collection", "collection_sizes", "replace_notes"]

DocumentsLike = Documents | Mapping[str, str] | Sequence[tuple[str, str]] | Sequence[str]
QueriesLike = Queries | Mapping[str, str] | Sequence[tuple[str, str]]
QrelsLike = Qrels | Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
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

    name: str
    documents: Documents
    queries: Queries
    qrels: Qrels
    judgements: Judgements
    notes: tuple[Note, ...]
    _fingerprint: list[str] = field(repr=False)

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
        corpus, topics = documents_of(documents), queries_of(queries)
        known, joined, new_notes = join(corpus.ids, topics, _qrels_of(qrels), where)
        notes = (*notes, *corpus.notes, *topics.notes(), *new_notes)
        values: dict[str, Any] = {
            "name": name,
            "documents": corpus,
            "queries": topics,
            "qrels": known,
            "judgements": joined,
            "notes": notes,
            "_fingerprint": [],
        }
        for attribute, value in values.items():
            object.__setattr__(self, attribute, value)

    @classmethod
    def read(cls, source: str | os.PathLike[str]) -> Collection:
        """Read a collection; `heldout.read_collection` has more options."""
        from heldout.data.collection_files import read_collection  # circular import

        return read_collection(source)

    def __repr__(self) -> str:
        return f"Collection({self.name!r}, {collection_sizes(self)})"

    def view(self) -> View:
        """Return the whole collection as a `View`."""
        from heldout.data.view import View  # circular import

        return View(self)

    def fingerprint(self) -> str:
        """Return the SHA-256 of the content, which does not depend on the file format.

        The order of documents and queries matters; the order of judgements, the names of files and
        the name of the collection do not.
        """
        if not self._fingerprint:
            digest = hashlib.sha256(bytes.fromhex(self.documents.digest()))
            digest.update(_queries_digest(self.queries))
            digest.update(_qrels_digest(self.qrels))
            self._fingerprint.append(digest.hexdigest())
        return self._fingerprint[0]


def replace_notes(collection: Collection, notes: Iterable[Note]) -> Collection:
    """Return the same collection with other notes."""
    other = copy(collection)
    object.__setattr__(other, "notes", tuple(notes))
    return other


def _qrels_of(given: QrelsLike | None) -> Qrels:
    if isinstance(given, Qrels):
        return given
    return Qrels.of(given) if given else empty_qrels()


def _queries_digest(queries: Queries) -> bytes:
    digest = hashlib.sha256()
    for pair in zip(queries.ids, queries.texts, strict=True):
        for text in pair:
            encoded = text.encode()
            digest.update(len(encoded).to_bytes(8, "little") + encoded)
    return digest.digest()


def _qrels_digest(qrels: Qrels) -> bytes:
    docs, grades = qrels.docs.tolist(), qrels.grades.tolist()
    names = [qrels.queries[number] for number in qrels.query_of_row().tolist()]
    rows = sorted(f"{q}\0{d}\0{g}\0" for q, d, g in zip(names, docs, grades, strict=True))
    return hashlib.sha256("".join(rows).encode()).digest()


def collection_sizes(collection: Collection) -> str:
    """Return the numbers of documents, queries and judgements in words."""
    return (
        f"{count_of(len(collection.documents), 'document')}, "
        f"{count_of(len(collection.queries), 'query', 'queries')}, "
        f"{count_of(len(collection.qrels), 'judgement')}"
    )
