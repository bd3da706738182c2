"""Methods to estimate the score on documents that were never seen, by name.

``pooled``
    The default. Every document is scored by the train side of the folds that it is not in, with the
    values chosen there; all folds are merged into one ranking, which is measured once. It ranks as
    many documents as the sample has; for a target of another size see `extrapolate`.
``per-fold``
    Each fold's documents are ranked and measured by themselves; a query's value is its mean over
    the folds that have a relevant document for it.
``per-fold-zero``
    The same with 0 where a fold has no relevant document: how it is often done, and far too low.
``pro-weighted``
    Per fold, weighted by the share of ten places that relevant documents could fill (Pro10).
``dynamic-cutoff``
    Per fold, with the cutoff scaled to the size of the fold.
``training``
    No hold-out at all: the documents that the values were chosen on. Shown for its optimism.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal, get_args

import numpy as np

from heldout.errors import InputError
from heldout.experiment.documents.align import align_scores, merge_lists
from heldout.experiment.documents.rank_table import needed_depth
from heldout.retrieve.sides import held_out_side, seen_side

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from heldout.experiment.documents.candidates import Candidates
    from heldout.measure.ranking.names import RankingMeasure

    Flags = NDArray[np.bool_]
    Floats = NDArray[np.float64]
    Numbers = NDArray[np.int32]

__all__ = [
    "METHODS",
    "FoldValues",
    "Method",
    "Pooled",
    "check_method",
    "fold_values",
    "per_fold",
    "pool",
]

Method = Literal[
    "pooled", "per-fold", "per-fold-zero", "pro-weighted", "dynamic-cutoff", "training"
]
METHODS: Final[tuple[Method, ...]] = get_args(Method)
"""All methods; the first is the default."""

_PRO: Final = 10


def check_method(name: str) -> None:
    """Refuse a name that no method has."""
    if name not in METHODS:
        raise InputError(f"there is no method {name!r}; there are {', '.join(METHODS)}")


@dataclass(frozen=True, slots=True, eq=False)
class Pooled:
    """One ranking of all held-out documents.

    Parameters
    ----------
    ranks
        Of each judgement's document; 0: not retrieved, or not in the sample.
    retrieved
        Of each query.
    documents, scores
        Queries × k: the merged lists, scores on the scale of the reference value.
    """

    ranks: NDArray[np.int64]
    retrieved: NDArray[np.int64]
    documents: Numbers
    scores: Floats


def pool(
    candidates: Candidates, folds: Numbers, chosen: Sequence[int], reference: int, k: int
) -> Pooled:
    """Merge what the folds held out into one ranking.

    Parameters
    ----------
    folds
        The fold of each document; −1: not in the sample.
    chosen
        The number of the value of each fold.
    reference
        The value on whose scale folds with different values are merged.
    k
        How many places of the merged lists to keep.
    """
    index, vocabulary = candidates.index, candidates.vocabulary
    number = len(chosen)
    if len({candidates.models[value] for value in chosen}) == 1:
        side = held_out_side(index, vocabulary, folds, number, pooled=True)
        deepest = max(k, candidates.depth)
        found = candidates.rank_chosen(side, chosen, k=k, depth=deepest)
        ranks = np.where(candidates.counted(side), found.ranks[:, 0], 0).astype(np.int64)
        lists = found.documents[:, 0, 0], found.scores[:, 0, 0]
        return Pooled(ranks, found.retrieved[:, 0], *lists)
    side = replace(held_out_side(index, vocabulary, folds, number), relative=True)
    depth = max(k, candidates.depth)
    found = candidates.rank_chosen(side, chosen, k=depth, judged=False, depth=depth)
    scores = _aligned(candidates, folds >= 0, found.scores[:, :, 0], chosen, reference)
    merged, kept = merge_lists(found.documents[:, :, 0], scores, np.asarray(index.id_order), depth)
    ranks = _ranks_in(candidates, merged)
    return Pooled(ranks, found.retrieved.sum(axis=1), merged[:, :k], kept[:, :k])


def _aligned(
    candidates: Candidates,
    sample: Flags,
    scores: Floats,
    chosen: Sequence[int],
    reference: int,
) -> Floats:
    """Scores of every fold (queries × folds × places) on the scale of the reference value.

    The scales are those of the sample: nothing else may have a say in an estimate from it.
    """
    values = sorted({*chosen, reference})
    side = replace(seen_side(candidates.index, candidates.vocabulary, sample), relative=True)
    k = scores.shape[2]
    scale = candidates.rank(side, values, k=k, judged=False, depth=k).scores[:, 0]
    aligned = scores.copy()
    for fold, value in enumerate(chosen):
        if candidates.models[value] == candidates.models[reference]:
            continue
        own, other = values.index(value), values.index(reference)
        for query in range(len(scores)):
            aligned[query, fold] = align_scores(
                scores[query, fold], scale[query, own], scale[query, other]
            )
    return aligned


def _ranks_in(candidates: Candidates, lists: Numbers) -> NDArray[np.int64]:
    """Where the judged documents stand in ranked lists (queries × k)."""
    table = candidates.table
    ranks = np.zeros(len(table), np.int64)
    for begin in range(0, len(table), 4096):
        part = slice(begin, begin + 4096)
        same = lists[table.queries[part]] == table.documents[part, None]
        ranks[part] = np.where(same.any(axis=1), same.argmax(axis=1) + 1, 0)
    return ranks


@dataclass(frozen=True, slots=True, eq=False)
class FoldValues:
    """Values of each fold by itself.

    Parameters
    ----------
    values
        Measures × folds × queries; NaN: no relevant document in the fold.
    dynamic
        The same with the cutoff scaled to the size of the fold.
    relevant
        Folds × queries: relevant documents in the fold.
    """

    values: Floats
    dynamic: Floats
    relevant: NDArray[np.int64]


def fold_values(
    candidates: Candidates,
    folds: Numbers,
    chosen: Sequence[int],
    measures: Sequence[RankingMeasure],
    target_size: int,
) -> FoldValues:
    """Rank and measure every fold by itself."""
    number, table = len(chosen), candidates.table
    side = held_out_side(candidates.index, candidates.vocabulary, folds, number)
    sizes = [int((folds == fold).sum()) for fold in range(number)]
    both = [
        [*measures, *(_scaled(measure, size / target_size) for measure in measures)]
        for size in sizes
    ]
    deepest = max(needed_depth(each, candidates.depth) for each in both)
    found = candidates.rank_chosen(replace(side, relative=True), chosen, depth=deepest)
    of_document = folds[table.documents]
    plain, dynamic, relevant = [], [], []
    for fold in range(number):
        counted = of_document == fold
        values = table.evaluate(
            found.ranks, counted, found.retrieved[:, fold], both[fold], candidates.depth
        )[:, 0]
        plain.append(values[: len(measures)])
        dynamic.append(values[len(measures) :])
        relevant.append(table.relevant(counted))
    return FoldValues(np.stack(plain, 1), np.stack(dynamic, 1), np.stack(relevant))


def _scaled(measure: RankingMeasure, share: float) -> RankingMeasure:
    """The measure with its cutoff scaled, at least 1."""
    if measure.cutoff is None:
        return measure
    return replace(measure, cutoff=max(1, round(measure.cutoff * share)))


def per_fold(found: FoldValues, method: str) -> Floats:
    """Measures × queries by one of the per-fold methods; NaN: left out."""
    values = found.dynamic if method == "dynamic-cutoff" else found.values
    if method == "per-fold-zero":
        filled: Floats = np.nan_to_num(values).mean(axis=1)
        return filled
    weights = np.minimum(found.relevant, _PRO) / _PRO if method == "pro-weighted" else None
    there = np.isfinite(values)
    factor = there * (1.0 if weights is None else weights)
    total = factor.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean: Floats = (np.nan_to_num(values) * factor).sum(axis=1) / total
    return mean
