"""Estimates from a few human judgements and many machine judgements (prediction-powered inference).

The mean of the machine's values is precise and biased; the queries that people have judged, too,
show how far it is off. The combination is unbiased for any machine: a useless one gets the weight
0, and the human estimate remains.

A. N. Angelopoulos, S. Bates, C. Fannjiang, M. I. Jordan and T. Zrnic, Prediction-powered
inference, Science 382 (2023) 669-674; A. N. Angelopoulos, J. C. Duchi and T. Zrnic, PPI++:
Efficient prediction-powered inference, arXiv 2311.01453.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from heldout.as_json import plain
from heldout.errors import Argument, InputError
from heldout.infer.intervals import DIFFERING, PSEUDO, difference_inside, from_commonest, inside
from heldout.infer.results import (
    TIE,
    Estimate,
    Interval,
    Outcome,
    as_values,
    check_alternative,
    drop_noise,
    mean_estimate,
)
from heldout.infer.romano_wolf import FEW, draw_weights, in_blocks

if TYPE_CHECKING:
    from collections.abc import Callable

    from heldout.data.scores import MachineScores, Scores
    from heldout.data.words import Floats, Ints
    from heldout.infer.results import Alternative

TEST: Final = "prediction-powered"
LEAST: Final = 3  # human queries: the weight of the machine is estimated without one of them
FLAT: Final = 1e-9  # share of the variance of the machine's values below which others are equal


class Combined(NamedTuple):
    """Human-only, machine-only and combined estimates of one mean."""

    human: Interval
    machine: Interval  # of all queries; biased, and the interval does not include the bias
    combined: Interval  # unbiased
    weight: float  # of the machine, 0 to 1
    test: Outcome  # of the combined estimate being 0
    queries: int
    machine_queries: int  # judged by the machine alone
    effective: float  # human queries that would give as precise an estimate by themselves

    def to_dict(self) -> dict[str, Any]:
        """Return the three estimates, and what the machine adds."""
        estimates = {"machine": {**self.machine._asdict(), "biased": True}}
        values: dict[str, Any] = plain(self._asdict() | estimates)
        values["effective_queries"] = values.pop("effective")
        return {name: value for name, value in values.items() if name != "test"}


class CombinedMeans(NamedTuple):
    """Combined estimates of many means."""

    estimate: Estimate
    weight: Floats  # of the machine
    added: Floats  # variance that was added because they are few


def combined_means(
    human: Floats, machine: Floats, extra: Floats, *, plus_four: bool = True
) -> CombinedMeans:
    """Return cross-fitted estimates of many means: queries x quantities, `extra` by machine alone.

    In the term of each human query, the weight of the machine is estimated from the other human
    queries, so that the estimate is unbiased. The variance is the larger of the jackknife's and
    that of the residuals, which alone gave intervals that are slightly too narrow
    (``docs/validation.md``). If fewer than ten human queries differ from the commonest value (most
    differences of two systems are 0, say), it is that with four more differing queries, as in the
    "plus four" interval of a proportion (Agresti and Coull 1998).
    """
    n, more = len(human), len(extra)
    average, known, others = human.mean(0), machine.mean(0), extra.mean(0)
    y, f = human - average, machine - known
    # Centred, the sums without query i are the sums minus n / (n - 1) times its own term.
    own = n / (n - 1)
    squares = (f * f).sum(0)
    products, rest = (y * f).sum(0) - own * y * f, squares - own * f * f
    weights = _weight(products, rest, FLAT * squares, 1 + n / more)
    # Measured from the mean of the other queries, so that a constant error of the machine cancels.
    residuals = human - weights * (machine - others)
    weight, mean = weights.mean(0), residuals.mean(0)
    left_out = average - y / (n - 1) - weights * (known - f / (n - 1) - others)
    variance = np.maximum(residuals.var(0, ddof=1) / n, left_out.var(0) * (n - 1))
    differ, square = _differing(human, machine, extra)
    added = np.where(plus_four & (differ < DIFFERING), PSEUDO * square / n**2, 0.0)
    error = np.sqrt(variance + weight**2 * extra.var(0, ddof=1) / more + added)
    error = np.where(error <= TIE * np.abs(human).max(0), 0.0, error)
    return CombinedMeans(Estimate(mean, error, n - 1, TEST), weight, added)


def _weight(products: Floats, squares: Floats, flat: Floats, shrink: float) -> Floats:
    """Return the weight of the machine, less if it judged few queries; 0 without variance."""
    slope = np.divide(products, squares, out=np.zeros_like(products), where=squares > flat)
    return np.clip(slope / shrink, 0.0, 1.0)


def _differing(human: Floats, machine: Floats, extra: Floats) -> tuple[Ints, Floats]:
    """Return how many human queries differ from the commonest value, and their mean square.

    The mean square is that of all queries under both judgements if it is larger.
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


