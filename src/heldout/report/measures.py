"""The list of measures, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from heldout.errors import MeasureError
from heldout.measure.parse import parse_measures
from heldout.measure.ranking.names import families, spellings
from heldout.report.task_measures import task_measures

if TYPE_CHECKING:
    from heldout.measure.ranking.names import Family

__all__ = ["describe_measures", "json_measures"]

_AT = {"none": "", "optional": "[@k]", "rank": "@k", "recall": "@recall"}


def describe_measures(names: list[str]) -> str:
    """Describe all measures, or those that are named: of rankings, predictions and texts."""
    known = _known()
    lines = []
    for name in _wanted(names):
        one = known[name]
        params = ", ".join(f"{key}={value!r}" for key, value in one.defaults)
        summary = one.summary or "a function of yours, without a docstring"
        lines += [f"{name}({params}){_AT[one.cutoff]}", f"    {summary}"]
        if spellings(name):
            lines.append(f"    also: {', '.join(spellings(name))}")
    for other in task_measures(names):
        lines += other.lines
    return "\n".join([*lines, ""])


def json_measures(names: list[str]) -> str:
    """Return the same for programs."""
    from heldout.as_json import json_text

    known = _known()
    rows: list[dict[str, Any]] = []
    for name in _wanted(names):
        one = known[name]
        rows.append(
            {
                "name": name,
                "summary": one.summary,
                "parameters": dict(one.defaults),
                "cutoff": one.cutoff,
                "higher_is_better": one.higher_is_better,
                "also": list(spellings(name)),
                "task": "ranking",
            }
        )
    rows += [one._asdict() for one in task_measures(names)]
    return json_text(rows)


def _known() -> dict[str, Family]:
    return dict(families())


def _wanted(names: list[str]) -> list[str]:
    if not names:
        return sorted(_known(), key=str.lower)
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
