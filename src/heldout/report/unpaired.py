"""Comparisons of systems on different units, as text and as JSON."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from heldout.infer.levels import alpha_of
from heldout.report.tables import Table, plain_text
from heldout.report.terminal import aligned

if TYPE_CHECKING:
    from heldout.infer.results import Interval
    from heldout.infer.unpaired import UnpairedClaim, UnpairedComparison

__all__ = ["unpaired_json", "unpaired_text"]


def unpaired_text(comparison: UnpairedComparison, width: int | None = None) -> str:
    """Return tables of systems and claims, and a sentence for each claim."""
    systems = Table(
        ["system", plain_text(comparison.measure), f"{comparison.level:.0%} interval", "units"],
        [
            [plain_text(name), f"{mean.estimate:.4f}", _bounds(mean), f"{units:,}"]
            for name, mean, units in comparison.systems
        ],
    )
    head = ["pair", "Δ", "interval of Δ", "p (Welch)", "p (permutation)"]
    head += [f"p ({comparison.correction})"] if comparison.correction else []
    claims = Table(head, [_row(comparison, claim) for claim in comparison.claims])
    said = [_sentence(comparison, claim) for claim in comparison.claims]
    return "\n".join(
        [
            aligned(systems, width),
            aligned(claims, width),
            *said,
            "The systems were scored on different units: independent samples, compared by Welch's",
            "t test, with a permutation test beside it. The same units would show more.",
            "",
        ]
    )


def _row(comparison: UnpairedComparison, claim: UnpairedClaim) -> list[str]:
    cells = [
        f"{plain_text(claim.first)} - {plain_text(claim.second)}",
        f"{claim.difference.estimate:+.4f}",
        _bounds(claim.difference, "+.4f"),
        *(f"{one.p:.3g}" for one in claim.outcomes),
    ]
    return [*cells, f"{claim.adjusted:.3g}"] if comparison.correction else cells


def _sentence(comparison: UnpairedComparison, claim: UnpairedClaim) -> str:
    shown = claim.adjusted <= alpha_of(comparison.level)
    verdict = "significantly different" if shown else "not significantly different"
    return (
        f"{plain_text(claim.first)} and {plain_text(claim.second)} are {verdict} in "
        f"{plain_text(comparison.measure)} (p = {claim.adjusted:.3g})."
    )


def _bounds(interval: Interval, form: str = ".4f") -> str:
    low = f"[{interval.low:{form}}" if math.isfinite(interval.low) else "(-∞"
    high = f"{interval.high:{form}}]" if math.isfinite(interval.high) else "∞)"
    return f"{low}, {high}"


def unpaired_json(comparison: UnpairedComparison) -> str:
    """Return all numbers at full precision."""
    from heldout.as_json import json_text

    return json_text(
        {
            "measure": comparison.measure,
            "design": "unpaired",
            "level": comparison.level,
            "alternative": comparison.alternative,
            "correction": comparison.correction or "none",
            "systems": [
                {"name": name, "units": units, **mean._asdict()}
                for name, mean, units in comparison.systems
            ],
            "claims": [
                {
                    "first": claim.first,
                    "second": claim.second,
                    "difference": claim.difference._asdict(),
                    "tests": [one._asdict() for one in claim.outcomes],
                    "p_adjusted": claim.adjusted,
                    "significant": claim.adjusted <= alpha_of(comparison.level),
                }
                for claim in comparison.claims
            ],
        }
    )
