"""Summary statistics of a collection: sizes, lengths, judgements per query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from heldout.data.collection import Collection
    from heldout.data.documents import TextBatch
    from heldout.data.words import Ints
    from heldout.notes import Note

__all__ = ["Description", "Spread", "describe", "word_counts"]

_BLANK = np.zeros(256, np.bool_)
_BLANK[[9, 10, 11, 12, 13, 32]] = True


@dataclass(frozen=True, slots=True)
class Spread:
    """Summary statistics of some integers.

    Parameters
    ----------
    least, lower, median, upper, most
        Minimum, quartiles and maximum.
    total
        Their sum.
    """

    least: int
    lower: float
    median: float
    upper: float
    most: int
    total: int

    @classmethod
    def of(cls, values: Ints) -> Spread | None:
        """Summarize some numbers; None if there are none."""
        if not len(values):
            return None
        lower, median, upper = (float(one) for one in np.quantile(values, (0.25, 0.5, 0.75)))
        return cls(int(values.min()), lower, median, upper, int(values.max()), int(values.sum()))


@dataclass(frozen=True, slots=True)
class Description:
    """Summary statistics of a collection.

    Parameters
    ----------
    name, fingerprint
        Of the collection.
    documents, queries, judgements
        Their numbers.
    judged_queries
        The number of queries with a judgement.
    document_words, query_words
        Words per document and per query, separated by white space.
    judged_per_query
        Judgements per judged query.
    grades
        The number of judgements of each grade.
    notes
        What is unusual about the collection.
    """

    name: str
    fingerprint: str
    documents: int
    queries: int
    judgements: int
    judged_queries: int
    document_words: Spread | None
    query_words: Spread | None
    judged_per_query: Spread | None
    grades: tuple[tuple[int, int], ...]
    notes: tuple[Note, ...]


def describe(collection: Collection) -> Description:
    """Describe a collection; its documents are read once."""
    counts = [word_counts(batch) for batch in collection.documents.batches()]
    in_queries = [len(text.split()) for text in collection.queries.texts]
    grades, times = np.unique(collection.qrels.grades, return_counts=True)
    return Description(
        name=collection.name,
        fingerprint=collection.fingerprint(),
        documents=len(collection.documents),
        queries=len(collection.queries),
        judgements=len(collection.qrels),
        judged_queries=len(collection.qrels.queries),
        document_words=Spread.of(np.concatenate(counts)),
        query_words=Spread.of(np.array(in_queries, np.int64)),
        judged_per_query=Spread.of(np.diff(collection.qrels.offsets)),
        grades=tuple(zip(grades.tolist(), times.tolist(), strict=True)),
        notes=collection.notes,
    )


def word_counts(batch: TextBatch) -> Ints:
    """Return the number of words, separated by white space, of each document of a batch.

    Examples
    --------
    >>> from heldout.data.documents import documents_of
    >>> next(documents_of(["two words", "", " one"]).batches()).offsets.tolist()
    [0, 9, 9, 13]
    >>> word_counts(next(documents_of(["two words", "", " one"]).batches())).tolist()
    [2, 0, 1]
    """
    blank = _BLANK[batch.text]
    begins = ~blank
    begins[1:] &= blank[:-1]
    filled = np.flatnonzero(np.diff(batch.offsets))
    first = batch.offsets[filled]
    begins[first] = ~blank[first]  # the byte before belongs to another document
    counts = np.zeros(len(batch), np.int64)
    if len(filled):
        counts[filled] = np.add.reduceat(begins, first, dtype=np.int64)
    return counts
