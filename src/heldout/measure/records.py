"""An evaluation as plain values, at full precision: what JSON and other programs read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from heldout.as_json import plain
from heldout.data.predictions import BASELINES, ClassPredictions, unit_count
from heldout.measure.base import Undefined, definitions
from heldout.notes import distinct

if TYPE_CHECKING:
    from heldout.measure.base import Measure, Number
    from heldout.measure.evaluation import Evaluation
    from heldout.notes import Note

OF_CLASS: Final = {
    "precision": "precision",
    "recall": "recall",
    "specificity": "specificity",
    "fp_rate": "FP-rate",
    "f": "F1",
}


def evaluation_record(
    evaluation: Evaluation, *, per_unit: bool, summary: bool, level: float, seed: int
) -> dict[str, Any]:
    """Everything about an evaluation; what is undefined is None."""
    record: dict[str, Any]
    if evaluation.machine is not None:
        record = _of_two_judges(evaluation, level)
    elif evaluation.task == "ranking":
        record = _of_rankings(evaluation, per_unit=per_unit, summary=summary)
    elif evaluation.task == "text":
        record = _of_texts(evaluation, level, seed)
    else:
        record = _of_predictions(evaluation, level, seed)
    return {name: plain(part) for name, part in record.items()}


def _number(value: Number) -> float | None:
    return None if isinstance(value, Undefined) else value


def _of_rankings(evaluation: Evaluation, *, per_unit: bool, summary: bool) -> dict[str, Any]:
    names, means = list(map(str, evaluation.measures)), evaluation.summary() if summary else {}
    runs = []
    for name, run in evaluation.data.items():
        entry: dict[str, Any] = {"name": name}
        if summary:
            entry["means"] = {measure: _number(mean) for measure, mean in means[name].items()}
        entry["judged_queries_missing"] = run.lacks
        entry["queries_without_judgements"] = run.unjudged
        if per_unit:
            columns = [evaluation.per_unit(name, measure) for measure in evaluation.measures]
            entry["queries"] = {
                query: dict(zip(names, values, strict=True))
                for query, *values in zip(evaluation.units(), *columns, strict=True)
            }
        runs.append(entry)
    return {
        "measures": names,
        "queries": len(evaluation.units()),
        "about": evaluation.about,
        "warnings": evaluation.notes,
        "runs": runs,
    }


# Human and machine judgements


def estimated(evaluation: Evaluation) -> list[Measure]:
    """The measures that have a mean over queries and a better and a worse."""
    return [
        measure
        for measure in evaluation.measures
        if measure.aggregate == "mean"
        and measure.higher_is_better is not None
        and measure.family != "Judged"
    ]


def estimates_notes(evaluation: Evaluation) -> tuple[Note, ...]:
    """Warnings about the evaluation and about both judgements, for all measures."""
    from heldout.infer.comparison_notes import machine_notes  # needs this folder

    of_judges = (
        note
        for measure in estimated(evaluation)
        for note in machine_notes(evaluation.scores(measure))
        if note.code != "few-differ"  # it is about differences
    )
    return distinct([*evaluation.notes, *of_judges])


def _of_two_judges(evaluation: Evaluation, level: float) -> dict[str, Any]:
    measures, runs = estimated(evaluation), []
    for name in evaluation.names:
        known = [evaluation.estimates(name, measure, level=level) for measure in measures]
        estimates = zip(map(str, measures), (each.to_dict() for each in known), strict=True)
        runs.append({"name": name, "estimates": dict(estimates)})
    notes = estimates_notes(evaluation)
    return {"measures": list(map(str, measures)), "warnings": notes, "runs": runs}


# Predictions


def is_baseline(evaluation: Evaluation, name: str) -> bool:
    """Whether a system was added, or is called like those that are."""
    return name in evaluation.baselines or name in BASELINES


def labelled(evaluation: Evaluation) -> list[ClassPredictions]:
    """The systems that predict a class for each unit."""
    systems = (evaluation.data[name] for name in evaluation.names)
    return [
        own for own in systems if isinstance(own, ClassPredictions) and own.predicted is not None
    ]


def per_class(
    evaluation: Evaluation, own: ClassPredictions
) -> list[tuple[str, float, dict[str, Number]]]:
    """Name, number of units and measures of each class."""
    from heldout.measure.prediction.classes import confusion

    counted, rows = {"undefined": evaluation.defaults.get("undefined")}, []
    for name, count in zip(own.classes, confusion(own).sum(axis=1).tolist(), strict=True):
        values = {}
        for key, family in OF_CLASS.items():
            options = {"class": name} | (counted if key in {"precision", "recall", "f"} else {})
            values[key] = definitions("classification")[family].make(options).compute(own)
        rows.append((name, count, values))
    return rows


def _value(value: Number) -> dict[str, Any]:
    reason = {"undefined": value.reason} if isinstance(value, Undefined) else {}
    return {"value": _number(value), **reason}


def _of_predictions(evaluation: Evaluation, level: float, seed: int) -> dict[str, Any]:
    systems, first = [], evaluation.data[evaluation.names[0]]
    for name, data in evaluation.data.items():
        added, measured = name in evaluation.baselines, {}
        for measure in evaluation.measures:
            entry = _value(evaluation.value(name, measure))
            # Baselines that were added have no units of their own, and no interval.
            interval = None if added else evaluation.interval(name, measure, level, seed=seed)
            measured[str(measure)] = entry if interval is None else entry | {"interval": interval}
        systems.append(
            {
                "name": name,
                "baseline": is_baseline(evaluation, name),
                "units": unit_count(first if added else data),
                "measures": measured,
            }
        )
    record: dict[str, Any] = {
        "task": evaluation.task,
        "measures": list(map(str, evaluation.measures)),
        "systems": systems,
        "about": evaluation.about,
        "warnings": evaluation.notes,
    }
    if isinstance(first, ClassPredictions):
        record |= {
            "classes": first.classes,
            "positive": first.positive if len(first.classes) == 2 else None,
            "confusion": [_of_classes(evaluation, own) for own in labelled(evaluation)],
        }
    return record


def _of_classes(evaluation: Evaluation, own: ClassPredictions) -> dict[str, Any]:
    from heldout.measure.prediction.classes import confusion

    rows = [
        {"class": name, "units": units} | {key: _value(value) for key, value in values.items()}
        for name, units, values in per_class(evaluation, own)
    ]
    return {"system": own.name, "confusion": confusion(own), "per_class": rows}


# Texts


def _of_texts(evaluation: Evaluation, level: float, seed: int) -> dict[str, Any]:
    measures = []
    for measure, signature in zip(evaluation.measures, evaluation.about, strict=True):
        systems = []
        for name in evaluation.names:
            interval = evaluation.interval(name, measure, level, seed=seed)
            bounds = {"low": None, "high": None, "level": level, "method": "none"}
            number = _number(evaluation.value(name, measure))
            own = {"estimate": number, **bounds} if interval is None else interval._asdict()
            systems.append({"system": name, **own})
        about = {"measure": str(measure), "signature": signature}
        better = {"higher_is_better": measure.higher_is_better}
        measures.append({**about, **better, "systems": systems})
    units = len(evaluation.units())
    return {"segments": units, "warnings": evaluation.notes, "measures": measures}
