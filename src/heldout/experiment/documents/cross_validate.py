"""Built-in models under document folds: tuned on training sides, evaluated on the held-out ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from heldout.errors import InputError
from heldout.experiment.documents.candidates import Candidates
from heldout.experiment.documents.choose_in_document_folds import Choices, choose_values
from heldout.experiment.documents.estimate import mean_of
from heldout.experiment.documents.extrapolate import FARTHEST, check_extrapolation, extrapolate
from heldout.experiment.documents.make_estimates import estimate_of
from heldout.experiment.documents.methods import check_method, fold_values, per_fold
from heldout.experiment.documents.pooling import pool
from heldout.experiment.documents.rank_table import check_measures
from heldout.experiment.documents.uncertainty import SAME_SIZE, document_spread
from heldout.notes import count_of
from heldout.retrieve.sides import seen_side

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from heldout.data.collection import Collection
    from heldout.experiment.documents.estimate import Estimate
    from heldout.experiment.documents.uncertainty import Spread
    from heldout.measure.base import Measure
    from heldout.retrieve.index import Index
    from heldout.retrieve.models import Model
    from heldout.tune.choice import Rule

    Floats = NDArray[np.float64]
    Groups = NDArray[np.int64]
    Numbers = NDArray[np.int32]

__all__ = [
    "DocumentEstimate",
    "cross_validate_documents",
]


@dataclass(frozen=True, slots=True, eq=False)
class DocumentEstimate:
    """The result of document folds for one system.

    Parameters
    ----------
    choices
        The chosen parameters.
    measures, values, train_values
        Measures × queries by the method, and on the documents that the final setting was chosen
        on; NaN: the query has no relevant document.
    estimates
        One per measure.
    fold_scores
        For each fold the mean of the tuning measure on its documents alone.
    documents, scores
        Queries × k: the top of the pooled ranking.
    spreads
        The variances of the mean of each measure.
    """

    choices: Choices
    measures: tuple[Measure, ...]
    values: Floats
    train_values: Floats
    estimates: tuple[Estimate, ...]
    fold_scores: Floats
    documents: Numbers
    scores: Floats
    spreads: tuple[Spread, ...]

    @property
    def chosen(self) -> tuple[int, ...]:
        """The number of the setting of each fold."""
        return self.choices.chosen

    @property
    def final(self) -> int:
        """The number of the setting chosen on all documents."""
        return self.choices.final


def cross_validate_documents(  # noqa: PLR0913 - one call, its settings by name
    index: Index,
    collection: Collection,
    models: Sequence[Model],
    folds: Numbers,
    *,
    tune_for: Measure,
    measures: Sequence[Measure],
    rule: Rule = "best",
    method: str = "pooled",
    target_size: int | None = None,
    depth: int = 1000,
    k: int = 10,
    seed: int = 0,
    replicates: int = 500,
    level: float = 0.95,
    groups: Groups | None = None,
) -> DocumentEstimate:
    """Tune a model inside document folds and estimate its score on unseen documents.

    Parameters
    ----------
    models
        The model at each setting, the simplest first.
    folds
        The fold of each document, from 0; −1: not in the sample.
    tune_for, rule
        How parameters are chosen; see `choose_values`.
    measures
        The measures to compute.
    method
        See `heldout.experiment.documents.methods`.
    target_size
        The collection size that the estimate is for; by default that of the sample.
    depth
        Ranks beyond it count as not retrieved.
    k
        Number of documents of each ranking to keep.
    replicates
        Number of jackknife replicates for the interval.
    groups
        The group of each document (`Splits.groups`): documents of a group are left out
        together. None: no groups.
    """
    check_method(method)
    check_measures([tune_for, *measures])
    number, size = int(folds.max(initial=-1)) + 1, int((folds >= 0).sum())
    if number < 2:
        raise InputError(f"{count_of(number, 'document fold')}: at least 2 are needed")
    target = size if target_size is None else target_size
    if target < 1:
        raise InputError(f"target_size={target}: expected a positive integer")
    if not 1 / FARTHEST <= target / max(size, 1) <= FARTHEST:
        raise InputError(
            f"target_size={target:,}: the sample has {size:,} documents, and scores cannot be "
            f"extrapolated to sets more than {FARTHEST} times larger or smaller"
        )
    resized = abs(target / size - 1) > SAME_SIZE
    if resized and method == "pooled":
        check_extrapolation(measures)
    candidates = Candidates.make(index, collection, models, depth=depth)
    depth = candidates.depth
    choices = choose_values(candidates, folds, number, tune_for, rule=rule)
    pooled = pool(candidates, folds, choices.chosen, choices.final, max(k, depth))
    counted = (folds >= 0)[candidates.table.documents]
    table = candidates.table
    merged = table.evaluate(pooled.ranks[:, None], counted, pooled.retrieved, measures, depth)[:, 0]
    training = candidates.evaluate(
        seen_side(index, candidates.vocabulary, folds >= 0), measures, [choices.final]
    )[:, 0]
    parts = fold_values(candidates, folds, choices.chosen, [*measures, tune_for], target)
    values = {"pooled": merged, "training": training}.get(method)
    if values is None:
        values = per_fold(parts, method)[: len(measures)]
    spreads = document_spread(
        table,
        pooled.documents,
        np.flatnonzero(folds >= 0).astype(np.int32),
        measures,
        values,
        depth=depth,
        replicates=replicates,
        seed=seed,
        ratio=target / size if method == "pooled" else 1.0,
        groups=groups,
    )
    carried = None
    if resized and method == "pooled":
        carried = extrapolate(
            table.rows(pooled.ranks, counted),
            table.n_queries,
            target / size,
            measures,
            n_documents=size,
            depth=depth,
            seed=seed,
            answered=table.answered(),
        )
    estimates = tuple(
        estimate_of(
            measure,
            values[place],
            spreads[place],
            value=None if carried is None else float(carried[place]),
            method=method,
            estimand="documents",
            optimism=mean_of(training[place]) - mean_of(merged[place]),
            target_size=target,
            level=level,
        )
        for place, measure in enumerate(measures)
    )
    with np.errstate(invalid="ignore"):
        scores = np.array([mean_of(part) for part in parts.values[-1]])
    return DocumentEstimate(
        choices,
        tuple(measures),
        values,
        training,
        estimates,
        scores,
        pooled.documents[:, :k],
        pooled.scores[:, :k],
        spreads,
    )
