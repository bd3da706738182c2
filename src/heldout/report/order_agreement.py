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
    from heldout.infer.order_agreement import VerdictChange

LISTED: Final = 5  # pairs that a sentence names
CORRELATIONS: Final = {"kendall": "Kendall's tau", "tau_ap": "AP correlation", "rbo": "RBO"}


def agreement_lines(comparisons: Sequence[Comparison]) -> list[str]:
    """How far each measure agrees with the first: on the order, and on the verdicts."""
    first, *others = comparisons
    lines, count = [], len(first.claims)
    for other in others:
        names = (first.scores.measure, other.scores.measure)
        both = f"{names[0]} and {names[1]}"
        agreement = measured_agreement(first, other)
        if agreement is not None:
            words = []
            for name, correlation in CORRELATIONS.items():
                value = getattr(agreement, name)
                words.append(f"{correlation} {number(value.estimate, '.2f')}")
                if first.analysis.test_share is None and math.isfinite(value.low):
                    words[-1] += f" {interval(value.low, value.high, '.2f')}"
            lines.append(f"Order of the systems in {both}: {', '.join(words)}.")
        changes = verdict_changes(first, other)
        if changes:
            said = f"{len(changes):,} of {count:,} verdicts differ"
            said = "The verdict differs" if count == 1 else said
            lines.append(f"{said} in {both}: {change_words(changes, names)}.")
        else:
            said = "The verdict is" if count == 1 else f"The verdicts on all {count:,} pairs are"
            lines.append(f"{said} the same in {both}.")
    return list(map(printable, lines))


def change_words(
    changes: Sequence[VerdictChange], names: tuple[str, str], where: str = "in"
) -> str:
    """The pairs by measures, or judges: ``significant in AP only: A > B, A > C``."""
    kinds = [
        *(f"significant {where} {name} only" for name in names),
        f"opposite {where} {names[1]}",
    ]
    groups: dict[str, list[str]] = {kind: [] for kind in kinds}
    for change in changes:
        side = int(change.verdicts[0] == "no difference")
        better, worse = change.first, change.second
        if change.verdicts[side] == "worse":
            better, worse = worse, better
        groups[kinds[2 if change.reversed else side]].append(f"{better} > {worse}")
    parts = []
    for kind, pairs in groups.items():
        more = [f"{len(pairs) - LISTED:,} more"] if len(pairs) > LISTED else []
        parts += [f"{kind}: {', '.join(pairs[:LISTED] + more)}"] if pairs else []
    return "; ".join(parts)
