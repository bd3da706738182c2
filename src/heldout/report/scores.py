"""Scores of predictions as tables, in words and as JSON. What does not exist is shown as —."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from heldout.as_json import plain
from heldout.data.predictions import BASELINES, ClassPredictions, unit_count
from heldout.measure.base import Undefined, definitions
from heldout.measure.prediction.classes import confusion, undefined_hint
from heldout.notes import named_few
from heldout.report.tables import Table, plain_text

if TYPE_CHECKING:
    from heldout.infer.results import Interval
    from heldout.measure.base import Measure, Number
    from heldout.measure.evaluation import Evaluation
    from heldout.measure.prediction.curves import HullPoint, RocHull

    Intervals = dict[tuple[str, Measure], Interval | None]  # of systems; baselines have none

__all__ = [
    "class_grid",
    "confusion_grids",
    "hull_grid",
    "hull_lines",
    "score_grid",
    "score_lines",
    "score_record",
]


_OF_CLASS: Final = {
    "precision": "precision",
    "recall": "recall",
    "specificity": "specificity",
    "fp_rate": "FP-rate",
    "f": "F1",
}
_COUNTED: Final = {"precision", "recall", "f"}
"""Measures of a class that may count as a given value where they are undefined."""


def show(value: Number | float | None, form: str = "z.4f") -> str:
    """A number as it is printed; — for one that does not exist."""
    if value is None or isinstance(value, Undefined):
        return "—"
    return f"{round(value, 12) + 0.0:{form}}"  # rounding noise below 0 is 0


def _bounds(interval: Interval | None) -> str:
    return "—" if interval is None else f"[{interval.low:z.4f}, {interval.high:z.4f}]"


def score_grid(evaluation: Evaluation, intervals: Intervals) -> Table:
    """One row a system or baseline, one column a measure; the first with its interval."""
    measures = evaluation.measures
    of_first = {name: intervals.get((name, measures[0])) for name in evaluation.data}
    first = any(interval is not None for interval in of_first.values())
    names = [str(measure) for measure in measures]
    head = ["system", names[0], *(["interval"] if first else []), *names[1:]]
    rows = []
    for name, interval in of_first.items():
        cells = [show(evaluation.value(name, measure)) for measure in measures]
        rows.append([name, cells[0], *([_bounds(interval)] if first else []), *cells[1:]])
    return Table(head, rows)


def score_lines(evaluation: Evaluation, intervals: Intervals) -> list[str]:
    """What the numbers are of, how they were made, and what does not exist and why."""
    first = evaluation.data[evaluation.names[0]]
    lines = [f"units: {unit_count(first):,}"]
    if isinstance(first, ClassPredictions):
        lines[0] += f"; classes: {named_few(first.classes, len(first.classes), 10)}"
        if len(first.classes) == 2:
            lines[0] += f"; positive: {first.positive}"
    measure = evaluation.measures[0]
    known = [intervals.get((name, measure)) for name in evaluation.data]
    shown = [interval for interval in known if interval is not None]
    if shown:
        methods = ", ".join(dict.fromkeys(interval.method for interval in shown))
        lines.append(f"interval of {measure}: {methods}, {shown[0].level:.0%}")
    lines += [*evaluation.about, *_reasons(evaluation)]
    return [plain_text(line) for line in lines]


def _is_baseline(evaluation: Evaluation, name: str) -> bool:
    return name in evaluation.baselines or name in BASELINES


def _reasons(evaluation: Evaluation) -> list[str]:
    """Why values do not exist; that baselines have no scores goes without saying."""
    found: dict[tuple[str, str], list[str]] = {}
    hints: dict[tuple[str, str], str] = {}
    for name in evaluation.data:
        is_baseline = _is_baseline(evaluation, name)
        for measure in evaluation.measures:
            value = evaluation.value(name, measure)
            if isinstance(value, Undefined) and not (is_baseline and measure.needs_scores):
                key = (name, value.reason)
                found.setdefault(key, []).append(str(measure))
                if not is_baseline:  # it would be said of the majority class every time
                    hints[key] = hints.get(key) or undefined_hint(measure, value.reason)
    return [
        f"{', '.join(names)} of {who} {'does' if len(names) == 1 else 'do'} not exist: {why}"
        f"{hints.get((who, why), '')}"
        for (who, why), names in found.items()
    ]


def _labelled(evaluation: Evaluation) -> list[ClassPredictions]:
    several = [evaluation.data[name] for name in evaluation.names]
    return [
        one for one in several if isinstance(one, ClassPredictions) and one.predicted is not None
    ]


def class_rows(
    given: ClassPredictions, undefined: float | None
) -> list[tuple[str, float, dict[str, Number]]]:
    """Return name, number of units and measures of each class."""
    units = confusion(given).sum(axis=1).tolist()
    found = []
    for name, count in zip(given.classes, units, strict=True):
        values = {}
        for key, family in _OF_CLASS.items():
            options = {"class": name} | ({"undefined": undefined} if key in _COUNTED else {})
            values[key] = definitions("classification")[family].make(options).compute(given)
        found.append((name, count, values))
    return found


def class_grid(evaluation: Evaluation) -> Table:
    """One row a system and class."""
    head = ["system", "class", "units", "precision", "recall", "specificity", "FP rate", "F1"]
    rows = []
    for one in _labelled(evaluation):
        for name, units, values in class_rows(one, evaluation.defaults.get("undefined")):
            rows.append([one.name, name, f"{units:g}", *map(show, values.values())])
    return Table(head, rows, texts=2)


def confusion_grids(evaluation: Evaluation) -> list[Table]:
    """One table a system: a row for each true class, a column for each predicted one."""
    found = []
    for one in _labelled(evaluation):
        rows = [
            [one.name, name, *(f"{count:g}" for count in counts)]
            for name, counts in zip(one.classes, confusion(one).tolist(), strict=True)
        ]
        head = ["system", "true", *(f"→ {name}" for name in one.classes)]
        found.append(Table(head, rows, texts=2))
    return found


def hull_grid(hull: RocHull) -> Table:
    """The corners of the hull, with thresholds."""
    rows = [
        [_point(point), show(point.fp_rate), show(point.tp_rate), _threshold(point.threshold)]
        for point in hull.points
    ]
    return Table(["hull", "FP rate", "TP rate", "threshold"], rows)


def _threshold(value: float) -> str:
    return f"{value:.6g}" if math.isfinite(value) else "—"


def _point(point: HullPoint) -> str:
    if point.name:
        return point.name
    return "(nothing positive)" if point.tp_rate == 0 else "(all positive)"


def hull_lines(hull: RocHull) -> list[str]:
    """What the hull says, in words."""
    lines = [f"area under the ROC convex hull: {hull.area:.4f}"]
    if hull.dominated:
        lines.append(
            f"dominated: {', '.join(hull.dominated)} (at every cost of errors the others are "
            "better, alone or mixed)"
        )
    else:
        lines.append("no classifier is dominated")
    return [plain_text(line) for line in lines]


def _number(value: Number) -> dict[str, Any]:
    if isinstance(value, Undefined):
        return {"value": None, "undefined": value.reason}
    return {"value": float(value)}


def _row_dict(evaluation: Evaluation, intervals: Intervals, name: str) -> dict[str, Any]:
    measured = {}
    for measure in evaluation.measures:
        entry = _number(evaluation.value(name, measure))
        if (interval := intervals.get((name, measure))) is not None:
            entry["interval"] = interval._asdict()
        measured[str(measure)] = entry
    own = evaluation.names[0] if name in evaluation.baselines else name
    return {
        "name": name,
        "baseline": _is_baseline(evaluation, name),
        "units": unit_count(evaluation.data[own]),
        "measures": measured,
    }


def _class_dict(one: ClassPredictions, undefined: float | None) -> dict[str, Any]:
    return {
        "system": one.name,
        "confusion": confusion(one).tolist(),
        "per_class": [
            {"class": name, "units": units} | {key: _number(value) for key, value in values.items()}
            for name, units, values in class_rows(one, undefined)
        ],
    }


def score_record(
    evaluation: Evaluation, intervals: Intervals, hull: RocHull | None = None
) -> dict[str, Any]:
    """Everything at full precision, as JSON has it; the reason stands beside what is null."""
    content: dict[str, Any] = {
        "task": evaluation.task,
        "measures": [str(one) for one in evaluation.measures],
        "systems": [_row_dict(evaluation, intervals, name) for name in evaluation.data],
        "about": list(evaluation.about),
        "warnings": [note.to_dict() for note in evaluation.notes],
    }
    first = evaluation.data[evaluation.names[0]]
    if isinstance(first, ClassPredictions):
        undefined = evaluation.defaults.get("undefined")
        content |= {
            "classes": list(first.classes),
            "positive": first.positive if len(first.classes) == 2 else None,
            "confusion": [_class_dict(one, undefined) for one in _labelled(evaluation)],
        }
    if hull is not None:
        content["hull"] = {
            "area": hull.area,
            "dominated": list(hull.dominated),
            "points": [plain(point) for point in hull.points],
        }
    return content
