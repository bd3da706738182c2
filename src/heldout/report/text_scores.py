"""Scores of texts: a table for the terminal, TSV for other programs, JSON with every number."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from heldout.report.codes import careful_line
from heldout.report.grid import Grid, grids_text
from heldout.report.tables import plain_text, tsv_lines

if TYPE_CHECKING:
    from heldout.infer.corpus_compare import CorpusComparison
    from heldout.infer.results import Interval

__all__ = ["json_text_scores", "note_lines", "text_scores_text", "text_scores_tsv"]


def _rows(
    names: tuple[str, ...], comparisons: list[CorpusComparison]
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
    return f"[{interval.low:.4f}, {interval.high:.4f}]"


def text_scores_tsv(names: tuple[str, ...], comparisons: list[CorpusComparison]) -> str:
    """One row a measure and system; the signature is the last column."""
    head, rows = _rows(names, comparisons)
    signatures = [one.signature for one in comparisons for _ in names]
    lines = [[*head, "signature"]]
    lines += [[*row, mark] for row, mark in zip(rows, signatures, strict=True)]
    return tsv_lines(lines)


def text_scores_text(
    names: tuple[str, ...], comparisons: list[CorpusComparison], kind: str, *, terminal: bool
) -> str:
    """A table (``table``, ``md`` or ``latex``), the signatures below it."""
    head, rows = _rows(names, comparisons)
    mark = "% " if kind == "latex" else ""
    gap = "\n\n" if kind == "md" else "\n"
    marks = "".join(f"{mark}{one.signature}{gap}" for one in comparisons)
    return grids_text([Grid(head, rows, texts=2)], kind, terminal=terminal) + "\n" + marks


def note_lines(notes: list[str], comparisons: list[CorpusComparison]) -> list[str]:
    """What a reader should know: how many segments, and what to be careful about."""
    first = comparisons[0]
    level = f"{round(100 * first.systems[0].level, 6):g}%"
    linear = first.systems[0].method.startswith("t")
    how = "t of the linearised score" if linear else "bootstrap"
    lines = [f"segments: {first.segments:,}; intervals: {level}, {how} over segments"]
    lines += [careful_line(one) for one in notes]
    return [plain_text(line) for line in lines]


def json_text_scores(
    names: tuple[str, ...],
    comparisons: list[CorpusComparison],
    notes: list[str],
    claims: list[Any],
) -> str:
    """Every number at full precision; what is undefined is null."""
    content = {
        "segments": comparisons[0].segments,
        "notes": notes,
        "measures": [_measure_dict(names, one) for one in comparisons],
        "comparisons": claims,
    }
    return json.dumps(_plain(content), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def _measure_dict(names: tuple[str, ...], comparison: CorpusComparison) -> dict[str, Any]:
    return {
        "measure": str(comparison.measure),
        "signature": comparison.signature,
        "higher_is_better": comparison.measure.higher_is_better,
        "systems": [
            {"system": name, **one._asdict()}
            for name, one in zip(names, comparison.systems, strict=True)
        ],
    }


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
