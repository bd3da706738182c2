"""Check the fields of an experiment with estimators, all at once, before it runs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from heldout.data.predictions import NumberPredictions
from heldout.errors import InputError
from heldout.experiment.field_checks import (
    check_names,
    check_validation,
    given_measures,
    given_plan,
    splitting,
)
from heldout.experiment.instances import instances_from
from heldout.experiment.measure_files import loaded
from heldout.experiment.plan_fields import plan_from_table
from heldout.experiment.schema import PredictionFields, checked
from heldout.experiment.settings import PredictionSettings
from heldout.experiment.systems.estimator_reading import baseline_systems, estimator_systems
from heldout.measure.base import Measure
from heldout.measure.names import parse_measure
from heldout.notes import Note
from heldout.resample.plan import Plan
from heldout.resample.two_way import Crossed

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from heldout.experiment.instances import Instances, PredictionTask
    from heldout.experiment.problems import Problems
    from heldout.experiment.systems.estimators import EstimatorSystem
    from heldout.resample.split import Splits

__all__ = ["check_prediction_fields"]

_DEFAULT_MEASURE: Final = {"classification": "accuracy", "regression": "MSE"}
_STRATIFIED: Final = ("kfold", "holdout")


def check_prediction_fields(
    task: PredictionTask,
    fields: Mapping[str, object],
    problems: Problems,
    folder: Path | None = None,
) -> PredictionSettings | None:
    """Check all fields; mistakes are added to `problems`, and None is returned.

    Parameters
    ----------
    folder
        Where relative paths start.
    """
    given = checked(PredictionFields, fields, problems) or PredictionFields()
    measures, tune_for = given_measures(
        given,
        _DEFAULT_MEASURE[task],
        lambda one: (_measure(task, loaded(one, task, folder)),),
        problems,
    )
    own = estimator_systems(given.systems, task, tune_for, problems, folder)
    systems = (*own, *baseline_systems(task))
    check_names(systems, given.baseline, problems)
    data = instances_from(given.data, task, problems, folder)
    if data is not None:
        _check_measures(measures, data, problems)
    plan = _plan(given, task, problems, folder)
    splits = None
    if data is not None and plan is not None:
        splits = _splits(plan, data, systems, given, problems)
    if problems.found or data is None or splits is None or tune_for is None:
        return None
    return PredictionSettings(
        task=task,
        data=data,
        systems=systems,
        splits=splits,
        measures=measures,
        tune_for=tune_for,
        seed=given.seed,
        rule=given.rule,
        inner=given.inner,
        level=given.level,
        baseline=given.baseline,
        notes=(*splits.notes, *_unseen(data, splits)),
    )


def _measure(task: PredictionTask, name: object) -> Measure:
    if not isinstance(name, str | Measure):
        raise InputError(f"{name!r} is not the name of a measure")
    return parse_measure(name, task)


def _check_measures(measures: tuple[Measure, ...], data: Instances, problems: Problems) -> None:
    """Check measures that cannot be computed for these data under any prediction."""
    for at, measure in enumerate(measures):
        one = measure.parameters.get("class")
        if one and one not in data.classes:
            there = ", ".join(data.classes)
            problems.add(f"measures[{at}]", f"unknown class {one!r}: expected one of {there}")
        if measure.family == "MAPE":
            truth = data.y.astype(np.float64)
            with problems.at(f"measures[{at}]"):
                measure.units(NumberPredictions("data", data.ids, truth, truth))


def _plan(
    given: PredictionFields, task: PredictionTask, problems: Problems, folder: Path | None
) -> Plan | None:
    plan = given_plan(given.plan, problems)
    if plan is None or isinstance(plan, Plan):
        return plan
    if isinstance(plan, Crossed):
        problems.add("plan", f"{plan} divides queries and documents, and there are rows: give one")
        return None
    if "groups" in plan:
        problems.add("plan.groups", "give groups with the data: data.groups")
        return None
    table = dict(plan)
    if table.get("stratify") == "none":
        del table["stratify"]
    elif task == "classification" and table.get("kind", "kfold") in _STRATIFIED:
        table.setdefault("stratify", "labels")
    made = plan_from_table(table, "instance", given.seed, problems, folder)
    return made if isinstance(made, Plan) else None


def _splits(
    plan: Plan,
    data: Instances,
    systems: tuple[EstimatorSystem, ...],
    given: PredictionFields,
    problems: Problems,
) -> Splits | None:
    splits: Splits | None = None
    with splitting(problems):
        splits = replace(data.divided(plan), runs=given.runs)
        check_validation(splits, problems)
        _check_sides(splits, data)
    if splits is not None and any(system.tuned for system in systems):
        with problems.at("inner"):
            for split in (None, *splits):
                data.inner_folds(split, given.inner, given.seed)
    return splits


def _check_sides(splits: Splits, data: Instances) -> None:
    for split in splits if data.classes else ():
        seen = np.unique(data.codes[split.train > 0])
        if len(seen) < 2:
            names = ", ".join(data.classes[at] for at in seen.tolist())
            raise InputError(
                f"split {split.key}: all training rows have the same class, {names}: nothing can "
                "be learned there"
            )


def _unseen(data: Instances, splits: Splits) -> tuple[Note, ...]:
    """Return a note about classes that are held out and not in the training data."""
    found: dict[str, None] = {}
    for split in splits if data.classes else ():
        held = set(data.codes[split.test > 0].tolist()) - set(data.codes[split.train > 0].tolist())
        found |= dict.fromkeys(data.classes[at] for at in sorted(held))
    if not found:
        return ()
    text = f"class {', '.join(found)} is held out in a split without it in the training data"
    return (Note("unseen-class", text),)
