"""`power`: how much data a comparison needs, planned from a pilot study of any kind."""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final

from heldout.data.predictions import ClassPredictions, NumberPredictions, unit_count
from heldout.errors import InputError
from heldout.infer.power import KNOWN, Design, Goal, PowerPlan, pilot_plans, shown_value
from heldout.infer.results import alpha_of, check_alternative, check_level
from heldout.infer.scored_inputs import PredictionSystems, as_scores
from heldout.measure.evaluation import Evaluation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.data.scores import Scores
    from heldout.infer.results import Alternative
    from heldout.infer.scored_inputs import By
    from heldout.measure.base import Measure

REPLICATES: Final = 100  # of a comparison whose p-values nobody reads


def power(  # noqa: PLR0913 (the front door names what it takes)
    pilot: Any = None,
    measure: str | Measure | None = None,
    *,
    sd: float | None = None,
    differences: Sequence[float] = (),
    units: Sequence[int] = (),
    half_widths: Sequence[float] = (),
    power: float = 0.8,
    level: float = 0.95,
    alternative: Alternative = "two-sided",
    test_share: float | None = None,
    positive: str | None = None,
    by: By = "auto",
    simulations: int = 0,
    seed: int = 0,
) -> list[PowerPlan]:
    """Plan the amount of data of a comparison, or the smallest difference that it can detect.

    Parameters
    ----------
    pilot
        A pilot study of two or more systems: `Scores` or a table of them, an evaluation, a list of
        predictions (one object per system), or results of an experiment (not by document).
    measure
        Its measure; by default the first, of predictions accuracy or RMSE.
    sd
        The standard deviation of the differences, if it is known, instead of a pilot.
    differences
        True differences to detect; by default round numbers of a usual size.
    units
        Amounts of data (queries, documents, units) to find the detectable difference of.
    half_widths
        Half-widths of the interval of the difference.
    power
        The probability that the test detects the difference.
    level, alternative
        The confidence level of the test, and its alternative: ``two-sided``, ``greater``, ``less``.
    test_share
        n_test / n_train, if the units of a table are folds.
    positive, by
        Of predictions, as for `heldout.compare`.
    simulations
        Also draw so many samples of the pilot's units, of each size in `units` (default: that of
        the pilot), and run the actual test on them, for the pilot's own difference.
    seed
        Of simulations.

    Returns
    -------
    list of PowerPlan
        One plan for each pair of systems, tested alone. Its ``needed``, ``detectable`` and
        ``intervals`` are pairs of a question and its answer; ``print(plan)`` shows them.

    References
    ----------
    Cohen (1988). Statistical Power Analysis for the Behavioral Sciences, 2nd ed., chapter 2.
    Sakai (2018). Laboratory Experiments in Information Retrieval, chapter 6.

    Examples
    --------
    >>> [plan] = power(sd=0.15, differences=[0.02], units=[50], half_widths=[0.02])
    >>> plan.needed, plan.intervals
    (((0.02, 444),), ((0.02, 219),))
    >>> print(plan)
    Differences have standard deviation 0.1500.
    <BLANKLINE>
    Queries needed to detect a difference (power 80%, level 0.95, two-sided)
    difference  queries
          0.02      444
    <BLANKLINE>
    Smallest detectable difference by number of queries
    queries  difference
         50      0.0606
    <BLANKLINE>
    Queries needed for a 95% interval of the difference
    half-width  queries
        ± 0.02      219
    """
    goal = Goal(power, check_level(level), check_alternative(alternative))
    if not alpha_of(level) < power < 1:
        raise InputError(
            f"expected a number between 1 - level ({alpha_of(level):g}) and 1",
            argument="power",
            value=power,
        )
    if (pilot is None) == (sd is None):
        raise InputError("give either a pilot study or sd, the standard deviation of differences")
    if sd is not None:
        of_pilots = {"measure": measure, "test_share": test_share, "positive": positive}
        for name, value in of_pilots.items():
            if value is not None:
                why = "goes with a pilot study, not with "
                raise InputError(why, KNOWN, argument=name, value=value)
    scores: Scores | None = None
    drawn: Any = None
    known: Measure | None = None
    if sd is None:
        scores, drawn, known, test_share = _study(pilot, measure, test_share, positive, by)
        rows = unit_count(drawn.systems[0]) if isinstance(drawn, PredictionSystems) else 0
        plans = pilot_plans(scores, test_share, rows)
    elif 0 < sd < math.inf:
        about = f"Differences have standard deviation {shown_value(sd, sd)}."
        plans = [PowerPlan("", sd, about=about, design=Design.of_units(sd))]
    else:
        raise InputError(
            "expected the standard deviation of the differences, above zero",
            argument="sd",
            value=sd,
        )
    plans = [plan.answered(differences, units, half_widths, goal) for plan in plans]
    if not simulations:
        return plans
    if scores is None or test_share is not None:
        raise InputError(
            "simulations need a pilot with values of units: runs, a table, predictions"
        )
    from heldout.infer.simulated_power import simulated_power  # slow to import

    sizes = units or [len(scores.units)]
    options: Any = {"simulations": simulations, "seed": seed, "positive": positive}
    simulated = [
        tuple(simulated_power(drawn, known, pair, n, goal, **options) for n in sizes)
        for pair in combinations(scores.systems, 2)
    ]
    return [plan._replace(simulated=rows) for plan, rows in zip(plans, simulated, strict=True)]


def _study(
    pilot: Any, measure: Any, test_share: float | None, positive: str | None, by: By
) -> tuple[Scores, Any, Measure | None, float | None]:
    """Return the scores of a pilot, what its units are drawn from, its measure and test share."""
    from heldout.experiment.results.results import Results  # slow to import
    from heldout.infer.compare import compare

    if isinstance(pilot, Results):
        settings = pilot.manifest["settings"]
        if settings["by"] == "document":
            raise InputError(
                "power cannot be planned from an experiment by document: plan from an experiment "
                "that holds out queries"
            )
        if pilot.unit == "split":
            test_share = settings["test_share"]
        pilot, measure = pilot.scores(None if measure is None else str(measure)), None
    elif isinstance(pilot, Evaluation):
        measure = pilot.measure(0 if measure is None else measure)
        if pilot.task == "ranking":
            pilot, measure = pilot.scores(measure), None
        elif pilot.task != "text":
            pilot = [pilot.data[name] for name in pilot.names]
    if isinstance(pilot, list | tuple) and all(
        isinstance(system, ClassPredictions | NumberPredictions) for system in pilot
    ):
        pilot = PredictionSystems.of(pilot)
        measure = pilot.measures([] if measure is None else [measure])[0]
    if not isinstance(pilot, PredictionSystems | Evaluation):
        scores = as_scores(pilot, measure)
        return scores, scores, None, test_share
    if test_share is not None:
        raise InputError(
            "predictions with a column fold or repeat know their own", argument="test_share"
        )
    compared = compare(pilot, measure, positive=positive, by=by, replicates=REPLICATES)
    return compared.scores, pilot, measure, compared.analysis.test_share
