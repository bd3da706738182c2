"""Romano-Wolf step-down comparisons by the bootstrap-t: the default for three or more systems.

Every pair is studentized by its own standard error: with one pooled error term (Tukey) pairs whose
differences vary more than others are rejected too often. Units are drawn with the scores of all
systems, so that the dependence between pairs is that of the data: a correction for the number of
pairs alone (Holm) ignores it and loses power. Sign flips would assume symmetric differences.
"""

from __future__ import annotations

import math
from contextlib import nullcontext
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from heldout.data.parallel import stream_threads
from heldout.infer.blocks import as_scores
from heldout.infer.draws import check_draws
from heldout.infer.pairwise import (
    Counts,
    NullTail,
    Pairwise,
    check_family,
    pair_columns,
    piece_generator,
    symmetric_p,
)
from heldout.infer.results import check_alternative, do_not_vary, drop_noise

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from heldout.data.scores import MachineScores
    from heldout.data.words import Floats, Ints
    from heldout.infer.both_judgements import BothReplicates
    from heldout.infer.results import Alternative

    Numbers = NDArray[np.floating[Any]]

__all__ = ["FEW", "PairStatistics", "pair_statistics", "replicates_made", "romano_wolf"]

FEW: Final = 15
"""Below this number of units, a pair without variance in a replicate counts as infinite."""

LEAST: Final = 10_000
"""Replicates at least, if that many are requested, for any number of pairs."""

STATISTICS: Final = 10**9
"""Statistics (pairs x replicates) up to which there are more replicates, ..."""

DRAWN_UNITS: Final = 3 * 10**7
"""... and drawn units (units x replicates) up to which there are more."""

NORMAL: Final = 10_000
"""Above this number of units, means are drawn from their normal limit."""

SINGLE: Final = 10**8
"""Statistics above which single precision is used."""

REPLICATE_BLOCK: Final = 4096
"""Replicates per piece of work at most, and ..."""

COUNT_BLOCK: Final = 1 << 22
"""... counts of units in it at most (32 MB)."""

ENDLESS: Final = 1e12
"""Larger statistics come from replicates without variance, and mean infinity."""

PAIR_BLOCK: Final = 1 << 18
"""Statistics in memory at a time, so that they stay in the cache."""


class PairStatistics(NamedTuple):
    """The differences of pairs of systems.

    Parameters
    ----------
    first, second
        The columns of the systems.
    mean
        The mean of the first minus the mean of the second.
    error
        Its standard error; 0 if all units have the same difference.
    differ
        The number of units on which they differ.
    """

    first: Ints
    second: Ints
    mean: Floats
    error: Floats
    differ: Ints

    @property
    def t(self) -> Floats:
        """Means over standard errors; for constant differences infinite, or 0 if they are 0."""
        constant = np.where(self.mean == 0, 0.0, np.copysign(np.inf, self.mean))
        return np.divide(self.mean, self.error, out=constant, where=self.error > 0)

    def largest_t(self, units: int) -> Floats:
        """Return the largest possible t, given the number of units on which systems differ.

        By the inequality of Cauchy and Schwarz the squared mean of n differences, m of them not 0,
        is at most m / n of their mean square.
        """
        same = units - self.differ
        ratio = np.full(len(same), np.inf)
        np.divide(self.differ * (units - 1), same, out=ratio, where=same > 0)
        return np.asarray(np.sqrt(ratio))


