"""Whether several measures agree on the systems, in a line or two."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from heldout.infer.order_agreement import measured_agreement, verdict_changes
from heldout.report.answers import interval, number
from heldout.report.table import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.infer.comparison import Comparison
    from heldout.infer.order_agreement import OrderAgreement, VerdictChange

LISTED: Final = 5  # pairs that a sentence names
CORRELATIONS: Final = {"kendall": "Kendall's tau", "tau_ap": "AP correlation", "rbo": "RBO"}


def agreement_lines(comparisons: Sequence[Comparison]) -> list[str]:
    """How far each measure agrees with the first: on the order, and on the verdicts."""
    lines: list[str] = []
    for other in comparisons[1:]:
        first = comparisons[0]
        names = (first.scores.measure, other.scores.measure)
        both = f"{names[0]} and {names[1]}"
        agreement = measured_agreement(first, other)
        if agreement is not None:
            words = correlation_words(agreement, intervals=first.analysis.test_share is None)
            lines.append(f"Order of the systems in {both}: {words}.")
        changes, count = verdict_changes(first, other), len(first.claims)
        if changes:
            which = "The verdict differs"
            which = which if count == 1 else f"{len(changes):,} of {count:,} verdicts differ"
            lines.append(f"{which} in {both}: {change_words(changes, names)}.")
        else:
            which = "The verdict is" if count == 1 else f"The verdicts on all {count:,} pairs are"
            lines.append(f"{which} the same in {both}.")
    return list(map(printable, lines))


def correlation_words(agreement: OrderAgreement, *, intervals: bool = True) -> str:
    """The correlations with their intervals: ``Kendall's tau 0.87 [0.73, 1.00], …``."""
    parts = []
    for name, words in CORRELATIONS.items():
        value = getattr(agreement, name)
        shown = f"{words} {number(value.estimate, '.2f')}"
        bounded = intervals and math.isfinite(value.low)
        parts.append(f"{shown} {interval(value.low, value.high, '.2f')}" if bounded else shown)
    return ", ".join(parts)


def change_words(
    changes: Sequence[VerdictChange], names: tuple[str, str], where: str = "in"
) -> str:
    """The pairs by measures, or judges: ``significant in AP only: A > B, A > C``."""
    parts = []
    for side, name in enumerate(names):
        alone = [change for change in changes if change.verdicts[1 - side] == "no difference"]
        if alone:
            parts.append(f"significant {where} {name} only: {_changed(alone, side)}")
    opposite = [change for change in changes if change.reversed]
    if opposite:
        parts.append(f"opposite {where} {names[1]}: {_changed(opposite, 0)}")
    return "; ".join(parts)


def _changed(changes: Sequence[VerdictChange], side: int) -> str:
    """The pairs, the better system of one of the two comparisons first."""
    shown = [
        f"{change.first} > {change.second}"
        if change.verdicts[side] == "better"
        else f"{change.second} > {change.first}"
        for change in changes[:LISTED]
    ]
    more = [f"{len(changes) - LISTED:,} more"] if len(changes) > LISTED else []
    return ", ".join([*shown, *more])
