"""Do the contestants find the same? Lists against a peer's, and against formulas written out."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from retrieval_contestants import FOLDS, GRID, K1, SEED, B, fold_of

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from heldout.retrieve.index import Index

    Floats = NDArray[np.float64]
    Lists = tuple[NDArray[np.int32], Floats]

SINGLE = 2e-5
"""How far scores held as 32-bit floats may be off, relatively."""


def load(path: Path) -> Lists:
    with np.load(path) as found:
        return found["documents"], found["scores"].astype(np.float64)


def same_lists(ours: Lists, theirs: Lists, tolerance: float) -> str:
    """Compare ranked lists; documents may change places where their scores are as good as equal."""
    wrong = 0
    for docs, scores, other_docs, other_scores in zip(*ours, *theirs, strict=True):
        there, other_there = docs >= 0, (other_docs >= 0) & (other_scores > 0)
        wrong += not _same(
            docs[there], scores[there], other_docs[other_there], other_scores[other_there],
            tolerance,
        )  # fmt: skip
    return "equal" if not wrong else f"{wrong} of {len(ours[0])} lists differ"


def _same(
    docs: NDArray[np.int32],
    scores: Floats,
    other_docs: NDArray[np.int32],
    other_scores: Floats,
    tolerance: float,
) -> bool:
    if len(docs) != len(other_docs) or not np.allclose(scores, other_scores, rtol=tolerance):
        return False
    if not len(docs):
        return True
    mine = dict(zip(docs.tolist(), scores.tolist(), strict=True))
    last = scores[-1]
    # A document that we lack must tie with our last one; one that we have must score the same.
    return all(
        abs(mine.get(doc, last) - score) <= tolerance * abs(score)
        for doc, score in zip(other_docs.tolist(), other_scores.tolist(), strict=True)
    )


def overlap(ours: Lists, theirs: Lists) -> str:
    """For peers whose scores are others: the share of documents that both lists have."""
    shared = sum(
        len(np.intersect1d(one[one >= 0], other[other >= 0]))
        for one, other in zip(ours[0], theirs[0], strict=True)
    )
    return f"{shared / max((ours[0] >= 0).sum(), 1):.1%} shared"


def check_search(index: Index, texts: list[str], found: Lists, most: int = 300) -> str:
    """The first queries beside scores of all documents: equal to the last bit, ties included."""
    from heldout.retrieve.models import Model
    from heldout.retrieve.rank import rank
    from heldout.retrieve.sides import whole_side

    vocabulary = index.encode(texts[:most])
    model, k = Model.make("bm25-lucene", k1=K1, b=B), found[0].shape[1]
    all_scored = rank(index, vocabulary, [[model]], whole_side(index, vocabulary), k=k)
    same = [
        np.array_equal(docs, wanted) and np.array_equal(scores, wanted_scores)
        for docs, scores, wanted, wanted_scores in zip(
            found[0][:most], found[1][:most], all_scored.documents[:, 0, 0],
            all_scored.scores[:, 0, 0], strict=True,
        )
    ]  # fmt: skip
    return f"{sum(same)} of {len(same)} lists have the bits of exhaustive scoring"


def _best(index: Index, scores: Floats, times: NDArray[np.int64], k: int) -> Lists:
    """The k best documents with a score, each as often as it counts."""
    candidates = np.flatnonzero((scores > 0) & (times > 0))
    order = np.lexsort((-index.id_order[candidates].astype(np.int64), -scores[candidates]))
    numbers = np.repeat(candidates[order], times[candidates[order]])[:k]
    return numbers.astype(np.int32)[None], scores[numbers][None]


def _bm25(
    index: Index, text: str, times: NDArray[np.int64], k1: float, b: float, *, added: bool
) -> Floats:
    """BM25 of all documents by the statistics of `times`, straight from the formula.

    With `added`, each document is scored as if it alone were added to them.
    """
    lengths = index.lengths.astype(np.float64)
    m, total = times.sum(), (times * lengths).sum()
    documents = m + added
    average = (total + added * lengths) / documents
    scores = np.zeros(index.n_documents)
    asked = Counter(index.analyzer.analyze(text))
    for term, often in zip(index.term_numbers(list(asked)).tolist(), asked.values(), strict=True):
        if term < 0:
            continue
        begin, end = index.offsets[term : term + 2]
        docs, counts = index.documents[begin:end], index.counts[begin:end].astype(np.float64)
        df = times[docs].sum() + added
        if df == 0:
            continue
        ratio = lengths[docs] / (average[docs] if added else average[0])
        part = (k1 + 1) * counts / (counts + k1 * (1 - b + b * ratio))
        scores[docs] += often * part * np.log((documents + 1) / df)
    return scores


def check_folds(index: Index, texts: list[str], found: Lists, sample: int) -> str:
    """Every fold and value of some queries, from the formula."""
    folds = fold_of(index.n_documents)
    values = [(k1, b) for k1 in GRID["k1"] for b in GRID["b"]]
    wrong = checked = 0
    for query in np.linspace(0, len(texts) - 1, sample).astype(int).tolist():
        for fold in range(FOLDS):
            seen = (folds != fold).astype(np.int64)
            for lane, (k1, b) in enumerate(values):
                scores = _bm25(index, texts[query], seen, k1, b, added=True)
                wanted = _best(index, scores, 1 - seen, found[0].shape[-1])
                own = found[0][query, fold, lane][None], found[1][query, fold, lane][None]
                wrong += same_lists(own, wanted, 1e-9) != "equal"
                checked += 1
    return f"{checked} lists equal" if not wrong else f"{wrong} of {checked} lists differ"


def check_bootstrap(index: Index, texts: list[str], found: Lists, sample: int) -> str:
    """Some replicates of some queries, from the formula."""
    from retrieval_contestants import draw_documents

    wrong = checked = 0
    for replicate in np.linspace(0, found[0].shape[1] - 1, 6).astype(int).tolist():
        times = draw_documents(index.n_documents, 1, SEED, replicate)[:, 0].astype(np.int64)
        for query in np.linspace(0, len(texts) - 1, sample).astype(int).tolist():
            scores = _bm25(index, texts[query], times, K1, B, added=False)
            wanted = _best(index, scores, times, found[0].shape[-1])
            own = found[0][query, replicate][None], found[1][query, replicate][None]
            wrong += same_lists(own, wanted, 1e-9) != "equal"
            checked += 1
    return f"{checked} lists equal" if not wrong else f"{wrong} of {checked} lists differ"
