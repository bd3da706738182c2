"""Ranked lists, and the ranks of judged documents, of every (query, list, lane)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from heldout.compiled import bare_kernel, part
from heldout.retrieve.kernels.heaps import better, rise, sink, sort_heap
from heldout.retrieve.kernels.likelihood import score_products
from heldout.retrieve.kernels.scoring import LIKELIHOOD, score_sums

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heldout.retrieve.kernels.likelihood import Likelihood
    from heldout.retrieve.kernels.scoring import (
        Documents,
        Floats,
        Ints,
        Postings,
        Queries,
        Rule,
    )

__all__ = ["Judged", "Work", "rank"]


class Judged(NamedTuple):
    """Documents whose ranks are needed: rows `offsets[q]` to `offsets[q + 1]` for query ``q``.

    `documents` are their numbers. Their position is written to `lists` (−1: in no list), `order`
    (the rank of the id) and `scores` (rows × lanes).
    """

    offsets: Ints
    documents: NDArray[np.int32]
    lists: NDArray[np.int32]
    order: NDArray[np.int32]
    scores: Floats


class Work(NamedTuple):
    """Arrays that the loops work with: of a query, of the documents found, of the judged ones.

    A document that was found has a row in `numbers`, `rows` and, for likelihoods, `logs` and
    `matched`; `places` (−1 at first) are the rows of the documents.
    """

    cursor: Ints
    places: NDArray[np.int32]
    numbers: NDArray[np.int32]
    rows: Floats
    logs: Floats
    matched: Floats
    known: Floats
    least: Floats
    begins: Ints
    marks: Ints
    beaten: Ints


@part
def _keep_best(
    q: int,
    found: int,
    numbers: NDArray[np.int32],
    rows: Floats,
    lists: NDArray[np.int32],
    order: NDArray[np.int32],
    least: Floats,
    top_scores: Floats,
    top_docs: NDArray[np.int32],
    sizes: Ints,
) -> None:
    """Keep the best documents of each list and lane."""
    lanes, real, k = rows.shape[1], top_scores.shape[2], top_scores.shape[3]
    for l in range(len(least)):  # noqa: E741
        for c in range(lanes):
            least[l, c] = -np.inf if c < real else np.inf
    for y in range(found):
        d = numbers[y]
        l = lists[d]  # noqa: E741
        worthy = 0
        for c in range(lanes):
            worthy += rows[y, c] >= least[l, c]
        if worthy == 0:
            continue
        for c in range(real):
            if rows[y, c] < least[l, c]:
                continue
            size = sizes[q, l, c]
            if size < k:
                rise(top_scores[q, l, c], top_docs[q, l, c], size, rows[y, c], d, order)
                sizes[q, l, c] = size + 1
            elif better(rows[y, c], order[d], top_scores[q, l, c, 0], order[top_docs[q, l, c, 0]]):
                sink(top_scores[q, l, c], top_docs[q, l, c], size, rows[y, c], d, order)
            if sizes[q, l, c] == k:
                least[l, c] = top_scores[q, l, c, 0]
    for l in range(len(least)):  # noqa: E741
        for c in range(real):
            sort_heap(top_scores[q, l, c], top_docs[q, l, c], sizes[q, l, c], order)


@part
def _look_up(
    first: int,
    last: int,
    places: NDArray[np.int32],
    rows: Floats,
    documents: Documents,
    judged: Judged,
) -> None:
    """Find list, order and scores of judged documents; list −1: not found."""
    for j in range(first, last):
        d = judged.documents[j]
        judged.lists[j] = -1
        if d < 0 or places[d] < 0:
            continue
        judged.lists[j] = documents.lists[d]
        judged.order[j] = documents.order[d]
        for c in range(judged.scores.shape[1]):
            judged.scores[j, c] = rows[places[d], c]


@part
def _mark_judged(
    first: int, last: int, judged: Judged, begins: Ints, marks: NDArray[np.int64], least: Floats
) -> None:
    """Sort the judged documents that were found by ascending rank, per list and lane.

    ``marks[begins[l] : begins[l + 1], c]`` are rows of `judged`, the worst document first.
    """
    for l in range(len(begins)):  # noqa: E741
        begins[l] = 0
    for j in range(first, last):
        if judged.lists[j] >= 0:
            begins[judged.lists[j] + 1] += 1
    for l in range(1, len(begins)):  # noqa: E741
        begins[l] += begins[l - 1]
    for c in range(least.shape[1]):
        for l in range(len(least)):  # noqa: E741
            least[l, c] = np.inf
    for c in range(marks.shape[1]):
        for l in range(len(least)):  # noqa: E741
            end = begins[l]
            for j in range(first, last):
                if judged.lists[j] != l:
                    continue
                score, place = judged.scores[j, c], judged.order[j]
                i = end
                while i > begins[l]:
                    other = marks[i - 1, c]
                    if better(score, place, judged.scores[other, c], judged.order[other]):
                        break
                    marks[i, c] = other
                    i -= 1
                marks[i, c] = j
                end += 1
            if end > begins[l]:
                least[l, c] = judged.scores[marks[begins[l], c], c]


@part
def _count_before(
    found: int,
    numbers: NDArray[np.int32],
    rows: Floats,
    documents: Documents,
    judged: Judged,
    begins: Ints,
    marks: NDArray[np.int64],
    beaten: Ints,
    least: Floats,
    before: NDArray[np.int32],
) -> None:
    """Count, for each judged document and lane, the documents ranked above it."""
    real, order = marks.shape[1], documents.order
    for i in range(begins[-1]):
        for c in range(real):
            beaten[i, c] = 0
    for y in range(found):
        d = numbers[y]
        l = documents.lists[d]  # noqa: E741
        worthy = 0
        for c in range(rows.shape[1]):
            worthy += rows[y, c] >= least[l, c]
        if worthy == 0:
            continue
        for c in range(real):
            if rows[y, c] < least[l, c]:
                continue
            under, over = begins[l], begins[l + 1]
            while under < over:
                middle = (under + over) >> 1
                other = marks[middle, c]
                if better(rows[y, c], order[d], judged.scores[other, c], judged.order[other]):
                    under = middle + 1
                else:
                    over = middle
            if under > begins[l]:
                beaten[under - 1, c] += 1
    for l in range(len(begins) - 1):  # noqa: E741
        for c in range(real):
            above = 0
            for i in range(begins[l + 1] - 1, begins[l] - 1, -1):
                above += beaten[i, c]
                before[marks[i, c], c] = above


@bare_kernel
def rank(
    first: int,
    last: int,
    block: int,
    postings: Postings,
    queries: Queries,
    documents: Documents,
    rule: Rule,
    likelihood: Likelihood,
    top_scores: Floats,
    top_docs: NDArray[np.int32],
    sizes: Ints,
    judged: Judged,
    before: NDArray[np.int32],
    retrieved: Ints,
    work: Work,
) -> None:
    """Rank documents for the queries `first` to `last`: top lists and ranks of judged documents.

    `top_scores`, `top_docs` (queries × lists × lanes × k, k may be 0) receive the best documents,
    `sizes` their number, `before` (judged × lanes) how many of these documents are ranked above
    each judged one, `retrieved` (queries × lists) the number of documents that contain a query
    term. `work` is used by no other thread.
    """
    lists, order = documents.lists, documents.order
    cursor, places, numbers, rows, least = (
        work.cursor, work.places, work.numbers, work.rows, work.least,
    )  # fmt: skip
    for q in range(first, last):
        if rule.kind == LIKELIHOOD:
            found = score_products(
                q, block, postings, queries, documents, rule, likelihood, work.known, cursor,
                places, numbers, rows, work.logs, work.matched,
            )  # fmt: skip
        else:
            found = score_sums(
                q, block, postings, queries, documents, rule, cursor, places, numbers, rows
            )
        if len(documents.priors) > 0:
            for y in range(found):
                for c in range(rows.shape[1]):
                    rows[y, c] += documents.priors[numbers[y], c]
        if top_scores.shape[3] > 0:
            _keep_best(q, found, numbers, rows, lists, order, least, top_scores, top_docs, sizes)
        begin, end = judged.offsets[q], judged.offsets[q + 1]
        _look_up(begin, end, places, rows, documents, judged)
        if end > begin:
            _mark_judged(begin, end, judged, work.begins, work.marks, least)
            _count_before(
                found, numbers, rows, documents, judged, work.begins, work.marks, work.beaten,
                least, before,
            )  # fmt: skip
        for y in range(found):
            retrieved[q, lists[numbers[y]]] += 1
            places[numbers[y]] = -1
