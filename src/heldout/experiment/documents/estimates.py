"""Estimates of the score on new documents, from held-out values and ranked lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple

import numpy as np

from heldout.experiment.documents.extrapolate import extrapolate
from heldout.experiment.documents.methods import fold_values, per_fold
from heldout.experiment.documents.pooling import pooled_ranks
from heldout.experiment.documents.uncertainty import SAME_SIZE, document_spread, interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.data.words import Flags, Floats
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

_FEWEST: Final = 100
"""Replicates of an estimate that is one of many, at least."""


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
    """Return an estimate for each measure.

    Parameters
    ----------
    lists
        Queries × places: the ranked documents.
    ranked
        Which documents were ranked; the interval comes from leaving out some of them.
    values, training
        Measures × queries of these lists, and on as many training documents; NaN: left out.
    share
        Number of such estimates that are averaged; each one gets its share of the replicates.
    by_method
        The values of the estimation method, if it does not pool all documents.
    resized
        The mean of each measure on a set of the target size, if it differs from that of `ranked`.
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
        groups=prepared.document_groups,
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
    """Return measures × queries by the method of an experiment, and an estimate for each measure.

    Parameters
    ----------
    folds, chosen
        The fold of each document (−1: not in the sample), and the setting of each fold.
    pooled, merged
        The pooled ranking, and its values: measures × queries.
    training
        The values on the documents that the final setting was chosen on.
    """
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
    ranks = pooled_ranks(candidates, folds, chosen, pooled)
    return extrapolate(
        table.rows(ranks, sample[table.documents]),
        table.n_queries,
        ratio,
        measures,
        n_documents=int(sample.sum()),
        depth=candidates.depth,
        seed=seed,
        answered=table.answered(),
    )
