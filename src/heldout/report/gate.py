"""The gate for continuous integration: whether the new system may pass, and why."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from heldout.as_json import plain
from heldout.errors import InputError
from heldout.infer.analyses import tests_named
from heldout.infer.results import drop_noise
from heldout.notes import Note, note_texts
from heldout.report.claim_words import show_p
from heldout.report.tables import plain_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.data.words import Floats
    from heldout.infer.compare import Claim, Comparison
    from heldout.infer.equivalence import Gate, GateTest

__all__ = [
    "GateResult",
    "gate_results",
    "gate_test",
    "gates_junit",
    "gates_markdown",
    "with_gates",
]

FEW_DIFFER: Final = 10
"""Units that must differ for their spread to be known at all."""

_TESTS: Final = {
    "t": "t test",
    "randomization": "randomization test",
    "corrected-t": "corrected resampled t test",
}


class GateResult(NamedTuple):
    """Whether one system passes in one measure.

    Parameters
    ----------
    kind
        ``better``, ``non-inferior`` or ``equivalent``.
    first, second
        The new system and the baseline.
    gate
        The numbers; differences are gains, whichever way the measure runs.
    passed
        Whether the claim is shown.
    sentence
        The verdict in words.
    notes
        What a reader should know about it.
    measure
        The measure.
    """

    kind: str
    first: str
    second: str
    gate: Gate
    passed: bool
    sentence: str
    notes: tuple[Note, ...]
    measure: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Every number at full precision; a bound that there is not is null."""
        own = ("gate", "notes", "measure")
        words = {key: value for key, value in self._asdict().items() if key not in own}
        found: dict[str, Any] = plain(words | note_texts(self.notes) | self.gate._asdict())
        return found


def gate_test(tests: Sequence[str], test_share: float | None) -> GateTest:
    """The test that a gate goes by when these were asked for; the first that has a margin."""
    tests = tests_named(tests)
    if not tests:
        return "auto"
    if test_share is not None and "corrected-t" not in tests:
        raise InputError(
            f"--test {tests[0]} takes folds for independent, and a gate would open too easily: "
            "use corrected-t, or leave out --test"
        )
    usable = [test for test in tests if test in _TESTS]
    if not usable:
        raise InputError(
            f"--gate goes by randomization, t or corrected-t, not by {tests[0]}: add one of them, "
            "or leave out --test"
        )
    return "corrected-t" if test_share is not None else usable[0]  # type: ignore[return-value]


def gate_results(
    comparison: Comparison,
    kind: str,
    margin: float,
    *,
    level: float = 0.95,
    test: GateTest = "auto",
    test_share: float | None = None,
    replicates: int = 100_000,
    seed: int = 0,
) -> list[GateResult]:
    """A verdict on each system that was compared with the baseline.

    Parameters
    ----------
    comparison
        With a baseline.
    kind
        ``better``, ``non-inferior`` or ``equivalent``.
    margin
        The difference that would be accepted.
    level, test, test_share, replicates, seed
        As `heldout.infer.equivalence.non_inferiority` takes them.
    """
    from heldout.infer.equivalence import non_inferiority, superiority, tost  # SciPy

    if comparison.baseline is None:
        raise InputError("a gate needs a baseline: name it with --baseline")
    gates = {"better": superiority, "non-inferior": non_inferiority, "equivalent": tost}
    gate = gates[kind]
    found = []
    for claim in comparison.claims:
        gain = _gain(comparison, claim)
        tested = gate(
            gain,
            margin,
            level=level,
            test=test,
            test_share=test_share,
            replicates=replicates,
            seed=seed,
        )
        found.append(_result(comparison, claim, kind, gain, tested))
    return found


def _result(
    comparison: Comparison, claim: Claim, kind: str, gain: Floats, gate: Gate
) -> GateResult:
    first, second = plain_text(claim.first), plain_text(claim.second)
    passed = gate.verdict == "shown"
    sentence = (
        f"{'passed' if passed else 'failed'}: {_verdict(gate, kind, first, second)} in "
        f"{comparison.scores.measure} ({_facts(gate)}){_way_out(gate)}"
    )
    notes = _notes(gain, claim)
    measure = comparison.scores.measure
    return GateResult(kind, claim.first, claim.second, gate, passed, sentence, notes, measure)


