"""Scoring: the postings of a query are traversed once for all parameter settings and splits.

A *lane* is one parameter setting. Every document that contains a query term gets a row with the
scores of all lanes. Documents are processed in blocks, so that the rows in use stay in cache.
Every document belongs to one set of statistics (``documents.statistics``, −1: it is not ranked)
and to one ranked list (``documents.lists``), so one traversal serves all folds of a plan.

Each formula is written once, here. Arithmetic is plain IEEE double precision, term by term in the
order of the query: a score does not depend on the number of lanes, the block or the thread.

The loops are compiled for all models at once: users wait for the compiler.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from heldout.compiled import part
from heldout.retrieve.kernels.types import FRACTION

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heldout.retrieve.kernels.types import Floats, Ints, Numbers


FOLD_LOGS = 16
"""Factors multiplied before a logarithm is taken: few enough not to overflow."""
ZERO: Final[int] = np.int64(0)
"""A number: parts that are called with the constant 0 are compiled once more, for it alone."""


class Postings(NamedTuple):
    """Postings of the terms in use: rows `begin` to `end` of `documents` and `counts`."""

    begin: Ints
    end: Ints
    documents: Numbers
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

    statistics: Numbers
    lists: Numbers
    order: Numbers
    ratio: Floats
    lengths: Numbers
    distinct: Numbers
    priors: Floats


class Rule(NamedTuple):
    """A scoring rule with its parameters.

    `weights` (terms × statistics) are the idf of a sum, or the collection's counts of a
    likelihood; `values` (statistics × coefficients × lanes) are computed by the model; `table` maps
    a count to x (only for `FRACTION_SHIFTED`). For likelihoods, `totals` are the lengths of the
    training documents; `added` is 1 where the document itself joins the statistics; `relative` is 1
    where likelihoods are given relative to a document without any query term.
    """

    kind: int
    weights: Floats
    values: Floats
    table: Floats
    totals: Floats
    added: int
    relative: int


class Rows(NamedTuple):
    """Room for the documents found: ``places[d]`` is the row of document ``d`` (−1: none).

    `numbers` are the documents of the rows. For likelihoods, `logs` are logarithms of factors that
    are no longer in `scores`, `matched` counts the query words of the document that the collection
    has, and has not, and `known` (statistics × 2) is about the query. `cursor` is for its terms.
    """

    places: Numbers
    numbers: Numbers
    scores: Floats
    logs: Floats
    matched: Floats
    known: Floats
    cursor: Ints


@part
def fraction(x: float, top: float, norm: float) -> float:
    """C·x / (x + I + J·r), the norm is I + J·r: BM25 and related models."""
    return top * x / (x + norm)


@part
def shifted(x: float, r: float, values: Floats, s: int, c: int) -> float:
    """(C·x + G + H·r) / (F·x + I + J·r) + P: other sums over terms."""
    above = values[s, 0, c] * x + values[s, 3, c] + values[s, 4, c] * r
    below = values[s, 5, c] * x + values[s, 1, c] + values[s, 2, c] * r
    found: float = above / below + values[s, 6, c]
    return found


@part
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
    kept = x - values[s, 3, c]
    seen = values[s, 0, c] * (kept if kept > 0.0 else 0.0) * scale
    return float(seen / (left if left > 0 else size) + (own if left > 0 else 0.0))


@part
def _fold_logs(scores: Floats, logs: Floats, begin: int, end: int) -> None:
    """Take logarithms of the products so far, before they overflow."""
    for y in range(begin, end):
        for c in range(scores.shape[1]):
            logs[y, c] += math.log(scores[y, c])
            scores[y, c] = 1.0


@part
def _take_logs(found: int, documents: Documents, rule: Rule, rows: Rows) -> None:
    """Turn products into log-probabilities, in place."""
    values, scores, known, matched = rule.values, rows.scores, rows.known, rows.matched
    for y in range(found):
        d = rows.numbers[y]
        s = documents.statistics[d]
        length, distinct = float(documents.lengths[d]), float(documents.distinct[d])
        terms, missing = known[s, 0] + matched[y, 1], matched[y, 0] < known[s, 0]
        constant, total = 0.0, 0.0
        if not rule.relative:
            constant, total = known[s, 1], math.log(rule.totals[s] + rule.added * length)
        discounted = math.log(distinct / length)
        for c in range(scores.shape[1]):
            # The logarithm of the collection's share: 1 − λ, μ/(|d|+μ) or δ·u/|d|.
            share = values[s, 4, c]
            if values[s, 2, c] > 0:
                share -= math.log(length + values[s, 2, c])
            elif values[s, 3, c] > 0:
                share += discounted
            if share > -np.inf:
                of_terms = terms * (share - total)
            else:
                of_terms = -np.inf if missing else -terms * total
            scores[y, c] = math.log(scores[y, c]) + rows.logs[y, c] + constant + of_terms


@part
def score_sums(
    q: int, block: int, postings: Postings, queries: Queries, documents: Documents, rule: Rule,
    rows: Rows,
) -> int:  # fmt: skip
    """Score every document that contains a term of query `q`; return their number.

    Sums and products have loops of their own: together, or with a function for what a posting
    adds, they took 1.4 to 1.8 times as long.
    """
    docs, counts, statistics = postings.documents, postings.counts, documents.statistics
    scores, places, numbers, cursor = rows.scores, rows.places, rows.numbers, rows.cursor
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
                        for c in range(scores.shape[1]):
                            scores[y, c] = 0.0
                    weight, r = queries.weights[row] * rule.weights[term, s], documents.ratio[d]
                    if rule.kind == FRACTION:
                        x = float(counts[i])
                        for c in range(scores.shape[1]):
                            norm = values[s, 1, c] + values[s, 2, c] * r
                            scores[y, c] += weight * fraction(x, values[s, 0, c], norm)
                    else:
                        x = table[counts[i]]
                        for c in range(scores.shape[1]):
                            scores[y, c] += weight * shifted(x, r, values, s, c)
                i += 1
            cursor[row - begin] = i
    return found


@part
def score_products(
    q: int, block: int, postings: Postings, queries: Queries, documents: Documents, rule: Rule,
    rows: Rows,
) -> int:  # fmt: skip
    """Score every document that contains a term of query `q`, as `score_sums` does."""
    docs, statistics = postings.documents, documents.statistics
    totals, values = rule.totals, rule.values
    scores, logs, places, matched = rows.scores, rows.logs, rows.places, rows.matched
    cursor, known, added = rows.cursor, rows.known, rule.added
    begin, end, found = queries.offsets[q], queries.offsets[q + 1], ZERO
    known[:] = 0.0
    for row in range(begin, end):
        cursor[row - begin] = postings.begin[queries.terms[row]]
        for s in range(len(known)):
            weight = rule.weights[queries.terms[row], s]
            if weight > 0:
                known[s, 0] += queries.weights[row]
                known[s, 1] += queries.weights[row] * math.log(weight)
    for low in range(0, len(statistics), block):
        before, pending = found, 0.0
        for row in range(begin, end):
            term, count = queries.terms[row], queries.weights[row]
            i, stop = cursor[row - begin], postings.end[term]
            pending += count
            if pending > FOLD_LOGS:
                _fold_logs(scores, logs, before, found)
                pending = count
            while i < stop and docs[i] < low + block:
                d = docs[i]
                s = statistics[d]
                if s >= 0:
                    y = np.int64(places[d])
                    if y < 0:
                        y = np.int64(found)
                        places[d], rows.numbers[y] = y, d
                        found += 1
                        matched[y, 0] = 0.0
                        matched[y, 1] = 0.0
                        for c in range(scores.shape[1]):
                            scores[y, c] = 1.0
                            logs[y, c] = 0.0
                    weight = rule.weights[term, s]
                    matched[y, 0 if weight > 0 else 1] += count
                    x, length = float(postings.counts[i]), float(documents.lengths[d])
                    distinct = float(documents.distinct[d])
                    base = weight if weight > 0 else 1.0
                    own = (weight + added * x) / base
                    scale = (totals[s] + added * length) / base
                    if count == 1:  # a loop of its own: powers cannot be vectors
                        for c in range(scores.shape[1]):
                            scores[y, c] *= _factor(x, length, distinct, own, scale, values, s, c)
                    else:
                        for c in range(scores.shape[1]):
                            factor = _factor(x, length, distinct, own, scale, values, s, c)
                            scores[y, c] *= factor**count
                i += 1
            cursor[row - begin] = i
    _take_logs(found, documents, rule, rows)
    return found
