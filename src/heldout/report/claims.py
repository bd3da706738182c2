"""A comparison in tables: for the terminal, for other programs, for a paper, for a notebook."""

from __future__ import annotations

import math
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from heldout.as_json import plain
from heldout.infer.comparison import note_measures
from heldout.report.claim_words import (
    analysis_lines,
    bounds,
    sentences,
    show_p,
    tests_line,
    verdict,
    verdict_of_many,
)
from heldout.report.machine import comparison_estimates, machine_dict
from heldout.report.order_agreement import agreement_records
from heldout.report.short_claims import anova_table, has_anova, short_text, systems_table
from heldout.report.tables import (
    Table,
    note_lines,
    notes_text,
    plain_text,
    safe_frame,
    tables_text,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    import polars as pl

    from heldout.infer.comparison import Claim, Comparison
    from heldout.notes import Note

__all__ = [
    "claim_records",
    "claim_tables",
    "claims_csv",
    "claims_frame",
    "claims_text",
    "claims_texts",
    "comparison_dict",
    "interval_heading",
    "p_heading",
    "readable",
    "sentences",
]

MOST_SHOWN: Final = 2_000
"""Pairs up to which all are listed for people."""


def _system_table(comparison: Comparison) -> Table:
    """One row per system, with its claim where there is a baseline."""
    scores, base = comparison.scores, comparison.baseline
    letters = any(row.letters for row in comparison.systems)
    head = ["system", plain_text(scores.measure), "interval"]
    head += _claim_head(comparison) if base else []
    head += ["group"] if letters else []
    head += ["judged"] if scores.judged else []
    claims = {claim.first: claim for claim in comparison.claims} if base else {}
    rows = []
    for at, row in enumerate(comparison.systems):
        cells = [plain_text(row.name), f"{row.mean.estimate:z.4f}", bounds(row.mean)]
        if base:
            blank = ["—"] * len(_claim_head(comparison))
            known = row.name in claims
            cells += _claim_cells(comparison, claims[row.name]) if known else blank
        cells += [row.letters] if letters else []
        cells += [f"{scores.judged[at]:.2f}"] if scores.judged else []
        rows.append(cells)
    return _starred(head, rows)


def _claim_head(comparison: Comparison) -> list[str]:
    """The columns about a pair: every test has one, and the correction if there is any."""
    tests = [p_heading(test) for test in comparison.analysis.tests]
    how = comparison.analysis.correction
    adjusted = [p_heading(how)] if how else []
    return [
        "Δ",
        interval_heading(comparison),
        *tests,
        *adjusted,
        "effect size d_z",
        "won/tied/lost",
    ]


def interval_heading(comparison: Comparison) -> str:
    """The heading of the intervals of differences."""
    kind = "" if comparison.analysis.coverage == "single" else f"{comparison.analysis.coverage} "
    return f"{kind}interval of Δ"


def p_heading(name: str) -> str:
    """The heading of the p-values of a test, or of a correction."""
    return f"p ({name})"


def _claim_cells(comparison: Comparison, claim: Claim) -> list[str]:
    effects = claim.effects
    adjusted = [show_p(claim.adjusted)] if comparison.analysis.correction else []
    mark = "*" if claim.adjusted <= comparison.alpha else ""
    return [
        f"{claim.difference.estimate:+z.4f}{mark}",
        bounds(claim.difference, "+z.4f"),
        *(show_p(outcome.p) for outcome in claim.outcomes),
        *adjusted,
        f"{effects.standardised:+.2f}" if math.isfinite(effects.standardised) else "undefined",
        f"{effects.wins}/{effects.ties}/{effects.losses}",
    ]


def _pair_table(comparison: Comparison) -> Table:
    """One row per pair."""
    rows = [
        [
            f"{plain_text(claim.first)} - {plain_text(claim.second)}",
            *_claim_cells(comparison, claim),
        ]
        for claim in comparison.claims
    ]
    return _starred(["pair", *_claim_head(comparison)], rows)


def _starred(head: list[str], rows: list[list[str]]) -> Table:
    """Stars of differences are marks of significance."""
    return Table(head, rows, starred=head.index("Δ") if "Δ" in head else None)


def claim_tables(comparison: Comparison) -> list[Table]:
    """The table of systems, and the table of pairs if there are several."""
    tables = [_system_table(comparison)]
    tables += [] if comparison.baseline else [_pair_table(comparison)]
    return tables if comparison.machine is None else [*tables, comparison_estimates(comparison)]


def claims_texts(
    comparisons: Sequence[Comparison],
    kind: str,
    *,
    terminal: bool = False,
    known: Iterable[Note] = (),
    full: bool = True,
) -> list[str]:
    """The text of each comparison; a note that an earlier one has is not repeated.

    Parameters
    ----------
    comparisons, kind, terminal, full
        As for `claims_text`.
    known
        Notes that the same output has shown before.
    """
    shown = set(known)
    texts = []
    for one in comparisons:
        texts.append(
            claims_text(
                one,
                kind,
                terminal=terminal,
                known=shown,
                full=full,
            )
        )
        shown.update(one.warnings)
    return texts


def claims_text(
    comparison: Comparison,
    kind: str,
    *,
    terminal: bool = False,
    known: Collection[Note] = (),
    full: bool = True,
) -> str:
    """A comparison for people; CSV and JSON are for programs.

    Parameters
    ----------
    comparison
        What is shown.
    kind
        ``table``, ``tsv`` (without sentences), ``md``, ``latex`` or ``html``.
    terminal
        Whether a terminal shows it, which has a width and colours.
    known
        Notes that the same output has shown before: they are not repeated.
    full
        Whether all columns are shown, or, of ``table`` and ``md``, a few lines with the answer
        first.
    """
    shown = comparison if kind == "tsv" else readable(comparison)
    if kind == "table" and not full:
        width = shutil.get_terminal_size().columns if terminal else None
        return short_text(comparison, known=known, width=width)
    if kind == "md" and not full:
        return _short_markdown(comparison, known)
    tables = claim_tables(shown)
    if kind == "table" and has_anova(comparison):
        tables.append(anova_table(comparison))
    text = tables_text(tables, kind, terminal=terminal)
    gap = {"table": "\n", "md": "\n"}.get(kind, "")
    lines = [*_not_shown(comparison, shown), *_prose(shown, known)]
    return text + gap + notes_text(lines, kind)


def _short_markdown(comparison: Comparison, known: Collection[Note]) -> str:
    """The verdict, one table and the test, for the summary of a pull request."""
    many = len(comparison.claims) > 1
    said = verdict_of_many(comparison) if many else verdict(comparison, comparison.claims[0])
    notes = [note for note in comparison.warnings if note not in known]
    return (
        notes_text([f"{said}."], "md")
        + "\n"
        + tables_text([systems_table(comparison)], "md")
        + "\n"
        + notes_text([tests_line(comparison), *note_lines(notes)], "md")
    )


def readable(comparison: Comparison) -> Comparison:
    """The comparison, or of very many pairs those with the best system.

    Parameters
    ----------
    comparison
        What people see.
    """
    if len(comparison.claims) <= MOST_SHOWN:
        return comparison
    sign = 1 if comparison.scores.higher_is_better else -1
    best = max(comparison.systems, key=lambda row: sign * row.mean.estimate).name
    with_best = [one for one in comparison.claims if best in (one.first, one.second)]
    return replace(comparison, claims=tuple(with_best))


def _not_shown(comparison: Comparison, shown: Comparison) -> list[str]:
    """How many of all pairs differ, where not all are listed, and where the others are."""
    if shown is comparison:
        return []
    left_out = len(comparison.claims) - len(shown.claims)
    text = (
        f"{verdict_of_many(comparison)}. Pairs with the best system are listed; the other "
        f"{left_out:,} are in the formats csv, tsv, json and parquet."
    )
    return [text]


def claims_frame(comparisons: Sequence[Comparison]) -> pl.DataFrame:
    """One row per measure and pair of systems, with all numbers that have one value per pair."""
    import polars as pl  # slow to import

    frames: list[pl.DataFrame] = [one.to_frame() for one in comparisons]
    return pl.concat(frames, how="diagonal_relaxed")


def claims_csv(comparisons: Sequence[Comparison]) -> str:
    """The rows of `claims_frame` as CSV."""
    return safe_frame(claims_frame(comparisons)).write_csv()


def _prose(comparison: Comparison, known: Collection[Note] = ()) -> list[str]:
    """The claims, how they were made, and what to know about them."""
    new = [note for note in comparison.warnings if note not in known]
    return [*sentences(comparison), *analysis_lines(comparison), *note_lines(new)]


def comparison_dict(comparison: Comparison) -> dict[str, Any]:
    """Every number at full precision, as plain values."""
    anova, sphericity = comparison.anova, comparison.sphericity
    return {
        "measure": comparison.scores.measure,
        "units": len(comparison.scores.units),
        "units_left_out": list(comparison.scores.dropped),
        "data": comparison.scores.data,
        "baseline": comparison.baseline,
        "level": comparison.level,
        "alternative": comparison.alternative,
        "seed": comparison.analysis.seed,
        "correction": comparison.analysis.correction or "none",
        "correction_detail": comparison.correction_detail,
        "intervals": comparison.analysis.coverage,
        "why": comparison.analysis.why,
        "warnings": [note.to_dict() for note in comparison.warnings],
        "systems": [
            {"name": row.name, "letters": row.letters, **row.mean._asdict()}
            for row in comparison.systems
        ],
        "claims": [
            {
                **row,
                "tests": [outcome._asdict() for outcome in claim.outcomes],
                "sentence": sentence,
            }
            for row, claim, sentence in zip(
                comparison.rows(), comparison.claims, sentences(comparison), strict=True
            )
        ],
        "anova": anova._asdict() if anova is not None else None,
        "sphericity": sphericity._asdict() if sphericity is not None else None,
        "ranks": comparison.friedman,
        **({} if comparison.machine is None else {"machine": machine_dict(comparison)}),
    }


def claim_records(comparisons: Sequence[Comparison]) -> list[dict[str, Any]]:
    """All comparisons as JSON has them: what is not finite is null."""
    records = [comparison_dict(one) for one in note_measures(comparisons)]
    for record, agreement in zip(records[1:], agreement_records(comparisons), strict=True):
        record["agreement"] = agreement
    return [plain(record) for record in records]
