"""An experiment with estimators, in tables and in words."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from heldout.errors import HeldoutError, MeasureError
from heldout.notes import count_of
from heldout.report.ranking_results import validates
from heldout.report.scores import show
from heldout.report.tables import Table, plain_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from heldout.experiment.manifest import SettingsRecord
    from heldout.experiment.prepare import PreparedPredictions
    from heldout.experiment.results.results import Results
    from heldout.experiment.results.summary import SystemSummary

__all__ = ["prediction_plan", "prediction_sentences", "prediction_tables"]


def prediction_tables(results: Results) -> list[Table]:
    """Return one table: one row per system or baseline, with intervals."""
    names, wanted = results.measures, results.level
    runs = results.spread(results.systems[0], names[0]) is not None
    head = ["system", names[0], f"{wanted:.0%} CI"]
    head += ["sd over runs"] if runs else []
    rows = []
    for one in results.summary:
        system = one["name"]
        cells = [system, _mean(results, system, names[0])]
        cells.append(_interval(results, system, names[0], wanted))
        cells += [show(results.spread(system, names[0]))] if runs else []
        cells += [_mean(results, system, name) for name in names[1:]]
        rows.append(cells)
    table = [[*head, *names[1:]], *rows]
    head, *rows = [[plain_text(cell) for cell in row] for row in table]
    return [Table(head, rows)]


def _interval(results: Results, system: str, measure: str, level: float) -> str:
    try:
        found = results.interval(system, measure, level)
    except HeldoutError:
        return "—"
    return "—" if found is None else f"[{found.low:z.4f}, {found.high:z.4f}]"


def _mean(results: Results, system: str, measure: str) -> str:
    try:
        return show(results.value(system, measure))
    except MeasureError:  # undefined on some split, as said of — everywhere
        return "—"


def _choices(results: Results, system: SystemSummary, *, full: bool) -> str:
    """Return the selected parameters of a system, and in how many splits they were selected."""
    described = next(
        one for one in results.manifest["settings"]["systems"] if one["name"] == system["name"]
    )
    tried = described["points"] or [{}]
    names = [name for name in tried[0] if any(one.get(name) != tried[0][name] for one in tried)]
    names += [name for one in tried[1:] for name in one if name not in tried[0]]
    names += described.get("space", {})  # of a search; its points are not known beforehand
    short = _short_names(list(dict.fromkeys(names)))
    counts = Counter(_point(point, short) for point in results.chosen(system["name"]))
    splits, final = counts.total(), _point(system["ship"], short)
    text = f"{final} ({counts[final]} of {splits} splits)"
    others = [f"{point} ({n})" for point, n in counts.most_common() if point != final]
    if full and others:
        return f"{text}; other splits selected {'; '.join(others)}"
    often, times = counts.most_common(1)[0]
    return text if times <= counts[final] else f"{text}; most often: {often} ({times} of {splits})"


def _short_names(names: list[str]) -> dict[str, str]:
    """Return parameter names without their pipeline step, where they stay unique."""
    last = {name: name.rpartition("__")[2] for name in names}
    again = Counter(last.values())
    return {name: name if again[one] > 1 else one for name, one in last.items()}


def _point(point: dict[str, Any], names: dict[str, str]) -> str:
    shown = {names[name]: value for name, value in point.items() if name in names}
    return ", ".join(
        f"{name}={value if isinstance(value, str) else json.dumps(value)}"
        for name, value in shown.items()
    )


def prediction_sentences(results: Results, *, full: bool = False) -> Iterator[str]:
    """Yield how the numbers were obtained; `full`: also their meaning, and all parameters."""
    settings = results.manifest["settings"]
    plan = plain_text(settings["plan_in_words"])
    tuned = [one for one in results.summary if one["tuned"]]
    yield f"{plan}{_tuned_words(settings) if tuned else ''}."
    if full:
        methods = {one["estimates"][0]["interval"] for one in results.summary} - {"none"}
        shown = f" (interval: {', '.join(sorted(methods))})" if methods else ""
        yield (
            "Held-out scores estimate performance on new rows after training on as many rows as "
            f"a training side has{shown}."
        )
    if results.task == "classification" and _one_by_one(results):
        yield (
            "Leave-one-out removes the held-out row from its class, so that a majority vote on "
            "balanced classes is wrong every time: use stratified folds if systems or baselines "
            "depend on the class shares."
        )
    for one in tuned:
        selected = plain_text(_choices(results, one, full=full))
        yield f"{plain_text(one['name'])}: selected parameters (tuned on all data): {selected}."
    yield from (
        f"{found['measure']} is undefined for {plain_text(one['name'])}: "
        f"{plain_text(found['reason'])}."
        for one in results.summary
        for found in one["estimates"]
        if found["reason"] and not one["baseline"]
    )


def _tuned_words(settings: SettingsRecord) -> str:
    inner = f"{settings['inner']} inner folds of each training side"
    where = "the validation part of each" if validates(settings) else inner
    return f"; parameters tuned for {settings['tune_for']} on {where}"


def _one_by_one(results: Results) -> bool:
    """Whether each split holds out one row, as leave-one-out does."""
    return results.unit == "instance" and len(results.split_values(results.systems[0])) > 1


def prediction_plan(prepared: PreparedPredictions) -> list[str]:
    """What would be run: the data, the plan and the measures, a line each."""
    data = prepared.data
    rows = f"{plain_text(data.name)}: {count_of(len(data), 'row')}"
    if data.classes:
        rows += f", {count_of(len(data.classes), 'class', 'classes')}"
    if data.groups:
        rows += f", {count_of(len(set(data.groups)), 'group')}"
    inner = f"{prepared.experiment.inner} inner folds"
    where = "the validation part" if prepared.validates else inner
    return [
        rows,
        plain_text(prepared.splits.words()),
        f"measures: {', '.join(map(str, prepared.measures))}",
        f"parameters tuned for {prepared.tune_for} on {where}",
    ]
