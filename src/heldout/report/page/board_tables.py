"""The table of systems and the table of pairs, with the source of each column."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from heldout.notes import count_of
from heldout.report.claim_words import (
    analysis_lines,
    correction_words,
    sentences,
    show_p,
    test_name,
)
from heldout.report.machine import comparison_estimates
from heldout.report.page.board import board_of_comparison, bracket
from heldout.report.page.parts import PageTable
from heldout.report.tables import Table, plain_text, tables_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from heldout.infer.comparison import Claim, Comparison
    from heldout.report.page.board import Board, Gap

__all__ = [
    "comparison_sources",
    "comparison_tables",
    "decision_line",
    "gap_source",
    "p_source",
    "systems_table",
]


def systems_table(board: Board, title: str, sources: Mapping[str, str]) -> PageTable:
    """One row per system, the best first, with its difference to the best or to the baseline.

    Parameters
    ----------
    board
        The systems, sorted.
    title
        What the table shows.
    sources
        What ``score``, ``interval``, ``gap`` (the interval of a difference), ``p`` and ``counts``
        are and where they come from.
    """
    columns = _Columns(board)
    rows = [columns.row(at) for at in range(len(board.rows))]
    head = columns.head()
    starred = head.index(columns.gap) if columns.gap in head else None
    table = Table(head, rows, title, texts=2 if columns.ranked else 1, starred=starred)
    known = columns.sources(sources)
    return PageTable(
        table,
        tuple((name, known[name]) for name in head if name in known),
        latex=tables_text([table], "latex"),
    )


class _Columns:
    """The columns that a table of systems has: those that hold something."""

    def __init__(self, board: Board) -> None:
        self.board = board
        self.ranked = len(board.rows) > 2
        self.differences = board.differences()
        known = self.differences.values()
        self.p = any(gap.p is not None for gap in known)
        # Of two systems only: in a longer table it leaves no room, and all pairs have it below.
        self.counts = len(self.differences) == 1 and any(gap.counts is not None for gap in known)
        self.letters = any(row.letters for row in board.rows)
        self.judged = any(row.judged is not None for row in board.rows)
        self.interval = f"{100 * board.level:g}% CI"
        self.to = "baseline" if board.baseline is not None or board.one_sided else "best"
        self.gap = f"Δ to {self.to}"
        self.gap_interval = "CI of Δ"

    def head(self) -> list[str]:
        head = ["rank"] * self.ranked + ["system", plain_text(self.board.measure), self.interval]
        head += [self.gap, self.gap_interval] if self.differences else []
        head += ["p"] * self.p + ["wins/ties/losses"] * self.counts
        return head + ["group"] * self.letters + ["judged"] * self.judged

    def row(self, at: int) -> list[str]:
        row = self.board.rows[at]
        value = "undefined" if row.value is None else f"{row.value:z.4f}"
        cells = [str(at + 1)] * self.ranked
        cells += [plain_text(row.name), value, bracket(row.low, row.high)]
        cells += self._gap_cells(row.name) if self.differences else []
        cells += [row.letters] * self.letters
        share = "—" if row.judged is None else f"{row.judged:.2f}"
        return cells + [share] * self.judged

    def _gap_cells(self, name: str) -> list[str]:
        gap = self.differences.get(name)
        if gap is None:
            own = self.to if name == self.board.reference else "—"
            return [own, "—", *["—"] * self.p, *["—"] * self.counts]
        cells = [_difference(gap), bracket(gap.low, gap.high, "+z.4f")]
        cells += ["—" if gap.p is None else show_p(gap.p)] * self.p
        return cells + [_counts(gap)] * self.counts

    def sources(self, given: Mapping[str, str]) -> dict[str, str]:
        reference = self.board.reference or ""
        return {
            plain_text(self.board.measure): given["score"],
            self.interval: given["interval"],
            self.gap: f"score minus the score of {reference}; * marks a significant difference",
            self.gap_interval: given.get("gap", ""),
            "p": given.get("p", ""),
            "wins/ties/losses": f"{given.get('counts', 'units')} on which the system is better "
            f"than {reference}, equal, worse",
            "group": "systems that share a letter are not significantly different",
            "judged": "share of the first ten documents that is judged",
        }


def _difference(gap: Gap) -> str:
    return f"{gap.estimate:+z.4f}{'*' if gap.significant else ''}"


def _counts(gap: Gap) -> str:
    return "—" if gap.counts is None else "/".join(f"{one:,}" for one in gap.counts)


def decision_line(comparison: Comparison, noun: tuple[str, str]) -> str:
    """Which test decides, on how many units, and its p-value where there is one pair."""
    claim, how = comparison.claims[0], comparison.analysis.correction
    units = count_of(len(comparison.scores.units), *noun)
    brackets = f"In brackets: {100 * claim.difference.level:g}% confidence intervals"
    test = claim.outcomes[0].test
    if len(comparison.claims) == 1:
        p = show_p(claim.adjusted)
        shown = f"p {p}" if p.startswith("<") else f"p = {p}"
        tails = "" if comparison.alternative == "two-sided" else ", one-sided"
        said = f"{brackets}. " if claim.effects.wins + claim.effects.losses else ""
        return f"{said}Test: {test_name(test)}, {units}{tails}, {shown}."
    pairs = count_of(len(comparison.claims), "comparison")
    by = f"{test_name(test)}, not adjusted for {pairs}"
    if how:
        by = f"{correction_words(comparison)}, adjusted for {pairs}"
    return f"{brackets}. Significance at {comparison.alpha:g}: {by}, {units}."


def comparison_tables(
    comparison: Comparison, noun: tuple[str, str], *, systems: PageTable | None = None
) -> tuple[PageTable, ...]:
    """The table of systems, and the pairs with all tests and effect sizes, folded.

    Parameters
    ----------
    comparison
        Of two or more systems.
    noun
        What a unit is called, one and several.
    systems
        The table of systems, if it was made from estimates; by default from the comparison.
    """
    board = board_of_comparison(comparison)
    first = systems or systems_table(
        board,
        f"{plain_text(comparison.scores.measure)} of each system",
        comparison_sources(comparison, noun),
    )
    return (
        replace(first, words=tuple(analysis_lines(comparison))),
        replace(_pairs(comparison, board, noun), words=tuple(sentences(comparison))),
        *([] if comparison.machine is None else [_estimates(comparison)]),
    )


def _estimates(comparison: Comparison) -> PageTable:
    """Human-only, machine-only and combined estimates."""
    measure = plain_text(comparison.scores.measure)
    title = f"{measure} under human judgements, machine judgements, and both"
    table = replace(comparison_estimates(comparison), title=title)
    sources = (
        ("human", f"mean over {comparison.scores.size} with human judgements"),
        ("machine (biased)", "mean over all queries under machine judgements"),
        ("combined", "prediction-powered estimate from both, unbiased for any machine"),
        ("weight", "weight of the machine, 0 to 1"),
        ("counts like", "human queries that would give as precise an estimate by themselves"),
    )
    return PageTable(table, sources, latex=tables_text([table], "latex"))


def comparison_sources(comparison: Comparison, noun: tuple[str, str]) -> dict[str, str]:
    """What the numbers of a comparison are."""
    units = count_of(len(comparison.scores.units), *noun)
    mean = comparison.systems[0].mean
    return {
        "score": f"mean over {units}; the table below has the value of each {noun[0]}"
        if comparison.machine is None
        else f"estimate from human judgements ({units}) and machine judgements",
        "interval": f"{100 * mean.level:g}% confidence interval of the mean ({mean.method})",
        "gap": gap_source(comparison),
        "p": p_source(comparison),
        "counts": noun[1],
    }


def gap_source(comparison: Comparison) -> str:
    """What the intervals of differences are."""
    gap = comparison.claims[0].difference
    kind = {
        "simultaneous": "simultaneous: all intervals hold together",
        "unadjusted": "not adjusted for the number of comparisons",
    }.get(comparison.analysis.coverage, "")
    made = "; ".join(part for part in (gap.method, kind) if part)
    return f"{100 * gap.level:g}% confidence interval of the mean difference ({made})"


def p_source(comparison: Comparison) -> str:
    """What the p-values are."""
    found, how = comparison.claims[0].outcomes[0], comparison.analysis.correction
    if not how:
        return f"p-value of the {found.test} test ({found.detail or found.method})"
    detail = f" ({comparison.correction_detail})" if comparison.correction_detail else ""
    return f"p-value adjusted for {len(comparison.claims)} comparisons by {how}{detail}"


def _pairs(comparison: Comparison, board: Board, noun: tuple[str, str]) -> PageTable:
    """One row per pair, the better system first."""
    claims = {frozenset((one.first, one.second)): one for one in comparison.claims}
    tests = [f"p ({test})" for test in comparison.analysis.tests]
    adjusted = comparison.analysis.correction
    head = ["better", "other", "Δ", "CI of Δ", *(["p"] if adjusted else []), *tests]
    head += ["effect size d_z", "wins/ties/losses"]
    rows = []
    for gap in board.ordered():
        claim = claims[frozenset((gap.first, gap.second))]
        cells = [plain_text(gap.first), plain_text(gap.second), _difference(gap)]
        cells.append(bracket(gap.low, gap.high, "+z.4f"))
        cells += [show_p(claim.adjusted)] if adjusted else []
        cells += [show_p(one.p) for one in claim.outcomes]
        rows.append([*cells, _effect(claim, gap), _counts(gap)])
    title = f"{plain_text(board.measure)}: {count_of(len(rows), 'pair')} of systems"
    table = Table(head, rows, title, texts=2, starred=2)
    known = {
        "Δ": "score of the better system minus that of the other; * marks a significant difference",
        "CI of Δ": gap_source(comparison),
        "p": p_source(comparison),
        "effect size d_z": "mean difference divided by the standard deviation of the differences",
        "wins/ties/losses": f"{noun[1]} on which the better system is better, equal, worse",
    }
    for found in comparison.claims[0].outcomes:
        made = found.detail or found.method
        known[f"p ({found.test})"] = f"p-value of the {found.test} test, not adjusted ({made})"
    return PageTable(
        table,
        tuple((name, known[name]) for name in head if name in known),
        latex=tables_text([table], "latex"),
        fold=f"All {len(rows)} pairs" if len(rows) > 1 else "All tests and the effect size",
    )


def _effect(claim: Claim, gap: Gap) -> str:
    size = claim.effects.standardised
    if not math.isfinite(size):
        return "undefined"
    return f"{size if claim.first == gap.first else -size:+.2f}"
