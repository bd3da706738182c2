"""A comparison in words: what an expert would write under a result."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from heldout.infer.analysis import BY_RANK
from heldout.report.tables import plain_text

if TYPE_CHECKING:
    from heldout.infer.comparison import Claim, Comparison
    from heldout.infer.results import Interval, Outcome

__all__ = [
    "analysis_lines",
    "bounds",
    "correction_words",
    "difference_words",
    "p_words",
    "sentences",
    "show_p",
    "test_name",
    "test_words",
    "tests_line",
    "verdict",
    "verdict_of_many",
]

_NAMES = {
    "t": "paired t test",
    "randomization": "Fisher's randomization test",
    "bootstrap-shift": "bootstrap-shift test",
    "wilcoxon": "Wilcoxon signed-rank test",
    "sign": "sign test",
    "mcnemar": "McNemar's test",
    "corrected-t": "corrected resampled t test",
    "retuned-t": "t test with re-tuning",
    "prediction-powered": "prediction-powered t test",
}
_CORRECTIONS = {
    "romano-wolf": "Romano-Wolf step-down bootstrap",
    "tukey": "Tukey's HSD on the block design",
}

_ADJUSTED = {
    "holm": "Holm's method",
    "bonferroni": "Bonferroni's method",
    "bh": "Benjamini-Hochberg's method (false discovery rate)",
}


def test_name(test: str) -> str:
    """Return the name of a test in words: ``paired t test``."""
    return _NAMES.get(test, test)


def show_p(p: float) -> str:
    """A p-value as papers print it."""
    return "< 0.0001" if p < 0.0001 else f"{p:.4f}"


def p_words(p: float) -> str:
    """Return ``p = 0.0123`` or ``p < 0.0001``."""
    return f"p {show_p(p)}" if p < 0.0001 else f"p = {show_p(p)}"


def bounds(interval: Interval, form: str = "z.4f") -> str:
    """Return an interval as it is printed; one-sided ones are open to infinity."""
    if math.isnan(interval.low):
        return "—"
    low = f"[{interval.low:{form}}" if math.isfinite(interval.low) else "(-∞"
    high = f"{interval.high:{form}}]" if math.isfinite(interval.high) else "∞)"
    return f"{low}, {high}"


def sentences(comparison: Comparison) -> list[str]:
    """One plain sentence for each claim."""
    means = {row.name: row.mean.estimate for row in comparison.systems}
    return [_sentence(comparison, claim, means) for claim in comparison.claims]


def _sentence(comparison: Comparison, claim: Claim, means: dict[str, float]) -> str:
    measure = plain_text(comparison.scores.measure)
    if _same(claim):
        return f"{verdict(comparison, claim)}."
    return (
        f"{verdict(comparison, claim)}: {measure} {means[claim.first]:z.4f} vs "
        f"{means[claim.second]:z.4f}, {difference_words(comparison, claim)}; "
        f"{test_words(comparison, claim)}."
    )


def _same(claim: Claim) -> bool:
    return claim.effects.wins + claim.effects.losses == 0


def verdict(comparison: Comparison, claim: Claim) -> str:
    """What is shown of a pair, without the numbers and without a full stop."""
    scores = comparison.scores
    first, second = plain_text(claim.first), plain_text(claim.second)
    if _same(claim):
        return (
            f"{first} and {second} have the same {plain_text(scores.measure)} on all {scores.size}"
        )
    if claim.adjusted > comparison.alpha:
        return _nothing_shown(comparison, first, second)
    better = (claim.difference.estimate > 0) == scores.higher_is_better
    by_rank = comparison.analysis.tests[0] in BY_RANK
    if by_rank and better != (claim.effects.wins > claim.effects.losses):
        return f"{first} and {second} differ, but wins and means point different ways"
    return f"{first} is significantly {'better' if better else 'worse'} than {second}"


def _nothing_shown(comparison: Comparison, first: str, second: str) -> str:
    """What a test that did not reject leaves to say: no more than was asked."""
    if comparison.alternative == "two-sided":
        return f"No significant difference between {first} and {second}"
    asked = "better" if comparison.alternative == "greater" else "worse"
    return f"{first} is not significantly {asked} than {second}"


def verdict_of_many(comparison: Comparison) -> str:
    """How many of the pairs differ significantly."""
    shown = sum(claim.adjusted <= comparison.alpha for claim in comparison.claims)
    count, scores = len(comparison.claims), comparison.scores
    head = f"{plain_text(scores.measure)}, {len(comparison.systems)} systems, {scores.size}"
    if comparison.baseline is not None:
        base = plain_text(comparison.baseline)
        return f"{head}: {shown} of {count} differ significantly from {base}"
    return f"{head}: {shown} of {count} pairs differ significantly"


def difference_words(comparison: Comparison, claim: Claim) -> str:
    """The difference of a pair and its interval."""
    found = f"difference {claim.difference.estimate:+z.4f}"
    return f"{found}, {_interval_words(comparison, claim)}"


def _interval_words(comparison: Comparison, claim: Claim) -> str:
    """The interval, what it holds for, and how it was made if it belongs to a family."""
    gap = claim.difference
    level = f"{round(100 * gap.level, 6):g}%"
    kind = "" if comparison.analysis.coverage == "single" else f"{comparison.analysis.coverage} "
    made = f" ({gap.method})" if comparison.analysis.coverage == "simultaneous" else ""
    if math.isinf(gap.low) and math.isinf(gap.high):
        return f"no {kind}{level} interval{made}, as there are too few units"
    if math.isinf(gap.high):
        return f"{kind}one-sided {level} bound{made}: at least {gap.low:+z.4f}"
    if math.isinf(gap.low):
        return f"{kind}one-sided {level} bound{made}: at most {gap.high:+z.4f}"
    return f"{kind}{level} interval{made} {gap.low:+z.4f} to {gap.high:+z.4f}"


def test_words(comparison: Comparison, claim: Claim) -> str:
    """The test that decides about a pair, on how many units, and its p-value."""
    decides, units = claim.outcomes[0], comparison.scores.size
    how = comparison.analysis.correction
    if how in _CORRECTIONS:
        made = ", ".join(_made_by_correction(comparison, claim))
        return f"{_CORRECTIONS[how]} on {units}, {p_words(claim.adjusted)} ({made})"
    name = _NAMES.get(decides.test, decides.test)
    words = f"{name} on {units}, {p_words(decides.p)} ({_tails(comparison)}, {_method(decides)})"
    return f"{words}, {p_words(claim.adjusted)} after {how}" if how else words


def _made_by_correction(comparison: Comparison, claim: Claim) -> list[str]:
    error = f"± {claim.adjusted_error:.1g}" if claim.adjusted_error else ""
    return [part for part in (_tails(comparison), comparison.correction_detail, error) if part]


def correction_words(comparison: Comparison) -> str:
    """The test and the correction by name: ``paired t test, Holm's method, two-sided``."""
    how, test = comparison.analysis.correction, comparison.claims[0].outcomes[0].test
    if how in _CORRECTIONS:
        names = [_CORRECTIONS[how]]
    else:
        names = [_NAMES.get(test, test), *([_ADJUSTED.get(how, how)] if how else [])]
    return ", ".join([*names, _tails(comparison)])


