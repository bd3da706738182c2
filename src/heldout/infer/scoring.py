"""How systems are scored on units and on resamples: everything that differs between measures.

`Means` are means over units (or folds), `Sums` functions of sums over units (F1, BLEU), `Order`
measures that must see all units at once (medians, average precision, areas under curves). Each
gives the estimates, tests and intervals that fit it; the engine needs nothing else.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple

import numpy as np

from heldout.errors import InputError
from heldout.infer.intervals import (
    UNBOUNDED,
    added_variance,
    area_interval,
    around,
    corrected_t,
    delong,
    fold_factor,
    mean_interval,
    plain_z,
    t_interval,
    wilson,
)
from heldout.infer.prediction_powered import TEST, system_estimates
from heldout.infer.resampling import (
    BLOCK,
    MANY_UNITS,
    Replicates,
    bootstrap,
    paired_units,
    swap_test,
    unit_gaps,
    unit_weights,
)
from heldout.infer.results import TIE, Estimate, Interval, drop_noise, mean_estimate
from heldout.infer.romano_wolf import pair_statistics
from heldout.measure.prediction.order import auc_components

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from heldout.data.scores import Scores
    from heldout.data.words import Flags, Floats, Ints
    from heldout.infer.results import Alternative, Outcome
    from heldout.measure import base

RETUNED_INTERVAL: Final = "t with re-tuning"
LINEARISED: Final = "t, linearised"
LEAVE_OUT: Final = 2 * 10**7  # units times parts of the jackknife at most, but ...
FEWEST_PARTS: Final = 100  # ... this many parts at least
LOST: Final = 0.05  # the share of undefined replicates above which a score has no interval


# Means


class _Design(NamedTuple):
    """What is known of the variance of means."""

    needs: str  # said where its test is asked for and the design is another
    tests: tuple[str, ...] = ()  # of which the first decides; empty: they depend on the values
    why: str = ""  # these tests are used


_DESIGNS: Final = {
    "t": _Design(""),
    "corrected-t": _Design(
        "corrected-t is for folds of a cross-validation: give n_test / n_train as test "
        "share, 0.1111 for 10 folds"
    ),
    "retuned-t": _Design(
        "retuned-t is for systems that were tuned in folds: compare results of an experiment",
        ("retuned-t", "randomization"),
        "Parameters were tuned in folds: the t test with re-tuning includes the variance of the "
        "selection (bootstrap of the training queries)",
    ),
    TEST: _Design(
        "prediction-powered is for human and machine judgements: pass machine judgements",
        (TEST,),
        "Few human and many machine judgements: prediction-powered t test of the combined "
        "estimate, unbiased for any machine",
    ),
}


@dataclass(frozen=True, eq=False)
class Means:
    """Means over units, folds, or queries with human and machine judgements."""

    scores: Scores
    test_share: float | None = None
    interval: str = ""  # of differences, as requested: t, z, percentile, bca
    replicates: int = 100_000
    seed: int = 0
    rows: int = 0  # units of all folds, if a fold's value is the share of them that are right
    biased: bool = False  # as in `_Resampled`
    linearised: ClassVar[bool] = False

    @property
    def own_test(self) -> str:
        """The t test that includes all that is known of the variance."""
        if self.scores.machine is not None:
            return TEST
        if self.test_share is not None:
            return "corrected-t"
        return "retuned-t" if self.scores.choices else "t"

    @property
    def tests(self) -> tuple[str, ...]:
        """The tests that the design requires."""
        return _DESIGNS[self.own_test].tests

    @property
    def why(self) -> str:
        """Why these tests are used."""
        return _DESIGNS[self.own_test].why

    def estimate(self, pair: tuple[int, int]) -> Estimate:
        """Return the mean difference with the error of the design."""
        scores, gaps = self.scores, self._gaps(pair)[:, None]
        if self.test_share is not None:
            factor = fold_factor(len(gaps), self.test_share)
            return mean_estimate(gaps, factor, "corrected t over folds")
        columns = np.array(pair[:1]), np.array(pair[1:])
        estimate = pair_statistics(scores.values, *columns, scores.machine)
        if not scores.choices:
            return estimate
        # The parameters that the folds selected vary, too: by the law of total variance, that over
        # units, averaged over re-selections, plus that over re-selections.
        spread = scores.choice_spread(*(scores.systems[number] for number in pair))
        variance = estimate.error**2
        if scores.machine is None:
            over_units = 0.0 if spread is None else spread.units
            variance = np.maximum(variance, over_units) + added_variance(gaps)
            estimate = estimate._replace(method=RETUNED_INTERVAL)
        choices = 0.0 if spread is None else spread.choices
        return estimate._replace(error=np.sqrt(variance + choices))

    def _gaps(self, pair: tuple[int, int]) -> Floats:
        first, second = pair
        return drop_noise(self.scores.values[:, first], self.scores.values[:, second])

    def outcome(self, test: str, pair: tuple[int, int], side: Alternative) -> Outcome:
        """Return any of the tests in `heldout.infer.analysis.TESTS` that the design allows."""
        from heldout.infer import bootstrap as shift
        from heldout.infer import randomization

        gaps, units = self._gaps(pair), len(self.scores.units)
        if test == self.own_test:
            outcome = self.estimate(pair).outcomes(test, side, units)[0]
            retuned = self.scores.choices and self.test_share is None and outcome.method == "t"
            detail = f"{outcome.detail}, including re-tuning" if retuned else outcome.detail
            return outcome._replace(detail=detail)
        if test == "t":
            return mean_estimate(gaps).outcomes(test, side, units)[0]
        if test in _DESIGNS:
            raise InputError(_DESIGNS[test].needs)
        if test == "mcnemar":
            columns = (self.scores.values[:, number] for number in pair)
            return randomization.mcnemar_test(*columns, alternative=side)
        if test in ("wilcoxon", "sign"):
            by_sign = randomization.sign_test if test == "sign" else randomization.wilcoxon_test
            return by_sign(gaps, alternative=side)
        drawn = shift.shift_test if test == "bootstrap-shift" else randomization.randomization_test
        return drawn(gaps, alternative=side, replicates=self.replicates, seed=self.seed)

    def difference(self, pair: tuple[int, int], level: float) -> Interval:
        """Return the requested interval; by default t with the errors of the design."""
        from heldout.infer.bootstrap import bootstrap_interval  # SciPy

        if not self.interval:
            return around(self.estimate(pair), level)
        gaps = self._gaps(pair)
        if self.interval in ("t", "z"):
            return (t_interval if self.interval == "t" else plain_z)(gaps, level)
        return bootstrap_interval(
            gaps,
            kind="percentile" if self.interval == "percentile" else "bca",
            level=level,
            replicates=self.replicates,
            seed=self.seed,
        )

    def system(self, number: int, level: float) -> Interval:
        """Return corrected t for folds, the combined score, or the interval of `mean_interval`."""
        if self.scores.machine is not None:
            return system_estimates(self.scores, number, level).combined
        values = self.scores.values[:, number]
        if self.biased:
            return _without_bounds(float(values.mean()), level)
        if self.test_share is not None:
            if self.rows and (values == values[0]).all() and values[0] in (0.0, 1.0):
                return wilson(int(values[0]) * self.rows, self.rows, level)
            by_z = self.interval == "z"
            return plain_z(values, level) if by_z else corrected_t(values, self.test_share, level)
        interval = mean_interval(values, level, self.scores.range)
        # Of a table whose range is unknown, other values than 0 and 1 say that it is another.
        table, unknown = self.scores.values, self.scores.range == UNBOUNDED
        is_other = unknown and not ((table == 0) | (table == 1)).all()
        if interval is None or (interval.method == "Wilson" and is_other):
            return t_interval(values, level)
        return interval

    def signs(self, pair: tuple[int, int]) -> tuple[int, int]:
        """Return the number of units with a higher, and with a lower value of the first system."""
        gaps = self._gaps(pair)
        return int((gaps > 0).sum()), int((gaps < 0).sum())


# Scores of resampled units


@dataclass(frozen=True, eq=False)
class _Resampled:
    """Scores that are not means: units are resampled, or with very many units linearised.

    A system's interval is drawn from its own units, a difference from those of the pair, so that
    neither depends on what else is compared.
    """

    systems: Sequence[base.Sums | base.Order]  # paired units, each of which is drawn as a whole
    describe: Callable[[Floats], Scores]  # values of units that average to the scores -> scores
    bootstraps: int = 10_000
    replicates: int = 100_000  # of swaps
    seed: int = 0
    biased: bool = field(default=False, kw_only=True)  # resampling alone increases the score: ECE
    test_share: ClassVar[float | None] = None
    linearised: ClassVar[bool] = True
    usual: ClassVar[tuple[str, ...]]  # tests of units that are resampled
    reason: str = ""  # for them
    _kind_draws: dict[tuple[int, ...], Floats] = field(default_factory=dict, init=False)

    @property
    def tests(self) -> tuple[str, ...]:
        """The tests, of which the first decides."""
        return ("t",) if self.are_many else self.usual

    @property
    def why(self) -> str:
        """Why these tests are used."""
        return BY_T if self.are_many else self.reason

    @cached_property
    def scores(self) -> Scores:
        """The scores, with linearised values of the units."""
        return self.describe(self.values)

    @property
    def values(self) -> Floats:
        """Values of units (rows) that average to the scores of systems and vary as they do."""
        raise NotImplementedError

    @cached_property
    def are_many(self) -> bool:
        """Whether there are too many units to resample."""
        return not self._can_be_drawn(*range(len(self.systems)))

    def _can_be_drawn(self, *numbers: int) -> bool:
        return self.systems[0].size <= MANY_UNITS or self._by_kind(*numbers)

    def _by_kind(self, *_numbers: int) -> bool:
        """Return whether numbers of units of each kind are drawn, not units one by one."""
        return False

    def _bootstrap(self, numbers: Sequence[int]) -> Floats:
        systems = [self.systems[number] for number in numbers]
        return bootstrap(systems, replicates=self.bootstraps, seed=self.seed)

    @cached_property
    def _unit_draws(self) -> dict[int, Floats]:
        """The scores on samples of single units, which are the same for all systems."""
        numbers = [each for each in range(len(self.systems)) if not self._by_kind(each)]
        return dict(zip(numbers, self._bootstrap(numbers).T, strict=True))

    def _drawn(self, *numbers: int) -> Floats:
        """Return the scores of a system, or of two on the same units, on bootstrap samples."""
        if not any(map(self._by_kind, numbers)):
            return np.column_stack([self._unit_draws[number] for number in numbers])
        if numbers not in self._kind_draws:
            self._kind_draws[numbers] = self._bootstrap(numbers)
        return self._kind_draws[numbers]

    def _replicates(self, pair: tuple[int, int]) -> Replicates:
        """Return the difference of two scores on bootstrap samples of the units of both."""
        columns = dict(zip(sorted(pair), self._drawn(*sorted(pair)).T, strict=True))
        first, second = (self.systems[number].value() for number in pair)
        values, tie = columns[pair[0]] - columns[pair[1]], TIE * (abs(first) + abs(second))
        return Replicates(values, first - second, tie, self.systems[0].size, self.seed)

    def estimate(self, pair: tuple[int, int]) -> Estimate:
        """Return the difference with the error of linearised values."""
        gaps = self.values[:, pair[0]] - self.values[:, pair[1]]
        return mean_estimate(gaps, method=LINEARISED)

    def outcome(self, test: str, pair: tuple[int, int], side: Alternative) -> Outcome:
        """Return the bootstrap-shift test, or the test of the estimate."""
        if test == "bootstrap-shift":
            return self._replicates(pair).shift_test(side)
        return self.estimate(pair).outcomes(test, side, len(self.values))[0]

    def difference(self, pair: tuple[int, int], level: float) -> Interval:
        """Return the percentile interval, or the t interval of very many units."""
        if self.are_many:
            return around(self.estimate(pair), level)
        return self._replicates(pair).interval(level)

    def system(self, number: int, level: float) -> Interval:
        """Return the percentile interval, or the t interval of very many units.

        There is none if nothing varies, as in a system that is always right, or if the score is
        undefined on more than one sample of twenty.
        """
        score, size, lost = self.systems[number].value(), self.systems[number].size, 0.0
        if self.biased:
            return _without_bounds(score, level)
        if self._can_be_drawn(number):
            drawn = self._drawn(number)[:, 0]
            interval = Replicates(drawn, score, 0.0, size, self.seed).interval(level)
            lost = float(np.mean(~np.isfinite(drawn)))
        else:
            interval = around(mean_estimate(self.values[:, number], method=LINEARISED), level)
        if interval.low == interval.high or lost > LOST:
            return _without_bounds(score, level)
        return interval

    def signs(self, pair: tuple[int, int]) -> tuple[int, int]:
        """Return the number of units in favour of the first, and of the second system."""
        return _signs(self.values, pair)


def _without_bounds(score: float, level: float) -> Interval:
    return Interval(score, math.nan, math.nan, level, "none")


def _signs(values: Floats, pair: tuple[int, int]) -> tuple[int, int]:
    gaps = values[:, pair[0]] - values[:, pair[1]]
    return int((gaps > TIE).sum()), int((gaps < -TIE).sum())


BY_SWAPS: Final = (
    "is not a mean over units: the sums that it is computed from are resampled by swapping outputs "
    "between the systems, unit by unit"
)
BY_T: Final = (
    "is not a mean over units; with very many units it is linearised and compared by a t test"
)


@dataclass(frozen=True, eq=False)
class Sums(_Resampled):
    """Functions of sums over units: F1, RMSE, BLEU, weighted means."""

    systems: Sequence[base.Sums]
    reason: str = BY_SWAPS

    usual: ClassVar[tuple[str, ...]] = ("randomization", "bootstrap-shift")

    def _by_kind(self, *numbers: int) -> bool:
        return paired_units([self.systems[number] for number in numbers])[1] is not None

    @cached_property
    def values(self) -> Floats:
        """Values of units by the jackknife."""
        return np.column_stack([jackknife(system) for system in self.systems])

    def outcome(self, test: str, pair: tuple[int, int], side: Alternative) -> Outcome:
        """Return the randomization test, or another one."""
        if test != "randomization":
            return super().outcome(test, pair, side)
        first, second = (self.systems[number] for number in pair)
        return swap_test(
            first, second, alternative=side, replicates=self.replicates, seed=self.seed
        )

    def signs(self, pair: tuple[int, int]) -> tuple[int, int]:
        """Return for how many units swapping the outputs lowers the difference, and raises it."""
        first, second = (self.systems[number] for number in pair)
        gaps, counts = unit_gaps(first, second)
        difference = first.value() - second.value()
        swapped = first.score(first.total() - gaps) - first.score(second.total() + gaps)
        change = np.where(np.isfinite(swapped), difference - swapped, 0.0)
        change[np.abs(change) <= TIE * (abs(difference) + 1)] = 0.0
        units = np.ones(len(change), np.int64) if counts is None else counts
        return int(units[change > 0].sum()), int(units[change < 0].sum())


def jackknife(sums: base.Sums) -> Floats:
    """Return the jackknife pseudo-values of units, centred on the score.

    That keeps the estimate, and drops only the bias correction (Efron & Tibshirani 1993, ch. 11).
    """
    total, score = sums.total(), sums.value()
    size = max(1, BLOCK // max(1, sums.table.shape[1]))
    starts = range(0, len(sums.table), size)
    without = np.concatenate(
        [sums.score(total - sums.table[start : start + size]) for start in starts]
    )
    without = np.where(np.isfinite(without), without, score)
    if sums.kinds is not None:
        without = without[sums.kinds]
    values: Floats = score + (len(without) - 1) * (without.mean() - without)
    return values


@dataclass(frozen=True, eq=False)
class Order(_Resampled):
    """Measures of order: units, or parts of them, are resampled.

    Outputs are not swapped: scores that rank the units may have different scales.
    """

    systems: Sequence[base.Order]
    parts: Ints | None = None  # the part of each unit, if parts of the units are drawn
    smooth: bool = False  # whether one unit changes the score little and smoothly: not of medians

    usual: ClassVar[tuple[str, ...]] = ("bootstrap-shift",)
    reason: str = "depends on the order of the units: units are resampled (bootstrap)"

    def _can_be_drawn(self, *numbers: int) -> bool:
        return not self.smooth or super()._can_be_drawn(*numbers)

    @cached_property
    def values(self) -> Floats:
        """Values of units by the jackknife or, if the score is not smooth, by the bootstrap.

        The jackknife is wrong for medians, whatever the number of units (Efron & Tibshirani 1993,
        section 11.6). For smooth scores it is better than the bootstrap: with 50 units the
        bootstrap's error of average precision is too small.
        """
        if self.smooth:
            return np.column_stack([left_out_values(system, self.seed) for system in self.systems])
        # The value of a unit is the covariance of a score with the number of times that the unit
        # was drawn, scaled so that the standard error of the mean is that of the bootstrap.
        scores = np.array([system.value() for system in self.systems])
        drawn = np.column_stack([self._drawn(number) for number in range(len(scores))])
        deviations = np.where(np.isfinite(drawn), drawn, scores)
        deviations -= deviations.mean(axis=0)
        slopes, start = np.zeros((self.systems[0].size, len(scores))), 0
        for weights in unit_weights(len(slopes), len(drawn), self.seed):
            slopes += weights.T @ deviations[start : start + len(weights)]
            start += len(weights)
        if self.parts is not None:
            slopes = slopes[self.parts]
        slopes -= slopes.mean(axis=0)
        spread = slopes.std(axis=0, ddof=1)
        error = deviations.std(axis=0) * math.sqrt(len(slopes))
        scale = np.divide(error, spread, out=0 * spread, where=spread > 0)
        values: Floats = scores + slopes * scale
        return values


@dataclass(frozen=True, eq=False)
class Area(Order):
    """The area under the ROC curve of two classes, with DeLong's error."""

    positive: Flags = field(kw_only=True)
    ranked: Floats = field(kw_only=True)  # what ranks the units, a column per system
    tests: ClassVar[tuple[str, ...]] = ("delong",)
    why: ClassVar[str] = (
        "is compared by DeLong's test, which includes the correlation of systems on the same units"
    )

    @cached_property
    def _components(self) -> Floats:
        """For each unit and system, the share of the other class that is ranked correctly."""
        return np.column_stack([auc_components(self.positive, column) for column in self.ranked.T])

    @cached_property
    def values(self) -> Floats:
        """Values of units that average to the areas and have DeLong's variance."""
        areas, share = self._components[self.positive].mean(axis=0), self.positive.mean()
        weights = np.where(self.positive, share, 1 - share)[:, None]
        values: Floats = areas + (self._components - areas) / weights
        return values

    def estimate(self, pair: tuple[int, int]) -> Estimate:
        """Return the difference with DeLong's error."""
        return delong(self.positive, self.ranked, np.array(pair[:1]), np.array(pair[1:]))

    def _can_be_drawn(self, *_numbers: int) -> bool:
        return False  # DeLong's error is known without

    def system(self, number: int, level: float) -> Interval:
        """Return DeLong's interval, on the logit scale where the plain one leaves [0, 1]."""
        estimate = delong(self.positive, self.ranked[:, number])
        area, error = float(estimate.value[0]), float(estimate.error[0])
        return area_interval(area, error, level) if 0 < area < 1 else _without_bounds(area, level)

    def signs(self, pair: tuple[int, int]) -> tuple[int, int]:
        """Return the number of units that the first system ranks better, and worse."""
        return _signs(self._components, pair)


def left_out_values(order: base.Order, seed: int) -> Floats:
    """Return values of units that average to the score, by leaving units out.

    With many units, parts of several are left out together (delete-d jackknife), and scaled.
    """
    units, score = order.size, order.value()
    parts = min(units, max(FEWEST_PARTS, LEAVE_OUT // units))
    part_of = np.random.default_rng(seed).permutation(units) % parts
    size = max(1, BLOCK // units)
    without = np.concatenate(
        [
            order.weighted((part_of != np.arange(parts)[start : start + size, None]) * 1.0)
            for start in range(0, parts, size)
        ]
    )
    without = np.where(np.isfinite(without), without, score)
    spread = (parts - 1) * (without.mean() - without) * math.sqrt(units / parts)
    values: Floats = spread[part_of]
    values += score - values.mean()
    return values


Scoring = Means | Sums | Order
