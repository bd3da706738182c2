"""All verdicts: what a standing says, in one sentence.

The same sentence is the first line in a terminal and the headline of a page, so that they cannot
disagree.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from heldout.infer.analysis import OWN_TEST
from heldout.report.table import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.infer.comparison import Comparison
    from heldout.infer.gate import GateResult
    from heldout.report.standing import Gap, Row, Standing

NAMED: Final = 8  # systems that a sentence names; the table has all
TESTS: Final = {
    "t": "paired t test",
    "randomization": "Fisher's randomization test",
    "bootstrap-shift": "bootstrap-shift test",
    "wilcoxon": "Wilcoxon signed-rank test",
    "sign": "sign test",
    "mcnemar": "McNemar's test",
    "corrected-t": "corrected resampled t test",
    "retuned-t": "t test with re-tuning",
    "prediction-powered": "prediction-powered t test",
    "romano-wolf": "Romano-Wolf step-down bootstrap",
    "tukey": "Tukey's HSD on the block design",
    "holm": "Holm's method",
    "bonferroni": "Bonferroni's method",
    "bh": "Benjamini-Hochberg's method (false discovery rate)",
}


def interval(low: float | None, high: float | None, form: str = "z.4f") -> str:
    """An interval; a side without a bound ends at infinity."""
    if low is None or high is None or math.isnan(low):
        return "—"
    left = f"[{low:{form}}" if math.isfinite(low) else "(-∞"
    right = f"{high:{form}}]" if math.isfinite(high) else "∞)"
    return f"{left}, {right}"


def p_value(p: float | None) -> str:
    """A p-value as papers print it."""
    return "—" if p is None else "< 0.0001" if p < 0.0001 else f"{p:.4f}"


def percent(level: float) -> str:
    """A confidence level: ``95%``, ``99.5%``."""
    return f"{round(100 * level, 6):g}%"


def number(value: float | None, form: str = "z.4f") -> str:
    """A score; undefined ones say so."""
    return "undefined" if value is None or math.isnan(value) else f"{value:{form}}"


def p_words(p: float) -> str:
    """``p = 0.0123`` or ``p < 0.0001``."""
    return f"p {'' if p < 0.0001 else '= '}{p_value(p)}"


def question(standing: Standing, data: str = "") -> str:
    """What was asked: the title of a page."""
    names, on = standing.names, f" on {data}" if data else ""
    if len(names) == 1:
        return f"How good is {names[0]}{on}?"
    if len(names) == 2:
        return f"Which is better{on}: {names[0]} or {names[1]}?"
    return f"Which of {len(names)} systems is best{on}?"


def answer(standing: Standing) -> str:
    """The answer to the question of a standing, in one sentence with its uncertainty."""
    if len(standing.gaps) == 1:
        return pair_answer(standing, standing.gaps[0])
    if not standing.gaps:
        said = _scores_only(standing)
    else:
        said = _against_baseline(standing) if standing.baseline else _best_of_many(standing)
    return printable(said)


def pair_answer(standing: Standing, gap: Gap) -> str:
    """Which of two systems is better."""
    gap = standing.asked(gap)
    first, second, measure = gap.first, gap.second, standing.measure
    if gap.counts is not None and gap.counts[0] + gap.counts[2] == 0:
        return printable(f"{first} and {second} have the same {measure} on all {standing.size}.")
    if gap.mixed:
        verdict = f"{first} and {second} differ, but wins and means point in different directions"
    elif gap.significant:
        word = "better" if standing.better(gap) else "worse"
        verdict = f"{first} is significantly {word} than {second}"
    elif standing.alternative == "two-sided":
        verdict = f"No significant difference between {first} and {second}"
    else:
        asked = "better" if standing.alternative == "greater" else "worse"
        verdict = f"{first} is not significantly {asked} than {second}"
    scores = " vs ".join(number(standing.row(name).score) for name in (first, second))
    direction = "" if standing.up else " (lower is better)"
    kind = "simultaneous " if standing.simultaneous else ""
    ends = f"{percent(standing.level)} CI {interval(gap.low, gap.high, '+z.4f')}"
    p = "" if gap.p is None else f", {p_words(gap.p)}"
    return printable(
        f"{verdict}{_where(standing)}: {measure} {scores}{direction}, difference "
        f"{gap.value:+z.4f}, {kind}{ends}{p}."
    )


def _scores_only(standing: Standing) -> str:
    best, count = standing.rows[0], len(standing.rows)
    if count == 1:
        return f"{best.name} reaches {standing.measure} {_score(best)}{_where(standing)}."
    return (
        f"{best.name} has the best {standing.measure} of {count} systems{_where(standing)}, "
        f"{_score(best)}; the systems were not compared."
    )


def _best_of_many(standing: Standing) -> str:
    best = standing.row(standing.reference or standing.names[0])
    gaps = standing.against(best.name)
    equals = [name for name, gap in gaps.items() if not standing.decided(gap)]
    tied = [row.name for row in standing.rows if row.score == best.score]
    lead = (
        f"{f'{_names(tied)} share' if len(tied) > 1 else f'{best.name} has'} the "
        f"{'highest' if standing.up else 'lowest'} {standing.measure} of {len(gaps) + 1} systems"
        f"{_where(standing)}, {_score(best)}"
    )
    if not equals:
        return f"{lead}, and is significantly better than all others."
    if len(equals) == len(gaps):
        return f"{lead}, but no difference to the others is significant."
    return (
        f"{lead}; {best.name} is significantly better than {len(gaps) - len(equals)} of the other "
        f"{len(gaps)}, but not than {_names(equals)}."
    )


def _against_baseline(standing: Standing) -> str:
    baseline = standing.baseline or ""
    gaps = standing.against(baseline)
    groups: dict[str, list[str]] = {}
    for name, gap in gaps.items():
        kind = "significantly better" if standing.better(gap) else "significantly worse"
        kind = kind if standing.decided(gap) else "not significantly different"
        groups.setdefault(kind, []).append(name)
    parts = (f"{len(names)} {kind} ({_names(names)})" for kind, names in groups.items())
    score = number(standing.row(baseline).score)
    return (
        f"{len(gaps)} systems compared with {baseline} ({standing.measure} {score})"
        f"{_where(standing)}: {', '.join(parts)}."
    )


def _score(row: Row) -> str:
    return f"{number(row.score)} {interval(row.low, row.high)}".removesuffix(" —")


def _where(standing: Standing) -> str:
    return f" {standing.where}" if standing.where else ""


def _names(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


def test_name(comparison: Comparison) -> str:
    """The test that decides, and its correction: ``paired t test, Holm's method``."""
    analysis = comparison.analysis
    correction = "" if analysis.correction in OWN_TEST else analysis.correction
    return ", ".join(TESTS.get(name, name) for name in (analysis.decides, correction) if name)


