"""MaxT by permutation, and Dunnett's way of asking: many comparisons at once.

Exact where all signs can be gone through; Monte Carlo else, cut into pieces that do not depend on
the number of threads, each with its own generator, so that a seed gives the same p everywhere.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from heldout.data.notes import power_text
from heldout.data.parallel import run_threads
from heldout.errors import InputError
from heldout.infer.results import TIE, check_alternative, drop_noise
from heldout.infer.simultaneous.blocks import as_scores
from heldout.infer.simultaneous.pairwise import (
    Counts,
    Method,
    NullTail,
    Pairwise,
    check_method,
    count_at_least,
    piece_generator,
    pieces,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from heldout.data.words import Floats, Ints
    from heldout.infer.results import Alternative

__all__ = ["dunnett", "max_t"]

SIGNS: Final = 1 << 17
"""Sign assignments that are all gone through unasked; 64 times that when asked for."""


class _Family(NamedTuple):
    """Comparisons whose signed sums are differences of the systems' signed sums."""

    scores: Floats
    first: Ints
    second: Ints
    norm: Floats
    """Root of the sum of squared differences; infinite for copies, whose statistic is then 0."""

    def statistics(self, signed: Floats, alternative: Alternative) -> Floats:
        """Larger for stronger evidence; see `max_t` for why no variance is needed."""
        found = (signed[:, self.first] - signed[:, self.second]) / self.norm
        if alternative == "two-sided":
            return np.abs(found, out=found)
        return found if alternative == "greater" else -found


def _family(values: Floats, baseline: int | None) -> _Family:
    systems = values.shape[1]
    if baseline is None:
        second, first = np.triu_indices(systems, 1)
    else:
        first = np.delete(np.arange(systems), baseline)
        second = np.full(systems - 1, baseline)
    squares = [
        float((drop_noise(values[:, one], values[:, other]) ** 2).sum())
        for one, other in zip(first, second, strict=True)
    ]
    norm = np.array([math.sqrt(square) if square > 0 else math.inf for square in squares])
    # A unit's scores count by their differences only; shifted, they keep more digits of them.
    return _Family(values - values.min(1, keepdims=True), first, second, norm)


def max_t(
    scores: ArrayLike,
    baseline: int | None = None,
    *,
    alternative: Alternative = "two-sided",
    step_down: bool = True,
    replicates: int = 100_000,
    seed: int = 0,
    method: Method = "auto",
) -> Pairwise:
    """Adjusted p-values by the permutation distribution of the largest t.

    Were two systems alike, the differences of a unit could as well have had the other sign. Signs
    are flipped for all comparisons of a unit together, which keeps their dependence. The sum of
    squared differences does not change with the signs, so that ordering by t is ordering by
    the sum of differences over the root of the sum of their squares.

    Parameters
    ----------
    scores
        Units x systems, complete.
    baseline
        Compare all systems with this column; all pairs if None.
    alternative
        ``two-sided``, ``greater`` (better than the baseline) or ``less``; all pairs are
        two-sided.
    step_down
        Compare each t with the largest of those not yet rejected, which is never less powerful;
        False: with the largest of all (single step).
    replicates
        Random sign assignments, if it comes to Monte Carlo.
    seed
        Of the random signs.
    method
        ``auto``: ``exact`` for up to 17 units (18 if two-sided), else ``monte carlo``.

    Returns
    -------
    Pairwise
        The adjusted p-value of each comparison; copies have p = 1.

    References
    ----------
    P. H. Westfall and S. S. Young, Resampling-Based Multiple Testing (1993), algorithm 2.8; Y. Ge,
    S. Dudoit and T. P. Speed, Resampling-based multiple testing, Test 12 (2003) 1-77.

    Examples
    --------
    >>> found = max_t([[1, 2, 4], [2, 4, 5], [3, 3, 6], [1, 4, 4]], baseline=0)
    >>> found.method, found[2, 0], found[1, 0]
    ('exact', 0.125, 0.25)
    """
    check_method(method, replicates, seed)
    values, alternative = as_scores(scores), check_alternative(alternative)
    systems = values.shape[1]
    if baseline is not None and not 0 <= baseline < systems:
        raise InputError(f"baseline={baseline}: expected a column from 0 to {systems - 1}")
    if baseline is None and alternative != "two-sided":
        raise InputError(
            f"alternative={alternative!r}: all pairs are two-sided; name a baseline for one side"
        )
    family = _family(values, baseline)
    observed = family.statistics(family.scores.sum(0)[None], alternative)[0]
    order = np.argsort(-observed, kind="stable")
    ordered = family._replace(
        first=family.first[order], second=family.second[order], norm=family.norm[order]
    )
    found = _count_maxima(
        ordered, observed[order], alternative, step_down, (replicates, seed, method)
    )
    adjusted = np.maximum.accumulate(found.p())
    if alternative != "two-sided":
        adjusted = np.where(np.isinf(ordered.norm), 1.0, adjusted)
    p = np.full((systems, systems), math.nan)
    np.fill_diagonal(p, 1.0)
    p[ordered.first, ordered.second] = p[ordered.second, ordered.first] = adjusted
    return found.result(p)