def combine_judgements(
    human: Floats,
    machine: Floats,
    extra: Floats,
    *,
    level: float = 0.95,
    alternative: Alternative = "two-sided",
    plus_four: bool = True,
    variance: float = 0.0,
) -> Combined:
    """Estimate a mean from values of the same queries under both judgements, and of extra queries.

    `plus_four` is for differences of systems: scores of one system were covered without it. The
    `variance`, such as that of tuned parameters, is added to the human and the combined estimate.
    """
    as_values(extra, "extra")
    n = len(as_values(human, "human", LEAST))
    columns = human[:, None], machine[:, None], extra[:, None]
    means = combined_means(*columns, plus_four=plus_four)
    combined = means.estimate._replace(error=np.sqrt(means.estimate.error**2 + variance))
    alone = mean_estimate(columns[0])
    alone = alone._replace(error=np.sqrt(alone.error**2 + means.added + variance))
    by_machine = mean_estimate(np.concatenate(columns[1:]), method="t, biased")
    precision = float(alone.error[0] / combined.error[0]) ** 2 if combined.error[0] > 0 else 1.0
    return Combined(
        human=alone.interval(level)[0],
        machine=by_machine.interval(level)[0],
        combined=combined.interval(level)[0],
        weight=float(means.weight[0]),
        test=combined.outcomes(TEST, check_alternative(alternative), n)[0],
        queries=n,
        machine_queries=len(extra),
        effective=n * precision,
    )


def system_estimates(scores: Scores, number: int, level: float = 0.95) -> Combined:
    """Return the estimates of the score of a system."""
    return _estimates(scores, lambda part: part[:, number], inside, level=level, plus_four=False)


def pair_estimates(
    scores: Scores, pair: tuple[int, int], level: float, alternative: Alternative
) -> Combined:
    """Return the estimates of the difference of two systems, first minus second.

    Of differences of queries: the machine can be right about them and wrong about the scores.
    """
    first, second = pair
    spread = scores.choice_spread(scores.systems[first], scores.systems[second])
    return _estimates(
        scores,
        lambda part: drop_noise(part[:, first], part[:, second]),
        difference_inside,
        level=level,
        alternative=alternative,
        variance=0.0 if spread is None else spread.choices,
    )


def _estimates(
    scores: Scores,
    values: Callable[[Floats], Floats],
    bound: Callable[[Interval, tuple[float, float]], Interval],
    **options: Any,
) -> Combined:
    if scores.machine is None:
        raise InputError(
            "there are no machine judgements: evaluate with ", Argument("machine", "…")
        )
    estimates = combine_judgements(*map(values, (scores.values, *scores.machine)), **options)
    human, machine, combined = (bound(each, scores.range) for each in estimates[:3])
    return estimates._replace(human=human, machine=machine, combined=combined)


def combined_statistics(
    values: Floats, machine: MachineScores, first: Ints, second: Ints
) -> Estimate:
    """Return the combined differences of pairs of columns, first minus second."""

    def means(first: Ints, second: Ints) -> Floats:
        parts = (values, machine.known, machine.extra)
        gaps = (drop_noise(part[:, first], part[:, second]) for part in parts)
        estimate = combined_means(*gaps).estimate
        return np.stack([estimate.value, estimate.error])

    value, error = in_blocks(means, first, second, len(values) + len(machine.extra))
    return Estimate(value, error, len(values) - 1, TEST)


