"""Scoring: the postings of a query are traversed once for all parameter settings and splits.

A *lane* is one parameter setting. Every document that contains a query term gets a row with the
scores of all lanes. Documents are processed in blocks, so that the rows in use stay in cache.
Every document belongs to one set of statistics (``documents.statistics``, −1: it is not ranked)
and to one ranked list (``documents.lists``), so one traversal serves all folds of a plan.

Arithmetic is plain IEEE double precision, term by term in the order of the query: a score does not
depend on the number of lanes, the block or the thread.

The loops are compiled for all models at once: users wait for the compiler.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from heldout.compiled import part

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

__all__ = [
    "FRACTION",
    "FRACTION_SHIFTED",
    "LIKELIHOOD",
    "ZERO",
    "Documents",
    "Postings",
    "Queries",
    "Rule",
    "score_sums",
]

FRACTION = 0
"""Weight · C·x / (x + I + J·r): BM25 and related models."""
FRACTION_SHIFTED = 1
"""Weight · ((C·x + G + H·r) / (F·x + I + J·r) + P): other sums over terms."""
LIKELIHOOD = 2
"""Logarithm of a product of smoothed probabilities."""
ZERO: Final[int] = np.int64(0)  # type: ignore[assignment]
"""A number: parts that are called with the constant 0 are compiled once more, for it alone."""


class Postings(NamedTuple):
    """Postings of the terms in use: rows `begin` to `end` of `documents` and `counts`."""

    begin: Ints
    end: Ints
    documents: NDArray[np.int32]
    counts: NDArray[Any]


class Queries(NamedTuple):
    """Terms of each query (numbers into `Postings`), and their weights in the query."""

    offsets: Ints
    terms: Ints
    weights: Floats


class Documents(NamedTuple):
    """Data about each document.

    `ratio` is |d| over the average length of its statistics, `order` the rank of its id, `priors`
    (documents × lanes, or empty) is added to its scores.
    """

    statistics: NDArray[np.int32]
    lists: NDArray[np.int32]
    ratio: Floats
    order: NDArray[np.int32]
    priors: Floats


class Rule(NamedTuple):
    """A scoring rule with its parameters.

    `weights` (terms × statistics) are the idf of a sum, or the collection's counts of a
    likelihood; `values` (statistics × coefficients × lanes) are computed by the model; `table` maps
    a count to x (only for `FRACTION_SHIFTED`).
    """

    kind: int
    weights: Floats
    values: Floats
    table: Floats


@part
def score_sums(
    q: int,
    block: int,
    postings: Postings,
    queries: Queries,
    documents: Documents,
    rule: Rule,
    cursor: Ints,
    places: NDArray[np.int32],
    numbers: NDArray[np.int32],
    rows: Floats,
) -> int:
    """Score every document that contains a term of query `q`; return their number.

    ``numbers[y]`` is the document of row ``y``, ``places[d]`` the row of document ``d`` (−1: none).
    """
    docs, counts, statistics = postings.documents, postings.counts, documents.statistics
    values, table = rule.values, rule.table
    begin, end, found = queries.offsets[q], queries.offsets[q + 1], 0
    for row in range(begin, end):
        cursor[row - begin] = postings.begin[queries.terms[row]]
    for low in range(0, len(statistics), block):
        for row in range(begin, end):
            term = queries.terms[row]
            i, stop = cursor[row - begin], postings.end[term]
            while i < stop and docs[i] < low + block:
                d = docs[i]
                s = statistics[d]
                if s >= 0:
                    y = np.int64(places[d])
                    if y < 0:
                        y = np.int64(found)
                        places[d], numbers[y] = y, d
                        found += 1
                        for c in range(rows.shape[1]):
                            rows[y, c] = 0.0
                    weight, r = queries.weights[row] * rule.weights[term, s], documents.ratio[d]
                    if rule.kind == FRACTION:
                        x = float(counts[i])
                        for c in range(rows.shape[1]):
                            norm = values[s, 1, c] + values[s, 2, c] * r
                            rows[y, c] += weight * (values[s, 0, c] * x / (x + norm))
                    else:
                        x = table[counts[i]]
                        for c in range(rows.shape[1]):
                            above = values[s, 0, c] * x + values[s, 3, c] + values[s, 4, c] * r
                            below = values[s, 5, c] * x + values[s, 1, c] + values[s, 2, c] * r
                            rows[y, c] += weight * (above / below + values[s, 6, c])
                i += 1
            cursor[row - begin] = i
    return found
