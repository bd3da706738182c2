"""What was found, in a sentence or two, with its uncertainty."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from heldout.report.claim_words import sentences, show_p
from heldout.report.tables import plain_text

if TYPE_CHECKING:
    from heldout.experiment.results import Results
    from heldout.infer.compare import Claim, Comparison, SystemRow

__all__ = ["comparison_answer", "estimate_answer", "question"]

SHOWN: Final = 6
"""Systems that are named in one sentence; the table has them all."""


def question(systems: tuple[str, ...], data: str) -> str:
    """The title of a page: what was asked.

    Examples
    --------
    >>> question(("A", "B"), "cran"), question(("A",), "cran"), question(("A", "B", "C"), "cran")
    ('A or B on cran?', 'How good is A on cran?', 'Which of 3 systems on cran?')
    """
    where = f" on {data}" if data else ""
    if len(systems) == 1:
        return f"How good is {systems[0]}{where}?"
    if len(systems) == 2:
        return f"{systems[0]} or {systems[1]}{where}?"
    return f"Which of {len(systems)} systems{where}?"


def estimate_answer(results: Results) -> str:
    """The estimate of the first measure, of a system that stands alone."""
    name = results.systems[0]
    found = results.estimate(name)
    if found["value"] is None:
        return (
            f"{plain_text(name)} has no {found['measure']}: {found.get('reason') or 'undefined'}."
        )
    bounds = "no interval"
    if found["low"] is not None:
        level = f"{100 * found['level']:g}% interval"
        bounds = f"{level} {found['low']:.4f} to {found['high']:.4f}"
    return (
        f"{plain_text(name)} reaches {found['measure']} {found['value']:.4f} on what it has never "
        f"seen, {bounds}."
    )


def comparison_answer(comparison: Comparison) -> str:
    """The claim of two systems; of more, the best and how it stands to the others."""
    if len(comparison.claims) == 1:
        return sentences(comparison)[0]
    if comparison.baseline is not None:
        return _against(comparison, comparison.baseline)
    up = comparison.scores.higher_is_better
    best = (max if up else min)(comparison.systems, key=lambda row: row.mean.estimate)
    place = "highest" if up else "lowest"
    lead = (
        f"Of {len(comparison.systems)} systems {plain_text(best.name)} has the {place} "
        f"{plain_text(comparison.scores.measure)}, {_mean(best)}"
    )
    return f"{lead}. {_standing(comparison, best.name)}"


def _against(comparison: Comparison, baseline: str) -> str:
    base = next(row for row in comparison.systems if row.name == baseline)
    lead = f"Against {plain_text(baseline)}, {plain_text(comparison.scores.measure)} {_mean(base)}"
    groups: dict[str, list[str]] = {"better": [], "worse": [], "open": []}
    for claim in comparison.claims:
        groups[_verdict(comparison, claim)].append(
            f"{plain_text(claim.first)} ({_gap(comparison, claim, claim.first)})"
        )
    said = {"better": "better", "worse": "worse", "open": "not told apart"}
    parts = [f"{said[kind]}: {_few(names)}" for kind, names in groups.items() if names]
    return f"{lead}: {'; '.join(parts)}."


def _standing(comparison: Comparison, best: str) -> str:
    """What is shown of the best and the others."""
    beaten: list[str] = []
    open_: list[str] = []
    for claim in comparison.claims:
        if best not in (claim.first, claim.second):
            continue
        other = claim.second if claim.first == best else claim.first
        words = f"{plain_text(other)} ({_gap(comparison, claim, best)})"
        (open_ if _verdict(comparison, claim) == "open" else beaten).append(words)
    parts = []
    if beaten:
        parts.append(f"It is better than {_few(beaten)}.")
    if open_:
        parts.append(f"No difference was shown between it and {_few(open_)}.")
    return " ".join(parts)


def _verdict(comparison: Comparison, claim: Claim) -> str:
    if claim.adjusted > comparison.alpha:
        return "open"
    up = (claim.difference.estimate > 0) == comparison.scores.higher_is_better
    return "better" if up else "worse"


def _gap(comparison: Comparison, claim: Claim, first: str) -> str:
    """The difference `first` minus the other, with interval and p."""
    sign = 1 if claim.first == first else -1
    gap = claim.difference
    low, high = sorted((sign * gap.low, sign * gap.high))
    ends = [f"{one:+.4f}" if math.isfinite(one) else f"{one:+}" for one in (low, high)]
    p = show_p(claim.adjusted)
    kind = "simultaneous " if comparison.coverage == "simultaneous" else ""
    return (
        f"difference {sign * gap.estimate:+.4f}, {kind}{100 * gap.level:g}% interval "
        f"{' to '.join(ends)}, p {p if p.startswith('<') else f'= {p}'}"
    )


def _mean(row: SystemRow) -> str:
    mean = row.mean
    return f"{mean.estimate:.4f} ({100 * mean.level:g}% interval {mean.low:.4f} to {mean.high:.4f})"


def _few(names: list[str]) -> str:
    more = f", and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
