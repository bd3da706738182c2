"""Tests and intervals for scores of a whole corpus: BLEU, perplexity, and means as well.

Such a score is a function of sums over segments, so the sums are resampled: the signed and drawn
sums of `heldout.infer.draws` are computed for every statistic with the same random numbers,
and the function is applied to all replicates at once. A mean is the special case of two statistics,
a sum and a count.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from heldout.errors import InputError
from heldout.infer.draws import (
    all_signed_sums,
    check_draws,
    drawn_sums,
    power_text,
    signed_sums,
)
from heldout.infer.results import (
    TIE,
    Alternative,
    Interval,
    Outcome,
    PValue,
    check_alternative,
    check_fraction,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike

    from heldout.data.words import Flags, Floats

__all__ = [
    "Replicates",
    "ScoreOfSums",
    "assignments_out",
    "corpus_bootstrap",
    "corpus_randomization_test",
    "observed_difference",
]

ScoreOfSums = Callable[["Floats"], "Floats"]
"""Maps sums of statistics, one row per corpus, to scores; NaN where a score is undefined."""

FEW: Final = 16
"""Differing segments up to which all assignments are enumerated."""


def corpus_randomization_test(
    first: ArrayLike,
    second: ArrayLike,
    score: ScoreOfSums,
    *,
    alternative: Alternative = "two-sided",
    replicates: int = 100_000,
    seed: int = 0,
) -> Outcome:
    """Return the paired approximate randomization test of two corpus scores [1]_ [2]_.

    If the two systems were equally good, each output would be as likely to have come from the other
    system. The p-value is the share of the assignments of outputs to systems whose difference is at
    least as extreme as the observed one: exact for at most 16 differing segments, else by Monte
    Carlo with p = (c + 1) / (B + 1). Assignments with an undefined score count as extreme, which
    keeps the test valid.

    Parameters
    ----------
    first, second
        Statistics of two systems, one row per segment, paired.
    score
        Maps sums of statistics to scores, many at a time.
    alternative
        ``two-sided``, ``greater`` (the first scores higher) or ``less``.
    replicates, seed
        Of the random assignments.

    Returns
    -------
    Outcome
        Its statistic is the first score minus the second.

    References
    ----------
    .. [1] Noreen, E. W. (1989). Computer-Intensive Methods for Testing Hypotheses. Wiley.
    .. [2] Riezler, S., Maxwell, J. T. (2005). On some pitfalls in automatic evaluation and
       significance testing for MT. ACL workshop on evaluation measures, 57-64.

    Examples
    --------
    For means it is Fisher's test; Darwin's maize, as Fisher tested it.

    >>> maize = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
    >>> crossed = np.column_stack([maize, np.ones(15)])
    >>> selfed = np.column_stack([np.zeros(15), np.ones(15)])
    >>> outcome = corpus_randomization_test(crossed, selfed, lambda sums: sums[:, 0] / sums[:, 1])
    >>> round(outcome.p * 32_768), outcome.detail
    (1726, 'all 32,768 assignments')
    """
    one, other = _pair(first, second)
    check_alternative(alternative)
    check_draws(replicates, seed)
    observed, tie = observed_difference(one, other, score)
    differ = (one != other).any(axis=1)
    total = (one + other).sum(axis=0)
    gaps = one[differ] - other[differ]

    def count_out(signed: Floats) -> int:
        sums = (total + signed) / 2
        differences = score(sums) - score(total - sums)
        return _count_out(differences, observed, tie, alternative)

    if len(gaps) <= FEW:
        out = count_out(_all_assignments(gaps))
        detail = (
            f"all {power_text(2, len(gaps))} assignments"
            if len(gaps)
            else "all outputs have equal statistics"
        )
        exact = PValue(out / 2 ** len(gaps), "exact", 0.0, detail)
        return exact.outcome("randomization", observed, alternative, len(one))
    out = sum(count_out(signed) for signed in _signed_rows(gaps, replicates, seed))
    drawn = PValue.monte_carlo(out, replicates, seed)
    return drawn.outcome("randomization", observed, alternative, len(one))


def _all_assignments(gaps: Floats) -> Floats:
    """Return the sums of each column under all signs, one row per assignment."""
    return np.column_stack([all_signed_sums(column) for column in gaps.T])


def _signed_rows(gaps: Floats, replicates: int, seed: int) -> Iterator[Floats]:
    """Yield the sums of each column under random signs; the seed gives all columns equal signs.

    Equal columns are summed once: some statistics are the same by definition, such as the number of
    words and the length, or the reference lengths of two systems.
    """
    distinct, places = np.unique(gaps, axis=1, return_inverse=True)
    columns = [signed_sums(np.ascontiguousarray(one), replicates, seed) for one in distinct.T]
    for blocks in zip(*columns, strict=True):
        yield np.column_stack(blocks)[:, places]


def assignments_out(
    differences: Floats, observed: float, tie: float, alternative: Alternative
) -> Flags:
    """Return which differences are as extreme as the observed one; undefined ones count."""
    if alternative == "two-sided":
        inside = np.abs(differences) < abs(observed) - tie
    elif alternative == "greater":
        inside = differences < observed - tie
    else:
        inside = differences > observed + tie
    return ~inside


def _count_out(differences: Floats, observed: float, tie: float, alternative: Alternative) -> int:
    return int(np.count_nonzero(assignments_out(differences, observed, tie, alternative)))


class Replicates(NamedTuple):
    """Scores of systems on bootstrap resamples of a corpus, the same resamples for all systems.

    Parameters
    ----------
    scores
        One row per replicate, one column per system.
    observed
        The score of each system.
    segments
        The number of segments.
    seed
        The random seed.
    """

    scores: Floats
    observed: Floats
    segments: int
    seed: int

    def interval(self, system: int, level: float = 0.95) -> Interval:
        """Return the percentile interval of the score of a system."""
        return _percentile(self.scores[:, system], float(self.observed[system]), level)

    def difference(self, first: int, second: int, level: float = 0.95) -> Interval:
        """Return the percentile interval of the difference of two scores."""
        differences = self.scores[:, first] - self.scores[:, second]
        return _percentile(differences, float(self.observed[first] - self.observed[second]), level)

    def shift_test(
        self, first: int, second: int, alternative: Alternative = "two-sided"
    ) -> Outcome:
        """Return the paired bootstrap-shift test, centred on the observed difference.

        With few segments (below about 100) it rejects too often: prefer the randomization test.
        """
        check_alternative(alternative)
        observed = float(self.observed[first] - self.observed[second])
        tie = TIE * float(np.abs(self.observed[[first, second]]).sum())
        differences = self.scores[:, first] - self.scores[:, second] - observed
        out = _count_out(differences, observed, tie, alternative)
        drawn = PValue.monte_carlo(out, len(self.scores), self.seed)
        return drawn.outcome("bootstrap-shift", observed, alternative, self.segments)


def _percentile(replicates: Floats, observed: float, level: float) -> Interval:
    check_fraction(level)
    defined = replicates[np.isfinite(replicates)]
    if not len(defined):
        return Interval(observed, math.nan, math.nan, level, "bootstrap percentile")
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return Interval(observed, float(low), float(high), level, "bootstrap percentile")


def corpus_bootstrap(
    systems: Sequence[ArrayLike],
    score: ScoreOfSums,
    *,
    replicates: int = 10_000,
    seed: int = 0,
) -> Replicates:
    """Return scores of systems on bootstrap resamples of the segments, the same for all.

    Parameters
    ----------
    systems
        Statistics of each system, one row per segment, paired.
    score
        Maps sums of statistics to scores, many at a time.
    replicates, seed
        Of the resampling.

    Examples
    --------
    >>> values = np.column_stack([[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], np.ones(6)])
    >>> found = corpus_bootstrap([values], lambda sums: sums[:, 0] / sums[:, 1])
    >>> interval = found.interval(0)
    >>> interval.estimate, round(interval.low, 1), round(interval.high, 1)
    (3.5, 2.2, 4.8)
    """
    tables = [_pair(table, systems[0])[0] for table in systems]
    check_draws(replicates, seed)
    observed = np.array([_score_of(table, score) for table in tables])
    scores = [
        np.column_stack([score(rows) for rows in np.split(sums, len(tables), axis=1)])
        for sums in drawn_sums(np.column_stack(tables), replicates, seed)
    ]
    return Replicates(np.concatenate(scores), observed, len(tables[0]), seed)


def _pair(first: ArrayLike, second: ArrayLike) -> tuple[Floats, Floats]:
    one, other = np.asarray(first, np.float64), np.asarray(second, np.float64)
    if one.ndim != 2 or one.shape != other.shape:
        raise InputError(
            f"statistics: shapes {one.shape} and {other.shape}, expected the same rows (segments) "
            "and columns for all systems"
        )
    if len(one) < 2:
        raise InputError(f"statistics: expected at least 2 segments, found {len(one)}")
    if not (np.isfinite(one).all() and np.isfinite(other).all()):
        raise InputError("statistics: expected finite numbers")
    return one, other


def _score_of(table: Floats, score: ScoreOfSums) -> float:
    return float(score(table.sum(axis=0, keepdims=True))[0])


def observed_difference(one: Floats, other: Floats, score: ScoreOfSums) -> tuple[float, float]:
    """Return the difference of the scores, and the tolerance within which others are ties."""
    scores = _score_of(one, score), _score_of(other, score)
    if not all(map(math.isfinite, scores)):
        raise InputError("the score of a system is undefined and cannot be tested")
    return scores[0] - scores[1], TIE * (abs(scores[0]) + abs(scores[1]))
