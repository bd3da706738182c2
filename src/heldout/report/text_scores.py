"""Scores of texts: a table for the terminal, TSV for other programs, JSON with every number."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from heldout.as_json import plain
from heldout.infer.results import Interval
from heldout.measure.base import Undefined
from heldout.report.tables import Table, notes_text, plain_text, tables_text

if TYPE_CHECKING:
    from heldout.measure.base import Measure
    from heldout.measure.evaluation import Evaluation
    from heldout.report.scores import Intervals

__all__ = ["about_line", "text_score_record", "text_scores_text"]


def _number(value: float | Undefined) -> str:
    return "undefined" if isinstance(value, Undefined) else f"{value:.4f}"


def _bounds(interval: Interval | None) -> str:
    if interval is None or math.isnan(interval.low):
        return "—"
    return f"[{interval.low:z.4f}, {interval.high:z.4f}]"


def text_scores_text(
    evaluation: Evaluation, intervals: Intervals, kind: str, *, terminal: bool
) -> str:
    """A table, the signatures below it; in TSV and CSV they are the last column."""
    head = ["measure", "system", "score", "interval"]
    rows = [
        [
            str(measure),
            plain_text(name),
            _number(evaluation.value(name, measure)),
            _bounds(intervals[name, measure]),
        ]
        for measure in evaluation.measures
        for name in evaluation.names
    ]
    if kind in {"tsv", "csv"}:
        signatures = [one for one in evaluation.about for _ in evaluation.names]
        rows = [[*row, mark] for row, mark in zip(rows, signatures, strict=True)]
        return tables_text([Table([*head, "signature"], rows, texts=2)], kind)
    gap = "" if kind == "html" else "\n"
    table = tables_text([Table(head, rows, texts=2)], kind, terminal=terminal)
    return table + gap + notes_text(list(evaluation.about), kind)


def about_line(evaluation: Evaluation, intervals: Intervals, level: float) -> str:
    """How many segments there are, and what the intervals are."""
    first = intervals[evaluation.names[0], evaluation.measures[0]]
    linear = first is not None and first.method.startswith("t")
    how = "t of the linearised score" if linear else "bootstrap"
    segments = f"segments: {len(evaluation.units()):,}"
    return f"{segments}; intervals: {round(100 * level, 6):g}%, {how} over segments"


def text_score_record(evaluation: Evaluation, intervals: Intervals, level: float) -> dict[str, Any]:
    """Every number at full precision, as JSON has it: what is undefined is null."""
    content = {
        "segments": len(evaluation.units()),
        "warnings": [note.to_dict() for note in evaluation.notes],
        "measures": [
            {
                "measure": str(measure),
                "signature": signature,
                "higher_is_better": measure.higher_is_better,
                "systems": [
                    {"system": name, **_interval(evaluation, intervals, name, measure, level)}
                    for name in evaluation.names
                ],
            }
            for measure, signature in zip(evaluation.measures, evaluation.about, strict=True)
        ],
    }
    found: dict[str, Any] = plain(content)
    return found


def _interval(
    evaluation: Evaluation, intervals: Intervals, name: str, measure: Measure, level: float
) -> dict[str, Any]:
    if (interval := intervals[name, measure]) is not None:
        return interval._asdict()
    value = evaluation.value(name, measure)
    score = math.nan if isinstance(value, Undefined) else value
    return Interval(score, math.nan, math.nan, level, "none")._asdict()
