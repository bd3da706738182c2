"""Search: the best documents of a whole collection for a set of queries, as a `Run`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from heldout.compiled import announce
from heldout.data.ids import Ids
from heldout.data.parallel import run_stretches
from heldout.data.queries import Queries, queries_of
from heldout.data.run import Run
from heldout.data.words import offsets_of
from heldout.errors import InputError
from heldout.retrieve.bounds import windows_of
from heldout.retrieve.kernels.types import FRACTION, HUGE, SATURATED
from heldout.retrieve.models import Model, coefficients, parse_model
from heldout.retrieve.rank import length_ratios, rank
from heldout.retrieve.sides import whole_side
from heldout.retrieve.statistics import whole_statistics

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from heldout.retrieve.index import Index, Source
    from heldout.retrieve.kernels.types import Floats, Numbers
    from heldout.retrieve.statistics import Vocabulary


LOWEST_SCORE = -1e30
"""Replaces −∞ in a run: the score of a document with probability 0, which still has a rank."""


def search(
    index: Index | Source | str | os.PathLike[str],
    queries: Queries | Mapping[str, str] | Sequence[tuple[str, str]],
    model: Model | str = "bm25",
    *,
    k: int = 1000,
    name: str | None = None,
) -> Run:
    """Search a whole collection.

    Parameters
    ----------
    index
        The collection's index, or the collection or its name, which is indexed first: to search
        several times, build an index once.
    queries
        Queries, ``{id: text}``, or pairs of id and text.
    model
        A model, or its printed form: ``bm25(k1=0.9, b=0.4)``.
    k
        Maximum number of documents per query; only documents that contain a query term are
        returned.
    name
        The run's name; by default the model's.

    Examples
    --------
    >>> from heldout.retrieve.index import Index
    >>> index = Index.build({"d1": "red apples", "d2": "green apples, green pears"})
    >>> search(index, {"q": "green apples"}).to_dict()["q"].keys()
    dict_keys(['d2', 'd1'])
    """
    if not isinstance(k, int | np.integer) or k < 1:
        raise InputError("expected a positive integer", argument="k", value=k)
    asked, rule = queries_of(queries), parse_model(model) if isinstance(model, str) else model
    known = _as_index(index)
    documents, scores = search_terms(known, known.encode(asked.texts), rule, k)
    return run_of_lists(known.document_ids, asked.ids, documents, scores, name or str(rule))


def _as_index(given: Index | Source | str | os.PathLike[str]) -> Index:
    """Return an index: the given one, that in a file, or a new one of a collection."""
    from heldout.data.collection_files import read_documents
    from heldout.retrieve.index import Index
    from heldout.retrieve.index_files import is_index

    if isinstance(given, Index):
        return given
    if not isinstance(given, str | os.PathLike):
        return Index.build(given)
    return Index.open(given) if is_index(given) else Index.build(read_documents(given))


def search_terms(
    index: Index, vocabulary: Vocabulary, model: Model, k: int
) -> tuple[Numbers, Floats]:
    """Return numbers and scores (queries × k) of the best documents; −1 where there are fewer."""
    shape = vocabulary.n_queries, max(min(k, index.n_documents), 1)  # no list is longer
    documents, scores = np.full(shape, -1, np.int32), np.full(shape, -np.inf)
    if not len(vocabulary):
        return documents, scores
    known = whole_statistics(index, vocabulary)
    weights, coded = model.term_weights(known, 0)[:, 0], index.length_codes
    if model.form.kind != FRACTION or coded is None or weights.min() < 0:
        # The loop below is for sums of fractions that are not negative.
        ranked = rank(index, vocabulary, [[model]], whole_side(index, vocabulary), k=shape[1])
        return ranked.documents[:, 0, 0], ranked.scores[:, 0, 0]
    from heldout.retrieve.kernels import search as kernel

    announce("the search", kernel.search)
    postings, order = vocabulary.postings(index), np.asarray(index.id_order)
    windows, places = windows_of(index, vocabulary.numbers), vocabulary.places
    top, fixed, by_length = coefficients([model])[:, 0].tolist()
    ratios = length_ratios(coded[1], known.documents, known.length, False)
    curve = kernel.Curve(top, coded[0], fixed + by_length * ratios)
    # The most that each term can add, for its largest count in its shortest document.
    counts = np.where(windows.most < SATURATED, windows.most, HUGE)
    slope = by_length * float(known.documents[0]) / max(float(known.length[0]), 1.0)
    most = top * counts / (counts + (fixed + slope * windows.shortest)) * (1 + kernel.SLACK)
    terms = np.empty(len(places), kernel.TERM)
    terms["start"], terms["stop"] = postings.begin[places], postings.end[places]
    terms["row"] = windows.rows[places]
    terms["weight"] = model.query_weights(vocabulary.counts) * weights[places]
    terms["bound"] = terms["weight"] * most[places]
    width = kernel.WIDTH
    room = shape[1] + 2 * width

    def search_some(some: tuple[int, int]) -> None:
        own = kernel.Room(
            np.full(width, kernel.EMPTY),
            np.empty(width + 1, np.uint32),
            np.empty(kernel.LEVELS + 1, np.int32),
            np.empty(kernel.BUCKETS + 1, np.int32),
            np.empty(room, np.uint32),
            np.empty(room),
            np.empty(room, np.int32),
            np.empty(room),
        )
        kernel.search(
            *some, windows.bits, windows.starts, vocabulary.offsets, terms, postings, curve, order,
            own, documents, scores,
        )  # fmt: skip

    run_stretches(search_some, len(documents), 2)
    return documents, scores


def run_of_lists(
    ids: Sequence[str], query_ids: Sequence[str], documents: Numbers, scores: Floats, name: str
) -> Run:
    """Return ranked lists (queries × k) as a run; queries without documents are left out."""
    kept = documents >= 0
    counts = kept.sum(axis=1)
    asked = np.flatnonzero(counts)
    numbers, places = np.unique(documents[kept], return_inverse=True)
    column = (ids if isinstance(ids, Ids) else Ids.of(ids)).take(numbers)
    offsets = offsets_of(counts[asked])
    values = np.maximum(scores[kept], LOWEST_SCORE)
    names = tuple(query_ids[q] for q in asked.tolist())
    return Run(name, names, offsets, column.take(places), values)
