"""Power by simulation: the actual test on bootstrap samples of a pilot.

For F1, BLEU, AUC and other scores that are not means over units there is no formula. The planned
number of units is drawn from the pilot with replacement and the systems are compared on them; the
share of significant results is the power if the true difference is that of the pilot.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from heldout.data.scores import Scores
from heldout.errors import HeldoutError, InputError
from heldout.infer.results import alpha_of, numeric_alternative

if TYPE_CHECKING:
    from collections.abc import Callable

    from heldout.data.words import Ints
    from heldout.infer.results import Alternative
    from heldout.infer.scoring import Scoring
    from heldout.measure import base

__all__ = ["PilotPower", "scored_power"]

REPLICATES: Final = 999
"""Of a randomization test in one simulation: enough for nearly the same decisions as 100,000."""


class PilotPower(NamedTuple):
    """The power estimated by simulation.

    Parameters
    ----------
    n
        Units in each simulated comparison.
    power
        The share of comparisons with a significant difference.
    error
        Its standard error.
    difference
        The difference in the pilot, second system minus first, which is assumed to be true.
    test
        The test.
    simulations
        The number of simulated comparisons.
    """

    n: int
    power: float
    error: float
    difference: float
    test: str
    simulations: int


def scored_power(
    scored: Scoring,
    n: int,
    *,
    pair: tuple[int, int] = (1, 0),
    test: str = "",
    level: float = 0.95,
    alternative: Alternative = "two-sided",
    simulations: int = 500,
    seed: int = 0,
) -> PilotPower:
    """Return the power to detect the difference of a pilot with another number of units.

    The difference of a pilot that was chosen because it looked promising is too large on average,
    and so is this power.

    Parameters
    ----------
    scored
        What the engine compares.
    n
        Units to plan with.
    pair
        The systems, first minus second.
    test
        By default the test that decides for this measure.
    level, alternative
        Of the test.
    simulations, seed
        The number of samples of units, and the random seed.
    """
    scores = scored.scores
    if len(scores.systems) < 2:
        raise InputError("one system: expected a pilot of two systems")
    if scored.test_share is not None:
        raise InputError("folds cannot be resampled: plan for folds with test_share, or over units")
    if n < 2:
        raise InputError(f"n={n}: expected at least 2 units")
    if simulations < 1:
        raise InputError(f"simulations={simulations}: expected a positive integer")
    name = test or _deciding_test(scored)
    side = numeric_alternative(alternative, higher_is_better=scores.higher_is_better)
    sample = _sampler(scored)
    alpha, significant = alpha_of(level), 0
    for number in range(simulations):
        generator = np.random.default_rng([seed, number])
        rows = generator.integers(0, len(scores.units), n)
        significant += _significant(sample(rows, number), name, pair, side, alpha)
    power = significant / simulations
    gap = scores.values[:, pair[0]].mean() - scores.values[:, pair[1]].mean()
    error = math.sqrt(power * (1 - power) / simulations)
    return PilotPower(n, power, error, float(gap), name, simulations)


def _significant(
    scoring: Scoring, test: str, pair: tuple[int, int], side: Alternative, alpha: float
) -> bool:
    try:
        return scoring.outcome(test, pair, side).p <= alpha
    except HeldoutError:  # the measure is undefined on this sample: not significant
        return False


def _deciding_test(scored: Scoring) -> str:
    from heldout.infer.default_analysis import advise

    if scored.tests:
        return scored.tests[0]
    first_two = replace(
        scored.scores,
        systems=scored.scores.systems[:2],
        values=scored.scores.values[:, :2],
        judged=scored.scores.judged[:2],
    )
    return advise(first_two, scoring=scored).tests[0]


def _sampler(scored: Scoring) -> Callable[[Ints, int], Scoring]:
    """Return a function that scores a sample of rows, in which rows may be repeated."""
    from heldout.infer.scoring import Area, Means, Sums

    if isinstance(scored, Means) or scored.tests == ("t",):
        values = scored.scores.values
        mean = scored if isinstance(scored, Means) else Means(scored.scores)

        def means(rows: Ints, seed: int) -> Scoring:
            ids = tuple(map(str, range(len(rows))))
            drawn = Scores(scored.scores.measure, scored.scores.systems, ids, values[rows])
            return replace(mean, scores=drawn, seed=seed)

        return means
    if isinstance(scored, Sums):
        sums = scored

        def sampled(one: base.Sums, rows: Ints) -> base.Sums:
            if one.kinds is None:
                return one._replace(table=one.table[rows])
            return one._replace(kinds=one.kinds[rows])

        return lambda rows, seed: replace(
            sums, systems=[sampled(one, rows) for one in sums.systems], seed=seed
        )
    if isinstance(scored, Area):
        area = scored
        return lambda rows, _: replace(area, positive=area.positive[rows], ranked=area.ranked[rows])
    raise InputError(
        f"{scored.scores.measure} depends on the order of units, and simulating its test takes too "
        "long: plan with the formula, which uses linearised values"
    )
