"""Tests and intervals for scores of a whole corpus: BLEU, perplexity, and means alike.

Such a score is a function of sums over segments. The sums are resampled, not the score: the signed
and drawn sums of `heldout.infer.tests.draws` are taken for every statistic with the same signs and
draws, and the function is applied to all replicates at once. A mean is the special case of two
statistics, a sum and a count.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from heldout.data.notes import power_text
from heldout.errors import InputError
from heldout.infer.results import TIE, Alternative, Interval, Outcome, check_alternative
from heldout.infer.tests.draws import all_signed_sums, check_draws, drawn_sums, signed_sums

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
    "monte_carlo",
    "observed_difference",
]

ScoreOfSums = Callable[["Floats"], "Floats"]
"""Turns sums of statistics, a row a corpus, into scores; NaN where a score is not defined."""

FEW: Final = 16
"""Up to so many segments that differ, all assignments are gone through."""


def corpus_randomization_test(
    first: ArrayLike,
    second: ArrayLike,
    score: ScoreOfSums,
    *,
    alternative: Alternative = "two-sided",
    replicates: int = 100_000,
    seed: int = 0,
) -> Outcome:
    """Paired approximate randomization of the difference of two corpus scores [1]_ [2]_.

    Were the two systems the same, the output for each segment could as well have come from the
    other one. The p-value is the share of the assignments of outputs to systems whose difference
    is at least as far out as the one observed: exact for at most 16 segments that differ, else
    by Monte Carlo with p = (c + 1) / (B + 1). Assignments with an undefined score count as
    far out, which keeps the test valid.

    Parameters
    ----------
    first, second
        Statistics of two systems, a row a segment, paired.
    score
        Turns sums of statistics into scores, many at a time.
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
    Of means it is Fisher's test; Darwin's maize, as Fisher tested it.

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
        found = score(sums) - score(total - sums)
        return _count_out(found, observed, tie, alternative)

    if len(gaps) <= FEW:
        out = count_out(_all_assignments(gaps))
        detail = (
            f"all {power_text(2, len(gaps))} assignments"
            if len(gaps)
            else "the outputs score alike"
        )
        return Outcome(
            "randomization",
            out / 2 ** len(gaps),
            observed,
            alternative,
            len(one),
            "exact",
            0.0,
            detail,
        )
    out = sum(count_out(signed) for signed in _signed_rows(gaps, replicates, seed))
    return monte_carlo("randomization", out, replicates, seed, (observed, alternative, len(one)))


def _all_assignments(gaps: Floats) -> Floats:
    """Sums of each column under all signs, a row an assignment."""
    return np.column_stack([all_signed_sums(column) for column in gaps.T])


def _signed_rows(gaps: Floats, replicates: int, seed: int) -> Iterator[Floats]:
    """Sums of each column under random signs; equal seeds give all columns the same signs.

    Columns that are the same are summed once: the length of a text is the number of its words, and
    two systems have the length of the reference in common.
    """
    distinct, places = np.unique(gaps, axis=1, return_inverse=True)
    columns = [signed_sums(np.ascontiguousarray(one), replicates, seed) for one in distinct.T]
    for blocks in zip(*columns, strict=True):
        yield np.column_stack(blocks)[:, places]


def monte_carlo(
    test: str, out: int, replicates: int, seed: int, about: tuple[float, Alternative, int]
) -> Outcome:
    """The outcome of a test that drew: ``about`` is the statistic, the alternative, the units."""
    p = (out + 1) / (replicates + 1)
    error = math.sqrt(p * (1 - p) / replicates)
    detail = f"{replicates:,} draws, seed {seed}"
    return Outcome(test, p, *about, "monte carlo", error, detail)


def assignments_out(found: Floats, observed: float, tie: float, alternative: Alternative) -> Flags:
    """Which differences are as far out as the observed one; what is undefined counts as out."""
    if alternative == "two-sided":
        inside = np.abs(found) < abs(observed) - tie
    elif alternative == "greater":
        inside = found < observed - tie
    else:
        inside = found > observed + tie
    return ~inside


def _count_out(found: Floats, observed: float, tie: float, alternative: Alternative) -> int:
    return int(np.count_nonzero(assignments_out(found, observed, tie, alternative)))


