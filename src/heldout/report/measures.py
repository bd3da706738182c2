"""The list of measures, in words."""

from __future__ import annotations

from typing import Any

from heldout.errors import MeasureError
from heldout.measure.parse import parse_measures
from heldout.measure.ranking.names import families, spellings
from heldout.measure.ranking.trec_names import trec_spellings
from heldout.report.formulas import FORMULAS
from heldout.report.task_measures import TaskMeasure, task_measures

__all__ = ["describe_measures", "json_measures", "listed_measures"]

_AT = {"none": "", "optional": "[@k]", "rank": "@k", "recall": "@recall"}
_OWN = "a function of yours, without a docstring"


def listed_measures(names: list[str]) -> list[TaskMeasure]:
    """Return all measures, or those that are named: of rankings, predictions and texts."""
    return [*map(_ranking, _wanted(names)), *task_measures(names)]


def _ranking(name: str) -> TaskMeasure:
    family = families()[name]
    other = [*trec_spellings(name), *spellings(name)]
    plain = {one.lower() for one in (name, f"{name}_K", f"{name}_X")}
    return TaskMeasure(
        name,
        "ranking",
        ", ".join(f"{key}={value!r}" for key, value in family.defaults),
        family.summary.replace("`", "") or _OWN,
        family.higher_is_better is not False,
        tuple(dict.fromkeys(one for one in other if one.lower() not in plain)),
        "judgements by subtopic, and a run" if family.subtopics else "judgements and a run",
        FORMULAS["ranking"].get(name, ""),
    )


def describe_measures(names: list[str]) -> str:
    """List all measures, one line each; or describe those that are named."""
    listed = listed_measures(names)
    lines = [line for one in listed for line in _details(one)] if names else _overview(listed)
    return "\n".join([*lines, ""])


def _overview(listed: list[TaskMeasure]) -> list[str]:
    """Return one line per measure, under a heading for each kind of input."""
    lines: list[str] = []
    for what in dict.fromkeys((one.task, one.input) for one in listed):
        lines += ["", f"{what[0].capitalize()}, from {what[1]}:"]
        shown = [one for one in listed if (one.task, one.input) == what]
        width = max(len(_head(one)) for one in shown)
        for one in shown:
            also = f" Also: {', '.join(one.also)}." if one.also else ""
            lines.append(f"  {_head(one):<{width}}  {one.summary}{_direction(one)}{also}")
    return [*lines[1:], "", "heldout list measures NAME shows parameters and the formula."]


def _head(one: TaskMeasure) -> str:
    if one.task != "ranking":
        return one.name
    return f"{one.name}{_AT[families()[one.name].cutoff]}"


def _direction(one: TaskMeasure) -> str:
    return "" if one.higher_is_better else " Lower is better."


def _details(one: TaskMeasure) -> list[str]:
    cutoff = _AT[families()[one.name].cutoff] if one.task == "ranking" else ""
    lines = [f"{one.name}({one.settings}){cutoff}"]
    task = "" if one.task == "ranking" else f"{one.task.capitalize()}: "
    lines.append(f"    {task}{one.summary}{_direction(one)}")
    lines += [f"    formula: {one.formula}"] if one.formula else []
    lines.append(f"    input: {one.input}")
    return [*lines, *([f"    also: {', '.join(one.also)}"] if one.also else [])]


def json_measures(names: list[str]) -> str:
    """Return the same for programs."""
    from heldout.as_json import json_text

    rows: list[dict[str, Any]] = []
    for one in listed_measures(names):
        row = one._asdict()
        if one.task == "ranking":
            family = families()[one.name]
            del row["settings"]
            row["parameters"] = dict(family.defaults)
            row["cutoff"] = family.cutoff
            row["higher_is_better"] = family.higher_is_better
        rows.append(row)
    return json_text(rows)


def _wanted(names: list[str]) -> list[str]:
    if not names:
        return sorted(families(), key=str.lower)
    found = set()
    for name in names:
        try:
            found.add(_family(name))
        except MeasureError:
            if not task_measures([name]):
                raise
    return sorted(found, key=str.lower)


def _family(name: str) -> str:
    if name in families():
        return name
    try:
        return parse_measures([name], "ranking")[0].family
    except MeasureError:
        return parse_measures([f"{name}@10"], "ranking")[0].family
