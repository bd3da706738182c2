"""The settings of an experiment with estimators, looked at from end to end before it runs."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from heldout.data.predictions import NumberPredictions
from heldout.errors import InputError
from heldout.experiment.instance_files import instances_from
from heldout.experiment.measure_files import loaded
from heldout.experiment.plan_settings import named_plan, plan_from_table
from heldout.experiment.schema import PredictionFields, checked
from heldout.experiment.settings import PredictionSettings
from heldout.experiment.systems.estimator_reading import baseline_systems, estimator_systems
from heldout.measure.base import Measure
from heldout.measure.parse import parse_measure
from heldout.notes import Note
from heldout.resample.notices import ResamplingWarning
from heldout.resample.plan import Plan

if TYPE_CHECKING:
    from pathlib import Path

    from heldout.experiment.instances import Instances, PredictionTask
    from heldout.experiment.problems import Problems
    from heldout.experiment.systems.estimators import EstimatorSystem
    from heldout.resample.split import Splits

__all__ = ["check_prediction_fields"]

_MEASURES: Final = {"classification": ("accuracy",), "regression": ("MSE",)}
_STRATIFIED: Final = ("kfold", "holdout")


def check_prediction_fields(
    fields: Mapping[str, Any], problems: Problems, folder: Path | None = None
) -> PredictionSettings | None:
    """Look at everything; what is wrong goes to `problems`, and nothing comes back then.

    Parameters
    ----------
    folder
        Where relative paths are looked for.
    """
    task: PredictionTask = fields["task"]
    given = checked(PredictionFields, fields, problems) or PredictionFields()
    measures, tune_for = _measures(given, task, problems, folder)
    own = estimator_systems(given.systems, task, tune_for, problems, folder)
    systems = (*own, *baseline_systems(task))
    _check_names(systems, given.baseline, problems)
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


def _measures(
    given: PredictionFields, task: PredictionTask, problems: Problems, folder: Path | None
) -> tuple[tuple[Measure, ...], Measure | None]:
    wanted = _MEASURES[task] if given.measures is None else given.measures
    listed = [wanted] if isinstance(wanted, str) else wanted
    if not isinstance(listed, list | tuple) or not listed:
        problems.add("measures", f"{wanted!r} is not a list of measures")
        return (), None
    found: dict[Measure, None] = {}
    for at, one in enumerate(listed):
        with problems.at(f"measures[{at}]"):
            found.setdefault(_measure(task, loaded(one, task, folder)))
    tune_for = next(iter(found), None)
    if given.tune_for is not None:
        with problems.at("tune_for"):
            tune_for = _measure(task, loaded(given.tune_for, task, folder))
    return tuple(found), tune_for


def _measure(task: PredictionTask, name: Any) -> Measure:
    if not isinstance(name, str | Measure):
        raise InputError(f"{name!r} is not the name of a measure")
    return parse_measure(name, task)


def _check_measures(measures: tuple[Measure, ...], data: Instances, problems: Problems) -> None:
    """What cannot be measured on these data, whatever is predicted."""
    for at, measure in enumerate(measures):
        one = measure.parameters.get("class")
        if one and one not in data.classes:
            there = ", ".join(data.classes)
            problems.add(f"measures[{at}]", f"there is no class {one!r}; there are {there}")
        if measure.family == "MAPE":
            truth = data.y.astype(np.float64)
            with problems.at(f"measures[{at}]"):
                measure.compute(NumberPredictions("data", data.ids, truth, truth))


def _check_names(systems: tuple[EstimatorSystem, ...], baseline: Any, problems: Problems) -> None:
    names = [one.name for one in systems]
    for name in dict.fromkeys(names):
        if names.count(name) > 1:
            problems.add("systems", f"{names.count(name)} are called {name!r}: name them apart")
    if baseline is not None and baseline not in names:
        there = ", ".join(names)
        problems.add("baseline", f"there is no system {baseline!r}; there are {there}")


def _plan(
    given: PredictionFields, task: PredictionTask, problems: Problems, folder: Path | None
) -> Plan | None:
    plan = {} if given.plan is None else given.plan
    if isinstance(plan, Plan):
        return plan
    if not isinstance(plan, Mapping):
        problems.add("plan", f"{plan!r} is not a plan: give a table such as {{folds = 10}}")
        return None
    if "groups" in plan:
        problems.add("plan.groups", "say it with the data: data.groups")
        return None
    table = named_plan(plan, problems)
    if table.get("stratify") == "none":
        del table["stratify"]
    elif task == "classification" and table.get("kind", "kfold") in _STRATIFIED:
        table.setdefault("stratify", "labels")
    return plan_from_table(table, "instance", given.seed, problems, folder)


def _splits(
    plan: Plan,
    data: Instances,
    systems: tuple[EstimatorSystem, ...],
    given: PredictionFields,
    problems: Problems,
) -> Splits | None:
    splits: Splits | None = None
    with problems.at("plan"), warnings.catch_warnings():
        # What plans warn of stands in the notes of the results.
        warnings.simplefilter("ignore", ResamplingWarning)
        splits = data.divided(plan)
        _check_sides(splits, data)
    if splits is not None and any(one.tuned for one in systems):
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
                f"split {split.key}: all rows that are seen are of one class, {names}: nothing "
                "can be learned there"
            )


def _unseen(data: Instances, splits: Splits) -> tuple[Note, ...]:
    """Classes that are held out where they were never seen."""
    found: dict[str, None] = {}
    for split in splits if data.classes else ():
        held = set(data.codes[split.test > 0].tolist()) - set(data.codes[split.train > 0].tolist())
        found |= dict.fromkeys(data.classes[at] for at in sorted(held))
    if not found:
        return ()
    text = f"class {', '.join(found)} is held out where it was not seen in training"
    return (Note("unseen-class", text),)
