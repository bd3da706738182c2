"""Estimates, intervals and outcomes: what all tests of this room have in common.

The t test is written once, in `Estimate`. Designs (units, folds, tuned systems, machine judgements,
scores of sums, areas) differ only in the standard error that they put into it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, get_args

import numpy as np

from heldout.errors import InputError
from heldout.notes import count_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from heldout.data.words import Flags, Floats

Alternative = Literal["two-sided", "greater", "less"]  # any difference, first better, first worse

TIE: Final = 1e-12  # differences smaller than this, relative to the scores, are ties in all tests

# Differences closer than this, relative to the largest, do not vary. It is wider than the rule for
# ties, because subtraction cancels digits: .9001 - .9 has twelve correct digits of sixteen.
SAME: Final = 1e-10

DIGITS: Final = 15  # of 1 - level: 1 - 0.95 is not exactly 0.05, but a p-value may be


# Conventions


def check_level(level: float, *, one_sided: bool = False) -> float:
    """Refuse a number that is not a confidence level; below 0.5 it is probably alpha."""
    if isinstance(level, bool) or not isinstance(level, int | float) or not 0 < level < 1:
        raise InputError(
            "expected a number between 0.5 and 1, such as 0.95", argument="level", value=level
        )
    if level < 0.5:
        raise InputError(f"did you mean {level_of(level):g}?", argument="level", value=level)
    if one_sided and level == 0.5:  # two bounds at this level leave no interval
        raise InputError("expected above 0.5 for a one-sided test", argument="level", value=level)
    return float(level)


def check_fraction(level: float) -> float:
    """Refuse a level that is not between 0 and 1; those of users go through `check_level`."""
    if not 0.0 < level < 1.0:
        raise InputError(
            "expected a number between 0 and 1, such as 0.95", argument="level", value=level
        )
    return level


def alpha_of(level: float) -> float:
    """Return the significance level of tests at a confidence level: 0.05 for 0.95."""
    return round(1.0 - level, DIGITS)


def level_of(alpha: float) -> float:
    """Return the confidence level of a significance level: 0.95 for 0.05."""
    return round(1.0 - alpha, DIGITS)


def as_values(values: Iterable[float], what: str = "values", least: int = 2) -> Floats:
    """Return the values as an array of floats; refuse too few, missing or infinite values."""
    array = np.asarray(list(values) if not isinstance(values, np.ndarray) else values, np.float64)
    if array.ndim != 1:
        raise InputError(
            f"{what}: expected one number per unit, got an array of shape {array.shape}"
        )
    if len(array) < least:
        raise InputError(f"{what}: expected at least {least} units, found {len(array)}")
    if not np.isfinite(array).all():
        row = int(np.argmin(np.isfinite(array)))
        raise InputError(f"{what}: unit number {row + 1} is {array[row]}, not a finite number")
    return array


def drop_noise(first: Floats, second: Floats) -> Floats:
    """Return the differences of two lists of scores, exactly 0 where they are rounding noise."""
    difference = first - second
    scale = np.maximum(np.abs(first), np.abs(second))
    return np.where(np.abs(difference) <= TIE * scale, 0.0, difference)


def check_alternative(alternative: str) -> Alternative:
    """Refuse an unknown alternative."""
    if alternative not in get_args(Alternative):
        raise InputError(
            f"expected one of {', '.join(get_args(Alternative))}",
            argument="alternative",
            value=alternative,
        )
    return alternative  # type: ignore[return-value]


def thresholds(
    center: float, observed: float, tie: float, alternative: Alternative
) -> tuple[float, float]:
    """Return from where down and up replicates around a centre are as extreme as the observed."""
    if check_alternative(alternative) == "two-sided":
        return center - abs(observed) + tie, center + abs(observed) - tie
    if alternative == "greater":
        return -math.inf, center + observed - tie
    return center + observed + tie, math.inf


# Results


class Outcome(NamedTuple):
    """The outcome of a test."""

    test: str
    p: float
    statistic: float
    alternative: Alternative
    n: int
    method: str = "exact"  # exact, grid, monte carlo, or the reference distribution (t, normal)
    error: float = 0.0  # of p: a bound if grid, the standard error if monte carlo
    detail: str = ""  # such as "all 1,024 sign assignments" or "100,000 replicates, seed 0"

    def drawn(self, count: int, replicates: int, seed: int) -> Outcome:
        """Return it with (c + 1) / (B + 1) for c of B replicates as extreme as the observed value.

        The observed data count, too: c / B would reject too often (Phipson & Smyth 2010).
        """
        p = (count + 1) / (replicates + 1)
        error = math.sqrt(p * (1 - p) / replicates)
        detail = f"{replicates:,} replicates, seed {seed}"
        return self._replace(p=p, method="monte carlo", error=error, detail=detail)


class Interval(NamedTuple):
    """An estimate with its bounds at a confidence level, and the method, such as ``t``."""

    estimate: float
    low: float
    high: float
    level: float
    method: str


# Estimates


class Estimate(NamedTuple):
    """Numbers with standard errors and degrees of freedom: one number, or one per pair of systems.

    An error of 0 means that the units do not vary. Then only the signs are evidence: p is that of
    flipping the signs of df + 1 units, 2^-(df + 1) per side. A value of 0 has p = 1.
    """

    value: Floats
    error: Floats
    df: float  # infinite: the normal distribution
    method: str
    units: int | None = None  # the units whose signs are flipped, if not df + 1

    @property
    def t(self) -> Floats:
        """Values in standard errors; infinite (or 0 for a value of 0) where the error is 0."""
        limit = np.where(self.value == 0, 0.0, np.copysign(np.inf, self.value))
        return np.divide(self.value, self.error, out=limit, where=np.asarray(self.error) > 0)

    def p(self, side: Alternative = "two-sided") -> Floats:
        """Return the p-values of the null hypothesis that the values are 0."""
        from scipy.special import ndtr, stdtr  # slow to import

        evidence = {"two-sided": np.abs, "greater": np.positive, "less": np.negative}[side](self.t)
        tail = ndtr(-evidence) if math.isinf(self.df) else stdtr(self.df, -evidence)
        flips = np.where(evidence > 0, 0.5 ** (self.units or self.df + 1), 1.0)
        p = np.where(np.asarray(self.error) > 0, tail, flips)
        both: Floats = np.minimum(1.0, (2 if side == "two-sided" else 1) * p)
        return both

    def interval(
        self,
        level: float,
        side: Alternative = "two-sided",
        critical: float | None = None,
    ) -> list[Interval]:
        """Return intervals, one bound if one-sided; a `critical` value makes them simultaneous.

        Without variance it is the value itself if the signs alone reject, else unbounded.
        """
        alpha = alpha_of(level)
        family = 1 if critical is None else np.size(self.value)
        if critical is None:
            critical = t_quantile(self.df, alpha / 2 if side == "two-sided" else alpha)
        decided = (self.p(side) * family <= alpha) | (np.asarray(self.value) == 0)
        half = np.where(decided, 0.0, np.inf)
        # The critical value may be infinite: it is multiplied by positive errors only.
        half = np.multiply(critical, self.error, out=half, where=np.asarray(self.error) > 0)
        low = self.value - half if side != "less" else np.full_like(half, -np.inf)
        high = self.value + half if side != "greater" else np.full_like(half, np.inf)
        rows = zip(*(np.ravel(each).tolist() for each in (self.value, low, high)), strict=True)
        return [Interval(each[0], each[1], each[2], level, self.method) for each in rows]

    def outcomes(self, test: str, side: Alternative, units: int) -> list[Outcome]:
        """Return the t (or z) test of each value, as the outcome of a test with this name."""
        known = ("normal", "normal distribution")
        if not math.isinf(self.df):
            known = ("t", count_of(int(self.df), "degree") + " of freedom")
        columns = zip(
            *(np.ravel(each).tolist() for each in (self.value, self.error, self.p(side), self.t)),
            strict=True,
        )
        outcomes = []
        for value, error, p, t in columns:
            equal = "all differences are equal" if value else "all differences are zero"
            method, detail = known if error else ("no variance", equal)
            outcomes.append(Outcome(test, p, t, side, units, method, detail=detail))
        return outcomes


def t_quantile(df: float, tail: float) -> float:
    """Return the value that Student's t exceeds with a probability; infinite df: the normal."""
    from scipy.special import ndtri, stdtrit  # slow to import

    return -float(ndtri(tail) if math.isinf(df) else stdtrit(df, tail))


def do_not_vary(values: Floats) -> Flags:
    """Return whether the values of each column are equal up to rounding."""
    constant: Flags = np.ptp(values, axis=0) <= SAME * np.abs(values).max(axis=0)
    return constant


def mean_estimate(values: Floats, factor: float | None = None, method: str = "t") -> Estimate:
    """Return the means of columns of values; the variance of a mean is `factor` times theirs.

    The factor is 1/n (the default) for independent units. For folds it is 1/n + n_test / n_train,
    because their training sets overlap (Nadeau & Bengio 2003).
    """
    units = len(values)
    constant = do_not_vary(values)
    # Summation may change the last digit of a constant, and of 0 it must not.
    value = np.where(constant, values[0], values.mean(axis=0))
    deviation = np.where(constant, 0.0, values.std(axis=0, ddof=1))
    return Estimate(value, deviation * math.sqrt(factor or 1 / units), units - 1, method)
