"""Scoring: the postings of a query are traversed once for all parameter settings and splits.

A *lane* is one parameter setting. Every document that contains a query term gets a row with the
scores of all lanes. Documents are processed in blocks, so that the rows in use stay in cache.
Every document belongs to one set of statistics (``documents.statistics``, −1: it is not ranked)
and to one ranked list (``documents.lists``), so one traversal serves all folds of a plan.

Arithmetic is plain IEEE double precision, term by term in the order of the query: a score does not
depend on the number of lanes, the block or the thread.

Functions are inlined before they are compiled: compiled calls would be optimised again in every
caller, and the user waits for the compiler.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from heldout.compiled import inlined, part

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

__all__ = [
    "FRACTION",
    "FRACTION_SHIFTED",
    "LIKELIHOOD",
    "Documents",
    "Postings",
    "Queries",
    "Rule",
    "score_query",
]

FRACTION = 0
"""Weight · C·x / (x + I + J·r): BM25 and related models."""
FRACTION_SHIFTED = 1
"""Weight · ((C·x + G + H·r) / (F·x + I + J·r) + P): other sums over terms."""
LIKELIHOOD = 2
"""Logarithm of a product of smoothed probabilities."""

FOLD_LOGS = 16
"""Factors multiplied before a logarithm is taken: few enough not to overflow."""


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
    lengths: NDArray[np.int32]
    distinct: NDArray[np.int32]
    order: NDArray[np.int32]
    priors: Floats


class Rule(NamedTuple):
    """A scoring rule with its parameters.

    `weights` (terms × statistics) are the idf of a sum, or the collection's counts of a
    likelihood; `values` (statistics × coefficients × lanes) are computed by the model; `totals` are
    the lengths of the training documents; `added` is 1 where the document itself joins the
    statistics; `table` maps a count to x (only for `FRACTION_SHIFTED`); `relative` is 1 where a
    likelihood is given relative to a document without any query term.
    """

    kind: int
    weights: Floats
    values: Floats
    totals: Floats
    added: int
    table: Floats
    relative: int


@inlined
def _add_fraction(
    rows: Floats, y: int, weight: float, x: float, r: float, values: Floats, s: int
) -> None:
    for c in range(rows.shape[1]):
        rows[y, c] += weight * (values[s, 0, c] * x / (x + (values[s, 1, c] + values[s, 2, c] * r)))


@inlined
def _add_shifted(
    rows: Floats, y: int, weight: float, x: float, r: float, values: Floats, s: int
) -> None:
    for c in range(rows.shape[1]):
        above = values[s, 0, c] * x + values[s, 3, c] + values[s, 4, c] * r
        below = values[s, 5, c] * x + values[s, 1, c] + values[s, 2, c] * r
        rows[y, c] += weight * (above / below + values[s, 6, c])


@inlined
def _factor(
    x: float, length: float, distinct: float, own: float, scale: float,
    values: Floats, s: int, c: int,
) -> float:  # fmt: skip
    """Return P(w|d) divided by its value for a document without the word.

    With λ, κ = 1 − λ, μ and δ: λ·max(x−δ, 0)/(|d|+μ) over (κ + (μ+δ·u)/(|d|+μ)) · P(w|C), plus 1;
    where the collection gets no weight, P(w|d) over P(w|C).
    """
    size = length + values[s, 2, c]
    left = values[s, 1, c] * size + values[s, 2, c] + values[s, 3, c] * distinct
    seen = values[s, 0, c] * max(x - values[s, 3, c], 0.0) * scale
    return float(seen / (left if left > 0 else size) + (own if left > 0 else 0.0))


@inlined
def _multiply(
    rows: Floats, y: int, count: float, x: float, length: float, distinct: float,
    known: float, total: float, added: int, values: Floats, s: int,
) -> None:  # fmt: skip
    base = known if known > 0 else 1.0
    own = (known + added * x) / base
    scale = (total + added * length) / base
    if count == 1:
        for c in range(rows.shape[1]):
            rows[y, c] *= _factor(x, length, distinct, own, scale, values, s, c)
    else:
        for c in range(rows.shape[1]):
            rows[y, c] *= _factor(x, length, distinct, own, scale, values, s, c) ** count


@part
def _fold_logs(rows: Floats, logs: Floats, begin: int, end: int) -> None:
    """Take logarithms of the products so far, before they overflow."""
    for y in range(begin, end):
        for c in range(rows.shape[1]):
            logs[y, c] += math.log(rows[y, c])
            rows[y, c] = 1.0


@part
def _finish_likelihood(
    found: int,
    documents: Documents,
    rule: Rule,
    known: Floats,
    numbers: NDArray[np.int32],
    rows: Floats,
    logs: Floats,
    matched: Floats,
) -> None:
    """Turn products into log-probabilities, in place."""
    values = rule.values
    for y in range(found):
        d = numbers[y]
        s = documents.statistics[d]
        length, distinct = float(documents.lengths[d]), float(documents.distinct[d])
        constant = 0.0 if rule.relative else known[s, 1]
        terms = known[s, 0] + matched[y, 1]
        missing = matched[y, 0] < known[s, 0]
        total = 0.0 if rule.relative else math.log(rule.totals[s] + rule.added * length)
        discounted = math.log(distinct / length)
        for c in range(rows.shape[1]):
            # The logarithm of the collection's share: 1 − λ, μ/(|d|+μ) or δ·u/|d|.
            share = values[s, 4, c]
            if values[s, 2, c] > 0:
                share -= math.log(length + values[s, 2, c])
            elif values[s, 3, c] > 0:
                share += discounted
            if share > -np.inf:
                constant_here = terms * (share - total)
            else:
                constant_here = -np.inf if missing else -terms * total
            rows[y, c] = math.log(rows[y, c]) + logs[y, c] + constant + constant_here


@part
def _known_terms(q: int, queries: Queries, rule: Rule, known: Floats) -> None:
    """Compute the known query length and the constant log factor for each set of statistics."""
    for s in range(len(known)):
        known[s, 0] = 0.0
        known[s, 1] = 0.0
        for row in range(queries.offsets[q], queries.offsets[q + 1]):
            count = rule.weights[queries.terms[row], s]
            if count > 0:
                known[s, 0] += queries.weights[row]
                known[s, 1] += queries.weights[row] * math.log(count)


@inlined
def _row_of(d: int, found: int, places: NDArray[np.int32], numbers: NDArray[np.int32]) -> int:
    """Return the row of a document; a new one (number `found`) if it has none yet."""
    y = places[d]
    if y < 0:
        y = found
        places[d] = found
        numbers[found] = d
    return int(y)


@part
def score_query(
    q: int,
    block: int,
    postings: Postings,
    queries: Queries,
    documents: Documents,
    rule: Rule,
    known: Floats,
    cursor: Ints,
    places: NDArray[np.int32],
    numbers: NDArray[np.int32],
    rows: Floats,
    logs: Floats,
    matched: Floats,
) -> int:
    """Score every document that contains a term of query `q`; return their number.

    ``numbers[y]`` is the document of row ``y``, ``places[d]`` the row of document ``d`` (−1: none).
    """
    docs, counts = postings.documents, postings.counts
    statistics, ratio = documents.statistics, documents.ratio
    lengths, distinct = documents.lengths, documents.distinct
    weights, values, totals, table = rule.weights, rule.values, rule.totals, rule.table
    kind, added = rule.kind, rule.added
    start = 1.0 if kind == 2 else 0.0
    begin, end = queries.offsets[q], queries.offsets[q + 1]
    if kind == 2:
        _known_terms(q, queries, rule, known)
    for row in range(begin, end):
        cursor[row - begin] = postings.begin[queries.terms[row]]
    found = 0
    for low in range(0, len(lengths), block):
        high = low + block
        before = found
        pending = 0.0
        for row in range(begin, end):
            term = queries.terms[row]
            count = queries.weights[row]
            i = cursor[row - begin]
            stop = postings.end[term]
            pending += count
            if kind == 2 and pending > FOLD_LOGS:
                _fold_logs(rows, logs, before, found)
                pending = count
            while i < stop and docs[i] < high:
                d = docs[i]
                s = statistics[d]
                if s >= 0:
                    y = _row_of(d, found, places, numbers)
                    if y == found:
                        found += 1
                        for c in range(rows.shape[1]):
                            rows[y, c] = start
                        if kind == 2:
                            matched[y, 0] = 0.0
                            matched[y, 1] = 0.0
                            for c in range(rows.shape[1]):
                                logs[y, c] = 0.0
                    x = float(counts[i])
                    weight = weights[term, s]
                    if kind == 0:
                        _add_fraction(rows, y, count * weight, x, ratio[d], values, s)
                    elif kind == 1:
                        x = table[counts[i]]
                        _add_shifted(rows, y, count * weight, x, ratio[d], values, s)
                    else:
                        matched[y, 0 if weight > 0 else 1] += count
                        _multiply(
                            rows, y, count, x, float(lengths[d]), float(distinct[d]),
                            weight, totals[s], added, values, s,
                        )  # fmt: skip
                i += 1
            cursor[row - begin] = i
    if kind == 2:
        _finish_likelihood(found, documents, rule, known, numbers, rows, logs, matched)
    if len(documents.priors) > 0:
        for y in range(found):
            for c in range(rows.shape[1]):
                rows[y, c] += documents.priors[numbers[y], c]
    return found