def pair_statistics(values: Floats, first: Ints, second: Ints) -> PairStatistics:
    """Return means and standard errors of differences, block by block to bound the memory.

    Parameters
    ----------
    values
        Units x systems.
    first, second
        The columns of each pair.
    """
    units = len(values)
    mean, error = np.empty(len(first)), np.empty(len(first))
    differ = np.empty(len(first), np.intp)
    size = max(1, COUNT_BLOCK // units)
    for start in range(0, len(first), size):
        part = slice(start, start + size)
        gaps = drop_noise(values[:, first[part]], values[:, second[part]])
        mean[part] = gaps.mean(0)
        differ[part] = np.count_nonzero(gaps, 0)
        deviation = gaps.std(0, ddof=1)
        constant = do_not_vary(gaps)
        mean[part] = np.where(constant, gaps[0], mean[part])
        error[part] = np.where(constant, 0.0, deviation / math.sqrt(units))
    return PairStatistics(first, second, mean, error, differ)


def replicates_made(asked: int, pairs: int, units: int) -> int:
    """Return the number of replicates: fewer than requested for very many pairs or units.

    Parameters
    ----------
    asked
        The number requested.
    pairs, units
        The size of the problem.
    """
    work = min(STATISTICS // max(pairs, 1), DRAWN_UNITS // min(units, NORMAL))
    return min(asked, max(LEAST, work))


def romano_wolf(
    scores: ArrayLike,
    baseline: int | None = None,
    *,
    alternative: Alternative = "two-sided",
    replicates: int = 100_000,
    seed: int = 0,
    machine: MachineScores | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Pairwise:
    """Return step-down p-values of all pairs, or of all systems against a baseline.

    The statistic of a pair is its mean difference over its standard error. Units are drawn with
    replacement; in each replicate the mean difference minus the observed one is divided by the
    standard error in the replicate. The p-value of a pair is the share of replicates whose largest
    statistic, over this pair and those with smaller observed statistics, is at least the observed
    one, (c + 1) / (B + 1), made monotone. The `null` of the result is the largest statistic of all
    pairs (single step), for simultaneous intervals.

    One-sided p-values are at least half of those of the absolute statistics: with few units and
    skewed differences, the signed statistics alone give p-values that are too small.

    A pair whose scores differ on m of n units only cannot have a t above root(m(n-1) / (n-m)). From
    15 units on its statistic is cut there in replicates: else a single system that is nearly a
    copy of another would make the largest statistic so large that no pair could be significant.

    A pair that does not vary in a replicate (all drawn units have the same difference) is left out
    of the maximum of that replicate; with fewer than 15 units, for which such replicates are
    frequent, it counts as infinite, which is conservative. A pair with the same difference on all
    units has no standard error: identical systems have p = 1, another constant has the p-value of a
    sign-flip test, 2^(1-n) (one-sided 2^-n), times the number of pairs. With more than 10,000
    units, the means are drawn from their normal limit.

    Parameters
    ----------
    scores
        Units x systems, complete.
    baseline
        Compare all systems with this column; all pairs if None.
    alternative
        ``two-sided``, ``greater`` (better than the baseline) or ``less``; all pairs are
        two-sided.
    replicates
        Bootstrap replicates. There are fewer, but at least 10,000, where pairs times replicates
        exceed 10^9, or units times replicates 3 x 10^7.
    seed
        Random seed.
    machine
        Scores of the same systems under machine judgements: differences are then combined
        estimates (`heldout.infer.prediction_powered`), and both sets of units are drawn.
    progress
        Called with the number of replicates done so far and the number of all replicates.

    Returns
    -------
    Pairwise
        The adjusted p-value of each comparison.

    References
    ----------
    J. P. Romano and M. Wolf, Exact and approximate stepdown methods for multiple hypothesis
    testing, J. Am. Stat. Assoc. 100 (2005) 94-108; J. P. Romano and M. Wolf, Stepwise multiple
    testing as formalized data snooping, Econometrica 73 (2005) 1237-1282.

    Examples
    --------
    >>> generator = np.random.default_rng(1)
    >>> topics = generator.normal(0, 1, (40, 1))
    >>> scores = topics + generator.normal([0, 0, 1], 1, (40, 3))
    >>> found = romano_wolf(scores, replicates=9999)
    >>> found[2, 0] < 0.05, found[1, 0] > 0.05
    (True, True)
    """
    check_draws(replicates, seed)
    values, alternative = as_scores(scores), check_alternative(alternative)
    units, systems = values.shape
    check_family(systems, baseline, alternative)
    statistics = _statistics(values, machine, *pair_columns(systems, baseline))
    drawn = units if machine is None else units + len(machine.extra)
    total = replicates_made(replicates, len(statistics.first), drawn)
    evidence = _evidence(statistics.t, alternative)
    vary = np.flatnonzero(statistics.error > 0)
    order = vary[np.argsort(evidence[vary], kind="stable")]  # smallest first
    family = _Family(values, statistics, order, alternative, seed, machine)
    counts = family.tally(evidence[order], total, progress)
    if alternative != "two-sided":
        counts = _one_sided(
            counts, family._replace(alternative="two-sided").tally(evidence[order], total)
        )
    adjusted = np.empty(len(evidence))
    adjusted[order] = np.maximum.accumulate(counts.p()[::-1])[::-1]
    constant = statistics.error == 0
    adjusted[constant] = _constant_p(evidence[constant], units, len(evidence), alternative)
    return counts.result(symmetric_p(systems, statistics.first, statistics.second, adjusted))


def _statistics(
    values: Floats, machine: MachineScores | None, first: Ints, second: Ints
) -> PairStatistics:
    if machine is None:
        return pair_statistics(values, first, second)
    from heldout.infer.both_judgements import combined_statistics

    return combined_statistics(values, machine, first, second)


def _evidence(t: Floats, alternative: Alternative) -> Floats:
    """Return statistics that are larger for stronger evidence."""
    if alternative == "two-sided":
        return np.abs(t)
    return t if alternative == "greater" else -t


def _constant_p(evidence: Floats, units: int, pairs: int, alternative: Alternative) -> Floats:
    """Return the p-values of constant differences, whose statistic is 0 or infinite."""
    flips = 2.0 ** (1 - units if alternative == "two-sided" else -units)
    return np.where(evidence > 0, min(1.0, pairs * flips), 1.0)


def _one_sided(signed: Counts, absolute: Counts) -> Counts:
    """Return the larger of the one-sided p-value and half of that of the absolute statistics."""
    counts = np.maximum(signed.counts, (absolute.counts - 1) / 2)
    # Intervals must agree: the signed statistic of rank r has p = (r + 2) / (B + 1), and half of
    # the p-value of the absolute statistic of rank 2r + 2 is about the same. Take the larger.
    last = len(signed.null.values) - 1
    twice = np.minimum(2 * np.arange(last + 1) + 2, last)
    values = np.maximum(signed.null.values, absolute.null.values[twice])
    return signed._replace(counts=counts, null=signed.null._replace(values=values))


class _Family(NamedTuple):
    """Pairs that vary, in the order of the evidence, smallest first."""

    values: Floats
    seen: PairStatistics
    order: Ints
    alternative: Alternative
    seed: int
    machine: MachineScores | None = None

    def tally(
        self,
        observed: Floats,
        total: int,
        progress: Callable[[int, int], None] | None = None,
    ) -> Counts:
        """Count how often the running maximum of the statistics reaches the observed ones."""
        units = len(self.values) + (0 if self.machine is None else len(self.machine.extra))
        single = len(observed) * total > SINGLE and self.machine is None
        noise = 1e-4 if single else 1e-9
        kind: np.dtype[np.floating[Any]] = np.dtype(np.float32 if single else np.float64)
        replicates = self._replicates(kind)
        thresholds = (observed - noise).astype(kind)
        size = max(1, min(REPLICATE_BLOCK, COUNT_BLOCK // min(units, NORMAL)))
        work = [(at, min(size, total - start)) for at, start in enumerate(range(0, total, size))]
        counts, largest, done = np.zeros(len(observed)), [], 0

        def compare(piece: tuple[int, int]) -> tuple[Ints, Numbers]:
            return replicates.compare(piece, thresholds)

        # Pieces run in parallel; multithreaded matrix products would oversubscribe the cores.
        with _blas().limit(limits=1, user_api="blas") if len(work) > 1 else nullcontext():
            for reached, maxima in stream_threads(compare, work):
                counts += reached
                largest.append(maxima)
                done += len(maxima)
                if progress:
                    progress(done, total)
        null_maxima = np.concatenate(largest).astype(np.float64)
        null_maxima[null_maxima > ENDLESS] = np.inf
        null = NullTail.of(null_maxima, noise)
        return Counts(counts, total, f"{total:,} replicates, seed {self.seed}", null)

    def _replicates(self, kind: np.dtype[np.floating[Any]]) -> _Replicates | BothReplicates:
        if self.machine is None:
            return _Replicates(self, kind)
        from heldout.infer.both_judgements import BothReplicates

        first, second, mean, error, differ = self.seen
        at = self.order
        pairs = PairStatistics(first[at], second[at], mean[at], error[at], differ[at])
        return BothReplicates(self.values, self.machine, pairs, self.alternative, self.seed)


@lru_cache(maxsize=1)
def _blas() -> Any:
    """Return the thread pools of this process, which are slow to find."""
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    return ThreadpoolController()


class _Replicates:
    """Studentized statistics of replicates, piece by piece."""

    def __init__(self, family: _Family, kind: np.dtype[np.floating[Any]]) -> None:
        seen, order, values = family.seen, family.order, family.values
        self.kind = kind
        self.seed = family.seed
        self.alternative = family.alternative
        self.first, self.second = seen.first[order], seen.second[order]
        self.units = len(values)
        self.centred = np.ascontiguousarray((values - values.mean(0)).T)  # systems x units
        self.deviation = seen.error[order] * math.sqrt(self.units - 1)  # of 1/n
        # In place of a variance of 0: the statistic becomes 0, or as large as can be.
        self.no_variance = np.inf if self.units >= FEW else float(np.finfo(kind).tiny)
        self.flat = 1e-5 if kind == np.float32 else 1e-10
        limit = seen.largest_t(self.units)[order] if self.units >= FEW else np.inf
        self.limit = np.broadcast_to(np.asarray(limit, kind), order.shape)

    def compare(self, piece: tuple[int, int], thresholds: Numbers) -> tuple[Ints, Numbers]:
        """Return how many replicates reach each threshold, and the largest statistic of each."""
        generator = piece_generator(self.seed, piece[0])
        count = piece[1]
        normal = self.units > NORMAL
        statistics = self._limiting_statistics if normal else self._statistics
        drawn = self._normal_means(generator, count) if normal else self._weights(generator, count)
        reached = np.empty(len(self.first), np.int64)
        running = np.full(count, 0 if self.alternative == "two-sided" else -np.inf, self.kind)
        size = max(1, PAIR_BLOCK // count)
        for start in range(0, len(self.first), size):
            part = slice(start, start + size)
            # The pairs come smallest observed first, so `running` is the maximum over this pair and
            # all with less evidence: all steps of the step-down procedure in one pass. Row by row,
            # because NumPy's accumulate along the first axis takes twenty times as long.
            for at, row in enumerate(self._evidence(statistics(part, drawn)), start):
                np.maximum(running, row, out=running)
                reached[at] = np.count_nonzero(running >= thresholds[at])
        return reached, running

    def _weights(self, generator: np.random.Generator, count: int) -> Numbers:
        """Return how often each unit is drawn, over the number of units: units x replicates."""
        drawn = generator.integers(0, self.units, (count, self.units), np.int32)
        drawn += np.arange(0, count * self.units, self.units, dtype=np.int32)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=count * self.units)
        weights = (counts.reshape(count, self.units).T / self.units).astype(self.kind)
        return np.ascontiguousarray(weights)

    def _normal_means(self, generator: np.random.Generator, count: int) -> Numbers:
        """Return means of the systems in the limit of many units: systems x replicates."""
        covariance = np.atleast_2d(np.cov(self.centred, ddof=0))
        sizes, axes = np.linalg.eigh(covariance / self.units)
        root = axes * np.sqrt(np.maximum(sizes, 0))
        means = root @ generator.standard_normal((len(root), count))
        return np.asarray(means, self.kind)

    def _statistics(self, part: slice, drawn: Numbers) -> Numbers:
        """Return the studentized differences of some pairs: pairs x replicates."""
        gaps = self.centred[self.first[part]] - self.centred[self.second[part]]
        # In standard deviations of the pair: single precision is then enough for every pair.
        gaps /= self.deviation[part, None]
        found: Numbers = gaps.astype(self.kind) @ drawn
        variance = np.square(gaps, out=gaps).astype(self.kind) @ drawn
        variance -= found * found
        variance[variance <= self.flat] = self.no_variance
        variance /= self.units - 1
        np.sqrt(variance, out=variance)
        found /= variance
        limit = self.limit[part, None]
        if np.isfinite(limit).any():
            np.clip(found, -limit, limit, out=found)
        return found

    def _limiting_statistics(self, part: slice, drawn: Numbers) -> Numbers:
        """Return the same where means are normal and standard errors do not vary."""
        found: Numbers = drawn[self.first[part]]  # means of systems
        found -= drawn[self.second[part]]
        found /= (self.deviation[part, None] / math.sqrt(self.units - 1)).astype(self.kind)
        return found

    def _evidence(self, statistics: Numbers) -> Numbers:
        """Return the statistics, larger for stronger evidence; they are changed in place."""
        if self.alternative == "two-sided":
            np.abs(statistics, out=statistics)
        elif self.alternative == "less":
            np.negative(statistics, out=statistics)
        return statistics
