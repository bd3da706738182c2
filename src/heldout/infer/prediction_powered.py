"""Estimates from a few human judgements and many machine judgements (prediction-powered inference).

A value per query is known twice for the queries that people have judged: under their judgements
and under the machine's. For further queries it is known under the machine's alone. The mean of
the machine's values is precise and biased; the human queries show how far it is off. The
combination is unbiased for any machine: a useless machine gets the weight 0, and the human
estimate remains.

References
----------
A. N. Angelopoulos, S. Bates, C. Fannjiang, M. I. Jordan and T. Zrnic, Prediction-powered
inference, Science 382 (2023) 669-674; A. N. Angelopoulos, J. C. Duchi and T. Zrnic, PPI++:
Efficient prediction-powered inference, arXiv 2311.01453. A. Agresti and B. A. Coull, Approximate is
better than "exact" for interval estimation of binomial proportions, Am. Stat. 52 (1998) 119-126.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from heldout.errors import InputError
from heldout.infer.intervals import DIFFERING, PSEUDO, from_commonest
from heldout.infer.results import (
    TIE,
    Interval,
    Outcome,
    as_values,
    check_alternative,
    check_fraction,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from heldout.data.words import Floats, Ints
    from heldout.infer.results import Alternative

__all__ = [
    "DIFFERING",
    "TEST",
    "Combined",
    "CombinedMeans",
    "combine_judgements",
    "combined_means",
    "differing",
]

TEST: Final = "prediction-powered"
"""The name of the test."""

LEAST: Final = 3
"""Human queries at least: the weight of the machine is estimated without one of them."""

FLAT: Final = 1e-9
"""Share of the variance of the machine's values below which the others are taken as equal."""


class Combined(NamedTuple):
    """Human-only, machine-only and combined estimates of one mean.

    Parameters
    ----------
    human
        From the human queries alone.
    machine
        From the machine's values of all queries. It is biased, and its interval does not include
        the bias.
    combined
        From both; unbiased.
    weight
        The weight of the machine, 0 to 1.
    test
        The test of the combined estimate being 0.
    queries, machine_queries
        The number of queries with human judgements, and of those judged by the machine alone.
    effective
        The number of human queries that would give as precise an estimate by themselves.
    """

    human: Interval
    machine: Interval
    combined: Interval
    weight: float
    test: Outcome
    queries: int
    machine_queries: int
    effective: float


class CombinedMeans(NamedTuple):
    """Combined estimates of many means.

    Parameters
    ----------
    mean, error, weight
        The estimate, its standard error and the weight of the machine.
    differ
        The number of human queries whose value is not the commonest one.
    added
        The variance that was added because they are few.
    """

    mean: Floats
    error: Floats
    weight: Floats
    differ: Ints
    added: Floats


def combined_means(
    human: Floats, machine: Floats, extra: Floats, *, plus_four: bool = True
) -> CombinedMeans:
    """Return cross-fitted estimates of many means at once.

    In the term of each human query, the weight of the machine is estimated from the other human
    queries, so that the estimate is unbiased. The variance is the larger of the jackknife's and
    that of the residuals: with few queries a single one can decide the weight, and the residuals
    alone gave intervals that are slightly too narrow (``docs/methods.md``).

    If fewer than ten human queries differ from the commonest value (most differences of two systems
    are 0, say), their variance is hardly known; if none does, it is 0. The variance is then that
    with four more differing queries, two in each direction, as in the "plus four" interval of a
    proportion (Agresti and Coull 1998).

    Parameters
    ----------
    human, machine
        Human queries x quantities, under both judgements.
    extra
        Further queries x quantities, under machine judgements.
    plus_four
        Whether to enlarge the variance where few queries differ.
    """
    n, more = len(human), len(extra)
    average, known, others = human.mean(0), machine.mean(0), extra.mean(0)
    y, f = human - average, machine - known
    # Centred, the sums without query i are the sums minus n / (n - 1) times its own term.
    own = n / (n - 1)
    squares = (f * f).sum(0)
    weights = _weights((y * f).sum(0) - own * y * f, squares - own * f * f, FLAT * squares, n, more)
    # Measured from the mean of the other queries, so that a constant error of the machine cancels.
    residuals = human - weights * (machine - others)
    weight, mean = weights.mean(0), residuals.mean(0)
    left_out = average - y / (n - 1) - weights * (known - f / (n - 1) - others)
    variance = np.maximum(residuals.var(0, ddof=1) / n, left_out.var(0) * (n - 1))
    differ, square = differing(human, machine, extra)
    added = np.where(plus_four & (differ < DIFFERING), PSEUDO * square / n**2, 0.0)
    error = np.sqrt(variance + weight**2 * extra.var(0, ddof=1) / more + added)
    noise = error <= TIE * np.abs(human).max(0)
    return CombinedMeans(mean, np.where(noise, 0.0, error), weight, differ, added)


