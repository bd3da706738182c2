"""Gates: whether each system of a comparison passes against the baseline.

A gate has no test of its own, so that it cannot contradict the comparison. ``better`` reads the
one-sided p-value of the claim; a margin is compared with the bounds of the claim's interval at
level 1 - 2·alpha, which are two one-sided tests at alpha (Schuirmann 1987; Wellek 2010).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, get_args

from heldout.errors import InputError
from heldout.infer.analysis import OWN_TEST
from heldout.infer.results import level_of

if TYPE_CHECKING:
    from heldout.infer.comparison import Claim, Comparison
    from heldout.infer.results import Interval

GateKind = Literal["better", "non-inferior", "equivalent"]

# What is known about the claim: it holds; undecided; the new system is worse, or better, by more
# than the margin; both gave the same output, which decides it; no score differs, which decides
# nothing.
Verdict = Literal["shown", "not shown", "worse", "better", "same output", "no difference"]

POWER: Final = 0.8  # that `GateResult.queries_needed` aims at
STEPS: Final = 50  # of the bisection for p


class GateResult(NamedTuple):
    """Whether one system passes in one measure.

    `p` is the p-value of the claim for ``better`` without a margin; else the smallest alpha at
    which the bounds would pass the margin, .5 if the gain itself does not.
    """

    kind: GateKind
    first: str  # the new system
    second: str  # the baseline
    measure: str
    margin: float
    passed: bool
    verdict: Verdict
    interval: Interval  # of the gain, as it was compared with the margin; positive is better
    p: float | None  # None if no score differs: then the outputs decide
    test: str
    queries_needed: int | None  # to decide what is undecided, if the observed values were true
    n: int


def gate(comparison: Comparison, kind: GateKind, margin: float = 0.0) -> list[GateResult]:
    """Return a verdict for each system that was compared with the baseline.

    For ``better`` the comparison has the alternative ``greater``, else it is two-sided; its level
    is that of the gate. The margin is the gain required, or the loss that would be accepted.

    Examples
    --------
    >>> import heldout
    >>> scores = {"old": [0.2, 0.4, 0.1, 0.6, 0.5, 0.3], "new": [0.3, 0.5, 0.3, 0.7, 0.6, 0.4]}
    >>> comparison = heldout.compare(scores, alternative="greater")
    >>> [(result.first, result.passed, result.p) for result in gate(comparison, "better")]
    [('new', True, 0.015625)]
    """
    _refuse(comparison, kind, margin)
    results = []
    for number, claim in enumerate(comparison.claims):
        gain = _gain(comparison, kind, number, comparison.alpha)
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
                p=_p(comparison, number, kind, margin, verdict),
                test=comparison.analysis.tests[0],
                queries_needed=_needed(comparison, kind, gain, margin, verdict),
                n=len(comparison.scores.units),
            )
        )
    return results


def _refuse(comparison: Comparison, kind: str, margin: float) -> None:
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
    analysis, scores = comparison.analysis, comparison.scores
    if comparison.by_rank:
        raise InputError(
            f"test={analysis.tests[0]!r} is about ranks or signs, but a gate is about means: name "
            "another test, or none"
        )
    if analysis.test_share is not None:
        fitting, ignores = "corrected-t", "treats folds as independent"
    elif scores.choices and scores.machine is None:
        fitting, ignores = "retuned-t", "ignores the tuning in folds"
    else:
        return
    for named, wrong in (
        (f"test={analysis.tests[0]!r}", analysis.tests[0] != fitting),
        (f"correction={analysis.correction!r}", analysis.correction in OWN_TEST),
        ("interval", bool(analysis.interval)),
    ):
        if wrong:
            raise InputError(f"{named} {ignores}, and the gate would pass too often: leave it out")


def _gain(comparison: Comparison, kind: GateKind, number: int, alpha: float) -> Interval:
    """Return the interval of a claim as the gain of the first, whose bounds are tests at alpha."""
    level = level_of(alpha if kind == "better" else 2 * alpha)
    (interval,) = comparison.intervals(level, slice(number, number + 1))
    if comparison.scores.higher_is_better:
        return interval
    return interval._replace(estimate=-interval.estimate, low=-interval.high, high=-interval.low)


def _is_within(kind: GateKind, gain: Interval, margin: float) -> bool:
    """Return whether the bounds pass the margin."""
    if kind == "better":
        return gain.low > margin
    return gain.low > -margin and (kind == "non-inferior" or gain.high < margin)


def _verdict(
    comparison: Comparison, claim: Claim, kind: GateKind, gain: Interval, margin: float
) -> Verdict:
    if kind == "better":
        shown = _is_within(kind, gain, margin) if margin else claim.adjusted <= comparison.alpha
        return "shown" if shown else "not shown"
    if _no_score_differs(comparison, claim):
        return "same output" if _same_output(comparison, claim) else "no difference"
    if gain.high < -margin:
        return "worse"
    if gain.low > margin and kind == "equivalent":
        return "better"
    return "shown" if _is_within(kind, gain, margin) else "not shown"


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
    return len({scores.outputs[scores.index(name)] for name in (claim.first, claim.second)}) == 1


def _p(
    comparison: Comparison, number: int, kind: GateKind, margin: float, verdict: Verdict
) -> float | None:
    """Return the smallest alpha at which the claim passes, by bisection on a logarithmic scale."""
    if kind == "better" and not margin:
        return comparison.claims[number].adjusted
    if verdict in ("same output", "no difference"):
        return None
    # Resamples say nothing about smaller ones, and 1 - 1e-12 has few digits left.
    resampled = comparison.linearised or comparison.analysis.interval in ("percentile", "bca")
    fails, passes = 1e-4 if resampled else 1e-12, 0.5
    alpha = comparison.alpha  # so that p <= alpha exactly if the gate passes
    for _ in range(STEPS):
        if _is_within(kind, _gain(comparison, kind, number, alpha), margin):
            passes = alpha
        else:
            fails = alpha
        alpha = math.sqrt(fails * passes)
    return passes


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
