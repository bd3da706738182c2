"""Estimates from a few human judgements and many machine judgements (prediction-powered inference).

A value per query is known twice for the queries that people have judged: under their judgements
and under the machine's. For further queries it is known under the machine's alone. The mean of
the machine's values is precise and biased; the human queries say how far it is off. Their
combination is unbiased for any machine: a useless machine gets the weight 0, and the human
estimate remains.

References
----------
A. N. Angelopoulos, S. Bates, C. Fannjiang, M. I. Jordan and T. Zrnic, Prediction-powered
inference, Science 382 (2023) 669-674; A. N. Angelopoulos, J. C. Duchi and T. Zrnic, PPI++:
Efficient prediction-powered inference, arXiv 2311.01453.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import special

from heldout.errors import InputError
from heldout.infer.results import Interval, Outcome, as_values, check_alternative

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from heldout.data.words import Floats
    from heldout.infer.results import Alternative

__all__ = ["Combined", "combine_judgements", "machine_weight"]


class Combined(NamedTuple):
    """Human-only, machine-only and combined estimates of one mean.

    Parameters
    ----------
    human
        From the human queries alone.
    machine
        From the machine's values of all queries: biased, and the interval does not say how much.
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


def machine_weight(human: Floats, machine: Floats, extra: int) -> float:
    """Return the weight of the machine that makes the combined estimate most precise.

    Parameters
    ----------
    human, machine
        Values of the same queries under both judgements.
    extra
        The number of queries that only the machine has judged.

    Examples
    --------
    >>> human = np.array([0.0, 1.0, 2.0, 3.0])
    >>> machine_weight(human, human + 5, 4), machine_weight(human, -human, 4)
    (0.5, 0.0)
    """
    centred = machine - machine.mean()
    return float(_weights(centred @ (human - human.mean()), centred @ centred, len(human), extra))


def _weights(products: ArrayLike, squares: ArrayLike, queries: int, extra: int) -> Floats:
    """Return covariance over variance, less for few machine queries, between 0 and 1."""
    spread = np.asarray(squares, np.float64)
    slope = np.divide(products, spread, out=np.zeros_like(spread), where=spread > 1e-12)
    return np.clip(slope / (1 + queries / extra), 0.0, 1.0)


def combine_judgements(  # noqa: PLR0913 (the mode of the reference is part of it)
    human: ArrayLike,
    machine: ArrayLike,
    extra: ArrayLike,
    *,
    level: float = 0.95,
    alternative: Alternative = "two-sided",
    cross_fit: bool = True,
) -> Combined:
    """Estimate a mean from human and machine judgements.

    With ``cross_fit`` the weight of the machine in the term of a query is estimated from all other
    human queries, which keeps the estimate unbiased; the variance is the larger of the jackknife's
    and that of the residuals, since a single query can decide the weight; quantiles are those of
    Student's t with n - 1 degrees of freedom. Without it, weight and variance come from the same
    queries and quantiles are normal, as in the PPI++ paper: too narrow for few queries.

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
    cross_fit
        See above.

    Examples
    --------
    >>> generator = np.random.default_rng(0)
    >>> true = generator.normal(0.1, 0.2, 230)
    >>> machine = true + generator.normal(0.3, 0.1, 230)
    >>> found = combine_judgements(true[:30], machine[:30], machine[30:])
    >>> found.combined.estimate < found.machine.estimate, found.effective > 60
    (True, True)
    """
    values, known = as_values(human, "human", 3), as_values(machine, "machine", 3)
    others = as_values(extra, "extra", 2)
    if len(values) != len(known):
        raise InputError(f"human has {len(values)} values and machine {len(known)}: must be equal")
    if not 0 < level < 1:
        raise InputError(f"level={level}: expected a number between 0 and 1")
    queries, more = len(values), len(others)
    weights = _left_out_weights(values, known, more) if cross_fit else None
    whole = machine_weight(values, known, more)
    residuals = values - (whole if weights is None else weights) * known
    weight = whole if weights is None else float(weights.mean())
    estimate = float(residuals.mean() + weight * others.mean())
    ddof = 1 if cross_fit else 0
    own = float(residuals.var(ddof=ddof)) / queries
    if weights is not None:
        own = max(own, _jackknife(values, known, others, weights))
    error = math.sqrt(own + weight**2 * float(others.var(ddof=ddof)) / more)
    freedom = queries - 1.0 if cross_fit else math.inf
    plain = values.std(ddof=1) / math.sqrt(queries)
    everything = np.concatenate([known, others])
    return Combined(
        human=_interval(float(values.mean()), plain, queries - 1, level, "t"),
        machine=_interval(
            float(everything.mean()),
            everything.std(ddof=1) / math.sqrt(len(everything)),
            len(everything) - 1,
            level,
            "t, biased",
        ),
        combined=_interval(estimate, error, freedom, level, "prediction-powered"),
        weight=weight,
        test=_test(estimate, error, freedom, check_alternative(alternative), queries),
        queries=queries,
        machine_queries=more,
        effective=queries * (plain / error) ** 2 if error > 0 else float(queries),
    )


def _left_out_weights(human: Floats, machine: Floats, extra: int) -> Floats:
    """Return for each query the weight that all other human queries give."""
    rest = len(human) - 1
    first, second = human.sum() - human, machine.sum() - machine
    products = human @ machine - human * machine - first * second / rest
    squares = machine @ machine - machine**2 - second**2 / rest
    return _weights(products, np.maximum(squares, 0.0), len(human), extra)


def _jackknife(human: Floats, machine: Floats, extra: Floats, weights: Floats) -> float:
    """Return the jackknife variance over human queries, the weight estimated without each."""
    rest = len(human) - 1
    without = (human.sum() - human) / rest
    gaps = (machine.sum() - machine) / rest - extra.mean()
    estimates = without - weights * gaps
    return float(estimates.var() * rest)


def _interval(estimate: float, error: float, freedom: float, level: float, how: str) -> Interval:
    half = _quantile((1 + level) / 2, freedom) * error
    return Interval(estimate, estimate - half, estimate + half, level, how)


def _quantile(probability: float, freedom: float) -> float:
    if math.isinf(freedom):
        return float(special.ndtri(probability))
    return float(special.stdtrit(freedom, probability))


def _test(
    estimate: float, error: float, freedom: float, alternative: Alternative, queries: int
) -> Outcome:
    if error > 0:
        statistic = estimate / error
    else:
        statistic = math.copysign(math.inf, estimate) if estimate else 0.0
    below = special.ndtr if math.isinf(freedom) else (lambda t: special.stdtr(freedom, t))
    p = {
        "greater": float(below(-statistic)),
        "less": float(below(statistic)),
        "two-sided": 2 * float(below(-abs(statistic))),
    }[alternative]
    return Outcome("prediction-powered t", p, statistic, alternative, queries, "t")