def _count_maxima(
    family: _Family,
    observed: Floats,
    alternative: Alternative,
    step_down: bool,
    how: tuple[int, int, Method],
) -> Counts:
    """How often the largest statistic reaches the observed ones, which come largest first."""
    replicates, seed, method = how
    units = len(family.scores)
    free = units - 1 if alternative == "two-sided" else units  # two-sided, the last sign may stay
    exact = _is_enumerable(free, method)
    total = 1 << free if exact else replicates
    parts = pieces(total, max(len(observed), 2 * units, 16))
    size = parts[0][1]

    def work(piece: tuple[int, int]) -> tuple[Floats, Floats]:
        at, count = piece
        signs = (
            _listed_signs(at * size, count, free, units)
            if exact
            else _drawn_signs(piece_generator(seed, at), count, units)
        )
        statistics = family.statistics(signs @ family.scores, alternative)
        if not step_down:
            largest = statistics.max(1)
            return count_at_least(largest, observed - TIE), largest
        # From the smallest observed on, each is compared with the largest of those up to it.
        maxima = np.maximum.accumulate(statistics[:, ::-1], axis=1)[:, ::-1]
        counts = np.asarray((maxima >= observed - TIE).sum(0, dtype=np.float64))
        return counts, maxima[:, 0].copy()  # a copy, so that the rest is let go

    found = list(run_threads(work, parts))
    counts = np.asarray(sum(counts for counts, _ in found))
    null = NullTail.of(np.concatenate([largest for _, largest in found]), TIE, exact=exact)
    every = f"all {power_text(2, units)} sign assignments"
    detail = every if exact else f"{total:,} draws, seed {seed}"
    return Counts(counts, total, exact, detail, null)


def _is_enumerable(free: int, method: str) -> bool:
    if method == "exact" and 1 << free > 64 * SIGNS:
        raise InputError(
            f"method='exact': {free} free signs are too many to go through; use method='auto' or "
            "'monte carlo'"
        )
    return method != "monte carlo" and (method == "exact" or 1 << free <= SIGNS)


def _listed_signs(begin: int, count: int, free: int, units: int) -> Floats:
    """The sign assignments numbered from `begin`: bit u of the number is the sign of unit u."""
    numbers = np.arange(begin, begin + count)
    signs = np.ones((count, units))
    signs[:, :free] -= 2.0 * (numbers[:, None] >> np.arange(free) & 1)
    return signs


def _drawn_signs(generator: np.random.Generator, count: int, units: int) -> Floats:
    width = -(-units // 8)
    drawn = np.frombuffer(generator.bytes(count * width), np.uint8).reshape(count, width)
    return 1.0 - 2.0 * np.unpackbits(drawn, axis=1, count=units).astype(np.float64)


def dunnett(
    scores: ArrayLike,
    baseline: int,
    *,
    alternative: Alternative = "two-sided",
    replicates: int = 100_000,
    seed: int = 0,
    method: Method = "auto",
) -> Pairwise:
    """Dunnett's question, every system against a baseline, answered by permutation.

    The single-step `max_t`: each t is compared with the distribution of the largest, without the
    normal distribution and the common variance that
    `heldout.infer.simultaneous.tukey.dunnett_blocks` assumes.

    Parameters
    ----------
    scores
        Units x systems, complete.
    baseline
        The column of the baseline.
    alternative, replicates, seed, method
        As in `max_t`.

    Returns
    -------
    Pairwise
        The adjusted p-values, in the row and the column of the baseline.

    References
    ----------
    C. W. Dunnett, J. Am. Stat. Assoc. 50 (1955) 1096-1121; P. H. Westfall and S. S. Young,
    Resampling-Based Multiple Testing (1993), algorithm 2.5.

    Examples
    --------
    >>> dunnett([[1, 2, 4], [2, 4, 5], [3, 3, 6], [1, 4, 4]], baseline=0)[1, 0]
    0.25
    """
    return max_t(
        scores,
        baseline,
        alternative=alternative,
        step_down=False,
        replicates=replicates,
        seed=seed,
        method=method,
    )
