"""The gate for continuous integration: whether the new system may pass."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heldout.errors import InputError
from heldout.infer.results import drop_noise
from heldout.report.tables import plain_text

if TYPE_CHECKING:
    from heldout.data.words import Floats
    from heldout.infer.compare import Claim, Comparison

__all__ = ["gate_verdicts"]


def gate_verdicts(
    comparisons: list[Comparison], kind: str, margin: float, alpha: float
) -> tuple[bool, list[str]]:
    """Whether every new system passes, and a sentence for each."""
    if margin <= 0:
        raise InputError(f"--margin {margin:g}: expected a number above 0")
    lines, passed = [], True
    for comparison in comparisons:
        if comparison.baseline is None:
            raise InputError("a gate needs a baseline: name it with --baseline")
        for claim in comparison.claims:
            ok, line = _verdict(comparison, claim, kind, margin, alpha)
            passed &= ok
            lines.append(line)
    return passed, lines


def _gain(comparison: Comparison, claim: Claim) -> Floats:
    """How much better the new system is on each unit."""
    scores = comparison.scores
    gap = drop_noise(scores.column(claim.first), scores.column(claim.second))
    return gap if scores.higher_is_better else -gap


def _verdict(
    comparison: Comparison, claim: Claim, kind: str, margin: float, alpha: float
) -> tuple[bool, str]:
    from heldout.infer.equivalence import non_inferiority, tost  # SciPy

    test = non_inferiority if kind == "non-inferior" else tost
    gate = test(_gain(comparison, claim), margin, alpha=alpha)
    first, second = plain_text(claim.first), plain_text(claim.second)
    claimed = (
        f"not worse than {second} by more than {margin:g}"
        if kind == "non-inferior"
        else f"within {margin:g} of {second}"
    )
    level = f"{round(100 * gate.interval.level, 6):g}%"
    bounds = f"gain, {level} interval {gate.interval.low:+.4f} to {gate.interval.high:+.4f}"
    if gate.verdict == "shown":
        return True, f"passed: {first} is {claimed} in {comparison.scores.measure} ({bounds})"
    if gate.verdict == "better":
        return False, f"failed: {first} is better by more in {comparison.scores.measure} ({bounds})"
    if gate.verdict == "worse":
        return (
            False,
            f"failed: {first} is worse than that in {comparison.scores.measure} ({bounds})",
        )
    more = f"; about {gate.queries_needed:,} queries would decide it" if gate.queries_needed else ""
    return False, (
        f"failed: not shown that {first} is {claimed} in {comparison.scores.measure} "
        f"({bounds}){more}"
    )
