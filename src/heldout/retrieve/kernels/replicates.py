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
from heldout.retrieve.kernels.scoring import fraction, shifted
from heldout.retrieve.kernels.types import FRACTION

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heldout.retrieve.kernels.scoring import Postings, Queries, Rule
    from heldout.retrieve.kernels.types import Floats, Numbers

_SLACK = 1e-9
"""Slack: bounds are summed in another order than scores, and must not be too small by rounding."""


class Replicates(NamedTuple):
    """Replicates of the documents, which are the training sets of a `Rule` for one setting.

    `times` (documents × replicates) is how often a document is listed, `documents` the number of
    training documents of each replicate.
    """

    times: NDArray[np.uint8]
    documents: Floats
    lengths: Numbers
    order: Numbers


@part
def _gather(
    q: int,
    postings: Postings,
    queries: Queries,
    places: Numbers,
    numbers: Numbers,
    counts: Numbers,
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
    y: int, d: int, begin: int, end: int, counts: Numbers, queries: Queries,
    most: Floats, longest: float, fewest: float, rule: Rule, data: Replicates,
) -> float:  # fmt: skip
    """Return an upper bound of the score of a document in any replicate.

    `most` is the largest weight of each term, `longest` the largest total length of the training
    documents, `fewest` their smallest number.
    """
    values, added = rule.values, rule.added
    length = float(data.lengths[d])
    ratio = length * (fewest + added) / max(longest + added * length, 1.0)
    bound = 0.0
    for row in range(begin, end):
        j = row - begin
        x = float(counts[y, j])
        count = queries.weights[row]
        if x > 0:
            if rule.kind == FRACTION:
                height = fraction(x, values[0, 0, 0], values[0, 1, 0] + values[0, 2, 0] * ratio)
            else:
                height = shifted(rule.table[int(x)], ratio, values, 0, 0)
            bound += max(count * most[j] * height, 0.0)
    return bound * (1 + _SLACK)


@part
def _score(
    y: int, d: int, begin: int, end: int, counts: Numbers, queries: Queries,
    rule: Rule, data: Replicates, ratios: Floats, scores: Floats,
) -> None:  # fmt: skip
    """Score one document in all replicates."""
    values = rule.values
    length = float(data.lengths[d])
    replicates = len(scores)
    for r in range(replicates):
        total = rule.totals[r] + rule.added * length
        scores[r] = 0.0
        ratios[r] = length * (data.documents[r] + rule.added) / total if total > 0 else 0.0
    for row in range(begin, end):
        if counts[y, row - begin] == 0:
            continue
        term, count = queries.terms[row], queries.weights[row]
        x = float(counts[y, row - begin])
        if rule.kind == FRACTION:
            top, fixed, slope = values[0, 0, 0], values[0, 1, 0], values[0, 2, 0]
            for r in range(replicates):
                added = fraction(x, top, fixed + slope * ratios[r])
                scores[r] += count * rule.weights[term, r] * added
        else:
            x = rule.table[int(x)]
            for r in range(replicates):
                scores[r] += count * rule.weights[term, r] * shifted(x, ratios[r], values, 0, 0)


@part
def _insert(
    q: int, d: int, scores: Floats, data: Replicates, least: Floats,
    top_docs: Numbers, top_scores: Floats,
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
    rule: Rule,
    data: Replicates,
    top_docs: Numbers,
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
    places = np.full(n, -1, np.int32)
    numbers = np.empty(widest, np.int32)
    counts = np.empty((widest, longest), np.int32)
    bounds = np.empty(widest)
    turn = np.empty(widest, np.int32)
    most = np.empty(longest)
    scores = np.empty(replicates)
    ratios = np.empty(replicates)
    least = np.empty(replicates)
    long, fewest = rule.totals.max(), data.documents.min()
    for q in range(first, last):
        begin, end = queries.offsets[q], queries.offsets[q + 1]
        found = _gather(q, postings, queries, places, numbers, counts)
        for row in range(begin, end):
            most[row - begin] = rule.weights[queries.terms[row]].max()
        for y in range(found):
            d = numbers[y]
            bounds[y] = _bound(y, d, begin, end, counts, queries, most, long, fewest, rule, data)
            turn[y] = y
        sort_ranked(turn, bounds, numbers, found, found)  # equal bounds in any order
        least[:] = -np.inf
        for step in range(found):
            if step & 7 == 0 and bounds[step] < least.min():
                break
            y = turn[step]
            d = numbers[y]
            _score(y, d, begin, end, counts, queries, rule, data, ratios, scores)
            _insert(q, d, scores, data, least, top_docs, top_scores)
