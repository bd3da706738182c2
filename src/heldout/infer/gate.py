"""Gates: whether each system of a comparison passes against the baseline.

A gate has no test of its own, so that it cannot contradict the comparison. ``better`` reads the
one-sided p-value of the claim; a margin is compared with the bounds of the claim's interval at
level 1 - 2·alpha, which are two one-sided tests at alpha (Schuirmann 1987; Wellek 2010).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, get_args

from heldout.errors import Argument, InputError
from heldout.infer.analysis import BY_RANK, OWN_TEST
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

    With a margin, `p` is the smallest alpha at which the bounds would pass it, .5 if the gain does
    not; else that of the claim.
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
    """Return a verdict for each system; the margin is the gain required, or the loss accepted.

    For ``better`` the comparison has the alternative ``greater``, else it is two-sided; its level
    is that of the gate.
    """
    _refuse(comparison, kind, margin)
    judge, results = _Judge(comparison, kind, margin), []
    for number, claim in enumerate(comparison.claims):
        gain = judge.gain(number, comparison.alpha)
        verdict = judge.verdict(claim, gain)
        result = GateResult(
            kind,
            claim.first,
            claim.second,
            comparison.scores.measure,
            margin,
            passed=verdict in ("shown", "same output"),
            verdict=verdict,
            interval=gain,
            p=None if verdict in ("same output", "no difference") else judge.p(number),
            test=comparison.analysis.tests[0],
            queries_needed=judge.needed(gain) if verdict == "not shown" else None,
            n=len(comparison.scores.units),
        )
        results.append(result)
    return results


def _refuse(comparison: Comparison, kind: str, margin: float) -> None:
    """Refuse what has no answer, or one that passes too often."""
    if comparison.baseline is None:
        raise InputError("a gate needs a baseline: pass ", Argument("baseline", "NAME"))
    if kind not in get_args(GateKind):
        raise InputError(
            f"expected one of {', '.join(get_args(GateKind))}", argument="kind", value=kind
        )
    if not 0 <= margin < math.inf or (kind != "better" and not margin):
        lowest = "0 or more" if kind == "better" else "a number above 0"
        raise InputError(f"expected {lowest}", argument="margin", value=margin)
    needed = "greater" if kind == "better" else "two-sided"
    if comparison.alternative != needed:
        raise InputError(
            f"the gate {kind} reads a comparison with ",
            Argument("alternative", repr(needed)),
            argument="alternative",
            value=comparison.alternative,
        )
    analysis, scores = comparison.analysis, comparison.scores
    if analysis.tests[0] in BY_RANK:
        raise InputError(
            Argument("tests", repr(analysis.tests[0])),
            " is about ranks or signs, but a gate is about means: name another test, or none",
        )
    if analysis.test_share is not None:
        fitting, ignores = "corrected-t", "treats folds as independent"
    elif scores.choices and scores.machine is None:
        fitting, ignores = "retuned-t", "ignores the tuning in folds"
    else:
        return
    for named, wrong in (
        (Argument("tests", repr(analysis.tests[0])), analysis.tests[0] != fitting),
        (Argument("correction", repr(analysis.correction)), analysis.correction in OWN_TEST),
        ("interval", bool(analysis.interval)),
    ):
        if wrong:
            raise InputError(named, f" {ignores}, and the gate would pass too often: leave it out")


class _Judge(NamedTuple):
    """What the claims of a comparison are judged by."""

    comparison: Comparison
    kind: GateKind
    margin: float

    def gain(self, number: int, alpha: float) -> Interval:
        """Return the interval of a claim as the gain of the first; its bounds test at alpha."""
        level = level_of(alpha if self.kind == "better" else 2 * alpha)
        (interval,) = self.comparison.intervals(level, slice(number, number + 1))
        if self.comparison.scores.higher_is_better:
            return interval
        value, low, high = interval[:3]
        return interval._replace(estimate=-value, low=-high, high=-low)

    def is_within(self, gain: Interval) -> bool:
        """Return whether the bounds pass the margin."""
        if self.kind == "better":
            return gain.low > self.margin
        return gain.low > -self.margin and (self.kind == "non-inferior" or gain.high < self.margin)

    def verdict(self, claim: Claim, gain: Interval) -> Verdict:
        """Return what is known about a claim."""
        scores, effects = self.comparison.scores, claim.effects
        if self.kind == "better" and not self.margin:
            return "shown" if claim.adjusted <= self.comparison.alpha else "not shown"
        # Machine judgements and scores that are no means can differ although no unit does.
        elsewhere = scores.machine is not None or self.comparison.linearised
        differ = elsewhere and claim.difference.low != claim.difference.high
        if self.kind != "better" and not (effects.wins or effects.losses or differ):
            outputs = dict(zip(scores.systems, scores.outputs, strict=False))  # perhaps not known
            same = claim.first in outputs and outputs[claim.first] == outputs[claim.second]
            return "same output" if same else "no difference"
        if gain.high < -self.margin:
            return "worse"
        if self.kind == "equivalent" and gain.low > self.margin:
            return "better"
        return "shown" if self.is_within(gain) else "not shown"

    def p(self, number: int) -> float:
        """Return the smallest alpha at which a claim passes, by bisection of its logarithm."""
        comparison = self.comparison
        if self.kind == "better" and not self.margin:
            return comparison.claims[number].adjusted
        # Resamples say nothing about smaller ones, and 1 - 1e-12 has few digits left.
        resampled = comparison.linearised or comparison.analysis.interval in ("percentile", "bca")
        fails, passes = 1e-4 if resampled else 1e-12, 0.5
        alpha = comparison.alpha  # so that p <= alpha exactly if the gate passes
        for _ in range(STEPS):
            if self.is_within(self.gain(number, alpha)):
                passes = alpha
            else:
                fails = alpha
            alpha = math.sqrt(fails * passes)
        return passes

    def needed(self, gain: Interval) -> int | None:
        """Return the units at which t tests with the error of the claim would reject."""
        from scipy.special import stdtrit  # slow to import

        from heldout.infer.power import power_of, smallest_n

        scores, alpha = self.comparison.scores, self.comparison.alpha
        n, reach = len(scores.units), gain.estimate - gain.low
        distances = [gain.estimate + (-self.margin if self.kind == "better" else self.margin)]
        distances += [self.margin - gain.estimate] if self.kind == "equivalent" else []
        further = self.comparison.analysis.test_share is not None or scores.machine is not None
        if further or not 0 < reach < math.inf or min(distances) <= 0:
            return None
        deviation = math.sqrt(n) * reach / float(stdtrit(n - 1, 1 - alpha))

        def enough(units: int) -> bool:
            shifts = [distance * math.sqrt(units) / deviation for distance in distances]
            missed = sum(1 - power_of(shift, units - 1, alpha, "greater") for shift in shifts)
            return 1 - missed >= POWER

        needed = smallest_n(enough)
        return None if needed is None else max(needed, n + 1)
