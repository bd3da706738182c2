"""Rank documents by their vectors: exact nearest neighbours, block by block.

Matrix products in single precision find the documents that can be among the first; their scores
are then computed in double precision, pair by pair. The result is therefore the same for any size
of blocks and number of threads, and equal vectors have equal scores.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, get_args

import numpy as np

from heldout.errors import InputError
from heldout.notes import count_of
from heldout.retrieve.search import run_of_lists

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heldout.data.embeddings import Embeddings
    from heldout.data.run import Run
    from heldout.data.words import Ints, Words
    from heldout.retrieve.kernels.types import Floats


Metric = Literal["cosine", "ip"]
"""Cosine of the angle, or inner product."""

_NUMBERS: Final = 1 << 22
"""Numbers in a block of vectors, or in a block of scores."""
_QUERIES: Final = 512
"""Queries in a block of scores."""
_ROUNDING: Final = 2.0**-24
"""Largest relative rounding error in single precision."""


def check_metric(metric: object) -> Metric:
    """Return a metric; raise an error if it is unknown."""
    if metric not in get_args(Metric):
        raise InputError(f"unknown metric {metric!r}: expected {' or '.join(get_args(Metric))}")
    return metric  # type: ignore[return-value]


def rank_vectors(
    documents: Embeddings,
    queries: Embeddings,
    *,
    metric: Metric = "cosine",
    k: int = 1000,
    name: str = "dense",
    document_rows: Ints | None = None,
    query_rows: Ints | None = None,
) -> Run:
    """Return the documents nearest to each query, as a run.

    All documents are compared (no approximation). Memory does not depend on the number of
    documents.

    Parameters
    ----------
    documents, queries
        Their vectors.
    metric
        ``cosine`` (0 for a vector of zeros) or ``ip``, the inner product.
    k
        Documents per query.
    name
        The name of the run.
    document_rows, query_rows
        Rank some documents for some queries only.

    Examples
    --------
    >>> from heldout.data.embeddings import Embeddings
    >>> documents = Embeddings(["d1", "d2", "d3"], [[1, 0], [3, 4], [0, 2]])
    >>> queries = Embeddings(["q1"], [[0, 1]])
    >>> rank_vectors(documents, queries, k=2).to_dict()
    {'q1': {'d3': 1.0, 'd2': 0.8}}
    >>> rank_vectors(documents, queries, metric="ip", k=2).to_dict()
    {'q1': {'d2': 4.0, 'd3': 2.0}}
    """
    check_metric(metric)
    if not isinstance(k, int | np.integer) or k < 1:
        raise InputError("expected a positive integer", argument="k", value=k)
    if documents.dimensions != queries.dimensions:
        raise InputError(
            f"{documents.name} has {count_of(documents.dimensions, 'dimension')}, {queries.name} "
            f"has {queries.dimensions}: use vectors of the same model for both"
        )
    rows = np.arange(len(documents)) if document_rows is None else document_rows
    asked = np.arange(len(queries)) if query_rows is None else query_rows
    side = _Side.of(queries.block(asked), metric)
    empty = np.full((len(asked), min(k, len(rows))), -1, np.int32)
    best = _Best(empty, np.full(empty.shape, -np.inf), documents.ids.ranks())
    step = max(1, _NUMBERS // documents.dimensions)
    for begin in range(0, len(rows), step):
        some = rows[begin : begin + step]
        _add_block(best, some, _Side.of(documents.block(some), metric), side)
    names = [queries.ids[row] for row in asked.tolist()]
    return run_of_lists(documents.ids, names, best.documents, best.scores, name)


class _Side(NamedTuple):
    """Some vectors, and the same, divided by `norms`, in single precision; their largest norm."""

    values: NDArray[Any]
    norms: Floats
    quick: NDArray[np.float32]
    most: float

    @classmethod
    def of(cls, values: NDArray[Any], metric: Metric) -> _Side:
        lengths = np.sqrt(_row_sums(values, values))
        if metric == "ip":
            most = float(lengths.max(initial=0.0))
            return cls(values, np.ones(len(values)), values.astype(np.float32), most)
        norms = np.where(lengths > 0, lengths, 1.0)
        return cls(values, norms, (values / norms[:, None]).astype(np.float32), 1.0)


def _row_sums(rows: NDArray[Any], factors: NDArray[Any]) -> Floats:
    """Return the sum of each row times factors; it does not depend on the other rows."""
    found: Floats = (rows.astype(np.float64) * factors.astype(np.float64)).sum(axis=1)
    return found


class _Best(NamedTuple):
    """The best documents so far (queries × places), best first; −1 if there are fewer.

    Of two documents with equal scores, the one with the higher number in `order` is first.
    """

    documents: NDArray[np.int32]
    scores: Floats
    order: Words

    def add(self, query: int, rows: Ints, scores: Floats) -> None:
        """Merge documents into the list of a query."""
        known = self.documents[query] >= 0
        every = np.concatenate((self.documents[query][known], rows))
        values = np.concatenate((self.scores[query][known], scores))
        # Ids in descending order: all bits of their numbers are inverted.
        first = np.lexsort((~self.order[every], -values))[: self.documents.shape[1]]
        self.documents[query, : len(first)] = every[first]
        self.scores[query, : len(first)] = values[first]


def _add_block(best: _Best, rows: Ints, block: _Side, queries: _Side) -> None:
    """Merge the documents of a block into the lists of all queries."""
    places = best.documents.shape[1]
    # The error of a product of n pairs in single precision is at most about n rounding errors of
    # the product of the norms; the other eight are for norms and divisions.
    error = (block.quick.shape[1] + 8) * _ROUNDING * block.most * queries.most * 1.01
    step = max(1, min(_QUERIES, _NUMBERS // max(len(rows), 1)))
    for begin in range(0, len(queries.quick), step):
        with np.errstate(over="ignore", invalid="ignore"):
            quick = queries.quick[begin : begin + step] @ block.quick.T
        limits = best.scores[begin : begin + step, -1] - error
        if len(rows) > places:
            # At least `places` documents of this block have a true score of this, minus the error.
            last = np.partition(quick, len(rows) - places, axis=1)[:, len(rows) - places]
            limits = np.maximum(limits, last.astype(np.float64) - 2 * error)
        limits[~np.isfinite(limits)] = -np.inf
        with np.errstate(over="ignore"):
            rounded = np.nextafter(limits.astype(np.float32), np.float32(-np.inf))
        for row, limit in enumerate(rounded):
            near = np.flatnonzero(~(quick[row] < limit))  # also products that are NaN: too large
            if len(near):
                query = begin + row
                products = _row_sums(block.values[near], queries.values[query])
                scores = products / (block.norms[near] * queries.norms[query])
                best.add(query, rows[near], scores)
