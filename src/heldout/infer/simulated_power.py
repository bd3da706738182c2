"""Power by simulation: the actual comparison, on samples of a pilot's units.

For F1, BLEU, AUC and other scores that are not means over units there is no formula. The planned
number of units is drawn from the pilot with replacement and the systems are compared on them; the
share of significant results is the power if the true difference is that of the pilot. The
difference of a pilot that was chosen because it looked promising is too large on average, and so is
this power.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from heldout.data.scores import Scores
from heldout.errors import HeldoutError, InputError
from heldout.infer.analysis import Analysis
from heldout.infer.compare import compare
from heldout.infer.results import alpha_of, numeric_alternative
from heldout.infer.scored_inputs import PredictionSystems, scored
from heldout.measure.evaluation import Evaluation

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from heldout.data.words import Ints
    from heldout.infer.power import Goal

REPLICATES: Final = 999  # of a randomization test: nearly the same decisions as with 100,000


class SimulatedPower(NamedTuple):
    """The share of simulated comparisons with a significant difference, and its standard error."""

    n: int
    power: float
    error: float
    difference: float  # in the pilot, second system minus first, which is assumed to be true
    test: str
    simulations: int


def simulated_power(
    pilot: Scores | Evaluation | Sequence[Any],
    measure: Any,
    systems: tuple[str, str],
    n: int,
    goal: Goal,
    *,
    simulations: int,
    seed: int,
    positive: str | None = None,
) -> SimulatedPower:
    """Return the power to detect the difference of two systems in a pilot with n units."""
    if n < 2:
        raise InputError(f"n={n}: expected at least 2 units")
    if simulations < 1:
        raise InputError(f"simulations={simulations}: expected a positive integer")
    units, measure, sample = _sampler(pilot, measure, systems)
    known: Any = {"positive": positive, "by": "unit"}
    whole = compare(sample(np.arange(units)), measure, replicates=REPLICATES, seed=seed, **known)
    test, better = whole.analysis.decides, whole.scores.higher_is_better
    side = numeric_alternative(goal.alternative, higher_is_better=better)
    significant = 0
    for number in range(simulations):
        rows = np.random.default_rng([seed, number]).integers(0, units, n)
        analysis = Analysis(replicates=REPLICATES, seed=number)
        try:  # the test alone: intervals and effects would take most of the time
            scoring = scored(sample(rows), measure, analysis, **known)
            significant += scoring.outcome(test, (1, 0), side).p <= alpha_of(goal.level)
        except HeldoutError:  # the measure is undefined on this sample: not significant
            continue
    power = significant / simulations
    error = math.sqrt(power * (1 - power) / simulations)
    difference = whole.claims[0].difference.estimate
    return SimulatedPower(n, power, error, difference, test, simulations)


def _sampler(
    pilot: Any, measure: Any, systems: tuple[str, str]
) -> tuple[int, Any, Callable[[Ints], Any]]:
    """Return the number of units, the measure, and a function that draws units, repeatedly."""
    if isinstance(pilot, Scores):
        values = pilot.values[:, [pilot.index(name) for name in systems]]

        def of_scores(rows: Ints) -> Scores:
            ids = tuple(map(str, range(len(rows))))
            return Scores(pilot.measure, systems, ids, values[rows], pilot.higher_is_better)

        return len(values), measure, of_scores
    if isinstance(pilot, Evaluation):
        from heldout.measure.evaluate import evaluate  # imports all tasks

        wanted = pilot.measure(measure)
        texts = [pilot.truth, *(pilot.data[name].system for name in systems)]

        def of_texts(rows: Ints) -> Evaluation:
            ids = tuple(map(str, range(len(rows))))
            references, *drawn = (
                replace(
                    each,
                    ids=ids,
                    texts=_taken(each.texts, rows),
                    log_probs=_taken(each.log_probs, rows),
                )
                for each in texts
            )
            return evaluate(references, drawn, [wanted], task="text")

        return len(pilot.units()), wanted, of_texts
    predictions = [next(each for each in pilot if each.name == name) for name in systems]
    # Units with several rows, and groups of units, are drawn as a whole.
    places: list[dict[str, list[int]]] = [{}, {}]
    for each, rows_of in zip(predictions, places, strict=True):
        for row, name in enumerate(each.groups or each.units):
            rows_of.setdefault(name, []).append(row)
    shared = [name for name in places[0] if name in places[1]]

    def of_predictions(rows: Ints) -> PredictionSystems:
        names = [shared[row] for row in rows.tolist()]
        drawn = zip(predictions, places, strict=True)
        return PredictionSystems.of(
            [_drawn(each, [rows_of[name] for name in names]) for each, rows_of in drawn]
        )

    return len(shared), PredictionSystems.of(predictions).measures([measure])[0], of_predictions


def _drawn(predictions: Any, groups: Sequence[Sequence[int]]) -> Any:
    """Return predictions of groups of rows, each a new group even if it is there twice."""
    numbers = [number for number, rows in enumerate(groups) for _ in rows]
    rows = np.concatenate([np.asarray(each) for each in groups])
    arrays = ("truth", "predicted", "scores", "weights")
    given = {name: getattr(predictions, name, None) for name in arrays}
    units = zip(numbers, _taken(predictions.units, rows), strict=True)
    return replace(
        predictions,
        **{name: array[rows] for name, array in given.items() if array is not None},
        units=tuple(f"{number} {unit}" for number, unit in units),
        groups=tuple(map(str, numbers)) if predictions.groups else (),
        repeats=_taken(predictions.repeats, rows),
        folds=(),
    )


def _taken(column: tuple[Any, ...], rows: Ints) -> tuple[Any, ...]:
    return tuple(column[row] for row in rows.tolist()) if column else ()
