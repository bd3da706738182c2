"""Romano-Wolf step-down comparisons by the bootstrap-t: the default for three or more systems.

Every pair is studentized by its own standard error: with one pooled error term (Tukey) pairs whose
differences vary more than others are rejected too often. Units are drawn with the scores of all
systems, so that the dependence between pairs is that of the data: a correction for the number of
pairs alone (Holm) ignores it and loses power. Sign flips would assume symmetric differences.

J. P. Romano and M. Wolf, Exact and approximate stepdown methods for multiple hypothesis testing,
J. Am. Stat. Assoc. 100 (2005) 94-108; the same, Stepwise multiple testing as formalized data
snooping, Econometrica 73 (2005) 1237-1282.
"""

from __future__ import annotations

import math
from contextlib import nullcontext
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from heldout.data.parallel import stream_threads
from heldout.infer.draws import check_draws
from heldout.infer.results import Estimate, drop_noise, mean_estimate

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from heldout.data.scores import MachineScores
    from heldout.data.words import Floats, Ints
    from heldout.infer.results import Alternative

    Numbers = NDArray[np.floating[Any]]

FEW: Final = 15  # units below which a pair without variance in a replicate counts as infinite
LEAST: Final = 10_000  # replicates at least, if that many are requested, for any number of pairs
STATISTICS: Final = 10**9  # pairs x replicates up to which there are more replicates, ...
DRAWN_UNITS: Final = 3 * 10**7  # ... and units x replicates up to which there are more
NORMAL: Final = 10_000  # units above which means are drawn from their normal limit
SINGLE: Final = 10**8  # pairs x replicates above which single precision is used
REPLICATE_BLOCK: Final = 4096  # replicates per piece of work at most, and ...
COUNT_BLOCK: Final = 1 << 22  # ... counts of units in it at most (32 MB)
PAIR_BLOCK: Final = 1 << 18  # statistics or differences at a time, so that they stay in the cache
ENDLESS: Final = 1e12  # larger statistics come from replicates without variance: infinity

# Of a statistic: larger for stronger evidence.
EVIDENCE: Final = {"two-sided": np.abs, "greater": np.positive, "less": np.negative}


class StepDown(NamedTuple):
    """Step-down p-values of pairs of systems, and the largest statistics under the null."""

    p: Floats  # systems x systems, symmetric: 1 on the diagonal, NaN for pairs not compared
    null: Floats  # the largest statistic of all pairs in each replicate, in falling order
    noise: float  # statistics that differ by at most this are ties
    detail: str  # such as "100,000 replicates, seed 0"

    @property
    def draws(self) -> int:
        """The number of replicates."""
        return len(self.null)

    def critical(self, alpha: float) -> float:
        """Return the critical value of all pairs at once; infinite if no statistic is that large.

        Simultaneous intervals with it exclude 0 exactly if the single-step test rejects.
        """
        p = np.arange(2.0, self.draws + 2) / (self.draws + 1)  # of each statistic
        rejected = int(np.searchsorted(p, alpha, side="right"))
        # The last p-value is 1 up to rounding.
        last = min(rejected, self.draws - 1)
        return float(self.null[last]) + self.noise if rejected else math.inf


def pair_columns(systems: int, baseline: int | None) -> tuple[Ints, Ints]:
    """Return the columns of each pair: every later and earlier system, or others and baseline."""
    if baseline is None:
        second, first = np.triu_indices(systems, 1)
        return first, second
    return np.delete(np.arange(systems), baseline), np.full(systems - 1, baseline)


def pair_statistics(
    values: Floats, first: Ints, second: Ints, machine: MachineScores | None = None
) -> Estimate:
    """Return the mean (or combined) differences of pairs of columns, first minus second."""
    if machine is not None:
        from heldout.infer.prediction_powered import combined_statistics  # needs this module

        return combined_statistics(values, machine, first, second)

    def means(first: Ints, second: Ints) -> Floats:
        estimate = mean_estimate(drop_noise(values[:, first], values[:, second]))
        return np.stack([estimate.value, estimate.error])

    value, error = in_blocks(means, first, second, len(values))
    return Estimate(value, error, len(values) - 1, "t")


