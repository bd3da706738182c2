"""Methods to estimate the score on new documents, by name.

``pooled``
    The default. Every document is scored by the fold that holds it out, with the parameters chosen
    there; all folds are merged into one ranking, which is evaluated once (`pooling`). It ranks as
    many documents as the sample has; for another target size see `extrapolate`.
``per-fold``
    Each fold's documents are ranked and evaluated alone; the value of a query is its mean over
    the folds in which it has a relevant document.
``per-fold-zero``
    The same with 0 if a fold has no relevant document; common in practice, and far too low.
``pro-weighted``
    Per fold, weighted by the share of ten ranks that relevant documents could fill (Pro10).
``dynamic-cutoff``
    Per fold, with the cutoff scaled to the size of the fold.
``training``
    No held-out data: the documents that parameters were chosen on. Shows the optimism.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from heldout.experiment.documents.rank_table import needed_depth
from heldout.retrieve.sides import held_out_side

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.data.words import Floats, Ints
    from heldout.experiment.documents.candidates import Candidates
    from heldout.measure.base import Measure
    from heldout.retrieve.kernels.types import Numbers

PRO: Final = 10
"""Ranks of Pro10: a query with as many relevant documents, or more, has the full weight."""


class FoldValues(NamedTuple):
    """The values of each fold alone."""

    values: Floats  # measures × folds × queries; NaN: no relevant document in the fold
    dynamic: Floats  # the same with the cutoff scaled to the size of the fold
    relevant: Ints  # folds × queries: relevant documents in the fold


def fold_values(
    candidates: Candidates,
    folds: Numbers,
    chosen: Sequence[int],
    measures: Sequence[Measure],
    target_size: int,
) -> FoldValues:
    """Rank and evaluate every fold alone, also with cutoffs scaled from the target size."""
    table, number = candidates.table, len(chosen)
    shares = np.bincount(folds[folds >= 0], minlength=number) / target_size
    both = [[*measures, *(_scaled(measure, share) for measure in measures)] for share in shares]
    depth = max(needed_depth(own, candidates.depth) for own in both)
    side = held_out_side(candidates.index, candidates.vocabulary, folds, number)
    ranking = candidates.rank(replace(side, relative=True), chosen, by_fold=True, depth=depth)
    each, relevant = [], []
    for fold, own in enumerate(both):
        counted, retrieved = folds[table.documents] == fold, ranking.retrieved[:, fold]
        each.append(table.evaluate(ranking.ranks, counted, retrieved, own, candidates.depth)[:, 0])
        relevant.append(table.relevant(counted))
    values = np.stack(each, axis=1)
    return FoldValues(values[: len(measures)], values[len(measures) :], np.stack(relevant))


def _scaled(measure: Measure, share: float) -> Measure:
    """Return the measure with its cutoff scaled, at least 1."""
    if measure.cutoff is None:
        return measure
    cutoff = max(1, round(measure.cutoff * share))
    return measure.definition.make(measure.parameters, cutoff=cutoff)


def per_fold(folds: FoldValues, method: str) -> Floats:
    """Return measures × queries by one of the per-fold methods; NaN: left out."""
    values = folds.dynamic if method == "dynamic-cutoff" else folds.values
    if method == "per-fold-zero":
        filled: Floats = np.nan_to_num(values).mean(axis=1)
        return filled
    factor = np.isfinite(values) * 1.0
    if method == "pro-weighted":
        factor *= np.minimum(folds.relevant, PRO) / PRO
    with np.errstate(invalid="ignore", divide="ignore"):
        mean: Floats = (np.nan_to_num(values) * factor).sum(axis=1) / factor.sum(axis=1)
    return mean
