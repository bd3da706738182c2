"""Power by simulation: the actual comparison, on samples of a pilot's units.

For F1, BLEU, AUC and other scores that are not means there is no formula: the share of significant
results on samples is the power if the true difference is that of the pilot. That of a pilot that
was chosen because it looked promising is too large on average, and so is this power.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from heldout.data.scores import Scores
from heldout.errors import HeldoutError, InputError
from heldout.infer.compare import compare
from heldout.infer.scored_inputs import PredictionSystems
from heldout.measure.evaluation import Evaluation

if TYPE_CHECKING:
    from collections.abc import Callable

    from heldout.data.words import Ints
    from heldout.infer.power import Goal
    from heldout.measure.base import Measure

    Sampler = Callable[[Ints], Any]  # of numbers of units, to what can be compared

COLUMNS: Final = ("truth", "predicted", "scores", "weights", "repeats", "texts", "log_probs")
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
    pilot: Scores | PredictionSystems | Evaluation,
    measure: Measure | None,
    systems: tuple[str, str],
    n: int,
    goal: Goal,
    *,
    simulations: int,
    seed: int,
    positive: str | None = None,
) -> SimulatedPower:
    """Return the power to detect the difference of two systems in a pilot with n units."""
    if simulations < 1:
        raise InputError("expected a positive integer", argument="simulations", value=simulations)
    units, sample = _sampler(pilot, measure, systems)
    settings: Any = {
        "alternative": goal.alternative,
        "level": goal.level,
        "replicates": REPLICATES,
        "positive": positive,
        "by": "unit",
    }
    whole = compare(sample(np.arange(units)), measure, seed=seed, **settings)
    test, significant = whole.analysis.decides, 0
    for number in range(simulations):
        rows = np.random.default_rng([seed, number]).integers(0, units, n)
        try:
            compared = compare(sample(rows), measure, tests=(test,), seed=number, **settings)
        except HeldoutError:  # the measure is undefined on this sample: not significant
            continue
        significant += compared.claims[0].adjusted <= compared.alpha
    power = significant / simulations
    error = math.sqrt(power * (1 - power) / simulations)
    difference = whole.claims[0].difference.estimate
    return SimulatedPower(n, power, error, difference, test, simulations)


def _sampler(pilot: Any, measure: Any, systems: tuple[str, str]) -> tuple[int, Sampler]:
    """Return the number of units, and a function that draws some, perhaps repeatedly."""
    if isinstance(pilot, Scores):
        values = pilot.values[:, [pilot.index(name) for name in systems]]
        kind, better = pilot.measure, pilot.higher_is_better
        return len(values), lambda rows: Scores(kind, systems, _ids(rows), values[rows], better)
    if isinstance(pilot, Evaluation):
        from heldout.measure.evaluate import evaluate  # imports all tasks

        texts = [pilot.truth, *(pilot.data[name].system for name in systems)]

        def of_texts(rows: Ints) -> Evaluation:
            references, *drawn = (_taken(each, rows, ids=_ids(rows)) for each in texts)
            return evaluate(references, drawn, [measure], task="text")

        return len(pilot.units()), of_texts
    predictions = [next(each for each in pilot.systems if each.name == name) for name in systems]
    # Units with several rows, and groups of units, are drawn as a whole.
    places: list[dict[str, list[int]]] = [{}, {}]
    for each, rows_of in zip(predictions, places, strict=True):
        for row, name in enumerate(each.groups or each.units):
            rows_of.setdefault(name, []).append(row)
    shared = [name for name in places[0] if name in places[1]]

    def of_predictions(drawn: Ints) -> PredictionSystems:
        systems = []
        for each, rows_of in zip(predictions, places, strict=True):
            # Each is a new group, or a new unit, even if it is there twice.
            wholes = [rows_of[shared[number]] for number in drawn.tolist()]
            rows = np.concatenate([np.asarray(whole) for whole in wholes])
            groups = tuple(str(number) for number, whole in enumerate(wholes) for _ in whole)
            ids = zip(groups, rows.tolist(), strict=True)
            units = tuple(f"{group} {each.units[row]}" for group, row in ids)
            new: Any = {"units": units, "groups": groups if each.groups else (), "folds": ()}
            systems.append(_taken(each, rows, **new))
        return PredictionSystems.of(systems)

    return len(shared), of_predictions


def _ids(rows: Ints) -> tuple[str, ...]:
    return tuple(map(str, range(len(rows))))


def _taken(record: Any, rows: Ints, **new: tuple[str, ...]) -> Any:
    """Return a record with some rows of its columns, perhaps repeatedly, and new ids."""
    columns = {name: getattr(record, name, None) for name in COLUMNS}
    arrays = {name: each[rows] for name, each in columns.items() if isinstance(each, np.ndarray)}
    listed = {name: each for name, each in columns.items() if isinstance(each, tuple) and each}
    tuples = {name: tuple(map(each.__getitem__, rows.tolist())) for name, each in listed.items()}
    return replace(record, **arrays, **tuples, **new)
