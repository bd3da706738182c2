"""p-values of pairs of systems by resampling, and how the work is divided."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from heldout.errors import InputError

if TYPE_CHECKING:
    from heldout.data.words import Floats, Ints
    from heldout.infer.results import Alternative

__all__ = [
    "Counts",
    "NullTail",
    "Pairwise",
    "check_family",
    "pair_columns",
    "piece_generator",
    "symmetric_p",
]


class NullTail(NamedTuple):
    """The null distribution of the largest statistic, by resampling.

    Parameters
    ----------
    values
        Its values, largest first.
    p
        The p-value of each of them.
    noise
        Statistics that differ by at most this are ties.
    """

    values: Floats
    p: Floats
    noise: float

    @classmethod
    def of(cls, statistics: Floats, noise: float) -> NullTail:
        """Return the distribution of a random sample of statistics."""
        p = np.arange(2.0, len(statistics) + 2) / (len(statistics) + 1)
        return cls(np.sort(statistics)[::-1], p, noise)

    def critical(self, alpha: float) -> float:
        """Return the critical value for p <= alpha; infinite if no statistic is that large."""
        at = int(np.searchsorted(self.p, alpha, side="right"))
        # The last p-value is 1 up to rounding.
        return float(self.values[min(at, len(self.p) - 1)]) + self.noise if at else math.inf


@dataclass(frozen=True)
class Pairwise:
    """p-values of pairs of systems, adjusted for all comparisons made.

    Parameters
    ----------
    p
        Systems x systems, symmetric, 1 on the diagonal, NaN for pairs that were not compared.
    error
        The largest standard error of a p-value.
    detail
        A phrase, e.g. "100,000 replicates, seed 0".
    null
        The single-step null distribution.
    """

    p: Floats
    error: float
    detail: str
    null: NullTail

    def __getitem__(self, pair: tuple[int, int]) -> float:
        """Return the p-value of two systems."""
        return float(self.p[pair])


class Counts(NamedTuple):
    """The number of replicates at least as extreme, and of all."""

    counts: Floats
    total: int
    detail: str
    null: NullTail

    def p(self) -> Floats:
        """Return (c+1)/(B+1)."""
        return np.minimum((self.counts + 1) / (self.total + 1), 1.0)

    def result(self, p: Floats) -> Pairwise:
        """Return the p-values with their Monte Carlo error."""
        error = float(np.sqrt(np.nanmax(p * (1 - p)) / self.total))
        return Pairwise(p, error, self.detail, self.null)


def check_family(systems: int, baseline: int | None, alternative: Alternative) -> None:
    """Refuse a baseline that is not a column, and one-sided tests without a baseline."""
    if baseline is not None and not 0 <= baseline < systems:
        raise InputError(f"baseline={baseline}: expected a column from 0 to {systems - 1}")
    if baseline is None and alternative != "two-sided":
        raise InputError(
            f"alternative={alternative!r}: all pairs are compared two-sided; name a baseline for a "
            "one-sided test"
        )


def pair_columns(systems: int, baseline: int | None) -> tuple[Ints, Ints]:
    """Return the columns of the first and of the second system of each pair.

    Without a baseline every later system is compared with every earlier one.

    Examples
    --------
    >>> [column.tolist() for column in pair_columns(3, None)]
    [[1, 2, 2], [0, 0, 1]]
    >>> [column.tolist() for column in pair_columns(3, 0)]
    [[1, 2], [0, 0]]
    """
    if baseline is None:
        second, first = np.triu_indices(systems, 1)
        return first, second
    return np.delete(np.arange(systems), baseline), np.full(systems - 1, baseline)


def symmetric_p(systems: int, first: Ints, second: Ints, p: Floats) -> Floats:
    """Return p-values of pairs as a table, systems x systems; NaN for pairs not compared."""
    table = np.full((systems, systems), math.nan)
    np.fill_diagonal(table, 1.0)
    table[first, second] = table[second, first] = p
    return table


def piece_generator(seed: int, piece: int) -> np.random.Generator:
    """Return the random generator of one piece of work."""
    return np.random.default_rng(np.random.SeedSequence([seed, piece]))
