"""The verdicts of a gate in words, JSON, Markdown and JUnit XML."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from heldout.as_json import plain
from heldout.report.claim_words import p_words
from heldout.report.tables import plain_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.infer.gate import GateResult

__all__ = ["gate_record", "gate_sentence", "gates_junit", "gates_markdown", "with_gates"]


def gate_sentence(result: GateResult) -> str:
    """Return the verdict of a gate in one sentence."""
    word = "passed" if result.passed else "failed"
    return f"{word}: {_verdict(result)} in {result.measure}{_facts(result)}{_way_out(result)}"


def gate_record(result: GateResult) -> dict[str, Any]:
    """Return a result for JSON at full precision; an infinite bound is null."""
    record: dict[str, Any] = plain(result._asdict() | {"sentence": gate_sentence(result)})
    return record


def _verdict(result: GateResult) -> str:
    first, second = plain_text(result.first), plain_text(result.second)
    within = f"by more than {result.margin:g}"
    claimed = {
        "better": f"better than {second}{f' {within}' if result.margin else ''}",
        "non-inferior": f"not worse than {second} {within}",
        "equivalent": f"within {result.margin:g} of {second}",
    }[result.kind]
    said = {
        "shown": f"{first} is {claimed}",
        "same output": f"{first} is {claimed}",
        "worse": f"{first} is worse than {second} {within}",
        "better": f"{first} is better than {second} {within}",
    }
    return said.get(result.verdict, f"not shown that {first} is {claimed}")


def _facts(result: GateResult) -> str:
    interval = result.interval
    if result.verdict == "same output":
        return " (both gave the same output)"
    if result.verdict == "no difference":
        return " (no score differs, which shows nothing unless the outputs are the same)"
    level = f"{round(100 * interval.level, 6):g}%"
    if result.kind == "better":
        bound = f"one-sided {level} bound {interval.low:+z.4f}"
    else:
        bound = f"{level} interval {interval.low:+z.4f} to {interval.high:+z.4f}"
    if not math.isfinite(interval.low):
        bound = f"{level} interval without bounds"
    p = "" if result.p is None else f"; {p_words(result.p)}"
    return f" (gain {interval.estimate:+z.4f}, {bound}{p})"


def _way_out(result: GateResult) -> str:
    """What would decide an undecided gate."""
    if result.verdict != "not shown":
        return ""
    if result.queries_needed:
        return f"; about {result.queries_needed:,} queries would decide it"
    if result.test == "corrected-t":
        return "; more folds of the same data add little: more data would decide it"
    gain, margin = result.interval.estimate, result.margin
    if result.kind == "better" and gain <= margin:
        what = "the gain is smaller" if margin else "there is no gain"
        return f"; {what}: more queries would hardly show one"
    if gain <= -margin or (result.kind == "equivalent" and gain >= margin):
        return "; the gain itself is not within the margin: more queries would hardly show it"
    return "; more queries would decide it"


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
