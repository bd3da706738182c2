"""A comparison in a few lines, the answer first: what a terminal and `print` show."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING, Final

from heldout.report.claim_words import (
    bounds,
    p_words,
    show_p,
    tests_line,
    verdict,
    verdict_of_many,
)
from heldout.report.machine import estimate_lines
from heldout.report.tables import Table, note_lines, plain_text
from heldout.report.terminal import aligned, shortened

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from heldout.infer.blocks import Source
    from heldout.infer.comparison import Claim, Comparison
    from heldout.notes import Note

__all__ = [
    "anova_table",
    "claim_line",
    "has_anova",
    "short_text",
    "systems_table",
    "wrapped",
]

_NAME: Final = 24
"""Characters of a system's name that a table shows; longer ones lose their middle."""
_WIDTH: Final = 80
"""Columns of a usual terminal, which the table of systems must fit."""


def short_text(
    comparison: Comparison,
    *,
    known: Collection[Note] = (),
    width: int | None = None,
) -> str:
    """The verdict, the numbers behind it, the test, then notes.

    Parameters
    ----------
    comparison
        Of two or more systems.
    known
        Notes that the same output has shown before: they are not repeated.
    width
        Columns of the terminal, to wrap sentences at; None: one sentence per line.
    """
    lines = _two(comparison) if len(comparison.claims) == 1 else _many(comparison)
    lines += [*estimate_lines(comparison), tests_line(comparison)]
    notes = [note for note in comparison.warnings if note not in known]
    return wrapped([*lines, *note_lines(notes)], width)


def wrapped(lines: Sequence[str], width: int | None) -> str:
    """Lines of at most `width` columns; tables, which have wide gaps, stay as they are."""
    text = ""
    for line in lines:
        if width is None or len(line) <= width or "   " in line:
            text += f"{line}\n"
            continue
        parts = textwrap.wrap(
            line, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
        )
        text += "".join(f"{part}\n" for part in parts)
    return text


def _two(comparison: Comparison) -> list[str]:
    (claim,) = comparison.claims
    means = {row.name: row.mean.estimate for row in comparison.systems}
    first, second = means[claim.first], means[claim.second]
    effects, scores = claim.effects, comparison.scores
    said = verdict(comparison, claim)
    if effects.wins + effects.losses == 0:
        return [f"{said}."]
    gap = f"difference {claim.difference.estimate:+z.4f}, {interval_words(comparison, claim)}"
    counts = f"{effects.wins:,} won, {effects.ties:,} tied, {effects.losses:,} lost"
    size = f"; effect size d_z {effects.standardised:+.2f}"
    return [
        f"{said} ({p_words(claim.adjusted)}).",
        f"{plain_text(scores.measure)}: {first:z.4f} vs {second:z.4f}, {gap}",
        f"{scores.size}: {counts}{size if math.isfinite(effects.standardised) else ''}",
    ]


def interval_words(comparison: Comparison, claim: Claim) -> str:
    """The interval of a difference: ``95% CI [+0.0164, +0.0278]``."""
    kind = "" if comparison.analysis.coverage == "single" else f"{comparison.analysis.coverage} "
    level = f"{round(100 * claim.difference.level, 6):g}%"
    return f"{kind}{level} CI {bounds(claim.difference, '+z.4f')}"


def claim_line(comparison: Comparison, claim: Claim) -> str:
    """One pair in one sentence: the verdict, the difference, its interval and the p-value."""
    said = verdict(comparison, claim)
    if claim.effects.wins + claim.effects.losses == 0:
        return f"{said}."
    gap = f"difference {claim.difference.estimate:+z.4f}, {interval_words(comparison, claim)}"
    return f"{said}: {gap}, {p_words(claim.adjusted)}."


def _many(comparison: Comparison) -> list[str]:
    """All systems in one table, the best first."""
    lines = [f"{verdict_of_many(comparison)}."]
    lines += aligned(systems_table(comparison)).splitlines()
    if comparison.baseline is None:
        lines.append(_top_group(comparison))
    if has_anova(comparison):
        lines += ["", *aligned(anova_table(comparison)).splitlines(), ""]
    return lines