def in_blocks(
    function: Callable[[Ints, Ints], NDArray[Any]], first: Ints, second: Ints, units: int
) -> NDArray[Any]:
    """Return a function of pairs, the last axis of its result, block by block to bound memory."""
    size = max(1, PAIR_BLOCK // units)
    parts = [slice(start, start + size) for start in range(0, max(1, len(first)), size)]
    return np.concatenate([function(first[part], second[part]) for part in parts], axis=-1)


def largest_t(values: Floats, first: Ints, second: Ints) -> Floats:
    """Return the largest possible t of pairs, given the number of units on which they differ.

    By Cauchy and Schwarz the squared mean of n differences, m of them not 0, is at most m / n of
    their mean square.
    """

    def differing(first: Ints, second: Ints) -> Ints:
        gaps = drop_noise(values[:, first], values[:, second])
        return np.asarray(np.count_nonzero(gaps, axis=0))

    units = len(values)
    differ = in_blocks(differing, first, second, units)
    ratio = np.full(len(differ), np.inf)
    np.divide(differ * (units - 1), units - differ, out=ratio, where=differ < units)
    return np.asarray(np.sqrt(ratio))


def replicates_made(asked: int, pairs: int, units: int) -> int:
    """Return the number of replicates: fewer than requested for very many pairs or units."""
    work = min(STATISTICS // max(pairs, 1), DRAWN_UNITS // min(units, NORMAL))
    return min(asked, max(LEAST, work))


def draw_weights(generator: np.random.Generator, units: int, count: int) -> Floats:
    """Return how often each unit is drawn, over the number of units: units x replicates."""
    drawn = generator.integers(0, units, (count, units), np.int64)
    drawn += np.arange(0, count * units, units)[:, None]
    counts = np.bincount(drawn.ravel(), minlength=count * units)
    return np.ascontiguousarray(counts.reshape(count, units).T / units)


def romano_wolf(
    values: Floats,
    baseline: int | None = None,
    *,
    alternative: Alternative = "two-sided",
    machine: MachineScores | None = None,
    replicates: int = 100_000,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> StepDown:
    """Return step-down p-values of all pairs (two-sided), or of all systems against a baseline.

    The statistic of a pair is its mean difference over its standard error. Units are drawn with
    replacement; p is the share of replicates whose largest centred statistic, over this pair and
    those with smaller observed ones, is at least the observed one, (c + 1) / (B + 1), made
    monotone. One-sided p-values are at least half of those of the absolute statistics: with few
    units and skewed differences, the signed statistics alone give p-values that are too small.

    A pair that differs on m of n units only cannot have a t above root(m(n-1) / (n-m)). From 15
    units on it is cut there in replicates: else a system that is nearly a copy of another would
    make the largest statistic so large that no pair could be significant. A pair that does not vary
    in a replicate is left out of it; with fewer than 15 units it counts as infinite, which is
    conservative. A pair with the same difference on all units has the p of its `Estimate` times the
    number of pairs. With more than 10,000 units, means are drawn from their normal limit. With a
    `machine`, differences are combined estimates, and both sets of units are drawn.
    """
    check_draws(replicates, seed)
    systems = values.shape[1]
    first, second = pair_columns(systems, baseline)
    drawn_units = len(values) + (0 if machine is None else len(machine.extra))
    estimate = pair_statistics(values, first, second, machine)
    evidence = EVIDENCE[alternative](estimate.t)
    varying = np.flatnonzero(estimate.error > 0)
    order = varying[np.argsort(evidence[varying], kind="stable")]  # smallest first
    total = replicates_made(replicates, len(first), drawn_units)
    single = len(order) * total > SINGLE and machine is None
    noise, kind = (1e-4, np.dtype(np.float32)) if single else (1e-9, np.dtype(np.float64))
    pairs = first[order], second[order], estimate.error[order]
    if machine is None:
        replicated: Any = _Replicates(values, *pairs, kind)
    else:
        from heldout.infer.prediction_powered import BothReplicates

        replicated = BothReplicates(values, machine, *pairs)
    family = _Family(
        replicated,
        (evidence[order] - noise).astype(kind),
        (alternative,) if alternative == "two-sided" else (alternative, "two-sided"),
        min(drawn_units, NORMAL),
        seed,
    )
    counts, null = family.tally(total, progress)
    # Pairs that do not vary are adjusted by Bonferroni.
    adjusted = np.minimum(len(first) * estimate.p(alternative), 1.0)
    p = np.minimum((counts + 1) / (total + 1), 1.0)
    adjusted[order] = np.maximum.accumulate(p[::-1])[::-1]
    table = np.full((systems, systems), math.nan)
    np.fill_diagonal(table, 1.0)
    table[first, second] = table[second, first] = adjusted
    return StepDown(table, null, noise, f"{total:,} replicates, seed {seed}")


class _Family(NamedTuple):
    """Pairs that vary, smallest observed first, and how their evidence is counted."""

    replicates: Any  # `_Replicates` or `BothReplicates` of these pairs
    thresholds: Numbers  # the observed evidence, less a tolerance
    sides: tuple[Alternative, ...]
    units: int  # in memory, of each replicate
    seed: int

    def tally(
        self, total: int, progress: Callable[[int, int], None] | None
    ) -> tuple[Floats, Floats]:
        """Return how many replicates reach each observed statistic, and their largest ones."""
        size = max(1, min(REPLICATE_BLOCK, COUNT_BLOCK // self.units))
        pieces = [
            (number, min(size, total - start)) for number, start in enumerate(range(0, total, size))
        ]
        counts, largest, done = np.zeros((len(self.sides), len(self.thresholds))), [], 0
        # Pieces run in parallel; multithreaded matrix products would oversubscribe the cores.
        with _blas().limit(limits=1, user_api="blas") if len(pieces) > 1 else nullcontext():
            for reached, maxima in stream_threads(self._compare, pieces):
                counts += reached
                largest.append(maxima)
                done += maxima.shape[1]
                if progress:
                    progress(done, total)
        null = np.concatenate(largest, axis=1).astype(np.float64)
        null[null > ENDLESS] = np.inf
        null = np.sort(null)[:, ::-1]
        if len(self.sides) == 1:
            return counts[0], null[0]
        # Intervals must agree: the signed statistic of rank r has p = (r + 2) / (B + 1), and half
        # of the p-value of the absolute statistic of rank 2r + 2 is about the same: the larger.
        twice = np.minimum(2 * np.arange(total) + 2, total - 1)
        return np.maximum(counts[0], (counts[1] - 1) / 2), np.maximum(null[0], null[1][twice])

    def _compare(self, piece: tuple[int, int]) -> tuple[Ints, Numbers]:
        """Return how many replicates reach each threshold, and the largest statistic of each."""
        number, count = piece
        generator = np.random.default_rng(np.random.SeedSequence([self.seed, number]))
        drawn = self.replicates.draw(generator, count)
        reached = np.empty((len(self.sides), len(self.thresholds)), np.int64)
        running = np.full((len(self.sides), count), -np.inf, self.thresholds.dtype)
        size = max(1, PAIR_BLOCK // max(count, self.units))
        for start in range(0, len(self.thresholds), size):
            statistics = self.replicates.statistics(slice(start, start + size), drawn)
            # The pairs come smallest observed first, so `running` is the maximum over this pair and
            # all with less evidence: all steps of the step-down procedure in one pass. Row by row,
            # because NumPy's accumulate along the first axis takes twenty times as long.
            for pair, row in enumerate(statistics, start):
                for side, name in enumerate(self.sides):
                    largest = np.maximum(running[side], EVIDENCE[name](row), out=running[side])
                    reached[side, pair] = np.count_nonzero(largest >= self.thresholds[pair])
        return reached, running


@lru_cache(maxsize=1)
def _blas() -> Any:
    """Return the thread pools of this process, which are slow to find."""
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    return ThreadpoolController()


class _Replicates:
    """Replicates of means over units."""

    def __init__(
        self, values: Floats, first: Ints, second: Ints, error: Floats, kind: np.dtype[Any]
    ) -> None:
        self.first, self.second, self.kind = first, second, kind
        self.units = len(values)
        self.centred = np.ascontiguousarray((values - values.mean(0)).T)  # systems x units
        self.deviation = error * math.sqrt(self.units - 1)  # of 1/n
        # In place of a variance of 0: the statistic becomes 0, or as large as can be.
        self.no_variance = np.inf if self.units >= FEW else float(np.finfo(kind).tiny)
        self.flat = 1e-5 if kind == np.float32 else 1e-10
        limit = largest_t(values, first, second) if self.units >= FEW else np.inf
        self.limit = np.broadcast_to(np.asarray(limit, kind), first.shape)

    def draw(self, generator: np.random.Generator, count: int) -> Numbers:
        """Return weights of units, or for very many units means of systems in the normal limit."""
        if self.units <= NORMAL:
            return draw_weights(generator, self.units, count).astype(self.kind)
        covariance = np.atleast_2d(np.cov(self.centred, ddof=0))
        sizes, axes = np.linalg.eigh(covariance / self.units)
        root = axes * np.sqrt(np.maximum(sizes, 0))
        means = root @ generator.standard_normal((len(root), count))
        return np.asarray(means, self.kind)

    def statistics(self, part: slice, drawn: Numbers) -> Numbers:
        """Return the studentized differences of some pairs: pairs x replicates."""
        first, second, deviation = self.first[part], self.second[part], self.deviation[part, None]
        if self.units > NORMAL:  # standard errors do not vary
            error = (deviation / math.sqrt(self.units - 1)).astype(self.kind)
            return np.asarray((drawn[first] - drawn[second]) / error)
        # In standard deviations of the pair: single precision is then enough for every pair.
        gaps = (self.centred[first] - self.centred[second]) / deviation
        t: Numbers = gaps.astype(self.kind) @ drawn
        variance = np.square(gaps, out=gaps).astype(self.kind) @ drawn
        variance -= t * t
        variance[variance <= self.flat] = self.no_variance
        variance /= self.units - 1
        t /= np.sqrt(variance, out=variance)
        limit = self.limit[part, None]
        if np.isfinite(limit).any():
            np.clip(t, -limit, limit, out=t)
        return t
