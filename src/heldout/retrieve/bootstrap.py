"""Rank bootstrap replicates of the documents without building new indexes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from heldout.compiled import announce
from heldout.data.parallel import run_stretches
from heldout.retrieve.models import FRACTION_SHIFTED, coefficients

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heldout.retrieve.index import Index
    from heldout.retrieve.models import Model
    from heldout.retrieve.statistics import TermStatistics, Vocabulary

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class ReplicateLists:
    """The top documents (queries × replicates × k); one drawn twice is there twice; −1: none."""

    documents: NDArray[np.int32]
    scores: Floats


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
    """Rank documents by the statistics of each replicate's training data; not for likelihoods.

    `known` are these statistics, `times` (documents × replicates) is how often a document is listed
    (0: not), `added` whether it is scored as if it were added to the training data.
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
        coefficients([model])[None].copy(),
        model.form.count(np.arange(most + 1, dtype=np.float64)),
        np.asarray(index.lengths),
        np.asarray(index.id_order),
    )
    count, postings = len(vocabulary.offsets) - 1, vocabulary.postings(index)
    queries = Queries(vocabulary.offsets, vocabulary.places, model.query_weights(vocabulary.counts))
    documents = np.full((count, times.shape[1], k), -1, np.int32)
    scores = np.full(documents.shape, -np.inf)
    run_stretches(
        lambda some: rank_replicates(*some, postings, queries, data, documents, scores),
        count,
    )
    return ReplicateLists(documents, scores)