class Replicates(NamedTuple):
    """Scores of some systems on corpora drawn with replacement, the same ones for all systems.

    Parameters
    ----------
    scores
        A row a replicate, a column a system.
    observed
        The score of each system.
    segments
        How many segments there are.
    seed
        Of the draws.
    """

    scores: Floats
    observed: Floats
    segments: int
    seed: int

    def interval(self, system: int, level: float = 0.95) -> Interval:
        """The percentile interval of a system's score."""
        return _percentile(self.scores[:, system], float(self.observed[system]), level)

    def difference(self, first: int, second: int, level: float = 0.95) -> Interval:
        """The percentile interval of the score of a system minus that of another."""
        found = self.scores[:, first] - self.scores[:, second]
        return _percentile(found, float(self.observed[first] - self.observed[second]), level)

    def shift_test(
        self, first: int, second: int, alternative: Alternative = "two-sided"
    ) -> Outcome:
        """The paired bootstrap-shift test of the difference, recentred by the observed one.

        With few segments (below about 100) it rejects too often: prefer the randomization test.
        """
        check_alternative(alternative)
        observed = float(self.observed[first] - self.observed[second])
        tie = TIE * float(np.abs(self.observed[[first, second]]).sum())
        found = self.scores[:, first] - self.scores[:, second] - observed
        out = _count_out(found, observed, tie, alternative)
        about = (observed, alternative, self.segments)
        return monte_carlo("bootstrap-shift", out, len(self.scores), self.seed, about)


def _percentile(found: Floats, observed: float, level: float) -> Interval:
    if not 0 < level < 1:
        raise InputError(f"level={level}: expected a number between 0 and 1, such as 0.95")
    defined = found[np.isfinite(found)]
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
    """Scores of systems on corpora of segments drawn with replacement, the same for all.

    Parameters
    ----------
    systems
        Statistics of each system, a row a segment, paired.
    score
        Turns sums of statistics into scores, many at a time.
    replicates, seed
        Of the draws.

    Examples
    --------
    >>> values = np.column_stack([[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], np.ones(6)])
    >>> found = corpus_bootstrap([values], lambda sums: sums[:, 0] / sums[:, 1])
    >>> interval = found.interval(0)
    >>> interval.estimate, round(interval.low, 1), round(interval.high, 1)
    (3.5, 2.2, 4.8)
    """
    tables = [_pair(one, systems[0])[0] for one in systems]
    check_draws(replicates, seed)
    observed = np.array([_score_of(one, score) for one in tables])
    columns = [np.ascontiguousarray(column) for one in tables for column in one.T]
    width = tables[0].shape[1]
    found = []
    for sums in drawn_sums(columns, replicates, seed):
        rows = [np.column_stack(sums[at : at + width]) for at in range(0, len(columns), width)]
        found.append(np.column_stack([score(one) for one in rows]))
    return Replicates(np.concatenate(found), observed, len(tables[0]), seed)


def _pair(first: ArrayLike, second: ArrayLike) -> tuple[Floats, Floats]:
    one, other = np.asarray(first, np.float64), np.asarray(second, np.float64)
    if one.ndim != 2 or one.shape != other.shape:
        raise InputError(
            f"statistics: shapes {one.shape} and {other.shape}, expected the same rows (segments) "
            "and columns for all systems"
        )
    if len(one) < 2:
        raise InputError(f"statistics: {len(one)} segments, but at least 2 are needed")
    if not (np.isfinite(one).all() and np.isfinite(other).all()):
        raise InputError("statistics: a number is not finite")
    return one, other


def _score_of(table: Floats, score: ScoreOfSums) -> float:
    return float(score(table.sum(axis=0, keepdims=True))[0])


def observed_difference(one: Floats, other: Floats, score: ScoreOfSums) -> tuple[float, float]:
    """The difference, and how much less still counts as much: scores are rounded."""
    scores = _score_of(one, score), _score_of(other, score)
    if not all(map(math.isfinite, scores)):
        raise InputError("the score of a system is not defined: there is nothing to test")
    return scores[0] - scores[1], TIE * (abs(scores[0]) + abs(scores[1]))
