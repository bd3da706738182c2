"""Scores of texts: a table for the terminal, TSV for other programs, JSON with every number."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from heldout.as_json import plain
from heldout.report.tables import Table, notes_text, plain_text, tables_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.infer.results import Interval
    from heldout.infer.text_intervals import TextScores
    from heldout.notes import Note

__all__ = ["about_line", "text_score_record", "text_scores_text"]


def _rows(
    names: tuple[str, ...], comparisons: list[TextScores]
) -> tuple[list[str], list[list[str]]]:
    """Head and rows, a row a measure and system."""
    rows = [
        [str(one.measure), plain_text(name), _number(interval.estimate), _bounds(interval)]
        for one in comparisons
        for name, interval in zip(names, one.systems, strict=True)
    ]
    return ["measure", "system", "score", "interval"], rows


def _number(value: float) -> str:
    return f"{value:.4f}" if not math.isnan(value) else "undefined"


def _bounds(interval: Interval) -> str:
    if math.isnan(interval.low):
        return "—"
    return f"[{interval.low:z.4f}, {interval.high:z.4f}]"


def text_scores_text(
    names: tuple[str, ...], comparisons: list[TextScores], kind: str, *, terminal: bool
) -> str:
    """A table, the signatures below it; in TSV and CSV they are the last column."""
    head, rows = _rows(names, comparisons)
    if kind in {"tsv", "csv"}:
        signatures = [one.signature for one in comparisons for _ in names]
        rows = [[*row, mark] for row, mark in zip(rows, signatures, strict=True)]
        return tables_text([Table([*head, "signature"], rows, texts=2)], kind)
    gap = "" if kind == "html" else "\n"
    table = tables_text([Table(head, rows, texts=2)], kind, terminal=terminal)
    return table + gap + notes_text([one.signature for one in comparisons], kind)


def about_line(comparisons: Sequence[TextScores]) -> str:
    """How many segments there are, and what the intervals are."""
    first = comparisons[0]
    level = f"{round(100 * first.systems[0].level, 6):g}%"
    linear = first.systems[0].method.startswith("t")
    how = "t of the linearised score" if linear else "bootstrap"
    return f"segments: {first.segments:,}; intervals: {level}, {how} over segments"


def text_score_record(
    names: tuple[str, ...], comparisons: list[TextScores], notes: Sequence[Note]
) -> dict[str, Any]:
    """Every number at full precision, as JSON has it: what is undefined is null."""
    content = {
        "segments": comparisons[0].segments,
        "warnings": [note.to_dict() for note in notes],
        "measures": [_measure_dict(names, one) for one in comparisons],
    }
    found: dict[str, Any] = plain(content)
    return found


def _measure_dict(names: tuple[str, ...], comparison: TextScores) -> dict[str, Any]:
    return {
        "measure": str(comparison.measure),
        "signature": comparison.signature,
        "higher_is_better": comparison.measure.higher_is_better,
        "systems": [
            {"system": name, **one._asdict()}
            for name, one in zip(names, comparison.systems, strict=True)
        ],
    }
