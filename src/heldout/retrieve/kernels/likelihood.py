"""Scoring by likelihoods: products of smoothed probabilities, for all parameter settings at once.

The counterpart of `heldout.retrieve.kernels.scoring.score_sums`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from heldout.compiled import part
from heldout.retrieve.kernels.scoring import ZERO

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heldout.retrieve.kernels.scoring import (
        Documents,
        Floats,
        Ints,
        Postings,
        Queries,
        Rule,
    )

__all__ = ["FOLD_LOGS", "Likelihood", "score_products"]

FOLD_LOGS = 16
"""Factors multiplied before a logarithm is taken: few enough not to overflow."""


class Likelihood(NamedTuple):
    """What likelihoods need beside the rule.

    `lengths` and `distinct` are those of the documents, `totals` the lengths of the training
    documents; `added` is 1 where the document itself joins the statistics; `relative` is 1 where
    likelihoods are given relative to a document without any query term.
    """

    lengths: NDArray[np.int32]
    distinct: NDArray[np.int32]
    totals: Floats
    added: int
    relative: int


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
    likelihood: Likelihood,
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
        length, distinct = float(likelihood.lengths[d]), float(likelihood.distinct[d])
        constant = 0.0 if likelihood.relative else known[s, 1]
        terms = known[s, 0] + matched[y, 1]
        missing = matched[y, 0] < known[s, 0]
        total = (
            0.0
            if likelihood.relative
            else math.log(likelihood.totals[s] + likelihood.added * length)
        )
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


@part
def score_products(
    q: int,
    block: int,
    postings: Postings,
    queries: Queries,
    documents: Documents,
    rule: Rule,
    likelihood: Likelihood,
    known: Floats,
    cursor: Ints,
    places: NDArray[np.int32],
    numbers: NDArray[np.int32],
    rows: Floats,
    logs: Floats,
    matched: Floats,
) -> int:
    """Score every document that contains a term of query `q`, as `score_sums` does."""
    docs, statistics, totals = postings.documents, documents.statistics, likelihood.totals
    begin, end = queries.offsets[q], queries.offsets[q + 1]
    values, added = rule.values, likelihood.added
    _known_terms(q, queries, rule, known)
    for row in range(begin, end):
        cursor[row - begin] = postings.begin[queries.terms[row]]
    found = ZERO
    for low in range(0, len(statistics), block):
        before, pending = found, 0.0
        for row in range(begin, end):
            term, count = queries.terms[row], queries.weights[row]
            i, stop = cursor[row - begin], postings.end[term]
            pending += count
            if pending > FOLD_LOGS:
                _fold_logs(rows, logs, before, found)
                pending = count
            while i < stop and docs[i] < low + block:
                d = docs[i]
                s = statistics[d]
                if s >= 0:
                    y = np.int64(places[d])
                    if y < 0:
                        y = np.int64(found)
                        places[d], numbers[y] = y, d
                        found += 1
                        matched[y, 0] = 0.0
                        matched[y, 1] = 0.0
                        for c in range(rows.shape[1]):
                            rows[y, c] = 1.0
                            logs[y, c] = 0.0
                    weight = rule.weights[term, s]
                    matched[y, 0 if weight > 0 else 1] += count
                    x, length = float(postings.counts[i]), float(likelihood.lengths[d])
                    distinct = float(likelihood.distinct[d])
                    base = weight if weight > 0 else 1.0
                    own = (weight + added * x) / base
                    scale = (totals[s] + added * length) / base
                    if count == 1:
                        for c in range(rows.shape[1]):
                            rows[y, c] *= _factor(x, length, distinct, own, scale, values, s, c)
                    else:
                        for c in range(rows.shape[1]):
                            factor = _factor(x, length, distinct, own, scale, values, s, c)
                            rows[y, c] *= factor**count
                i += 1
            cursor[row - begin] = i
    _finish_likelihood(found, documents, rule, likelihood, known, numbers, rows, logs, matched)
    return found
