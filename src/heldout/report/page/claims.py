"""The tables of a comparison, each column with where it comes from."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from heldout.infer.results import count_of
from heldout.report.claim_words import analysis_lines, sentences
from heldout.report.claims import claim_tables, claims_text, interval_heading, p_heading, readable
from heldout.report.page.parts import PageTable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.infer.compare import Comparison

__all__ = ["claim_parts"]


def claim_parts(comparison: Comparison, unit: str) -> tuple[PageTable, ...]:
    """The table of systems and, without a baseline, that of pairs.

    Parameters
    ----------
    comparison
        What is shown.
    unit
        Where the value of a unit is found, in words.
    """
    shown = readable(comparison)
    titles = (
        f"Systems compared in {comparison.scores.measure}",
        f"Pairs of systems compared in {comparison.scores.measure}",
    )
    tables = [
        PageTable(replace(table, title=title), _sources(comparison, table.head, unit))
        for title, table in zip(titles, claim_tables(shown), strict=False)
    ]
    tables[-1] = replace(
        tables[-1],
        latex=claims_text(comparison, "latex"),
        words=(*sentences(shown), *analysis_lines(comparison)),
    )
    return tuple(tables)


def _sources(comparison: Comparison, head: Sequence[str], unit: str) -> tuple[tuple[str, str], ...]:
    scores = comparison.scores
    units = count_of(len(scores.units), "unit")
    known = {
        scores.measure: f"mean over {units}; {unit}",
        "interval": f"{100 * comparison.systems[0].mean.level:g}% interval of the mean "
        f"({comparison.systems[0].mean.method})",
        "Δ": "mean of the differences, unit by unit; * at "
        f"p ≤ {comparison.alpha:g} after correction, if there is one",
        "d_z": "mean difference in standard deviations of the differences (Cohen's d_z)",
        "W/T/L": "units on which the first of the pair is better, the same, worse",
        "group": "systems that share a letter were not told apart",
        "judged": "share of the first ten documents that is judged",
    }
    gap, how = comparison.claims[0].difference, comparison.advice.correction
    within = f"{100 * gap.level:g}% interval of the mean difference ({gap.method})"
    known[interval_heading(comparison)] = within
    if how:
        detail = f" ({comparison.correction_detail})" if comparison.correction_detail else ""
        corrected = f"p-value corrected for {len(comparison.claims)} comparisons{detail}"
        known[p_heading(how)] = corrected
    for found in comparison.claims[0].outcomes:
        made = found.detail or found.method
        known[p_heading(found.test)] = f"p-value of the {found.test} test ({made})"
    return tuple((name, known[name]) for name in head if name in known)
