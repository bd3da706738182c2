"""Scoring of units that are too many to be resampled one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from heldout.infer.scoring.linearised import LinearScoring, jackknife, values_of_slopes
from heldout.infer.scoring.resample_sums import affordable, sums_by_number
from heldout.infer.scoring.resampled import SumScoring
from heldout.measure.prediction.slopes import order_slopes
from heldout.measure.prediction.sums import cell_sums, unit_sums

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.data.words import Floats, Ints
    from heldout.measure.base import Measure
    from heldout.measure.prediction.sums import CellSums

__all__ = ["scoring_of_many"]

MOST_KINDS: Final = 2000
"""Kinds of units above which numbers per kind are not resampled."""

TABLED: Final = 2**22
"""Codes up to this are looked up in a table, not sorted."""


def scoring_of_many(
    systems: Sequence[Any],
    measure: Measure,
    positive: str | None,
    numbers: Ints,
    *,
    replicates: int = 100_000,
    seed: int = 0,
) -> SumScoring | LinearScoring | None:
    """Return a scoring whose cost does not grow with units times replicates; None if none fits.

    Parameters
    ----------
    systems
        Predictions on the same units in the same order.
    measure
        A measure that is defined for them.
    positive
        The positive class of two.
    numbers
        The group of each unit, numbered from 0, or the unit itself.
    replicates, seed
        Of the resampling.
    """
    plain = len(numbers) == int(numbers.max()) + 1
    cells = [cell_sums(system, measure, positive) for system in systems] if plain else [None]
    known = [cell for cell in cells if cell is not None]
    if len(known) == len(systems):
        by_kinds = _by_kinds(systems, known, {"replicates": replicates, "seed": seed})
        if by_kinds is not None:
            return by_kinds
    columns = [_linear(system, measure, positive, numbers) for system in systems]
    linear = [column for column in columns if column is not None]
    if len(linear) < len(systems):
        return None
    scores = np.array([score for score, _ in linear])
    return LinearScoring(np.column_stack([values for _, values in linear]), scores)


def _by_kinds(
    systems: Sequence[Any], cells: list[CellSums], draws: dict[str, Any]
) -> SumScoring | None:
    """Return a scoring by kinds: units with the same truth and the same predictions."""
    size = cells[0].classes
    if size ** (len(systems) + 1) > 2**62:
        return None
    code = systems[0].truth.astype(np.int64)
    for system in systems:
        code = code * size + system.predicted
    kinds, kind = _numbered(code, size ** (len(systems) + 1))
    if len(kinds) > MOST_KINDS:
        return None
    parts = np.unravel_index(kinds, (size,) * (len(systems) + 1))
    tables = [
        cell.rows(size * parts[0] + guess) for cell, guess in zip(cells, parts[1:], strict=True)
    ]
    return SumScoring(tables, cells[0].score, bootstraps=affordable(len(kind)), kind=kind, **draws)


def _numbered(code: Ints, limit: int) -> tuple[Ints, Ints]:
    """Return the distinct codes, all below a limit, and the position of each code among them."""
    if limit > TABLED:
        kinds, kind = np.unique(code, return_inverse=True)
        return kinds, kind.ravel()
    present = np.bincount(code, minlength=limit) > 0
    return np.flatnonzero(present), (np.cumsum(present) - 1)[code]


def _linear(
    system: Any, measure: Measure, positive: str | None, numbers: Ints
) -> tuple[float, Floats] | None:
    """Return the score, and values of units (or groups) that average to it."""
    sums = unit_sums(system, measure, positive)
    if sums is None:
        slopes = order_slopes(system, measure, positive)
        return None if slopes is None else (slopes.score, values_of_slopes(slopes, numbers))
    table = sums_by_number(sums.table, numbers)
    if not np.isfinite(table).all():
        return None
    score = float(sums.score(table.sum(axis=0, keepdims=True))[0])
    return score, jackknife(table, sums.score)