class BothReplicates:
    """Replicates of combined differences, for Romano-Wolf.

    Both sets of queries are drawn with replacement, and the weight of the machine is estimated in
    each replicate from all drawn human queries: one that was drawn twice cannot be left out. If
    fewer than ten human queries differ from the commonest difference, replicates say little: the
    statistic is then drawn from Student's t, independently of the other pairs.
    """

    def __init__(
        self, values: Floats, machine: MachineScores, first: Ints, second: Ints, error: Floats
    ) -> None:
        def differing(first: Ints, second: Ints) -> Ints:
            gaps = drop_noise(values[:, first], values[:, second])
            return np.asarray(np.count_nonzero(from_commonest(gaps), axis=0))

        self.first, self.second, self.error = first, second, error
        # Systems x queries, so that pairs are rows.
        self.judged = [np.ascontiguousarray(part.T) for part in (values, *machine)]
        self.sizes = len(values), len(machine.extra)
        self.few = in_blocks(differing, first, second, len(values)) < DIFFERING

    def draw(self, generator: np.random.Generator, count: int) -> tuple[Floats, Floats, Floats]:
        """Return weights of both sets of queries, and statistics for pairs with few differences."""
        human, extra = (draw_weights(generator, size, count) for size in self.sizes)
        by_t = generator.standard_t(self.sizes[0] - 1, (int(self.few.sum()), count))
        return human, extra, by_t

    def statistics(self, part: slice, drawn: tuple[Floats, Floats, Floats]) -> Floats:
        """Return the studentized differences of some pairs: pairs x replicates."""
        human, extra, by_t = drawn
        first, second = self.first[part], self.second[part]
        y, f, g = (each[first] - each[second] for each in self.judged)
        statistics = replicated_statistics(y, f, g, human, extra, self.error[part])
        few, before = self.few[part], int(self.few[: part.start].sum())
        statistics[few] = by_t[before : before + int(few.sum())]
        return statistics


def replicated_statistics(
    human: Floats,
    machine: Floats,
    extra: Floats,
    drawn: Floats,
    drawn_extra: Floats,
    error: Floats,
) -> Floats:
    """Return combined differences in replicates, minus the observed ones, over standard errors.

    Differences are (…) x pairs x queries, draws (…) x queries x replicates, errors (…) x pairs.
    """
    n, more = human.shape[-1], extra.shape[-1]
    shift = (machine.mean(-1) - extra.mean(-1))[..., None]
    y, f, g = (each - each.mean(-1, keepdims=True) for each in (human, machine, extra))
    mean_y, mean_f, mean_g = y @ drawn, f @ drawn, g @ drawn_extra
    products = (y * f) @ drawn - mean_y * mean_f
    squares = (f * f) @ drawn - mean_f**2
    flat = FLAT * (f * f).mean(-1)[..., None]
    weight = _weight(products, squares, flat, 1 + n / more)
    own = (y * y) @ drawn - mean_y**2 - 2 * weight * products + weight**2 * squares
    others = weight**2 * ((g * g) @ drawn_extra - mean_g**2)
    variance = own / (n - 1) + others / (more - 1)
    # In place of a variance of 0: the statistic becomes 0, or as large as possible.
    no_variance = np.inf if n >= FEW else float(np.finfo(np.float64).tiny)
    variance[variance <= 1e-10 * error[..., None] ** 2] = no_variance
    # The estimate of all queries, by the weight that all of them give.
    both, alone = ((each * f).sum(-1)[..., None] for each in (y, f))
    centre = -_weight(both, alone, np.zeros_like(flat), 1 + n / more) * shift
    statistics: Floats = mean_y - weight * (mean_f - mean_g + shift) - centre
    statistics /= np.sqrt(variance)
    return statistics