def differing(human: Floats, machine: Floats, extra: Floats) -> tuple[Ints, Floats]:
    """Return how many human queries differ from the commonest value, and by how much.

    Parameters
    ----------
    human, machine, extra
        As for `combined_means`.

    Returns
    -------
    tuple
        The number of human queries, and the mean square of what differs: that of the human
        queries, or that of all queries under both judgements if it is larger.
    """
    counts, sums = [], []
    for values in (human, machine, extra):
        apart = from_commonest(values)
        counts.append(np.count_nonzero(apart, 0))
        sums.append((apart * apart).sum(0))
    square = np.maximum(
        sums[0] / np.maximum(counts[0], 1), sum(sums) / np.maximum(np.sum(counts, 0), 1)
    )
    return counts[0], square


def _weights(products: Floats, squares: Floats, least: Floats, n: int, more: int) -> Floats:
    """Return covariance over variance, less if the machine judged few queries, from 0 to 1."""
    vary = squares > least
    slope = np.divide(products, squares, out=np.zeros_like(products), where=vary)
    return np.clip(slope / (1 + n / more), 0.0, 1.0)


def combine_judgements(
    human: Iterable[float],
    machine: Iterable[float],
    extra: Iterable[float],
    *,
    level: float = 0.95,
    alternative: Alternative = "two-sided",
    plus_four: bool = True,
    variance: float = 0.0,
) -> Combined:
    """Estimate a mean from human and machine judgements.

    Parameters
    ----------
    human, machine
        Values of the same queries under human and machine judgements.
    extra
        Values of further queries under machine judgements.
    level
        The confidence level.
    alternative
        Of the test that the mean is 0.
    plus_four
        Whether to enlarge the variance where few queries differ (see `combined_means`): for
        differences of systems. Scores of one system were covered without it.
    variance
        Further variance of the human and of the combined estimate, such as that of parameters that
        were tuned in folds.

    Examples
    --------
    >>> generator = np.random.default_rng(0)
    >>> true = generator.normal(0.1, 0.2, 230)
    >>> machine = true + generator.normal(0.3, 0.1, 230)
    >>> result = combine_judgements(true[:30], machine[:30], machine[30:])
    >>> result.combined.estimate < result.machine.estimate, result.effective > 40
    (True, True)
    """
    values, known = as_values(human, "human", LEAST), as_values(machine, "machine", LEAST)
    others = as_values(extra, "extra")
    if len(values) != len(known):
        raise InputError(f"human has {len(values)} values and machine {len(known)}: must be equal")
    check_fraction(level)
    n = len(values)
    columns = values[:, None], known[:, None], others[:, None]
    found = combined_means(*columns, plus_four=plus_four)
    mean, error, weight, _, added = (float(result[0]) for result in found)
    error = math.sqrt(error**2 + variance)
    plain = math.sqrt(float(values.var(ddof=1)) / n + added + variance)
    from_human = _interval(float(values.mean()), plain, n - 1, level, "t")
    return Combined(
        human=from_human,
        machine=_mean_interval(np.concatenate([known, others]), level, "t, biased"),
        combined=_interval(mean, error, n - 1, level, TEST),
        weight=weight,
        test=_test(mean, error, check_alternative(alternative), n),
        queries=n,
        machine_queries=len(others),
        effective=n * (plain / error) ** 2 if error > 0 else float(n),
    )


def _mean_interval(values: Floats, level: float, method: str) -> Interval:
    error = float(values.std(ddof=1)) / math.sqrt(len(values))
    return _interval(float(values.mean()), error, len(values) - 1, level, method)


def _interval(estimate: float, error: float, freedom: int, level: float, method: str) -> Interval:
    from scipy.special import stdtrit  # slow to import

    quantile = float(stdtrit(freedom, (1 + level) / 2))
    return Interval(
        estimate, estimate - quantile * error, estimate + quantile * error, level, method
    )


def _test(estimate: float, error: float, alternative: Alternative, n: int) -> Outcome:
    """Return the t test of the estimate being 0."""
    from scipy.special import stdtr  # slow to import

    from heldout.infer.paired import sign_flips

    if error == 0:
        limit = math.copysign(math.inf, estimate) if estimate else 0.0
        right = {"two-sided": bool(estimate), "greater": estimate > 0, "less": estimate < 0}
        p = sign_flips(n, alternative) if right[alternative] else 1.0
        return Outcome(TEST, p, limit, alternative, n, "no variance", detail="no variance")
    statistic = estimate / error
    tail = {"two-sided": -abs(statistic), "greater": -statistic, "less": statistic}[alternative]
    below = float(stdtr(n - 1, tail))
    p = 2 * below if alternative == "two-sided" else below
    return Outcome(TEST, p, statistic, alternative, n, "t", detail=f"{n - 1} degrees of freedom")