def systems_table(comparison: Comparison) -> Table:
    """One row per system, the best first, with its difference to the baseline or to the best."""
    order = _order(comparison)
    rows = comparison.systems
    names = [row.name for row in rows]
    base = comparison.baseline or names[order[0]]
    claims = _against(comparison, base)
    letters = any(row.letters for row in rows)
    judged = comparison.scores.judged
    level = f"{comparison.level:.0%} CI"
    head = ["", "system", plain_text(comparison.scores.measure)]
    if comparison.baseline is None:
        head += [level, "vs best", "p"]
    else:
        head += ["difference", level, "p"]
    head += ["group"] * letters + ["judged"] * bool(judged)
    table = []
    for rank, at in enumerate(order, 1):
        row = rows[at]
        cells = [str(rank), _name(row.name), f"{row.mean.estimate:z.4f}"]
        found = claims.get(row.name)
        gap, interval, p = ("—", "—", "—") if found is None else found
        cells += [bounds(row.mean), gap, p] if comparison.baseline is None else [gap, interval, p]
        cells += [row.letters] * letters
        cells += [f"{judged[at]:.2f}"] if judged else []
        table.append(cells)
    whole = Table(head, table, texts=2)
    if judged and max(map(len, aligned(whole).splitlines())) > _WIDTH:
        whole = Table(head[:-1], [row[:-1] for row in table], texts=2)  # a warning has the shares
    return whole


def _order(comparison: Comparison) -> list[int]:
    sign = -1 if comparison.scores.higher_is_better else 1
    means = [row.mean.estimate for row in comparison.systems]
    return sorted(range(len(means)), key=lambda at: (sign * means[at], comparison.systems[at].name))


def _against(comparison: Comparison, base: str) -> dict[str, tuple[str, str, str]]:
    """Of each system compared with `base`: its difference to it, the interval and the p-value."""
    found = {}
    for claim in comparison.claims:
        if base not in {claim.first, claim.second}:
            continue
        other, sign = (claim.first, 1) if claim.second == base else (claim.second, -1)
        gap = claim.difference
        low, high = (gap.low, gap.high) if sign > 0 else (-gap.high, -gap.low)
        shown = gap._replace(estimate=sign * gap.estimate, low=low, high=high)
        mark = "*" if claim.adjusted <= comparison.alpha else " "
        found[other] = (
            f"{shown.estimate:+z.4f}{mark}",
            bounds(shown, "+z.4f"),
            show_p(claim.adjusted),
        )
    return found


def _top_group(comparison: Comparison) -> str:
    order = [comparison.systems[at].name for at in _order(comparison)]
    best = order[0]
    beaten = {
        name
        for claim in comparison.claims
        if claim.adjusted <= comparison.alpha and best in {claim.first, claim.second}
        for name in (claim.first, claim.second)
    }
    top = [plain_text(name) for name in order if name == best or name not in beaten]
    if len(top) == 1:
        return f"Top group: {top[0]} alone."
    if len(top) == len(order):
        return f"Top group: all systems; none differs significantly from {top[0]}."
    shown = ", ".join(top[:12]) + (f" and {len(top) - 12} more" if len(top) > 12 else "")
    return f"Top group (not significantly different from {top[0]}): {shown}."


def _name(name: str) -> str:
    return shortened(plain_text(name), _NAME)


def has_anova(comparison: Comparison) -> bool:
    """Whether the correction takes its error from the analysis of variance."""
    return comparison.analysis.correction == "tukey" and comparison.anova is not None


def anova_table(comparison: Comparison) -> Table:
    """The two-way analysis of variance behind Tukey's test."""
    if comparison.anova is None:
        raise ValueError("there is no analysis of variance of two systems")
    found = comparison.anova
    named = {"systems": found.systems, comparison.scores.unit: found.blocks}
    rows = [_source(name, one) for name, one in named.items()]
    rest = found.residual
    rows.append(
        ["residual", str(rest.df), f"{rest.sum_of_squares:.4f}", f"{rest.mean_square:.6f}", "", ""]
    )
    return Table(["source", "df", "sum of squares", "mean square", "F", "p"], rows)


def _source(name: str, source: Source) -> list[str]:
    f = f"{source.f:.3f}" if math.isfinite(source.f) else "—"
    p = show_p(source.p) if math.isfinite(source.p) else "—"
    return [name, str(source.df), f"{source.sum_of_squares:.4f}", f"{source.mean_square:.6f}", f, p]
