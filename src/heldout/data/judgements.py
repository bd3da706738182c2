"""Judgements joined to their documents and queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from heldout.data.notes import named_few
from heldout.errors import InputError
from heldout.notes import Note

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from heldout.data.ids import Ids
    from heldout.data.qrels import Qrels
    from heldout.data.queries import Queries
    from heldout.data.words import Flags, Ints
    from heldout.notes import Code

    Where = Callable[[str, str], str]

__all__ = ["Judgements", "join"]


@dataclass(frozen=True, slots=True, eq=False)
class Judgements:
    """Judgements by number, in the order of the qrels.

    Parameters
    ----------
    queries, documents
        The numbers of query and document in collection order.
    grades
        The grades.
    """

    queries: Ints
    documents: Ints
    grades: Ints

    def __post_init__(self) -> None:
        for column in (self.queries, self.documents):
            column.flags.writeable = False

    def __len__(self) -> int:
        return len(self.grades)


def join(
    documents: Ids, queries: Queries, qrels: Qrels, where: Where | None = None
) -> tuple[Qrels, Judgements, list[Note]]:
    """Keep the judgements whose query and document are known, with notes about the others.

    Parameters
    ----------
    where
        Returns the place (``file:line``) of a judgement of a query and a document, for the notes.
    """
    if not len(qrels):
        note = Note("no-judgements", "the collection has no judgements", "info", 0)
        nothing = np.zeros(0, np.int64)
        return qrels, Judgements(nothing, nothing.copy(), qrels.grades), [note]
    numbers = {name: number for number, name in enumerate(queries.ids)}
    of_query = np.array([numbers.get(name, -1) for name in qrels.queries], np.int64)
    query = of_query[qrels.query_of_row()]
    document = documents.find(qrels.docs.tolist())
    _refuse_strangers(query, qrels.queries, queries.ids, "queries")
    _refuse_strangers(document, qrels.docs.tolist(), documents[:3], "documents")
    notes = [
        *_left_out(qrels, query < 0, "unknown-queries", "queries that the collection lacks", where),
        *_left_out(
            qrels,
            (query >= 0) & (document < 0),
            "absent-documents",
            "documents that the collection lacks",
            where,
        ),
    ]
    keep = (query >= 0) & (document >= 0)
    kept = qrels.take(np.flatnonzero(keep))
    joined = Judgements(query[keep], document[keep], kept.grades)
    unjudged = len(queries) - len(kept.queries)
    if unjudged:
        judged = set(kept.queries)
        names = (one for one in queries.ids if one not in judged)
        message = f"queries without a judgement: {unjudged} ({named_few(names, unjudged)})"
        notes.append(Note("unjudged-queries", message, "info", unjudged))
    return kept, joined, notes


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
    listed = named_few(named, len(places))
    message = f"judgements of {what}, ignored: {len(places)} ({listed})"
    return [Note(code, message, count=len(places))]
