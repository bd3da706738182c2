"""MaxT by permutation: all pairs, or all systems against a baseline (Dunnett).

Exact where all signs can be enumerated, else Monte Carlo. The work is divided into pieces that do
not depend on the number of threads, each with its own generator, so that a seed gives the same
p-values everywhere.
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
    check_family,
    check_method,
    count_at_least,
    pair_columns,
    piece_generator,
    pieces,
    symmetric_p,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from heldout.data.words import Floats, Ints
    from heldout.infer.results import Alternative

__all__ = ["dunnett", "max_t"]

SIGNS: Final = 1 << 17
"""Sign assignments that are enumerated by default; 64 times that on request."""


class _Family(NamedTuple):
    """Comparisons, whose signed sums are differences of the signed sums of systems."""

    scores: Floats
    first: Ints
    second: Ints
    norm: Floats
    """√ of the sum of squared differences; infinite for identical systems: their statistic is 0."""

    def statistics(self, signed: Floats, alternative: Alternative) -> Floats:
        """Return statistics, larger for stronger evidence (see `max_t`)."""
        statistics = (signed[:, self.first] - signed[:, self.second]) / self.norm
        if alternative == "two-sided":
            return np.abs(statistics, out=statistics)
        return statistics if alternative == "greater" else -statistics


def _family(values: Floats, baseline: int | None) -> _Family:
    first, second = pair_columns(values.shape[1], baseline)
    squares = [
        float((drop_noise(values[:, one], values[:, other]) ** 2).sum())
        for one, other in zip(first, second, strict=True)
    ]
    norm = np.array([math.sqrt(square) if square > 0 else math.inf for square in squares])
    # Only differences within a unit matter; subtracting its smallest score keeps more digits.
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
    """Return p-values adjusted by the permutation distribution of the largest t.

    If two systems were equally good, each difference would be as likely to have the opposite sign.
    The signs of all comparisons of a unit are flipped together, which preserves their dependence.
    The sum of squared differences does not depend on the signs, so t is a monotone function of the
    sum of differences over the root of the sum of their squares, and this is compared instead.

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
        Compare each t with the largest of those not yet rejected, which is at least as powerful;
        False: with the largest of all (single step).
    replicates
        Random sign assignments, if the p-values are not exact.
    seed
        The random seed.
    method
        ``auto``: ``exact`` for up to 17 units (18 if two-sided), else ``monte carlo``.

    Returns
    -------
    Pairwise
        The adjusted p-value of each comparison; identical systems have p = 1.

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
    check_family(systems, baseline, alternative)
    family = _family(values, baseline)
    observed = family.statistics(family.scores.sum(0)[None], alternative)[0]
    order = np.argsort(-observed, kind="stable")
    ordered = family._replace(
        first=family.first[order], second=family.second[order], norm=family.norm[order]
    )
    counts = _count_maxima(
        ordered, observed[order], alternative, step_down, (replicates, seed, method)
    )
    adjusted = np.maximum.accumulate(counts.p())
    if alternative != "two-sided":
        adjusted = np.where(np.isinf(ordered.norm), 1.0, adjusted)
    return counts.result(symmetric_p(systems, ordered.first, ordered.second, adjusted))


def _count_maxima(
    family: _Family,
    observed: Floats,
    alternative: Alternative,
    step_down: bool,
    how: tuple[int, int, Method],
) -> Counts:
    """Count how often the largest statistic reaches the observed ones, ordered largest first."""
    replicates, seed, method = how
    units = len(family.scores)
    # Flipping all signs does not change |t|: two-sided, the last sign can be fixed.
    free = units - 1 if alternative == "two-sided" else units
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
        # Step-down: each observed t is compared with the largest of itself and all smaller ones.
        maxima = np.maximum.accumulate(statistics[:, ::-1], axis=1)[:, ::-1]
        counts = np.asarray((maxima >= observed - TIE).sum(0, dtype=np.float64))
        return counts, maxima[:, 0].copy()  # a view would keep all maxima in memory

    results = list(run_threads(work, parts))
    counts = np.asarray(sum(counts for counts, _ in results))
    null = NullTail.of(np.concatenate([largest for _, largest in results]), TIE, exact=exact)
    every = f"all {power_text(2, units)} sign assignments"
    detail = every if exact else f"{total:,} replicates, seed {seed}"
    return Counts(counts, total, exact, detail, null)


def _is_enumerable(free: int, method: str) -> bool:
    if method == "exact" and 1 << free > 64 * SIGNS:
        raise InputError(
            f"method='exact': {free} signs are too many to enumerate; use method='auto' or "
            "'monte carlo'"
        )
    return method != "monte carlo" and (method == "exact" or 1 << free <= SIGNS)


def _listed_signs(begin: int, count: int, free: int, units: int) -> Floats:
    """Return the sign assignments numbered from `begin`: bit u is the sign of unit u."""
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
    """Compare every system with a baseline, as Dunnett does, by permutation.

    This is the single-step `max_t`. Unlike `heldout.infer.simultaneous.tukey.dunnett_blocks` it
    assumes neither normal differences nor a common variance.

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
