"""Scores of texts: a table for the terminal, TSV for other programs, JSON with every number."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from heldout.report.claim_words import show_p
from heldout.report.grid import Grid, grids_text
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
    """Tables for a terminal, scores first, then comparisons; signatures below them."""
    head, rows = _rows(names, comparisons)
    cut = 4  # behind the interval: one table of all columns is too wide for a terminal
    grids = [Grid(head[:cut], [row[:cut] for row in rows], texts=2)]
    if len(head) > cut:
        compared = [row[:2] + row[cut:] for row in rows if row[cut] != "—"]
        grids.append(Grid(head[:2] + head[cut:], compared, texts=2))
    marks = "".join(f"{one.signature}\n" for one in comparisons)
    return grids_text(grids, "table", terminal=True) + "\n" + marks


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
            {"system": name, **one._asdict()}
            for name, one in zip(names, comparison.systems, strict=True)
        ],
        "claims": [
            {
                "system": claim.system,
                "baseline": claim.baseline,
                "difference": claim.difference._asdict(),
                "better": claim.better,
                "adjusted": claim.adjusted,
                "tests": [claim.randomization._asdict(), claim.shift._asdict()],
            }
            for claim in comparison.claims
        ],
    }


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
