"""A comparison in words: what an expert would write under a result."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from heldout.infer.advise import BY_RANK
from heldout.infer.results import count_of
from heldout.report.tables import plain_text

if TYPE_CHECKING:
    from heldout.infer.compare import Claim, Comparison
    from heldout.infer.results import Outcome

__all__ = [
    "analysis_lines",
    "difference_words",
    "sentences",
    "show_p",
    "test_words",
    "verdict",
    "verdict_of_many",
]

_NAMES = {
    "t": "paired t test",
    "randomization": "randomization test",
    "bootstrap-shift": "bootstrap-shift test",
    "bootstrap-shift-studentized": "studentized bootstrap-shift test",
    "wilcoxon": "Wilcoxon signed-rank test",
    "sign": "sign test",
    "mcnemar": "McNemar's test",
    "corrected-t": "corrected resampled t test",
}
_CORRECTIONS = {
    "romano-wolf": "Romano-Wolf step-down bootstrap",
    "tukey": "Tukey's HSD on the block design",
    "randomized-tukey": "randomized Tukey HSD",
    "nemenyi": "Nemenyi's test of mean ranks",
    "maxt": "MaxT permutation test",
    "dunnett": "Dunnett's test by permutation",
    "dunnett-t": "Dunnett's test on the block design",
}


def show_p(p: float) -> str:
    """A p-value as papers print it."""
    return "< 0.0001" if p < 0.0001 else f"{p:.4f}"


def _p_words(p: float) -> str:
    return f"p {show_p(p)}" if p < 0.0001 else f"p = {show_p(p)}"


def sentences(comparison: Comparison) -> list[str]:
    """One plain sentence for each claim."""
    means = {row.name: row.mean.estimate for row in comparison.systems}
    return [_sentence(comparison, claim, means) for claim in comparison.claims]


def _sentence(comparison: Comparison, claim: Claim, means: dict[str, float]) -> str:
    measure = plain_text(comparison.scores.measure)
    if _same(claim):
        return f"{verdict(comparison, claim)}."
    return (
        f"{verdict(comparison, claim)}: {measure} {means[claim.first]:.4f} against "
        f"{means[claim.second]:.4f}, {difference_words(comparison, claim)}; "
        f"{test_words(comparison, claim)}."
    )


def _same(claim: Claim) -> bool:
    return claim.effects.wins + claim.effects.losses == 0


def verdict(comparison: Comparison, claim: Claim) -> str:
    """What is shown of a pair, without the numbers and without a full stop."""
    scores = comparison.scores
    first, second = plain_text(claim.first), plain_text(claim.second)
    if _same(claim):
        measure, units = plain_text(scores.measure), count_of(len(scores.units), "unit")
        return f"{first} and {second} have the same {measure} on all {units}"
    if claim.adjusted > comparison.alpha:
        return _nothing_shown(comparison, first, second)
    better = (claim.difference.estimate > 0) == scores.higher_is_better
    how, test = comparison.advice.correction, claim.outcomes[0].test
    by_rank = how == "nemenyi" or test in BY_RANK
    if by_rank and better != (claim.effects.wins > claim.effects.losses):
        return f"{first} and {second} differ, but wins and means point different ways"
    return f"{first} is {'better' if better else 'worse'} than {second}"


def _nothing_shown(comparison: Comparison, first: str, second: str) -> str:
    """What a test that did not reject leaves to say: no more than was asked."""
    if comparison.alternative == "two-sided":
        return f"No difference between {first} and {second} was shown"
    asked = "better" if comparison.alternative == "greater" else "worse"
    return f"{first} was not shown to be {asked} than {second}"


def verdict_of_many(comparison: Comparison) -> str:
    """How many of the pairs differ, and by which test."""
    shown = sum(claim.adjusted <= comparison.alpha for claim in comparison.claims)
    count, measure = len(comparison.claims), plain_text(comparison.scores.measure)
    how, test = comparison.advice.correction, comparison.claims[0].outcomes[0].test
    name = _CORRECTIONS.get(how or "") or _NAMES.get(test, test) + (f", {how}" if how else "")
    made = f"({name}, {count_of(len(comparison.scores.units), 'unit')})"
    if comparison.baseline is not None:
        base = plain_text(comparison.baseline)
        return f"{shown} of {count} systems differ significantly from {base} in {measure} {made}"
    return f"{shown} of {count} pairs of systems differ significantly in {measure} {made}"


def difference_words(comparison: Comparison, claim: Claim) -> str:
    """The difference of a pair and its interval."""
    found = f"difference {claim.difference.estimate:+.4f}"
    return f"{found}, {_interval_words(comparison, claim)}"


def _interval_words(comparison: Comparison, claim: Claim) -> str:
    """The interval, what it holds for, and how it was made if it belongs to a family."""
    gap = claim.difference
    level = f"{round(100 * gap.level, 6):g}%"
    kind = "" if comparison.coverage == "single" else f"{comparison.coverage} "
    made = f" ({gap.method})" if comparison.coverage == "simultaneous" else ""
    if math.isinf(gap.low) and math.isinf(gap.high):
        return f"no {kind}{level} interval{made}, as there are too few units"
    if math.isinf(gap.high):
        return f"{kind}one-sided {level} bound{made}: at least {gap.low:+.4f}"
    if math.isinf(gap.low):
        return f"{kind}one-sided {level} bound{made}: at most {gap.high:+.4f}"
    return f"{kind}{level} interval{made} {gap.low:+.4f} to {gap.high:+.4f}"


def test_words(comparison: Comparison, claim: Claim) -> str:
    """The test that decides about a pair, on how many units, and its p-value."""
    decides = claim.outcomes[0]
    noun = "fold" if decides.test == "corrected-t" else "unit"
    units = count_of(len(comparison.scores.units), noun)
    how = comparison.advice.correction
    if how in _CORRECTIONS:
        detail = comparison.correction_detail
        error = f"± {claim.adjusted_error:.1g}" if claim.adjusted_error else ""
        made = ", ".join(part for part in (_tails(comparison), detail, error) if part)
        return f"{_CORRECTIONS[how]} on {units}, {_p_words(claim.adjusted)} ({made})"
    name = _NAMES.get(decides.test, decides.test)
    words = f"{name} on {units}, {_p_words(decides.p)} ({_tails(comparison)}, {_method(decides)})"
    return f"{words}, {_p_words(claim.adjusted)} after {how}" if how else words


def _tails(comparison: Comparison) -> str:
    return "two-sided" if comparison.alternative == "two-sided" else "one-sided"


def _method(outcome: Outcome) -> str:
    parts = [outcome.detail or outcome.method]
    if outcome.error and "±" not in outcome.detail:
        parts.append(f"± {outcome.error:.1g}")
    return ", ".join(parts)


def analysis_lines(comparison: Comparison) -> list[str]:
    """What is said of all systems together, and why this analysis was made."""
    return [*_together(comparison), comparison.advice.why]


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
        f"All systems together: F({source.df}, {rest.df}) = {source.f:.3f}, {_p_words(source.p)} "
        f"(two-way ANOVA, units as blocks), partial eta squared "
        f"{source.partial_eta_squared:.3f}{_sphericity(comparison)}"
    )
    return [f"{line}{_over_folds(comparison)}.", *_by_ranks(comparison)]


def _over_folds(comparison: Comparison) -> str:
    found = comparison.fold_f
    if found is None:
        return ""
    return (
        "; this takes folds for independent: with the variance corrected for their overlap "
        f"F = {found.f:.3f}, {_p_words(found.p)}"
    )


def _sphericity(comparison: Comparison) -> str:
    found = comparison.sphericity
    if found is None or math.isnan(found.w):
        return ""
    return (
        f"; Mauchly's W {found.w:.3f}, {_p_words(found.p)}, Greenhouse-Geisser epsilon "
        f"{found.greenhouse_geisser:.3f} gives {_p_words(found.corrected_p)}"
    )


def _by_ranks(comparison: Comparison) -> list[str]:
    if comparison.friedman is None:
        return []
    plain, davenport, nemenyi = comparison.friedman
    statistic = (
        f"Iman-Davenport {davenport.statistic:.3f}, {_p_words(davenport.p)}"
        if math.isfinite(davenport.statistic)
        else "Iman-Davenport's F is infinite, as all units rank the systems alike"
    )
    folds = (
        "; ranks take folds for independent, and no correction is known"
        if comparison.fold_f is not None
        else ""
    )
    line = (
        f"By ranks: Friedman {plain.statistic:.3f}, {_p_words(plain.p)}; {statistic}; Nemenyi's "
        f"critical difference of mean ranks {nemenyi.critical_difference:.3f}{folds}."
    )
    return [line]
