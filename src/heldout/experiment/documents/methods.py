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

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal, get_args

import numpy as np

from heldout.errors import InputError
from heldout.experiment.documents.rank_table import needed_depth
from heldout.retrieve.sides import held_out_side

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from heldout.experiment.documents.candidates import Candidates
    from heldout.measure.base import Measure

    Flags = NDArray[np.bool_]
    Floats = NDArray[np.float64]
    Numbers = NDArray[np.int32]

__all__ = [
    "METHODS",
    "FoldValues",
    "Method",
    "check_method",
    "fold_values",
    "per_fold",
]

Method = Literal[
    "pooled", "per-fold", "per-fold-zero", "pro-weighted", "dynamic-cutoff", "training"
]
METHODS: Final[tuple[Method, ...]] = get_args(Method)
"""All methods; the first is the default."""

_PRO: Final = 10


def check_method(name: str) -> None:
    """Refuse an unknown method."""
    if name not in METHODS:
        raise InputError(f"unknown method {name!r}: expected one of {', '.join(METHODS)}")


@dataclass(frozen=True, slots=True, eq=False)
class FoldValues:
    """The values of each fold alone.

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
    measures: Sequence[Measure],
    target_size: int,
) -> FoldValues:
    """Rank and evaluate every fold alone."""
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


def _scaled(measure: Measure, share: float) -> Measure:
    """Return the measure with its cutoff scaled, at least 1."""
    if measure.cutoff is None:
        return measure
    cutoff = max(1, round(measure.cutoff * share))
    return measure.definition.make(measure.parameters, cutoff=cutoff)


def per_fold(found: FoldValues, method: str) -> Floats:
    """Return measures × queries by one of the per-fold methods; NaN: left out."""
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
