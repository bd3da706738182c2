"""The verdicts of a gate in words, JSON, Markdown and JUnit XML."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from heldout.as_json import plain
from heldout.notes import note_texts
from heldout.report.claim_words import show_p
from heldout.report.tables import plain_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.infer.gate_tests import Gate
    from heldout.infer.gates import GateResult

__all__ = ["gate_record", "gate_sentence", "gates_junit", "gates_markdown", "with_gates"]

_TESTS: Final = {
    "t": "t test",
    "randomization": "randomization test",
    "corrected-t": "corrected resampled t test",
}


def gate_sentence(result: GateResult) -> str:
    """Return the verdict of a gate in one sentence."""
    gate = result.gate
    first, second = plain_text(result.first), plain_text(result.second)
    verdict = _verdict(gate, result.kind, first, second)
    word = "passed" if result.passed else "failed"
    return f"{word}: {verdict} in {result.measure} ({_facts(gate)}){_way_out(gate)}"


def gate_record(result: GateResult) -> dict[str, Any]:
    """Return a result for JSON at full precision; an infinite bound is null."""
    own = {
        "kind": result.kind,
        "first": result.first,
        "second": result.second,
        "passed": result.passed,
        "sentence": gate_sentence(result),
    }
    record: dict[str, Any] = plain(own | note_texts(result.notes) | result.gate._asdict())
    return record


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
    bounds = f"interval {low:+z.4f} to {high:+z.4f}"
    if not (math.isfinite(low) and math.isfinite(high)):
        bounds = "interval without bounds"
    level = f"{round(100 * gate.interval.level, 6):g}%"
    p = f"p {'' if gate.p < 0.0001 else '= '}{show_p(gate.p)}"
    test = f"{'exact ' if gate.method == 'exact' else ''}{_TESTS[gate.test]}"
    return f"gain {gate.interval.estimate:+z.4f}, {level} {bounds}; {test}, {p}"


def _way_out(gate: Gate) -> str:
    """What would decide an undecided gate."""
    if gate.verdict != "not shown":
        return ""
    if gate.queries_needed:
        return f"; about {gate.queries_needed:,} queries would decide it"
    if gate.test == "corrected-t":
        return "; more folds of the same data add little: more data would decide it"
    if gate.interval.estimate <= 0 and not gate.margin:
        return "; there is no gain: more queries would hardly show one"
    return "; the gain itself is not within the margin: more queries would hardly show it"


def with_gates(
    records: Sequence[dict[str, Any]], gates: Sequence[Sequence[GateResult]]
) -> list[dict[str, Any]]:
    """The records of comparisons, each with the verdicts of its gate under ``gate``."""
    return [
        record | {"gate": [gate_record(result) for result in results]}
        for record, results in zip(records, gates, strict=True)
    ]


def gates_markdown(results: Sequence[GateResult]) -> str:
    """The verdicts of a gate as Markdown, for the summary of a pull request."""
    lines = []
    for result in results:
        said, _, rest = gate_sentence(result).partition(": ")
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
        verdict = quoteattr(plain_text(gate_sentence(result)))
        inside = f"<failure message={verdict}/>"
        if result.passed:
            inside = f'<properties><property name="verdict" value={verdict}/></properties>'
        lines.append(f'  <testcase classname="heldout" name={name}>{inside}</testcase>')
    return "\n".join([*lines, "</testsuite>", ""])
