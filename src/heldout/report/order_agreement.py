"""Whether several measures agree on the systems, in a line or two."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from heldout.infer.order_agreement import order_agreement, verdict_changes
from heldout.report.claim_words import bounds
from heldout.report.tables import notes_text, plain_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.infer.comparison import Comparison
    from heldout.infer.order_agreement import OrderAgreement, VerdictChange
    from heldout.infer.results import Interval

__all__ = [
    "CORRELATIONS",
    "agreement_lines",
    "agreement_records",
    "agreement_text",
    "change_words",
    "correlation_words",
    "measured_agreement",
]

CORRELATIONS: Final = {"kendall": "Kendall's tau", "tau_ap": "AP correlation", "rbo": "RBO"}
"""The correlations that are printed; JSON has Spearman's and Pearson's, too."""

MOST_SYSTEMS: Final = 300
"""Systems up to which orders are correlated: the bootstrap needs all pairs in memory."""

_WORK: Final = 2**23
_LISTED: Final = 5
"""Pairs that a sentence names."""


def agreement_text(comparisons: Sequence[Comparison], kind: str) -> str:
    """Return the lines of `agreement_lines` in a format of tables.

    Parameters
    ----------
    comparisons
        One per measure.
    kind
        As `heldout.report.tables.notes_text` takes it.
    """
    return notes_text(agreement_lines(comparisons), kind)


def agreement_lines(comparisons: Sequence[Comparison]) -> list[str]:
    """Return how far each measure agrees with the first: the order, and the verdicts.

    Parameters
    ----------
    comparisons
        Of the same systems, one per measure; a single one has nothing to agree with.
    """
    lines: list[str] = []
    for other in comparisons[1:]:
        first = comparisons[0]
        names = (plain_text(first.scores.measure), plain_text(other.scores.measure))
        found = measured_agreement(first, other)
        if found is not None:
            intervals = first.analysis.test_share is None
            words = correlation_words(found, intervals=intervals)
            lines.append(f"Order of the systems in {names[0]} and {names[1]}: {words}.")
        lines.append(_verdict_line(first, other, names))
    return lines


def measured_agreement(first: Comparison, second: Comparison) -> OrderAgreement | None:
    """Return how far two comparisons agree on the order; None for two systems, or very many."""
    systems = len(first.scores.systems)
    if not 2 < systems <= MOST_SYSTEMS or len(first.scores.units) < 2:
        return None
    replicates = min(2_000, max(200, _WORK // systems**2))
    return order_agreement(
        first.scores,
        second.scores,
        level=first.level,
        replicates=replicates,
        seed=first.analysis.seed,
    )


def correlation_words(found: OrderAgreement, *, intervals: bool = True) -> str:
    """Return the correlations with their intervals: ``Kendall's tau 0.87 [0.73, 1.00], …``."""
    parts = []
    for name, words in CORRELATIONS.items():
        value: Interval = getattr(found, name)
        shown = f"{value.estimate:.2f}" if math.isfinite(value.estimate) else "undefined"
        drawn = intervals and math.isfinite(value.low)
        parts.append(f"{words} {shown} {bounds(value, '.2f')}" if drawn else f"{words} {shown}")
    return ", ".join(parts)


def _verdict_line(first: Comparison, second: Comparison, names: tuple[str, str]) -> str:
    changes = verdict_changes(first, second)
    count = len(first.claims)
    where = f"in {names[0]} and {names[1]}"
    if not changes:
        which = "The verdict is" if count == 1 else f"The verdicts on all {count:,} pairs are"
        return f"{which} the same {where}."
    which = (
        "The verdict differs" if count == 1 else f"{len(changes):,} of {count:,} verdicts differ"
    )
    return f"{which} {where}: {change_words(changes, names)}."


def change_words(
    changes: Sequence[VerdictChange], names: tuple[str, str], where: str = "in"
) -> str:
    """Return the pairs, such as ``significant in AP only: A > B, A > C``.

    Parameters
    ----------
    changes
        Pairs with different verdicts.
    names
        What the two verdicts come from: measures, or judges.
    where
        The preposition of the names.
    """
    parts = []
    for number, name in enumerate(names):
        alone = [one for one in changes if one.verdicts[1 - number] == "no difference"]
        if alone:
            parts.append(f"significant {where} {name} only: {_pairs(alone, number)}")
    opposite = [one for one in changes if one.reversed]
    if opposite:
        parts.append(f"opposite {where} {names[1]}: {_pairs(opposite, 0)}")
    return "; ".join(parts)


def _pairs(changes: Sequence[VerdictChange], number: int) -> str:
    """Return the pairs, the better system of one of the two comparisons first."""
    shown = [
        f"{plain_text(one.first)} > {plain_text(one.second)}"
        if one.verdicts[number] == "better"
        else f"{plain_text(one.second)} > {plain_text(one.first)}"
        for one in changes[:_LISTED]
    ]
    more = [f"{len(changes) - _LISTED:,} more"] if len(changes) > _LISTED else []
    return ", ".join([*shown, *more])


def agreement_records(comparisons: Sequence[Comparison]) -> list[dict[str, Any]]:
    """Return the agreement of each measure but the first with the first, for JSON."""
    if not comparisons:  # of one system, nothing is compared
        return []
    first = comparisons[0]
    return [
        {
            "measure": first.scores.measure,
            "correlations": measured_agreement(first, other),
            "verdict_changes": list(verdict_changes(first, other)),
        }
        for other in comparisons[1:]
    ]
