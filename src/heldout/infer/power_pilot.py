"""Power by simulation: the actual test on samples of a pilot's units.

For F1, BLEU, AUC and other scores that are no means over units there is no formula. Units of the
pilot are drawn with replacement, as many as are planned, and the systems are compared on them; the
share of significant results is the power, if the true difference is the pilot's own.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from heldout.data.scores import Scores
from heldout.errors import HeldoutError, InputError
from heldout.infer.levels import alpha_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from heldout.data.words import Ints
    from heldout.infer.results import Alternative
    from heldout.infer.scoring.base import Scored, Scoring

__all__ = ["PilotPower", "pilot_power", "scored_power"]

REPLICATES: Final = 999
"""Of a randomization test in one simulation: at 5 % it decides as 100,000 would, nearly always."""


class PilotPower(NamedTuple):
    """The power that a simulation found.

    Parameters
    ----------
    n
        Units in each simulated comparison.
    power
        The share of comparisons with a significant difference.
    error
        Its standard error.
    difference
        The pilot's difference, second system minus first, which is taken to be true.
    test
        The test.
    simulations
        How many comparisons there were.
    """

    n: int
    power: float
    error: float
    difference: float
    test: str
    simulations: int


def pilot_power(
    given: Any,
    systems: Any = None,
    measure: Any = None,
    *,
    n: int,
    test: str = "",
    level: float = 0.95,
    alternative: Alternative = "two-sided",
    simulations: int = 500,
    seed: int = 0,
    positive: str | None = None,
    undefined: float | None = None,
) -> PilotPower:
    """Return the power to show a pilot's difference with another number of units.

    Parameters
    ----------
    given, systems, measure, positive, undefined
        A pilot of two systems, as for `heldout.compare`; the second is compared with the first.
    n
        Units to plan with.
    test
        By default the test that decides for this measure.
    level, alternative
        Of the test.
    simulations, seed
        How many samples of units are drawn, and the random seed.

    Notes
    -----
    The difference of a pilot that was chosen because it looked promising is too large on average,
    and so is this power.

    Examples
    --------
    >>> truth = ["no", "yes"] * 20
    >>> flipped = ["yes"] * 12 + truth[12:]
    >>> found = pilot_power(truth, {"A": flipped, "B": truth}, "MCC", n=80, simulations=20)
    >>> found.test, found.power
    ('randomization', 1.0)
    """
    from heldout.infer.compared_inputs import PredictionOptions, scored_of, scored_systems
    from heldout.infer.engine import Asked

    if measure is None and not isinstance(systems, dict | list | tuple):
        systems, measure = None, systems
    asked = Asked(alternative=alternative, level=level, replicates=REPLICATES, seed=seed)
    asked.check()
    options = PredictionOptions(positive, "auto", undefined)
    if systems is None:
        scored = scored_of(given, measure, asked, options)
    else:
        scored = scored_systems(given, systems, measure, asked, options)
    return scored_power(
        scored,
        n,
        test=test,
        level=level,
        alternative=alternative,
        simulations=simulations,
        seed=seed,
    )


def scored_power(
    scored: Scored,
    n: int,
    *,
    pair: tuple[int, int] = (1, 0),
    test: str = "",
    level: float = 0.95,
    alternative: Alternative = "two-sided",
    simulations: int = 500,
    seed: int = 0,
) -> PilotPower:
    """As `pilot_power`, of a pilot that is scored already.

    Parameters
    ----------
    scored
        What the engine compares.
    pair
        The systems, first minus second.
    n, test, level, alternative, simulations, seed
        As for `pilot_power`.
    """
    scores = scored.scores
    if len(scores.systems) < 2:
        raise InputError("one system has no difference to plan from: give a pilot of two")
    if scored.test_share is not None:
        raise InputError("folds are not drawn: plan for folds with --test-share, or over units")
    if n < 2:
        raise InputError(f"n={n}: a comparison needs at least 2 units")
    if simulations < 1:
        raise InputError(f"simulations={simulations}: expected a positive integer")
    name = test or _deciding_test(scored)
    side = alternative
    if not scores.higher_is_better and side != "two-sided":
        side = "less" if side == "greater" else "greater"
    sample = _sampler(scored)
    alpha, shown = alpha_of(level), 0
    for number in range(simulations):
        generator = np.random.default_rng([seed, number])
        rows = generator.integers(0, len(scores.units), n)
        shown += _significant(sample(rows, number), name, pair, side, alpha)
    power = shown / simulations
    gap = scores.values[:, pair[0]].mean() - scores.values[:, pair[1]].mean()
    error = math.sqrt(power * (1 - power) / simulations)
    return PilotPower(n, power, error, float(gap), name, simulations)


def _significant(
    scoring: Scoring, test: str, pair: tuple[int, int], side: Alternative, alpha: float
) -> bool:
    try:
        return scoring.outcome(test, pair, side).p <= alpha
    except HeldoutError:  # a sample on which the measure does not exist shows nothing
        return False


def _deciding_test(scored: Scored) -> str:
    from heldout.infer.advise import advise

    if scored.scoring.tests:
        return scored.scoring.tests[0]
    first_two = replace(
        scored.scores,
        systems=scored.scores.systems[:2],
        values=scored.scores.values[:, :2],
        judged=scored.scores.judged[:2],
    )
    return advise(first_two, scoring=scored.scoring).tests[0]


def _sampler(scored: Scored) -> Callable[[Ints, int], Scoring]:
    """Return a function that scores some units, each as often as its number is given."""
    from heldout.infer.scoring.base import MeanScoring
    from heldout.infer.scoring.linearised import LinearScoring
    from heldout.infer.scoring.resampled import AreaScoring, SumScoring

    scoring = scored.scoring
    if isinstance(scoring, MeanScoring):
        values, mean = scored.scores.values, scoring

        def means(rows: Ints, seed: int) -> Scoring:
            ids = tuple(map(str, range(len(rows))))
            drawn = Scores(scored.scores.measure, scored.scores.systems, ids, values[rows])
            return replace(mean, scores=drawn, seed=seed)

        return means
    if isinstance(scoring, SumScoring):
        sums = scoring
        kinds = slice(None) if sums.kind is None else sums.kind
        tables = [table[kinds] for table in sums.tables]
        return lambda rows, seed: replace(
            sums, tables=[table[rows] for table in tables], kind=None, seed=seed
        )
    if isinstance(scoring, AreaScoring):
        area = scoring
        return lambda rows, _: replace(area, positive=area.positive[rows], scores=area.scores[rows])
    if isinstance(scoring, LinearScoring):
        linear = scoring
        return lambda rows, _: replace(
            linear, values=linear.values[rows], scores=linear.values[rows].mean(axis=0)
        )
    raise InputError(
        f"{scored.scores.measure} goes by the order of units, and comparing many samples of them "
        "would take too long: plan with the formula (its values of units are linearised)"
    )