def sides(comparison: Comparison) -> str:
    """Whether the tests are two-sided."""
    return "two-sided" if comparison.alternative == "two-sided" else "one-sided"


def test_line(comparison: Comparison) -> str:
    """How the p-values were obtained; further tests of a single pair follow."""
    analysis, alone = comparison.analysis, len(comparison.claims) == 1
    decides, *others = comparison.claims[0].outcomes
    how = [sides(comparison)]
    if analysis.correction in OWN_TEST:
        how += [comparison.correction_detail] if comparison.correction_detail else []
    elif alone:
        how.append(decides.detail or decides.method)
        if decides.error and "±" not in decides.detail:
            how.append(f"± {decides.error:.1g}")
    line = f"Test: {test_name(comparison)} ({', '.join(how)})"
    if alone:
        line += "".join(f"; {TESTS.get(test.test, test.test)} {p_words(test.p)}" for test in others)
    if analysis.coverage == "simultaneous":
        line += "; the intervals of the differences hold all at once (simultaneous)"
    return f"{line}."


def gate_sentence(result: GateResult) -> str:
    """The verdict of a gate, which `heldout.infer.gate` has read from the comparison."""
    first, second = result.first, result.second
    within = f"by more than {result.margin:g}"
    claimed = {
        "better": f"better than {second}{f' {within}' if result.margin else ''}",
        "non-inferior": f"not worse than {second} {within}",
        "equivalent": f"within {result.margin:g} of {second}",
    }[result.kind]
    said = f"{first} is {claimed}"
    if result.verdict in {"worse", "better"}:
        said = f"{first} is {result.verdict} than {second} {within}"
    elif not result.passed:
        said = f"not shown that {said}"
    word = "passed" if result.passed else "failed"
    facts = f"{_gate_facts(result)}{_way_out(result)}"
    return printable(f"{word}: {said} in {result.measure}{facts}")


def _gate_facts(result: GateResult) -> str:
    gain = result.interval
    if result.verdict == "same output":
        return " (both gave the same output)"
    if result.p is None:
        return " (no score differs, which shows nothing unless the outputs are the same)"
    # For `better` only the lower bound is read.
    high = math.inf if result.kind == "better" else gain.high
    bounds = f"{percent(gain.level)} CI {interval(gain.low, high, '+z.4f')}"
    return f" (gain {gain.estimate:+z.4f}, {bounds}, {p_words(result.p)})"


def _way_out(result: GateResult) -> str:
    """What would decide an undecided gate."""
    if result.verdict != "not shown":
        return ""
    if result.queries_needed:
        return f"; about {result.queries_needed:,} queries would decide it"
    if result.test == "corrected-t":
        return "; more folds of the same data add little: more data would decide it"
    gain, margin = result.interval.estimate, result.margin
    least = margin if result.kind == "better" else -margin
    if gain <= least or (result.kind == "equivalent" and gain >= margin):
        return "; the observed gain itself fails: more queries would hardly help"
    return "; more queries would decide it"
