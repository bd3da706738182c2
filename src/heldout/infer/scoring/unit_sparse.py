"""Resampling of units of many classes: wide rows of statistics that are nearly all 0.

Of 200 classes a unit has 600 numbers, three of which are not 0. Summing column by column takes
hours where a product with a sparse matrix takes seconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from heldout.infer.tests.corpus_level import (
    Replicates,
    assignments_out,
    monte_carlo,
    observed_difference,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.data.words import Floats
    from heldout.infer.results import Alternative, Outcome
    from heldout.infer.tests.corpus_level import ScoreOfSums

__all__ = ["bootstrap_sparse", "is_sparse", "randomize_sparse"]

WIDE: Final = 48
"""Columns from which on a table may be taken for sparse: 16 classes."""

FILLED: Final = 0.1
"""The share of numbers that are not 0, at the most."""

BLOCK: Final = 2**22
"""Numbers drawn, or summed, at a time."""


def is_sparse(tables: Sequence[Floats]) -> bool:
    """Whether tables are wide and nearly empty."""
    wide = tables[0].shape[1] >= WIDE
    return wide and all(np.count_nonzero(one) <= FILLED * one.size for one in tables)


def _rows_at_once(units: int, width: int) -> int:
    return max(1, BLOCK // max(units, width, 1))


def bootstrap_sparse(
    systems: Sequence[Floats], score: ScoreOfSums, *, replicates: int, seed: int
) -> Replicates:
    """As `heldout.infer.scoring.unit_kinds.bootstrap_sums`."""
    from scipy.sparse import csr_array  # slow to import

    units, width = systems[0].shape
    turned = [csr_array(one.T) for one in systems]
    source = np.random.default_rng([seed, units])
    found = []
    size = _rows_at_once(units, width)
    for start in range(0, replicates, size):
        rows = min(size, replicates - start)
        places = source.integers(0, units, (rows, units)) + units * np.arange(rows)[:, None]
        drawn = np.bincount(places.ravel(), minlength=rows * units).reshape(rows, units)
        weights = np.ascontiguousarray(drawn.T, np.float64)
        found.append(np.column_stack([score((one @ weights).T) for one in turned]))
    observed = [score(one.sum(axis=0, keepdims=True))[0] for one in systems]
    return Replicates(np.concatenate(found), np.array(observed), units, seed)


def randomize_sparse(
    first: Floats,
    second: Floats,
    score: ScoreOfSums,
    *,
    alternative: Alternative,
    replicates: int,
    seed: int,
) -> Outcome:
    """As `heldout.infer.scoring.unit_kinds.randomize_sums`, by drawing swaps."""
    from scipy.sparse import csr_array  # slow to import

    observed, tie = observed_difference(first, second, score)
    total = (first + second).sum(axis=0)
    gaps = first - second
    turned = csr_array(gaps[(gaps != 0).any(axis=1)].T)
    width, units = turned.shape
    source = np.random.default_rng([seed, len(first)])
    size = _rows_at_once(units, width)
    far = 0
    for start in range(0, replicates, size):
        rows = min(size, replicates - start)
        signs = 2.0 * source.integers(0, 2, (units, rows), dtype=np.int8) - 1.0
        sums = (total + (turned @ signs).T) / 2
        found = score(sums) - score(total - sums)
        far += int(assignments_out(found, observed, tie, alternative).sum())
    return monte_carlo("randomization", far, replicates, seed, (observed, alternative, len(first)))
