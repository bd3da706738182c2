"""Evaluations as tables and in words: rankings, predictions and texts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from heldout.measure.base import Undefined
from heldout.report.answers import interval, percent
from heldout.report.table import Cell, Table, note_lines, paragraphs, printable, write_tables

if TYPE_CHECKING:
    from collections.abc import Iterator

    from heldout.measure.base import Measure, Number
    from heldout.measure.evaluation import Evaluation
    from heldout.measure.prediction.curves import RocHull

ALL = "all"


def evaluation_text(
    evaluation: Evaluation, *, full: bool = False, width: int | None = None, quiet: bool = False
) -> str:
    """The values, the best system first, and how they were computed; `full`: of each class, too."""
    tables = evaluation_tables(evaluation, "text")
    if full and evaluation.task == "classification":
        tables += [class_table(evaluation), *confusion_tables(evaluation)]
        tables = [table for table in tables if table.cells]
    text = write_tables(tables, "text", width)
    return text if quiet else f"{text}\n{paragraphs(evaluation_lines(evaluation), width)}"


def evaluation_tables(
    evaluation: Evaluation,
    kind: str = "md",
    *,
    per_unit: bool = False,
    summary: bool = True,
    level: float = 0.95,
    seed: int = 0,
) -> list[Table]:
    """The values as they are written in a format.

    Of rankings `per_unit` adds the value of each query, and `summary` the means.
    """
    # Elsewhere they have a place of their own.
    noted = kind in {"md", "latex", "html"}
    notes = evaluation_lines(evaluation, level=level, seed=seed) if noted else []
    if evaluation.task != "ranking":
        return [_of_scores(evaluation, notes, level, seed)]
    if evaluation.machine is not None:
        return [_two_judges(evaluation, notes, level)]
    return [_of_rankings(evaluation, kind, notes, per_unit=per_unit, summary=summary)]


def evaluation_lines(
    evaluation: Evaluation, *, level: float = 0.95, seed: int = 0, hull: RocHull | None = None
) -> list[str]:
    """Warnings, and how the values were computed."""
    if evaluation.machine is not None:
        from heldout.measure.records import estimates_notes

        return note_lines(estimates_notes(evaluation)) or ["no warnings"]
    notes = note_lines(evaluation.notes)
    if evaluation.task == "ranking":
        return [*notes, *map(printable, evaluation.about)]
    lines = [*_units(evaluation, level, seed), *evaluation.about, *_reasons(evaluation)]
    if hull is not None:
        names, why = ", ".join(hull.dominated), "at every cost of errors the others are better"
        lines.append(f"area under the ROC convex hull: {hull.area:.4f}")
        lines.append(
            f"dominated: {names} ({why}, alone or mixed)" if names else "none is dominated"
        )
    return [*map(printable, lines), *notes]


# ---- rankings ------------------------------------------------------------------------------------


def _of_rankings(
    evaluation: Evaluation, kind: str, notes: list[str], *, per_unit: bool, summary: bool
) -> Table:
    """One row per run, or per query and run; the best mean of each measure is bold."""
    measures, names = evaluation.measures, evaluation.names
    best = [
        None
        if measure.higher_is_better is None
        else evaluation.value(_best_first(evaluation, measure)[0], measure)
        for measure in measures
    ]
    if kind == "text" and not per_unit:
        names = tuple(_best_first(evaluation, measures[0]))
    # Values of queries are read by other programs, such as heldout compare.
    exact = per_unit and kind in {"tsv", "csv"}
    undefined = "" if kind == "csv" else "undefined"

    def written(measure: Measure, value: Any) -> str:
        if isinstance(value, str):
            return value
        if isinstance(value, Undefined) or math.isnan(value):
            return undefined
        if measure.definition.integral:
            return str(round(value))
        return repr(float(value)) if exact else f"{value:.4f}"

    rows: list[list[str | Cell]] = []
    for name in names:
        if per_unit:
            columns = [evaluation.per_unit(name, measure).tolist() for measure in measures]
            for query, *values in zip(evaluation.units(), *columns, strict=True):
                rows.append([name, query, *map(written, measures, values)])
        if summary:
            means = [evaluation.value(name, measure) for measure in measures]
            cells = [
                Cell(written(measure, mean), bold=len(names) > 1 and mean == top)
                for measure, mean, top in zip(measures, means, best, strict=True)
            ]
            rows.append([name, *([ALL] if per_unit else []), *cells])
    head = ["run", *(["query"] if per_unit else []), *map(str, measures)]
    return Table(head, rows, left=2 if per_unit else 1, notes=notes)


def _best_first(evaluation: Evaluation, measure: Measure) -> list[str]:
    """The runs by their means; undefined ones last."""

    def key(name: str) -> tuple[bool, float]:
        value = evaluation.value(name, measure)
        if isinstance(value, Undefined):
            return True, 0.0
        return False, value if measure.higher_is_better is False else -value

    return sorted(evaluation.names, key=key)


def _two_judges(evaluation: Evaluation, notes: list[str], level: float) -> Table:
    """One row per run and measure: human-only, machine-only and combined estimates."""
    from heldout.measure.records import estimated
    from heldout.report.machine import HEAD, estimate_cells

    rows = [
        [name, str(measure), *estimate_cells(evaluation.estimates(name, measure, level=level))]
        for name in evaluation.names
        for measure in estimated(evaluation)
    ]
    return Table(["run", "measure", *HEAD], rows, left=2, notes=notes)


# ---- predictions and texts: what does not exist is shown as — ------------------------------------


def show(value: Number | float | None, form: str = "z.4f") -> str:
    """A number, or — if it does not exist."""
    if value is None or isinstance(value, Undefined):
        return "—"
    return f"{round(value, 12) + 0.0:{form}}"  # rounding noise below 0 is 0


def _bounds(
    evaluation: Evaluation, name: str, measure: Measure, level: float, seed: int
) -> tuple[str, str]:
    """The interval of a value, and its method."""
    if name in evaluation.baselines:
        return "—", ""
    known = evaluation.interval(name, measure, level, seed=seed)
    return ("—", "") if known is None else (interval(known.low, known.high), known.method)


def _of_scores(evaluation: Evaluation, notes: list[str], level: float, seed: int) -> Table:
    """One row per system or baseline; the interval of the first measure, of texts of each."""
    head, rows = ["system"], [[name] for name in evaluation.data]
    for number, measure in enumerate(evaluation.measures):
        head.append(str(measure))
        for row in rows:
            row.append(show(evaluation.value(row[0], measure)))
        if number and evaluation.task != "text":
            continue
        bounds = [_bounds(evaluation, row[0], measure, level, seed)[0] for row in rows]
        if set(bounds) != {"—"}:
            head.append(f"interval of {measure}" if number else "interval")
            for row, ends in zip(rows, bounds, strict=True):
                row.append(ends)
    return Table(head, rows, notes=notes)


def _units(evaluation: Evaluation, level: float, seed: int) -> Iterator[str]:
    from heldout.data.predictions import ClassPredictions, unit_count
    from heldout.notes import named_few

    own, measure = evaluation.data[evaluation.names[0]], evaluation.measures[0]
    text = evaluation.task == "text"
    line = f"segments: {len(own.units):,}" if text else f"units: {unit_count(own):,}"
    if isinstance(own, ClassPredictions):
        line += f"; classes: {named_few(own.classes, len(own.classes), 10)}"
        line += f"; positive: {own.positive}" if len(own.classes) == 2 else ""
    yield line
    known = (_bounds(evaluation, name, measure, level, seed)[1] for name in evaluation.names)
    methods = ", ".join(dict.fromkeys(filter(None, known)))
    if methods:
        yield f"interval of {measure}: {methods}, {percent(level)}"


def _reasons(evaluation: Evaluation) -> list[str]:
    """Why values do not exist; that baselines have no scores goes without saying."""
    from heldout.measure.prediction.classes import undefined_hint
    from heldout.measure.records import is_baseline

    lacking: dict[tuple[str, str], list[Measure]] = {}
    for name in evaluation.data:
        for measure in evaluation.measures:
            value = evaluation.value(name, measure)
            scores = is_baseline(evaluation, name) and measure.needs_scores
            if isinstance(value, Undefined) and not scores:
                lacking.setdefault((name, value.reason), []).append(measure)
    return [
        f"{', '.join(map(str, measures))} of {name} {'does' if len(measures) == 1 else 'do'} not "
        # It would be said of the majority class every time.
        f"exist: {why}{'' if is_baseline(evaluation, name) else undefined_hint(measures[0], why)}"
        for (name, why), measures in lacking.items()
    ]


def class_table(evaluation: Evaluation) -> Table:
    """One row per system and class."""
    from heldout.measure.records import labelled, per_class

    head = ["system", "class", "units", "precision", "recall", "specificity", "FP rate", "F1"]
    rows = [
        [own.name, name, f"{units:g}", *map(show, values.values())]
        for own in labelled(evaluation)
        for name, units, values in per_class(evaluation, own)
    ]
    return Table(head, rows, left=2)


def confusion_tables(evaluation: Evaluation) -> list[Table]:
    """One table per system: a row for each true class, a column for each predicted one."""
    from heldout.measure.prediction.classes import confusion
    from heldout.measure.records import labelled

    tables = []
    for own in labelled(evaluation):
        rows = [
            [own.name, name, *(f"{count:g}" for count in counts)]
            for name, counts in zip(own.classes, confusion(own).tolist(), strict=True)
        ]
        head = ["system", "true", *(f"→ {name}" for name in own.classes)]
        tables.append(Table(head, rows, left=2))
    return tables


def hull_table(hull: RocHull) -> Table:
    """The corners of the hull, with thresholds."""
    rows = []
    for point in hull.points:
        name = point.name or f"({'nothing' if point.tp_rate == 0 else 'all'} positive)"
        threshold = f"{point.threshold:.6g}" if math.isfinite(point.threshold) else "—"
        rows.append([name, show(point.fp_rate), show(point.tp_rate), threshold])
    return Table(["hull", "FP rate", "TP rate", "threshold"], rows)
