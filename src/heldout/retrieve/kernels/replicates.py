"""Bootstrap of the documents: every replicate is a lane.

Each replicate has its own training data and says how often each document appears in its list: for
example, documents in the sample as often as they were drawn, or documents outside the sample, each
scored as if it were added to the training data.

Documents are scored in decreasing order of an upper bound of their score in any replicate, until no
list can change any more; the result is the same as that of scoring all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from heldout.compiled import kernel, part
from heldout.retrieve.kernels.heaps import better, sort_ranked
from heldout.retrieve.kernels.scoring import FRACTION, fraction, shifted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heldout.retrieve.kernels.scoring import Floats, Postings, Queries

_SLACK = 1e-9
"""Slack: bounds are summed in another order than scores, and must not be too small by rounding."""


class Replicates(NamedTuple):
    """Replicates of the documents, and a model with one parameter setting.

    `times` (documents × replicates) is how often a document is listed, `terms` (terms × replicates)
    the weights of the terms, `documents` and `totals` the number and total length of the training
    documents; `values` (1 × coefficients × 1) and `table` are those of `Rule`.
    """

    kind: int
    added: int
    times: NDArray[np.uint8]
    terms: Floats
    documents: Floats
    totals: Floats
    values: Floats
    table: Floats
    lengths: NDArray[np.int32]
    order: NDArray[np.int32]


@part
def _gather(
    q: int,
    postings: Postings,
    queries: Queries,
    places: NDArray[np.int32],
    numbers: NDArray[np.int32],
    counts: NDArray[np.int32],
) -> int:
    """Find the documents that contain a query term, and their counts of each term."""
    found = 0
    begin, end = queries.offsets[q], queries.offsets[q + 1]
    for row in range(begin, end):
        term = queries.terms[row]
        for i in range(postings.begin[term], postings.end[term]):
            d = postings.documents[i]
            y = places[d]
            if y < 0:
                y = found
                places[d] = y
                numbers[y] = d
                found += 1
                for j in range(end - begin):
                    counts[y, j] = 0
            counts[y, row - begin] = postings.counts[i]
    for y in range(found):
        places[numbers[y]] = -1
    return found


@part
def _bound(
    y: int, d: int, begin: int, end: int, counts: NDArray[np.int32], queries: Queries,
    most: Floats, longest: float, fewest: float, data: Replicates,
) -> float:  # fmt: skip
    """Return an upper bound of the score of a document in any replicate.

    `most` is the largest weight of each term, `longest` the largest total length of the training
    documents, `fewest` their smallest number.
    """
    values, added = data.values, data.added
    length = float(data.lengths[d])
    ratio = length * (fewest + added) / max(longest + added * length, 1.0)
    bound = 0.0
    for row in range(begin, end):
        j = row - begin
        x = float(counts[y, j])
        count = queries.weights[row]
        if x > 0:
            if data.kind == FRACTION:
                height = fraction(x, values[0, 0, 0], values[0, 1, 0] + values[0, 2, 0] * ratio)
            else:
                height = shifted(data.table[int(x)], ratio, values, 0, 0)
            bound += max(count * most[j] * height, 0.0)
    return bound + abs(bound) * _SLACK if bound > -np.inf else bound


@part
def _score(
    y: int, d: int, begin: int, end: int, counts: NDArray[np.int32], queries: Queries,
    data: Replicates, ratios: Floats, scores: Floats,
) -> None:  # fmt: skip
    """Score one document in all replicates."""
    values = data.values
    length = float(data.lengths[d])
    replicates = len(scores)
    for r in range(replicates):
        total = data.totals[r] + data.added * length
        scores[r] = 0.0
        ratios[r] = length * (data.documents[r] + data.added) / total if total > 0 else 0.0
    for row in range(begin, end):
        if counts[y, row - begin] == 0:
            continue
        term, count = queries.terms[row], queries.weights[row]
        x = float(counts[y, row - begin])
        if data.kind == FRACTION:
            top, fixed, slope = values[0, 0, 0], values[0, 1, 0], values[0, 2, 0]
            for r in range(replicates):
                added = fraction(x, top, fixed + slope * ratios[r])
                scores[r] += count * data.terms[term, r] * added
        else:
            x = data.table[int(x)]
            for r in range(replicates):
                scores[r] += count * data.terms[term, r] * shifted(x, ratios[r], values, 0, 0)


@part
def _insert(
    q: int, d: int, scores: Floats, data: Replicates, least: Floats,
    top_docs: NDArray[np.int32], top_scores: Floats,
) -> None:  # fmt: skip
    """Insert a document into the lists of the replicates that rank it high enough."""
    k = top_docs.shape[2]
    for r in range(len(scores)):
        score = scores[r]
        if score < least[r]:
            continue
        for _ in range(int(data.times[d, r])):
            last = top_docs[q, r, k - 1]
            if last >= 0 and not better(
                score, data.order[d], top_scores[q, r, k - 1], data.order[last]
            ):
                break
            i = k - 1
            while i > 0:
                other = top_docs[q, r, i - 1]
                if other >= 0 and not better(
                    score, data.order[d], top_scores[q, r, i - 1], data.order[other]
                ):
                    break
                top_docs[q, r, i] = other
                top_scores[q, r, i] = top_scores[q, r, i - 1]
                i -= 1
            top_docs[q, r, i] = d
            top_scores[q, r, i] = score
        if top_docs[q, r, k - 1] >= 0:
            least[r] = top_scores[q, r, k - 1]


@kernel
def rank_replicates(
    first: int,
    last: int,
    postings: Postings,
    queries: Queries,
    data: Replicates,
    top_docs: NDArray[np.int32],
    top_scores: Floats,
) -> None:
    """Find the best documents of each replicate for the queries `first` to `last`.

    A document drawn twice appears twice in the list.
    """
    n, replicates = data.times.shape
    longest, widest = 0, 0
    for q in range(first, last):
        longest = max(longest, queries.offsets[q + 1] - queries.offsets[q])
        width = 0
        for row in range(queries.offsets[q], queries.offsets[q + 1]):
            width += postings.end[queries.terms[row]] - postings.begin[queries.terms[row]]
        widest = max(widest, min(width, n))
    places = np.empty(n, np.int32)
    for d in range(n):
        places[d] = -1
    numbers = np.empty(widest, np.int32)
    counts = np.empty((widest, longest), np.int32)
    bounds = np.empty(widest)
    turn = np.empty(widest, np.int32)
    most = np.empty(longest)
    scores = np.empty(replicates)
    ratios = np.empty(replicates)
    least = np.empty(replicates)
    long, fewest = 0.0, np.inf
    for r in range(replicates):
        long = max(long, data.totals[r])
        fewest = min(fewest, data.documents[r])
    for q in range(first, last):
        begin, end = queries.offsets[q], queries.offsets[q + 1]
        found = _gather(q, postings, queries, places, numbers, counts)
        for row in range(begin, end):
            most[row - begin] = -np.inf
            for r in range(replicates):
                most[row - begin] = max(most[row - begin], data.terms[queries.terms[row], r])
        for y in range(found):
            bounds[y] = _bound(y, numbers[y], begin, end, counts, queries, most, long, fewest, data)
            turn[y] = y
        sort_ranked(turn, bounds, numbers, found, found)  # equal bounds in any order
        for r in range(replicates):
            least[r] = -np.inf
        for step in range(found):
            if step & 7 == 0:
                weakest = np.inf
                for r in range(replicates):
                    weakest = min(weakest, least[r])
                if bounds[step] < weakest:
                    break
            y = turn[step]
            d = numbers[y]
            _score(y, d, begin, end, counts, queries, data, ratios, scores)
            _insert(q, d, scores, data, least, top_docs, top_scores)
