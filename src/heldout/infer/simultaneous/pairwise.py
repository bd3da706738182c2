"""p-values of pairs of systems by permutation, and how the work for them is cut."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, get_args

import numpy as np

from heldout.errors import InputError
from heldout.infer.tests.draws import check_draws

if TYPE_CHECKING:
    from heldout.data.words import Floats

__all__ = [
    "Counts",
    "Method",
    "NullTail",
    "Pairwise",
    "check_method",
    "count_at_least",
    "piece_generator",
    "pieces",
]

Method = Literal["auto", "exact", "monte carlo"]

PIECE: Final = 1 << 20
"""Numbers a piece of Monte Carlo work holds (8 MB)."""

DRAWS: Final = 1 << 14
"""Most draws a piece of work makes, so that there is work for several threads."""


class NullTail(NamedTuple):
    """The permutation distribution of the largest statistic.

    Parameters
    ----------
    values
        What was found, largest first.
    p
        The p-value that each of them would have.
    noise
        A statistic that is larger by no more than this is a tie.
    """

    values: Floats
    p: Floats
    noise: float

    @classmethod
    def of(cls, statistics: Floats, noise: float, *, exact: bool) -> NullTail:
        """Of all statistics there are, or of those that were drawn."""
        added = 0 if exact else 1
        counts = np.arange(1.0, len(statistics) + 1)
        p = (counts + added) / (len(statistics) + added)
        return cls(np.sort(statistics)[::-1], p, noise)

    def critical(self, alpha: float) -> float:
        """What a statistic must exceed for p <= alpha; infinite if none can be that large."""
        at = int(np.searchsorted(self.p, alpha, side="right"))
        # The last p-value is 1 but for rounding.
        return float(self.values[min(at, len(self.p) - 1)]) + self.noise if at else math.inf


@dataclass(frozen=True)
class Pairwise:
    """p-values of pairs of systems, adjusted for all comparisons made.

    Parameters
    ----------
    p
        Systems x systems, symmetric, 1 on the diagonal, NaN for pairs that were not compared.
    method
        ``exact`` or ``monte carlo``.
    error
        The largest standard error of a Monte Carlo p-value; 0 when exact.
    detail
        One clause in words, e.g. "100,000 draws, seed 0".
    null
        The distribution that the statistics were compared with, in a single step.
    """

    p: Floats
    method: str
    error: float
    detail: str
    null: NullTail

    def __getitem__(self, pair: tuple[int, int]) -> float:
        """The p-value of two systems."""
        return float(self.p[pair])


class Counts(NamedTuple):
    """How many assignments were at least as extreme, of how many; or shares, of 1."""

    counts: Floats
    total: int
    exact: bool
    detail: str
    null: NullTail

    def p(self) -> Floats:
        """c/N when all were gone through, (c+1)/(B+1) when they were drawn."""
        added = 0 if self.exact else 1
        return np.minimum((self.counts + added) / (self.total + added), 1.0)

    def result(self, p: Floats) -> Pairwise:
        """The p-values with what is known of their error."""
        if self.exact:
            return Pairwise(p, "exact", 0.0, self.detail, self.null)
        error = float(np.sqrt(np.nanmax(p * (1 - p)) / self.total))
        return Pairwise(p, "monte carlo", error, self.detail, self.null)


def check_method(method: str, replicates: int, seed: int) -> None:
    """Refuse settings that make no sense."""
    check_draws(replicates, seed)
    if method not in get_args(Method):
        raise InputError(f"method={method!r}: expected one of {', '.join(get_args(Method))}")


def pieces(replicates: int, width: int) -> list[tuple[int, int]]:
    """Number and size of the pieces of work; they depend on the problem only."""
    size = max(1, min(PIECE // width, DRAWS))
    starts = range(0, replicates, size)
    return [(at, min(size, replicates - start)) for at, start in enumerate(starts)]


def piece_generator(seed: int, piece: int) -> np.random.Generator:
    """The random numbers of one piece of work."""
    return np.random.default_rng(np.random.SeedSequence([seed, piece]))


def count_at_least(statistics: Floats, thresholds: Floats) -> Floats:
    """For each threshold, how many statistics reach it."""
    ordered = np.sort(statistics)
    return (len(ordered) - np.searchsorted(ordered, thresholds, side="left")).astype(np.float64)