def tests_line(comparison: Comparison) -> str:
    """How the p-values were obtained, in one line; other tests of a single pair follow."""
    claim, how = comparison.claims[0], comparison.analysis.correction
    decides, *others = claim.outcomes
    alone = len(comparison.claims) == 1
    if how in _CORRECTIONS:
        parts = [_tails(comparison), comparison.correction_detail]
        return f"Test: {_CORRECTIONS[how]} ({', '.join(part for part in parts if part)})."
    name = _NAMES.get(decides.test, decides.test)
    method = f", {_method(decides)}" if alone else ""
    line = f"Test: {name} ({_tails(comparison)}{method})"
    if how:
        line += f", p-values adjusted by {_ADJUSTED.get(how, how)}"
    if alone:
        line += "".join(f"; {_NAMES.get(one.test, one.test)} {p_words(one.p)}" for one in others)
    return f"{line}."


def _tails(comparison: Comparison) -> str:
    return "two-sided" if comparison.alternative == "two-sided" else "one-sided"


def _method(outcome: Outcome) -> str:
    parts = [outcome.detail or outcome.method]
    if outcome.error and "±" not in outcome.detail:
        parts.append(f"± {outcome.error:.1g}")
    return ", ".join(parts)


def analysis_lines(comparison: Comparison) -> list[str]:
    """What is said of all systems together, and why this analysis was made."""
    return [*_together(comparison), comparison.analysis.why]


def _together(comparison: Comparison) -> list[str]:
    """Analysis of variance and of ranks, in a line each."""
    if comparison.anova is None:
        return []
    source, rest = comparison.anova.systems, comparison.anova.residual
    if math.isnan(source.f):
        return ["All systems together: nothing varies between the systems."]
    if math.isinf(source.f):
        same = "their differences are the same on every unit: no variation to judge them by"
        return [f"All systems together: {same}."]
    line = (
        f"All systems together: F({source.df}, {rest.df}) = {source.f:.3f}, {p_words(source.p)} "
        f"(two-way ANOVA, units as blocks), partial eta squared "
        f"{source.partial_eta_squared:.3f}{_sphericity(comparison)}"
    )
    return [f"{line}{_over_folds(comparison)}.", *_by_ranks(comparison)]


def _over_folds(comparison: Comparison) -> str:
    return "" if comparison.analysis.test_share is None else "; this takes folds for independent"


def _sphericity(comparison: Comparison) -> str:
    found = comparison.sphericity
    if found is None:
        return ""
    return (
        f"; Greenhouse-Geisser epsilon {found.greenhouse_geisser:.3f} gives "
        f"{p_words(found.corrected_p)}"
    )


def _by_ranks(comparison: Comparison) -> list[str]:
    if comparison.friedman is None:
        return []
    friedman, nemenyi = comparison.friedman
    folds = (
        "; ranks take folds for independent, and no correction is known"
        if comparison.analysis.test_share is not None
        else ""
    )
    line = (
        f"By ranks: Friedman {friedman.statistic:.3f}, {p_words(friedman.p)}; Nemenyi's "
        f"critical difference of mean ranks {nemenyi.critical_difference:.3f}{folds}."
    )
    return [line]
