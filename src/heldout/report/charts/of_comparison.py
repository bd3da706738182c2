"""Every chart that a comparison allows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heldout.report.charts.by_query import (
    draw_heatmap,
    draw_query_differences,
    heatmap_data,
    query_differences_data,
)
from heldout.report.charts.chance import draw_null, draw_power, null_data, power_data
from heldout.report.charts.critical_difference import (
    critical_difference_data,
    draw_critical_difference,
)
from heldout.report.charts.named import NamedChart
from heldout.report.charts.systems import (
    MOST_PAIRS,
    draw_forest,
    draw_pairs,
    forest_data,
    pairs_data,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from heldout.infer.compare import Claim, Comparison

__all__ = ["charts_of_comparison", "forest_of_comparison", "shown_claims"]

_SHOWN = 3
"""Pairs of which each query is shown."""


def charts_of_comparison(
    comparison: Comparison, *, texts: Mapping[str, str] | None = None, unit: str = "query"
) -> tuple[NamedChart, ...]:
    """Every chart that a comparison allows.

    Parameters
    ----------
    comparison
        Of `heldout.compare` or `Results.compare`.
    texts
        The text of each unit (query) by its id, to be shown beside it.
    unit
        What is compared on: query, split, instance, …

    Returns
    -------
    tuple of NamedChart
        forest, pairs, query-differences (up to three, the first of the best system), heatmap, and
        where they exist null, power and critical-difference.
    """
    return tuple(_charts(comparison, texts, unit))


def _charts(
    comparison: Comparison, texts: Mapping[str, str] | None, unit: str
) -> Iterator[NamedChart]:
    yield forest_of_comparison(comparison, unit=unit)
    yield _pairs(comparison)
    for number, claim in enumerate(shown_claims(comparison)):
        yield _queries(comparison, claim, texts, number, unit)
    yield _heatmap(comparison, texts, unit)
    first = shown_claims(comparison)[0]
    yield from _null(comparison, first)
    yield from _power(comparison, first, unit)
    if comparison.friedman is not None:
        yield _ranks(comparison, unit)


def shown_claims(comparison: Comparison) -> list[Claim]:
    """The claims that are shown query by query: those of the best system, the closest rival first.

    Parameters
    ----------
    comparison
        With a baseline all claims are about it, and come in their order.
    """
    claims = list(comparison.claims)
    if comparison.baseline is not None:
        return claims[:_SHOWN]
    means = {row.name: row.mean.estimate for row in comparison.systems}
    sign = 1 if comparison.scores.higher_is_better else -1
    best = max(means, key=lambda name: sign * means[name])
    own = [claim for claim in claims if best in {claim.first, claim.second}]
    return sorted(own, key=lambda claim: abs(claim.difference.estimate))[:_SHOWN]


def forest_of_comparison(comparison: Comparison, *, unit: str = "query") -> NamedChart:
    """The forest plot alone.

    Parameters
    ----------
    comparison, unit
        As for `charts_of_comparison`.
    """
    measure = comparison.scores.measure
    frame = forest_data(comparison)
    row = comparison.systems[0].mean
    caption = (
        f"Mean {measure} over {_count(comparison, unit)} with its {row.level:.0%} interval "
        f"({row.method})."
    )
    if any(frame["letters"]):
        caption += " Systems that share a letter were not told apart."
    return NamedChart(
        "forest", f"{measure} of each system", caption, frame, draw_forest(frame, measure=measure)
    )


def _pairs(comparison: Comparison) -> NamedChart:
    measure = comparison.scores.measure
    frame = pairs_data(comparison)
    how = {
        "single": "",
        "simultaneous": ", which hold all at once",
        "unadjusted": ", each for itself",
    }[comparison.coverage]
    method = comparison.claims[0].difference.method
    level = comparison.claims[0].difference.level
    correction = comparison.advice.correction
    judged = f" p-values are adjusted by {correction}." if correction else ""
    caption = (
        f"Mean differences in {measure} with {level:.0%} intervals ({method}){how}. Hollow and "
        f"grey: not told apart at alpha {comparison.alpha:g}.{judged}"
    )
    if len(frame) < len(comparison.claims):
        caption += (
            f" Of {len(comparison.claims)} pairs those with the best system are shown: more than "
            f"{MOST_PAIRS} do not fit."
        )
    return NamedChart(
        "pairs",
        f"Differences in {measure} between systems",
        caption,
        frame,
        draw_pairs(frame, measure=measure),
    )


def _queries(
    comparison: Comparison,
    claim: Claim,
    texts: Mapping[str, str] | None,
    number: int,
    unit: str,
) -> NamedChart:
    scores = comparison.scores
    frame = query_differences_data(scores, claim.first, claim.second, texts)
    effects = claim.effects
    caption = (
        f"A bar a {unit}, sorted: {claim.first} is better on {effects.wins:,}, {claim.second} on "
        f"{effects.losses:,}, {effects.ties:,} are equal. Dashed: the mean difference."
    )
    return NamedChart(
        _numbered("query-differences", number),
        f"Each {unit}: {claim.first} against {claim.second}",
        caption,
        frame,
        draw_query_differences(frame, claim.first, claim.second, measure=scores.measure, unit=unit),
    )


def _numbered(key: str, number: int) -> str:
    return key if not number else f"{key}-{number + 1}"


def _heatmap(comparison: Comparison, texts: Mapping[str, str] | None, unit: str) -> NamedChart:
    scores = comparison.scores
    frame = heatmap_data(scores, texts)
    plural = "queries" if unit == "query" else f"{unit}s"
    caption = (
        f"{scores.measure} of each system on each {unit}, from the hardest at the left to the "
        "easiest."
    )
    if int(frame["queries"].max() or 1) > 1:  # type: ignore[arg-type]
        caption += f" Neighbours share a column with their mean: {len(scores.units):,} {plural}."
    return NamedChart(
        "heatmap",
        f"Systems by {plural}",
        caption,
        frame,
        draw_heatmap(
            frame, measure=scores.measure, higher_is_better=scores.higher_is_better, unit=unit
        ),
    )


def _null(comparison: Comparison, claim: Claim) -> Iterator[NamedChart]:
    """Only where the randomization test was made: folds, say, have another distribution."""
    made = next((one for one in claim.outcomes if one.test == "randomization"), None)
    if made is None:
        return
    scores = comparison.scores
    frame = null_data(
        scores, claim.first, claim.second, alternative=comparison.alternative, seed=comparison.seed
    )
    said = f"p = {made.p:.4f}" if made.p >= 0.0001 else "p < 0.0001"
    caption = (
        f"Were {claim.first} and {claim.second} the same, each difference could as well have had "
        f"the other sign. {said} by the randomization test ({made.detail}); the drawing is made "
        f"of {'all assignments' if len(scores.units) <= 16 else '20,000 random assignments'}."
    )
    if comparison.advice.correction:
        caption += (
            f" This is one of {len(comparison.claims)} comparisons: adjusted by "
            f"{comparison.advice.correction}, p = {claim.adjusted:.4f}."
        )
    yield NamedChart(
        "null",
        f"{claim.first} against {claim.second}: could it be chance?",
        caption,
        frame,
        draw_null(frame, measure=scores.measure),
    )


def _power(comparison: Comparison, claim: Claim, unit: str) -> Iterator[NamedChart]:
    """Not over folds, whose number cannot be raised without changing what they are."""
    from heldout.infer.power import pilot_sd
    from heldout.infer.results import drop_noise
    from heldout.infer.tests.paired import is_constant

    scores = comparison.scores
    gaps = drop_noise(scores.column(claim.first), scores.column(claim.second))
    if comparison.fold_f is not None or is_constant(gaps):
        return
    if any(one.test == "corrected-t" for one in claim.outcomes):
        return
    sd = pilot_sd(gaps)
    frame = power_data(
        sd,
        n=len(gaps),
        level=comparison.level,
        alternative="two-sided" if comparison.alternative == "two-sided" else "greater",
    )
    caption = (
        f"How sure a paired t test is to show a difference between systems that differ as "
        f"{claim.first} and {claim.second} do (standard deviation {sd:.4f}, from "
        f"{_count(comparison, unit)}), at alpha {comparison.alpha:g}. Dashed: 80%."
    )
    yield NamedChart(
        "power",
        f"How many {'queries' if unit == 'query' else unit + 's'} show a difference?",
        caption,
        frame,
        draw_power(frame, n=len(gaps), measure=scores.measure, unit=unit),
    )


def _ranks(comparison: Comparison, unit: str) -> NamedChart:
    friedman, _, nemenyi = comparison.friedman or (None, None, None)
    assert friedman is not None  # noqa: S101 - asked before
    assert nemenyi is not None  # noqa: S101
    frame = critical_difference_data(comparison.scores.systems, nemenyi)
    caption = (
        f"Mean ranks over {_count(comparison, unit)}, 1 is best. Bars join systems whose ranks "
        f"differ by no more than the critical difference (Nemenyi, level {nemenyi.level:.0%}; "
        f"Friedman's test: p {'< 0.0001' if friedman.p < 0.0001 else f'= {friedman.p:.4f}'})."
    )
    return NamedChart(
        "critical-difference",
        "Mean ranks and their critical difference",
        caption,
        frame,
        draw_critical_difference(frame),
    )


def _count(comparison: Comparison, unit: str) -> str:
    count = len(comparison.scores.units)
    plural = "queries" if unit == "query" else f"{unit}s"
    return f"{count:,} {unit if count == 1 else plural}"
