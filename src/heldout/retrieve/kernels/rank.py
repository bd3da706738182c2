"""Ranked lists, and the ranks of judged documents, of every (query, list, lane)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from heldout.compiled import bare_kernel, part
from heldout.retrieve.kernels.heaps import better, keep, sort_lists
from heldout.retrieve.kernels.scoring import score_products, score_sums
from heldout.retrieve.kernels.types import LIKELIHOOD

if TYPE_CHECKING:
    from heldout.retrieve.kernels.scoring import Documents, Postings, Queries, Rows, Rule
    from heldout.retrieve.kernels.types import Floats, Ints, Numbers


class Lists(NamedTuple):
    """What is found.

    `scores`, `documents` (queries × lists × lanes × k, k may be 0) are the best documents, `sizes`
    their number; `retrieved` (queries × lists) is the number of documents that contain a query
    term. `ranks` (judged × lanes) are those of the documents ``judged[offsets[q]:offsets[q + 1]]``
    of query ``q``, from 1; 0: it is in no list.
    """

    scores: Floats
    documents: Numbers
    sizes: Ints
    retrieved: Ints
    offsets: Ints
    judged: Numbers
    ranks: Numbers


class Marks(NamedTuple):
    """Room for the judged documents of a query, in ascending order for each list and lane.

    ``places[begins[l]:begins[l + 1], c]`` are their numbers, the worst document first; `rows` are
    the rows of their scores (−1: none), `beaten` counts the documents between one and the next.
    `least` (lists × lanes) are scores below which nothing changes.
    """

    begins: Ints
    rows: Ints
    places: Ints
    beaten: Ints
    least: Floats


@part
def _worthy(y: int, l: int, scores: Floats, least: Floats) -> bool:  # noqa: E741
    """Return whether a row matters in any lane; most do not, which vectors find fast."""
    number = 0
    for c in range(scores.shape[1]):
        number += scores[y, c] >= least[l, c]
    return number > 0


@part
def _keep_best(
    q: int, found: int, documents: Documents, rows: Rows, lists: Lists, least: Floats
) -> None:
    """Keep the best documents of each list and lane."""
    scores, order = rows.scores, documents.order
    real, k = lists.scores.shape[2], lists.scores.shape[3]
    least[:, :real] = -np.inf
    least[:, real:] = np.inf
    for y in range(found):
        d = rows.numbers[y]
        l = documents.lists[d]  # noqa: E741
        if not _worthy(y, l, scores, least):
            continue
        for c in range(real):
            if scores[y, c] < least[l, c]:
                continue
            own, docs = lists.scores[q, l, c], lists.documents[q, l, c]
            size = keep(own, docs, lists.sizes[q, l, c], scores[y, c], d, order)
            lists.sizes[q, l, c] = size
            if size == k:
                least[l, c] = own[0]
    sort_lists(lists.scores[q], lists.documents[q], lists.sizes[q], order)


@part
def _mark_judged(q: int, documents: Documents, rows: Rows, lists: Lists, marks: Marks) -> None:
    """Sort the judged documents that were found, per list and lane."""
    begins, places, least = marks.begins, marks.places, marks.least
    first, order = lists.offsets[q], documents.order
    number = lists.offsets[q + 1] - first
    begins[:] = 0
    least[:] = np.inf
    for j in range(number):
        d = lists.judged[first + j]
        marks.rows[j] = rows.places[d] if d >= 0 else -1
        if marks.rows[j] >= 0:
            begins[documents.lists[d] + 1] += 1
    for l in range(1, len(begins)):  # noqa: E741
        begins[l] += begins[l - 1]
    for c in range(places.shape[1]):
        for l in range(len(least)):  # noqa: E741
            end = begins[l]
            for j in range(number):
                d = lists.judged[first + j]
                if marks.rows[j] < 0 or documents.lists[d] != l:
                    continue
                score, i = rows.scores[marks.rows[j], c], end
                while i > begins[l]:
                    other = places[i - 1, c]
                    than = rows.scores[marks.rows[other], c]
                    if better(score, order[d], than, order[lists.judged[first + other]]):
                        break
                    places[i, c] = other
                    i -= 1
                places[i, c] = j
                end += 1
            if end > begins[l]:
                least[l, c] = rows.scores[marks.rows[places[begins[l], c]], c]


@part
def _rank_judged(
    q: int, found: int, documents: Documents, rows: Rows, lists: Lists, marks: Marks
) -> None:
    """Count, for each judged document and lane, the documents ranked above it."""
    begins, places, beaten, least = marks.begins, marks.places, marks.beaten, marks.least
    first, order, scores = lists.offsets[q], documents.order, rows.scores
    for i in range(begins[-1]):
        for c in range(places.shape[1]):
            beaten[i, c] = 0
    for y in range(found):
        d = rows.numbers[y]
        l = documents.lists[d]  # noqa: E741
        if not _worthy(y, l, scores, least):
            continue
        for c in range(places.shape[1]):
            if scores[y, c] < least[l, c]:
                continue
            under, over = begins[l], begins[l + 1]
            while under < over:
                middle = (under + over) >> 1
                other = places[middle, c]
                than, place = scores[marks.rows[other], c], order[lists.judged[first + other]]
                if better(scores[y, c], order[d], than, place):
                    under = middle + 1
                else:
                    over = middle
            if under > begins[l]:
                beaten[under - 1, c] += 1
    for l in range(len(begins) - 1):  # noqa: E741
        for c in range(places.shape[1]):
            above = 0
            for i in range(begins[l + 1] - 1, begins[l] - 1, -1):
                above += beaten[i, c]
                lists.ranks[first + places[i, c], c] = above + 1


@bare_kernel
def rank(
    first: int,
    last: int,
    block: int,
    postings: Postings,
    queries: Queries,
    documents: Documents,
    rule: Rule,
    rows: Rows,
    marks: Marks,
    lists: Lists,
) -> None:
    """Rank documents for the queries `first` to `last`; `rows` and `marks` are its own."""
    for q in range(first, last):
        if rule.kind == LIKELIHOOD:
            found = score_products(q, block, postings, queries, documents, rule, rows)
        else:
            found = score_sums(q, block, postings, queries, documents, rule, rows)
        if len(documents.priors) > 0:
            for y in range(found):
                for c in range(rows.scores.shape[1]):
                    rows.scores[y, c] += documents.priors[rows.numbers[y], c]
        if lists.scores.shape[3] > 0:
            _keep_best(q, found, documents, rows, lists, marks.least)
        if lists.offsets[q] < lists.offsets[q + 1]:
            _mark_judged(q, documents, rows, lists, marks)
            _rank_judged(q, found, documents, rows, lists, marks)
        for y in range(found):
            lists.retrieved[q, documents.lists[rows.numbers[y]]] += 1
            rows.places[rows.numbers[y]] = -1
