"""The list of measures, in words: all of it is made from their definitions.

In formulas of rankings, rel_i is 1 if the document at rank i is relevant, else 0; g_i its gain; n
the number of documents retrieved, R of relevant ones, r of relevant ones retrieved, P(i) the
precision at rank i; ideal lists are marked with *. In predictions, y is the truth, p the
prediction; TP, FP, FN and TN are counts of one class against the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from heldout.measure.base import TASKS, definitions, show_value
from heldout.measure.names import parse_measures, plain, spelled
from heldout.measure.ranking.trec_names import is_trec_name, trec_spellings

if TYPE_CHECKING:
    from heldout.measure.base import Definition, Parameter

_AT: Final = {"none": "", "optional": "[@k]", "rank": "@k", "recall": "@recall"}
_OWN: Final = "a function of yours, without a docstring"
_EXAMPLES: Final = {"class": "NAME", "undefined": "0", "vectors": "FILE"}  # if the default is None
_INPUTS: Final = {
    "ranking": "judgements and a run",
    "classification": "true and predicted classes",
    "regression": "true and predicted numbers",
    "text": "references and texts",
}


class TaskMeasure(NamedTuple):
    """A measure in words."""

    name: str
    task: str
    settings: str  # what may be in brackets after its name
    summary: str
    higher_is_better: bool
    also: tuple[str, ...]  # names of other tools, and other spellings
    input: str
    formula: str


def listed_measures(names: list[str]) -> list[TaskMeasure]:
    """Return all measures, or those that are named: of rankings, predictions and texts."""
    wanted = [one for name in names for one in _named(name)]
    return [_row(one) for task in TASKS for one in _sorted(task) if not names or one in wanted]


def _sorted(task: str) -> list[Definition]:
    known = list(definitions(task).values())
    return sorted(known, key=lambda one: one.name.lower()) if task == "ranking" else known


def _named(name: str) -> list[Definition]:
    """Return the measures that go by a name, with or without parameters and a cutoff."""
    stem = name.partition("(")[0].partition("@")[0]
    if plain(stem) in spelled():
        return spelled()[plain(stem)]
    known = parse_measures([name], "ranking" if is_trec_name(name) else None)
    return [one.definition for one in known]


def _row(definition: Definition) -> TaskMeasure:
    name, is_ranking = definition.name, definition.task == "ranking"
    also = [*(trec_spellings(name) if is_ranking else ()), *definition.aliases]
    same = {one.lower() for one in (name, f"{name}_K", f"{name}_X")}
    others: dict[str, str] = {}
    for one in also:
        if one.lower() not in same:
            others.setdefault(one.lower(), one)
    source = definition.needs or _INPUTS[definition.task]
    if definition.needs and definition.task in {"ranking", "classification"}:
        by = "judgements by subtopic, and a run"
        source = by if is_ranking else f"true classes and {definition.needs}"
    return TaskMeasure(
        name,
        definition.task,
        ", ".join(_setting(one, definition.task) for one in definition.parameters),
        definition.summary.replace("`", "") or _OWN,
        definition.higher_is_better is not False,
        tuple(others.values()),
        source,
        definition.formula,
    )


def _setting(parameter: Parameter, task: str) -> str:
    name, default = parameter.name, parameter.default
    if task == "ranking":
        return f"{name}={default!r}"
    if parameter.choices and task == "classification":
        return " | ".join(parameter.choices)
    value = _EXAMPLES.get(name) if default is None else show_value(default)
    return name if value is None else f"{name}={value}"


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
        width = max(len(f"{one.name}{_cutoff(one)}") for one in shown)
        for one in shown:
            also = f" Also: {', '.join(one.also)}." if one.also else ""
            head = f"{one.name}{_cutoff(one)}"
            lines.append(f"  {head:<{width}}  {one.summary}{_direction(one)}{also}")
    return [*lines[1:], "", "heldout list measures NAME shows parameters and the formula."]


def _cutoff(one: TaskMeasure) -> str:
    return _AT[definitions(one.task)[one.name].cutoff]


def _direction(one: TaskMeasure) -> str:
    return "" if one.higher_is_better else " Lower is better."


def _details(one: TaskMeasure) -> list[str]:
    lines = [f"{one.name}({one.settings}){_cutoff(one)}"]
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
            definition = definitions("ranking")[one.name]
            del row["settings"]
            row["parameters"] = {each.name: each.default for each in definition.parameters}
            row["cutoff"] = definition.cutoff
            row["higher_is_better"] = definition.higher_is_better
        rows.append(row)
    return json_text(rows)
