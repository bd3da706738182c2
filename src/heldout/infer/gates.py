"""Gates: whether each system of a comparison passes against the baseline.

A gate has no test of its own, so that it cannot contradict the comparison. ``better`` reads the
one-sided p-value of the claim; a margin is compared with the bounds of the claim's interval at
level 1 - 2·alpha, which are two one-sided tests at alpha.

References
----------
Schuirmann (1987). A comparison of the two one-sided tests procedure and the power approach for
assessing the equivalence of average bioavailability. Journal of Pharmacokinetics and
Biopharmaceutics 15. Wellek (2010). Testing Statistical Hypotheses of Equivalence and
Noninferiority, 2nd ed.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, get_args

from heldout.errors import InputError
from heldout.infer.analyses import BY_RANK, OWN_TEST
from heldout.infer.results import level_of

if TYPE_CHECKING:
    from heldout.infer.compare import Claim, Comparison
    from heldout.infer.results import Interval

__all__ = ["GateKind", "GateResult", "Verdict", "gate_results"]

GateKind = Literal["better", "non-inferior", "equivalent"]
"""The claim that a gate tests."""

Verdict = Literal["shown", "not shown", "worse", "better", "same output", "no difference"]
"""What is known about the claim.

It holds; undecided; the new system is worse, or better, by more than the margin; both gave the same
output, which decides it; no score differs, which decides nothing.
"""

POWER: Final = 0.8
"""The power that `GateResult.queries_needed` aims at."""


class GateResult(NamedTuple):
    """Whether one system passes in one measure.

    Parameters
    ----------
    kind
        ``better``, ``non-inferior`` or ``equivalent``.
    first, second
        The new system and the baseline.
    measure
        The measure.
    margin
        The margin.
    passed
        Whether the claim is shown.
    verdict
        What is known.
    interval
        The gain with the bounds that were compared with the margin: those of the claim, at level
        1 - alpha with one bound for ``better``, else at level 1 - 2·alpha. A positive difference
        is a gain, also where lower values are better.
    p
        The p-value of the claim, for ``better`` without a margin; else None.
    test
        The test of the claim.
    queries_needed
        When undecided: the number of units that would decide with power .8 if the observed
        difference and standard deviation were the true ones. None if no number would, and where
        more units are not to be had so simply (folds, machine judgements).
    n
        The number of units.
    """

    kind: GateKind
    first: str
    second: str
    measure: str
    margin: float
    passed: bool
    verdict: Verdict
    interval: Interval
    p: float | None
    test: str
    queries_needed: int | None
    n: int


def gate_results(comparison: Comparison, kind: GateKind, margin: float = 0.0) -> list[GateResult]:
    """Return a verdict for each system that was compared with the baseline.

    Parameters
    ----------
    comparison
        With a baseline; for ``better`` with the alternative ``greater``, else two-sided. Its level
        is that of the gate.
    kind
        ``better``, ``non-inferior`` or ``equivalent``.
    margin
        The gain required, or the difference that would be accepted; fixed before looking at the
        data.

    Examples
    --------
    >>> import heldout
    >>> from heldout.infer.gates import gate_results
    >>> scores = {"old": [0.2, 0.4, 0.1, 0.6, 0.5, 0.3], "new": [0.3, 0.5, 0.3, 0.7, 0.6, 0.4]}
    >>> comparison = heldout.compare(scores, alternative="greater")
    >>> [(result.first, result.passed, result.p) for result in gate_results(comparison, "better")]
    [('new', True, 0.015625)]
    """
    _check(comparison, kind, margin)
    intervals = [claim.difference for claim in comparison.claims]
    if kind != "better" and comparison.intervals_at is not None:
        intervals = comparison.intervals_at(level_of(2 * comparison.alpha))
    results = []
    for claim, interval in zip(comparison.claims, intervals, strict=True):
        gain = interval if comparison.scores.higher_is_better else _negated(interval)
        verdict = _verdict(comparison, claim, kind, gain, margin)
        results.append(
            GateResult(
                kind,
                claim.first,
                claim.second,
                comparison.scores.measure,
                margin,
                passed=verdict in ("shown", "same output"),
                verdict=verdict,
                interval=gain,
                p=claim.adjusted if kind == "better" and not margin else None,
                test=comparison.advice.tests[0],
                queries_needed=_needed(comparison, kind, gain, margin, verdict),
                n=len(comparison.scores.units),
            )
        )
    return results


def _check(comparison: Comparison, kind: str, margin: float) -> None:
    """Refuse what has no answer, or one that passes too often."""
    if comparison.baseline is None:
        raise InputError("a gate needs a baseline: pass baseline=NAME")
    if kind not in get_args(GateKind):
        raise InputError(f"kind={kind!r}: expected one of {', '.join(get_args(GateKind))}")
    if not 0 <= margin < math.inf or (kind != "better" and not margin):
        lowest = "0 or more" if kind == "better" else "a number above 0"
        raise InputError(f"margin={margin}: expected {lowest}")
    needed = "greater" if kind == "better" else "two-sided"
    if comparison.alternative != needed:
        raise InputError(
            f"alternative={comparison.alternative!r}: the gate {kind} reads a comparison with "
            f"alternative={needed!r}"
        )
    test = comparison.advice.tests[0]
    if test in BY_RANK:
        raise InputError(
            f"test={test!r} is about ranks or signs, but a gate is about means: name another test, "
            "or none"
        )
    _refuse_ignorant(comparison)


def _refuse_ignorant(comparison: Comparison) -> None:
    """Refuse tests and intervals that ignore what the design adds to the variance."""
    advice, scores = comparison.advice, comparison.scores
    if comparison.test_share is not None:
        fitting, method, ignores = "corrected-t", "corrected", "treats folds as independent"
    elif scores.choices and scores.machine is None:
        fitting, method, ignores = "retuned-t", "t with re-tuning", "ignores the tuning in folds"
    else:
        return
    for named, wrong in (
        (f"test={advice.tests[0]!r}", advice.tests[0] != fitting),
        (f"correction={advice.correction!r}", advice.correction in OWN_TEST),
        ("interval", not comparison.claims[0].difference.method.startswith(method)),
    ):
        if wrong:
            raise InputError(f"{named} {ignores}, and the gate would pass too often: leave it out")


def _verdict(
    comparison: Comparison, claim: Claim, kind: GateKind, gain: Interval, margin: float
) -> Verdict:
    if kind == "better":
        shown = gain.low > margin if margin else claim.adjusted <= comparison.alpha
        return "shown" if shown else "not shown"
    if _no_score_differs(comparison, claim):
        return "same output" if _same_output(comparison, claim) else "no difference"
    if gain.high < -margin:
        return "worse"
    if gain.low > margin and kind == "equivalent":
        return "better"
    above, below = gain.low > -margin, gain.high < margin
    return "shown" if above and (below or kind == "non-inferior") else "not shown"


def _no_score_differs(comparison: Comparison, claim: Claim) -> bool:
    if claim.effects.wins or claim.effects.losses:
        return False
    if comparison.scores.machine is not None or comparison.linearised:
        return claim.difference.low == claim.difference.high
    return True


def _same_output(comparison: Comparison, claim: Claim) -> bool:
    """Return whether both systems are known to have put out the same."""
    scores = comparison.scores
    if len(scores.outputs) != len(scores.systems):
        return False
    first, second = (scores.outputs[scores.index(name)] for name in claim[:2])
    return first == second


def _needed(
    comparison: Comparison, kind: GateKind, gain: Interval, margin: float, verdict: Verdict
) -> int | None:
    """Return the units at which t tests with the error of the claim would reject."""
    from scipy.special import stdtrit  # slow to import

    from heldout.infer.power import power_of, smallest_n

    n, alpha = len(comparison.scores.units), comparison.alpha
    reach = gain.estimate - gain.low
    further = comparison.test_share is not None or comparison.scores.machine is not None
    if verdict != "not shown" or further or not 0 < reach < math.inf:
        return None
    deviation = math.sqrt(n) * reach / float(stdtrit(n - 1, 1 - alpha))
    distances = [gain.estimate - margin if kind == "better" else gain.estimate + margin]
    if kind == "equivalent":
        distances.append(margin - gain.estimate)
    if min(distances) <= 0:
        return None

    def enough(units: int) -> bool:
        shifts = [distance * math.sqrt(units) / deviation for distance in distances]
        missed = sum(1 - power_of(shift, units - 1, alpha, "greater") for shift in shifts)
        return 1 - missed >= POWER

    needed = smallest_n(enough)
    return None if needed is None else max(needed, n + 1)


def _negated(interval: Interval) -> Interval:
    return interval._replace(estimate=-interval.estimate, low=-interval.high, high=-interval.low)
