"""Compute measures from the ranks of judged documents, without storing ranked lists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from heldout.errors import MeasureError
from heldout.measure.base import JUDGED_ONLY
from heldout.measure.ranking.judged import Judged
from heldout.retrieve.rank import JudgedDocuments

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from heldout.data.collection import Collection
    from heldout.measure.base import Measure

    Flags = NDArray[np.bool_]
    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

__all__ = [
    "RankTable",
    "Rows",
    "check_measures",
    "measure_rows",
    "needed_depth",
    "relevant_from",
]


@dataclass(frozen=True, slots=True, eq=False)
class RankTable:
    """The judgements of a collection by number, ordered by query.

    Parameters
    ----------
    queries, documents, grades
        Of each judgement.
    n_queries
        Number of queries of the collection.
    """

    queries: Ints
    documents: NDArray[np.int32]
    grades: Ints
    n_queries: int

    @classmethod
    def of(cls, collection: Collection) -> RankTable:
        """Return the judgements of a collection."""
        rows = collection.judgements
        order = np.argsort(rows.queries, kind="stable")
        return cls(
            rows.queries[order],
            rows.documents[order].astype(np.int32),
            rows.grades[order],
            len(collection.queries),
        )

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

    def rows(self, ranks: NDArray[np.integer], counted: Flags) -> Rows:
        """Return the judgements that count, with the ranks of their documents."""
        return Rows(self.queries[counted], self.grades[counted], ranks[counted])

    def evaluate(
        self,
        ranks: NDArray[np.integer],
        counted: Flags,
        retrieved: Ints,
        measures: Sequence[Measure],
        depth: int | None = None,
    ) -> Floats:
        """Return measures × settings × queries; NaN: no relevant document counts.

        Parameters
        ----------
        ranks
            Judgements × settings: rank of the judged document under each setting, 0: not retrieved.
        counted
            Which judgements count: those of the documents that are ranked.
        retrieved
            Number of retrieved documents per query.
        depth
            Ranks beyond it count as not retrieved.
        """
        values = ranks.shape[1]
        rows = np.flatnonzero(counted)
        shift = np.arange(values)[:, None] * self.n_queries
        query = (shift + self.queries[rows]).ravel()
        grade = np.tile(self.grades[rows], values)
        return measure_rows(
            Rows(query, grade, np.ascontiguousarray(ranks[rows].T).ravel()),
            np.tile(retrieved, values),
            measures,
            depth,
        ).reshape(len(measures), values, self.n_queries)


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Judged documents of many lists.

    Parameters
    ----------
    query
        The list of each document, ascending.
    grade, rank
        Its grade, and its rank in the list (0: not retrieved).
    """

    query: Ints
    grade: Ints
    rank: NDArray[np.integer]


def check_measures(measures: Sequence[Measure]) -> None:
    """Refuse measures that need more than the ranks of judged documents."""
    for measure in measures:
        if measure.definition.needs == "subtopics":
            raise MeasureError(
                f"{measure} needs whole ranked lists, which are not stored here: search with "
                "heldout search and evaluate the run with heldout eval, or choose another measure"
            )


def needed_depth(measures: Sequence[Measure], depth: int) -> int:
    """Return the lowest rank that matters to any of the measures, at most `depth`.

    Examples
    --------
    >>> from heldout.measure.names import parse_measure
    >>> needed_depth([parse_measure(name, "ranking") for name in ("nDCG@10", "P@5")], 1000)
    10
    >>> needed_depth([parse_measure("AP", "ranking")], 1000)
    1000
    """
    cutoffs = [
        measure.cutoff
        if isinstance(measure.cutoff, int) and not measure.parameters.get(JUDGED_ONLY)
        else depth
        for measure in measures
    ]
    return min(max(cutoffs, default=depth), depth)


def relevant_from(measure: Measure) -> int:
    """Return the smallest grade that counts as relevant."""
    given = measure.parameters.get("rel")
    # None: graded gains, every grade above 0 counts.
    return 1 if given is None else int(given)


def measure_rows(
    rows: Rows, retrieved: Ints, measures: Sequence[Measure], depth: int | None = None
) -> Floats:
    """Return measures × lists; NaN if a list has no relevant document."""
    lists = len(retrieved)
    if not len(rows.query):
        return np.full((len(measures), lists), np.nan)
    found = np.flatnonzero((rows.rank > 0) & (rows.rank <= (depth or np.iinfo(np.int64).max)))
    found = found[np.lexsort((rows.rank[found], rows.query[found]))]
    judged = Judged(
        ("",) * lists,
        np.ones(lists, np.bool_),
        np.minimum(retrieved, depth) if depth else retrieved,
        rows.query[found],
        rows.rank[found].astype(np.int64),
        rows.grade[found],
        rows.query,
        rows.grade,
        max(int(rows.grade.max()), 1),
    )
    return np.stack([_column(judged, measure) for measure in measures])


def _column(judged: Judged, measure: Measure) -> NDArray[Any]:
    values = measure.units(judged).per_unit().astype(np.float64)
    values[judged.relevant(max(relevant_from(measure), 1)) == 0] = np.nan
    return values
