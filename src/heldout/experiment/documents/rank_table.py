"""Compute measures from the ranks of judged documents, without storing ranked lists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from heldout.errors import MeasureError
from heldout.measure.base import JUDGED_ONLY
from heldout.measure.ranking.judged import Judged
from heldout.retrieve.rank import JudgedDocuments

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from heldout.data.collection import Collection
    from heldout.data.words import Flags, Floats, Ints
    from heldout.measure.base import Measure
    from heldout.retrieve.kernels.types import Numbers


@dataclass(frozen=True, slots=True, eq=False)
class RankTable:
    """The judgements of a collection by number, ordered by query."""

    queries: Ints
    documents: Numbers
    grades: Ints
    n_queries: int  # of the collection

    @classmethod
    def of(cls, collection: Collection) -> RankTable:
        """Return the judgements of a collection."""
        rows = collection.judgements
        order = np.argsort(rows.queries, kind="stable")
        documents = rows.documents[order].astype(np.int32)
        return cls(rows.queries[order], documents, rows.grades[order], len(collection.queries))

    def __len__(self) -> int:
        return len(self.queries)

    def asked(self) -> JudgedDocuments:
        """Return the documents whose ranks are needed."""
        offsets = np.searchsorted(self.queries, np.arange(self.n_queries + 1))
        return JudgedDocuments(offsets.astype(np.int64), self.documents)

    def relevant(self, counted: Flags) -> Ints:
        """Return the number of relevant documents per query among the judgements that count."""
        keep = counted & (self.grades > 0)
        return np.bincount(self.queries[keep], minlength=self.n_queries)

    def answered(self) -> Flags:
        """Return which queries have a relevant document somewhere in the collection."""
        return self.relevant(np.ones(len(self), np.bool_)) > 0

    def evaluate(
        self,
        ranks: NDArray[np.integer],
        counted: Flags,
        retrieved: Ints,
        measures: Sequence[Measure],
        depth: int | None = None,
    ) -> Floats:
        """Return measures × settings × queries; NaN: no relevant document counts.

        `ranks` are judgements × settings, `counted` the judgements of documents that are ranked,
        and `retrieved` the number of documents in the list of each query.
        """
        settings, rows = ranks.shape[1], np.flatnonzero(counted)
        first = np.arange(settings)[:, None] * self.n_queries  # each setting has lists of its own
        lists = Rows(
            (first + self.queries[rows]).ravel(),
            np.tile(self.grades[rows], settings),
            np.ascontiguousarray(ranks[rows].T).ravel(),
        )
        values = measure_rows(lists, np.tile(retrieved, settings), measures, depth)
        return values.reshape(len(measures), settings, self.n_queries)


class Rows(NamedTuple):
    """Judged documents of many lists."""

    query: Ints  # the list of each document, ascending
    grade: Ints
    rank: NDArray[np.integer]  # in the list; 0: not retrieved


def check_measures(measures: Sequence[Measure]) -> None:
    """Refuse measures that need more than the ranks of judged documents."""
    for measure in measures:
        if measure.definition.needs == "subtopics":
            raise MeasureError(
                f"{measure} needs whole ranked lists, which are not stored here: search with "
                "heldout search and evaluate the run with heldout eval, or choose another measure"
            )


def needed_depth(measures: Sequence[Measure], depth: int) -> int:
    """Return the lowest rank that matters to any of the measures, at most `depth`."""
    cutoffs = [
        measure.cutoff
        if isinstance(measure.cutoff, int) and not measure.parameters.get(JUDGED_ONLY)
        else depth
        for measure in measures
    ]
    return min(max(cutoffs, default=depth), depth)


def measure_rows(
    rows: Rows, retrieved: Ints, measures: Sequence[Measure], depth: int | None = None
) -> Floats:
    """Return measures × lists; NaN if a list has no relevant document."""
    lists = len(retrieved)
    values = np.full((len(measures), lists), np.nan)
    if not len(rows.query):
        return values
    kept = np.flatnonzero((rows.rank > 0) & (rows.rank <= (depth or np.iinfo(np.int64).max)))
    kept = kept[np.lexsort((rows.rank[kept], rows.query[kept]))]
    judged = Judged(
        ("",) * lists,
        np.ones(lists, np.bool_),
        np.minimum(retrieved, depth) if depth else retrieved,
        rows.query[kept],
        rows.rank[kept].astype(np.int64),
        rows.grade[kept],
        rows.query,
        rows.grade,
        max(int(rows.grade.max()), 1),
    )
    for row, measure in enumerate(measures):
        grade = measure.parameters.get("rel")  # None: graded gains, every grade above 0 counts
        defined = judged.relevant(max(1 if grade is None else int(grade), 1)) > 0
        values[row, defined] = measure.units(judged).per_unit()[defined]
    return values
