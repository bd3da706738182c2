"""Estimates of the score on new documents, from held-out values and ranked lists.

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
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

import numpy as np

from heldout.experiment.documents.extrapolate import extrapolate
from heldout.experiment.documents.pooling import pooled_ranks
from heldout.experiment.documents.rank_table import Rows, needed_depth
from heldout.experiment.documents.uncertainty import SAME_SIZE, document_spread, interval
from heldout.retrieve.sides import held_out_side

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.data.words import Flags, Floats, Ints
    from heldout.experiment.documents.candidates import Candidates
    from heldout.experiment.documents.lists import Lists
    from heldout.experiment.prepare import PreparedRankings
    from heldout.measure.base import Measure
    from heldout.retrieve.kernels.types import Numbers

Estimand = Literal["documents", "queries", "both"]

ESTIMANDS: Final[dict[Estimand, str]] = {
    "documents": "these queries on new documents",
    "queries": "new queries on these documents",
    "both": "new queries on new documents",
}
"""What an estimate is of, in words."""

PRO: Final = 10  # a query with as many relevant documents, or more, has the full weight in Pro10
_FEWEST: Final = 100  # replicates of an estimate that is one of many, at least


class Estimate(NamedTuple):
    """The estimate of one measure, with its interval."""

    measure: str
    estimator: str  # the method
    value: float
    low: float
    high: float
    estimand: str  # what it is an estimate of, in words
    n_queries: int
    left_out: int  # queries without a relevant document in the sample
    optimism: float  # the training score minus the estimate, for the same number of documents
    target_size: int  # the collection size that it is for
    halves: Sequence[float]  # see `uncertainty.Spread`
    target_halves: Sequence[float]
    train: float | None = None  # the training score, if it is not that of the final parameters


def mean_of(values: Floats) -> float:
    """Return the mean of the defined values; NaN if there are none."""
    kept = values[np.isfinite(values)]
    return float(kept.mean()) if len(kept) else float("nan")


def document_estimates(
    prepared: PreparedRankings,
    lists: Numbers,
    ranked: Flags,
    values: Floats,
    training: Floats | None = None,
    *,
    share: int = 1,
    by_method: Floats | None = None,
    resized: Floats | None = None,
) -> tuple[Estimate, ...]:
    """Return an estimate for each measure, from lists (queries × places) of the `ranked` documents.

    `values`, and `by_method` of a method that does not pool, are measures × queries, as is
    `training`, on as many documents; `resized` are means for another target size. Of a number of
    estimates that are averaged, `share`, each one gets its share of the replicates.
    """
    experiment, sample = prepared.experiment, np.flatnonzero(ranked).astype(np.int32)
    own = values if by_method is None else by_method
    target = experiment.target_size or len(sample)
    spreads = document_spread(
        prepared.data.table,
        np.where(ranked[np.maximum(lists, 0)] & (lists >= 0), lists, -1).astype(np.int32),
        sample,
        prepared.measures,
        own,
        depth=experiment.depth,
        replicates=max(_FEWEST, experiment.replicates // share),
        seed=experiment.seed,
        ratio=target / len(sample) if by_method is None else 1.0,
        groups=prepared.splits.by_unit[-1].groups,
    )
    estimand: Estimand = "both" if experiment.by == "both" else "documents"
    estimates = []
    for row, (measure, spread) in enumerate(zip(prepared.measures, spreads, strict=True)):
        value = mean_of(own[row]) if resized is None else float(resized[row])
        low, high = interval(value, spread, estimand, level=experiment.level, bounds=measure.range)
        optimism = float("nan")
        if training is not None:
            kept = np.isfinite(values[row])
            optimism = mean_of(training[row, kept]) - mean_of(values[row])
        estimates.append(
            Estimate(
                str(measure),
                experiment.method,
                value,
                low,
                high,
                ESTIMANDS[estimand],
                spread.n_queries,
                own.shape[1] - spread.n_queries,
                optimism,
                target,
                spread.halves,
                spread.target_halves,
            )
        )
    return tuple(estimates)


def fold_estimates(  # noqa: PLR0917 - all of them are different things
    prepared: PreparedRankings,
    candidates: Candidates,
    folds: Numbers,
    chosen: Sequence[int],
    pooled: Lists,
    merged: Floats,
    training: Floats,
) -> tuple[Floats, tuple[Estimate, ...]]:
    """Return measures × queries (`merged`: pooled) by the method, and an estimate per measure."""
    experiment, measures, sample = prepared.experiment, prepared.measures, folds >= 0
    method, size = experiment.method, int(sample.sum())
    target = experiment.target_size or size
    by_method = resized = None
    if method == "training":
        by_method = training
    elif method != "pooled":
        by_method = per_fold(fold_values(candidates, folds, chosen, measures, target), method)
    elif abs(target / size - 1) > SAME_SIZE:
        ratio, seed = target / size, experiment.seed
        resized = resized_means(candidates, folds, chosen, pooled, measures, ratio, seed=seed)
    lists = pooled.documents
    estimates = document_estimates(
        prepared, lists, sample, merged, training, by_method=by_method, resized=resized
    )
    return merged if by_method is None else by_method, estimates


def resized_means(
    candidates: Candidates,
    folds: Numbers,
    chosen: Sequence[int],
    pooled: Lists,
    measures: Sequence[Measure],
    ratio: float,
    *,
    seed: int,
) -> Floats:
    """Return the expected mean of each measure on a set `ratio` times as large as the sample."""
    table, sample = candidates.table, folds >= 0
    ranks, counted = pooled_ranks(candidates, folds, chosen, pooled), sample[table.documents]
    return extrapolate(
        Rows(table.queries[counted], table.grades[counted], ranks[counted]),
        table.n_queries,
        ratio,
        measures,
        n_documents=int(sample.sum()),
        depth=candidates.depth,
        seed=seed,
        answered=table.answered(),
    )


# ---- each fold by itself -------------------------------------------------------------------------


class FoldValues(NamedTuple):
    """The values of each fold."""

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
