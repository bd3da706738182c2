"""Scores of texts: a table for the terminal, TSV for other programs, JSON with every number."""

from __future__ import annotations

import json
import math
from io import StringIO
from typing import TYPE_CHECKING, Any

from heldout.report.claim_words import show_p
from heldout.report.tables import plain_text

if TYPE_CHECKING:
    from heldout.infer.corpus_compare import CorpusClaim, CorpusComparison
    from heldout.infer.results import Interval

__all__ = ["json_text_scores", "note_lines", "text_scores_table", "text_scores_tsv"]

_CLAIM_HEAD = ("Δ", "interval of Δ", "p randomization", "p bootstrap-shift", "p holm")


def _rows(
    names: tuple[str, ...], comparisons: list[CorpusComparison]
) -> tuple[list[str], list[list[str]]]:
    """Head and rows, a row a measure and system."""
    compared = any(one.claims for one in comparisons)
    head = ["measure", "system", "score", "interval", *(_CLAIM_HEAD if compared else ())]
    rows = []
    for comparison in comparisons:
        claims = {claim.system: claim for claim in comparison.claims}
        for name, interval in zip(names, comparison.systems, strict=True):
            cells = [str(comparison.measure), plain_text(name), _number(interval.estimate)]
            cells.append(_bounds(interval))
            cells += _claim_cells(claims.get(name)) if compared else []
            rows.append(cells)
    return head, rows


def _number(value: float, form: str = ".4f") -> str:
    return format(value, form) if not math.isnan(value) else "undefined"


def _bounds(interval: Interval, form: str = ".4f") -> str:
    if math.isnan(interval.low):
        return "—"
    return f"[{interval.low:{form}}, {interval.high:{form}}]"


def _claim_cells(claim: CorpusClaim | None) -> list[str]:
    if claim is None:
        return ["—"] * len(_CLAIM_HEAD)
    mark = "*" if claim.adjusted <= 0.05 else ""
    return [
        _number(claim.difference.estimate, "+.4f") + mark,
        _bounds(claim.difference, "+.4f"),
        show_p(claim.randomization.p),
        show_p(claim.shift.p),
        show_p(claim.adjusted),
    ]


def text_scores_tsv(names: tuple[str, ...], comparisons: list[CorpusComparison]) -> str:
    """One row a measure and system; the signature is the last column."""
    head, rows = _rows(names, comparisons)
    signatures = [one.signature for one in comparisons for _ in names]
    lines = [[*head, "signature"]]
    lines += [[*row, mark] for row, mark in zip(rows, signatures, strict=True)]
    return "".join("\t".join(line) + "\n" for line in lines)


def text_scores_table(names: tuple[str, ...], comparisons: list[CorpusComparison]) -> str:
    """A table for a terminal, signatures and what to be careful about below it."""
    from rich.console import Console  # slow to import, needed for tables only
    from rich.table import Table
    from rich.text import Text

    head, rows = _rows(names, comparisons)
    table = Table(header_style="bold", show_edge=False, pad_edge=False)
    for at, name in enumerate(head):
        table.add_column(Text(name), justify="left" if at < 2 else "right")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    buffer = StringIO()
    width = Console().width
    Console(file=buffer, width=width, force_terminal=True, highlight=False).print(table)
    marks = [one.signature for one in comparisons]
    return buffer.getvalue() + "\n" + "".join(f"{mark}\n" for mark in marks)


def note_lines(notes: list[str], comparisons: list[CorpusComparison]) -> list[str]:
    """What a reader should know: how many segments, how it was tested, what to be careful about."""
    first = comparisons[0]
    lines = [f"segments: {first.segments:,}; intervals: 95%, bootstrap over segments"]
    if first.claims:
        claim = first.claims[0]
        lines.append(
            f"tests: paired by segment, two-tailed, against {plain_text(claim.baseline)}; "
            f"randomization ({claim.randomization.detail}) decides, corrected by Holm for the "
            "systems; * is significant at 0.05"
        )
        if len(comparisons) > 1:
            lines.append(
                f"Careful: no p-value is corrected for the {len(comparisons)} measures; choose one "
                "before looking."
            )
    warnings = [warning for one in comparisons for warning in one.warnings]
    lines += [f"Careful: {one}." for one in dict.fromkeys([*notes, *warnings])]
    return [plain_text(line) for line in lines]


def json_text_scores(
    names: tuple[str, ...], comparisons: list[CorpusComparison], notes: list[str]
) -> str:
    """Every number at full precision; what is undefined is null."""
    content = {
        "segments": comparisons[0].segments,
        "notes": notes,
        "measures": [_measure_dict(names, one) for one in comparisons],
    }
    return json.dumps(_plain(content), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def _measure_dict(names: tuple[str, ...], comparison: CorpusComparison) -> dict[str, Any]:
    return {
        "measure": str(comparison.measure),
        "signature": comparison.signature,
        "higher_is_better": comparison.measure.higher_is_better,
        "warnings": comparison.warnings,
        "systems": [
            {"system": name, **_interval_dict(one)}
            for name, one in zip(names, comparison.systems, strict=True)
        ],
        "claims": [
            {
                "system": claim.system,
                "baseline": claim.baseline,
                "difference": _interval_dict(claim.difference),
                "better": claim.better,
                "adjusted": claim.adjusted,
                "tests": [claim.randomization._asdict(), claim.shift._asdict()],
            }
            for claim in comparison.claims
        ],
    }


def _interval_dict(interval: Interval) -> dict[str, Any]:
    return interval._asdict()


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