def _gain(comparison: Comparison, claim: Claim) -> Floats:
    """How much better the new system is on each unit."""
    scores = comparison.scores
    gap = drop_noise(scores.column(claim.first), scores.column(claim.second))
    return gap if scores.higher_is_better else -gap


def _verdict(gate: Gate, kind: str, first: str, second: str) -> str:
    within = f"by more than {gate.margin:g}"
    claimed = {
        "better": f"better than {second}{f' {within}' if gate.margin else ''}",
        "non-inferior": f"not worse than {second} {within}",
        "equivalent": f"within {gate.margin:g} of {second}",
    }[kind]
    if kind == "better" and gate.verdict == "worse":
        return f"{first} is worse than {second}"
    return {
        "shown": f"{first} is {claimed}",
        "worse": f"{first} is worse than {second} {within}",
        "better": f"{first} is better than {second} {within}",
        "not shown": f"not shown that {first} is {claimed}",
    }[gate.verdict]


def _facts(gate: Gate) -> str:
    low, high = gate.interval.low, gate.interval.high
    bounds = f"interval {low:+.4f} to {high:+.4f}"
    if not (math.isfinite(low) and math.isfinite(high)):
        bounds = "interval without bounds"
    level = f"{round(100 * gate.interval.level, 6):g}%"
    p = f"p {'' if gate.p < 0.0001 else '= '}{show_p(gate.p)}"
    test = f"{'exact ' if gate.method == 'exact' else ''}{_TESTS[gate.test]}"
    return f"gain {gate.interval.estimate:+.4f}, {level} {bounds}; {test}, {p}"


def _way_out(gate: Gate) -> str:
    """What would decide an undecided gate."""
    if gate.verdict != "not shown":
        return ""
    if gate.queries_needed:
        return f"; about {gate.queries_needed:,} queries would decide it"
    if gate.test == "corrected-t":
        return "; more folds of the same data hold little news: more data would decide it"
    if gate.interval.estimate <= 0 and not gate.margin:
        return "; there is no gain: more queries would hardly show one"
    return "; the gain itself is not within the margin: more queries would hardly show it"


def _notes(gain: Floats, claim: Claim) -> tuple[Note, ...]:
    differ = int(np.count_nonzero(gain))
    if differ >= min(FEW_DIFFER, len(gain)):
        return ()
    text = (
        f"{claim.first} and {claim.second} differ on {differ} of {len(gain)} units only, so that "
        "their spread is hardly known and the gate opens too easily"
    )
    return (Note("few-differ", text),)


def with_gates(
    records: Sequence[dict[str, Any]], gates: Sequence[Sequence[GateResult]]
) -> list[dict[str, Any]]:
    """The records of comparisons, each with the verdicts of its gate under ``gate``."""
    return [
        record | {"gate": [result.to_dict() for result in results]}
        for record, results in zip(records, gates, strict=True)
    ]


def gates_markdown(results: Sequence[GateResult]) -> str:
    """The verdicts of a gate as Markdown, for the summary of a pull request."""
    lines = []
    for result in results:
        said, _, rest = result.sentence.partition(": ")
        lines.append(f"**{said}**: {rest}\n")
    return "\n".join(lines)


def gates_junit(results: Sequence[GateResult]) -> str:
    """The verdicts of a gate as JUnit XML, one test case per system and measure."""
    from xml.sax.saxutils import quoteattr

    failures = sum(not result.passed for result in results)
    counts = f'tests="{len(results)}" failures="{failures}" errors="0" skipped="0"'
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuite name="heldout compare" {counts}>',
    ]
    for result in results:
        title = f"{plain_text(result.first)} {result.kind} {plain_text(result.second)}"
        name = quoteattr(f"{title} in {result.measure}")
        verdict = quoteattr(plain_text(result.sentence))
        inside = f"<failure message={verdict}/>"
        if result.passed:
            inside = f'<properties><property name="verdict" value={verdict}/></properties>'
        lines.append(f'  <testcase classname="heldout" name={name}>{inside}</testcase>')
    return "\n".join([*lines, "</testsuite>", ""])
