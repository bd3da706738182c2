"""Scoring of units that are too many to be resampled one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from heldout.infer.linearised import LinearScoring, jackknife
from heldout.infer.resample_sums import affordable, sums_by_number
from heldout.infer.resampled import OrderScoring, SumScoring, left_out_values
from heldout.measure.base import Order, Sums, as_sums

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.data.words import Floats, Ints
    from heldout.measure.base import Measure, UnitScores

__all__ = ["scoring_of_many"]

MOST_KINDS: Final = 2000
"""Kinds of units above which numbers per kind are not resampled."""

GROUPS: Final = 1000
"""Groups of units that are resampled where a score is not smooth: medians."""


def scoring_of_many(
    systems: Sequence[Any],
    measure: Measure,
    numbers: Ints,
    *,
    replicates: int = 100_000,
    seed: int = 0,
) -> SumScoring | LinearScoring | OrderScoring | None:
    """Return a scoring whose cost does not grow with units times replicates; None if none fits.

    Parameters
    ----------
    systems
        Predictions on the same units in the same order.
    measure
        A measure that is defined for them.
    numbers
        The group of each unit, numbered from 0, or the unit itself.
    replicates, seed
        Of the resampling.
    """
    units = [measure.units(system) for system in systems]
    if all(isinstance(one, Order) for one in units):
        return _of_order(measure, units, numbers, seed)
    sums = [as_sums(one) for one in units if not isinstance(one, Order)]
    is_plain = len(numbers) == int(numbers.max()) + 1
    if is_plain and all(one.kinds is not None and one.weights is None for one in sums):
        by_kinds = _by_kinds(sums, {"replicates": replicates, "seed": seed})
        if by_kinds is not None:
            return by_kinds
    tables = [sums_by_number(one.rows(), numbers) for one in sums]
    if not all(np.isfinite(table).all() for table in tables):
        return None
    scores = np.array([one.value() for one in sums])
    columns = [jackknife(table, one.score) for table, one in zip(tables, sums, strict=True)]
    return LinearScoring(np.column_stack(columns), scores)


def _of_order(
    measure: Measure, units: Sequence[UnitScores], numbers: Ints, seed: int
) -> LinearScoring | OrderScoring:
    """Return linearised scores by leaving out groups of units; of medians, resampled groups."""
    functions = [one.weighted for one in units if isinstance(one, Order)]
    if measure.family == "median-AE":  # the jackknife of a median is wrong, however many units
        count = int(numbers.max()) + 1
        groups = np.random.default_rng(seed).permutation(count) % min(GROUPS, count)
        drawn = affordable(len(numbers))
        return OrderScoring(functions, groups[numbers], drawn, seed, smooth=False)
    scores = np.array([one.value() for one in units])
    values: Floats = left_out_values(functions, numbers, scores, seed)
    return LinearScoring(values, scores)


def _by_kinds(sums: list[Sums], draws: dict[str, Any]) -> SumScoring | None:
    """Return a scoring by kinds: units of the same kind for all systems; None for too many."""
    code, limit = np.zeros(sums[0].size, np.int64), 1
    for one in sums:
        limit *= len(one.table)
        if limit > 2**62:
            return None
        code = code * len(one.table) + np.asarray(one.kinds)
    kinds, kind = np.unique(code, return_inverse=True)
    if len(kinds) > MOST_KINDS:
        return None
    parts = np.unravel_index(kinds, [len(one.table) for one in sums])
    tables = [one.table[part] for one, part in zip(sums, parts, strict=True)]
    kind = kind.ravel()
    return SumScoring(tables, sums[0].score, bootstraps=affordable(len(kind)), kind=kind, **draws)
