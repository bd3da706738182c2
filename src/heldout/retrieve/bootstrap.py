"""Rank bootstrap replicates of the documents without building new indexes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from heldout.compiled import announce
from heldout.data.parallel import run_stretches
from heldout.retrieve.models import FRACTION_SHIFTED, LIKELIHOOD, coefficients
from heldout.retrieve.statistics import weighted_statistics

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from heldout.retrieve.index import Index
    from heldout.retrieve.models import Model
    from heldout.retrieve.statistics import TermStatistics, Vocabulary

    Floats = NDArray[np.float64]

__all__ = ["ReplicateLists", "draw_documents", "rank_bootstrap", "rank_times", "rank_weighted"]

_CELLS = 1 << 27
"""Maximum of documents × replicates held at a time (one byte each)."""


@dataclass(frozen=True, slots=True, eq=False)
class ReplicateLists:
    """The top documents of each query in each replicate.

    Parameters
    ----------
    documents, scores
        Queries × replicates × k; a document drawn twice appears twice; −1: end of the list.
    scored
        Per query, the number of documents scored (summed over batches of replicates).
    """

    documents: NDArray[np.int32]
    scores: Floats
    scored: NDArray[np.int64]


def draw_documents(documents: int, replicates: int, seed: int, first: int = 0) -> NDArray[np.uint8]:
    """Return multiplicities: each replicate draws M of the M documents with replacement.

    Parameters
    ----------
    first
        Number of the first replicate; replicate ``r`` of a seed does not depend on the others.

    Examples
    --------
    >>> weights = draw_documents(1000, 3, seed=0)
    >>> weights.shape, weights.sum(axis=0).tolist()
    ((1000, 3), [1000, 1000, 1000])
    """
    from heldout.retrieve.kernels.replicates import draw

    weights = np.empty((documents, replicates), np.uint8)
    start = np.random.SeedSequence([seed, 0x626F6F74]).generate_state(1, np.uint64)[0]
    key = int(start >> np.uint64(1))
    run_stretches(lambda part: draw(*part, key, first, weights), replicates, 2)
    return weights


def _stretches(documents: int, replicates: int) -> Iterator[slice]:
    step = max(_CELLS // max(documents, 1), 64)
    for begin in range(0, replicates, step):
        yield slice(begin, min(begin + step, replicates))


def rank_bootstrap(
    index: Index,
    vocabulary: Vocabulary,
    model: Model,
    *,
    replicates: int,
    seed: int,
    k: int = 10,
    side: Literal["seen", "unseen"] = "seen",
) -> ReplicateLists:
    """Rank the documents of bootstrap replicates, each by the statistics of its own sample.

    Parameters
    ----------
    replicates
        Number of bootstrap replicates.
    side
        ``seen``: the documents in the sample, as often as they were drawn; ``unseen``: the others,
        each scored as if it were added to the sample.
    """
    count = len(vocabulary.offsets) - 1
    documents = np.full((count, replicates, k), -1, np.int32)
    scores = np.full((count, replicates, k), -np.inf)
    scored = np.zeros(count, np.int64)
    for part in _stretches(index.n_documents, replicates):
        weights = draw_documents(index.n_documents, part.stop - part.start, seed, part.start)
        own = rank_weighted(index, vocabulary, model, weights, k=k, side=side)
        documents[:, part], scores[:, part] = own.documents, own.scores
        scored += own.scored
    return ReplicateLists(documents, scores, scored)


def rank_weighted(
    index: Index,
    vocabulary: Vocabulary,
    model: Model,
    weights: NDArray[np.uint8],
    *,
    k: int = 10,
    side: Literal["seen", "unseen"] = "seen",
) -> ReplicateLists:
    """Rank documents that have multiplicities (documents × replicates)."""
    likelihood = model.form.kind == LIKELIHOOD
    known = weighted_statistics(
        index, vocabulary, weights, occurrences=likelihood, documents=not likelihood
    )
    added = side == "unseen"
    times = (weights == 0).astype(np.uint8) if added else weights
    return rank_times(index, vocabulary, model, known, times, added=added, k=k)


def rank_times(
    index: Index,
    vocabulary: Vocabulary,
    model: Model,
    known: TermStatistics,
    times: NDArray[np.uint8],
    *,
    added: bool,
    k: int,
) -> ReplicateLists:
    """Rank documents by the statistics of each replicate's training data.

    Parameters
    ----------
    known
        The statistics of each replicate's training data.
    times
        Documents × replicates: how often a document is listed (0: not listed).
    added
        Whether a document is scored as if it were added to the training data.
    """
    from heldout.retrieve.kernels.replicates import Replicates, rank_replicates
    from heldout.retrieve.kernels.scoring import Queries

    announce("the bootstrap", rank_replicates)
    most = int(np.max(index.counts, initial=0)) if model.form.kind == FRACTION_SHIFTED else 0
    data = Replicates(
        model.form.kind,
        int(added),
        times,
        model.term_weights(known, int(added)),
        known.documents,
        known.length,
        coefficients([model])[:, 0].copy(),
        model.form.count(np.arange(most + 1, dtype=np.float64)),
        np.asarray(index.lengths),
        np.asarray(index.distinct),
        np.asarray(index.id_order),
    )
    count, postings = len(vocabulary.offsets) - 1, vocabulary.postings(index)
    queries = Queries(vocabulary.offsets, vocabulary.places, model.query_weights(vocabulary.counts))
    documents = np.full((count, times.shape[1], k), -1, np.int32)
    scores = np.full(documents.shape, -np.inf)
    scored = np.zeros(count, np.int64)
    run_stretches(
        lambda some: rank_replicates(*some, postings, queries, data, documents, scores, scored),
        count,
    )
    return ReplicateLists(documents, scores, scored)
