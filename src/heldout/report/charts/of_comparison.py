"""All charts of a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heldout.report.charts.by_query import (
    draw_heatmap,
    draw_query_differences,
    heatmap_data,
    query_differences_data,
)
from heldout.report.charts.chance import draw_null, null_data
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
    oriented,
    pairs_data,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from heldout.infer.comparison import Claim, Comparison

__all__ = [
    "charts_of_comparison",
    "forest_of_comparison",
    "pairs_of_comparison",
    "shown_claims",
]

_SHOWN = 3
"""Pairs whose differences are shown query by query."""


def charts_of_comparison(
    comparison: Comparison, *, texts: Mapping[str, str] | None = None, unit: str = "query"
) -> tuple[NamedChart, ...]:
    """Return all charts of a comparison.

    Parameters
    ----------
    comparison
        Of `heldout.compare` or `Results.compare`.
    texts
        The text of each unit (query) by its id.
    unit
        What a unit is called: query, split, instance, …

    Returns
    -------
    tuple of NamedChart
        forest, pairs, query-differences (up to three, the first of the best system), heatmap, and
        where they exist null and critical-difference.
    """
    return tuple(_charts(comparison, texts, unit))


def _charts(
    comparison: Comparison, texts: Mapping[str, str] | None, unit: str
) -> Iterator[NamedChart]:
    yield forest_of_comparison(comparison, unit=unit)
    yield pairs_of_comparison(comparison)
    for number, claim in enumerate(shown_claims(comparison)):
        yield _queries(comparison, claim, texts, number, unit)
    yield _heatmap(comparison, texts, unit)
    yield from _null(comparison, shown_claims(comparison)[0], unit)
    if comparison.friedman is not None:
        yield _ranks(comparison, unit)


def shown_claims(comparison: Comparison) -> list[Claim]:
    """The claims that are shown query by query: those of the best system, closest rival first.

    Parameters
    ----------
    comparison
        With a baseline the first claims are taken.
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
    """Return the forest plot.

    Parameters
    ----------
    comparison, unit
        As for `charts_of_comparison`.
    """
    measure = comparison.scores.measure
    frame = forest_data(comparison)
    row = comparison.systems[0].mean
    caption = (
        f"Mean {measure} over {_count(comparison, unit)} with its {row.level:.0%} confidence "
        f"interval ({row.method})."
    )
    if any(frame["letters"]):
        caption += " Systems that share a letter are not significantly different."
    return NamedChart(
        "forest", f"{measure} of each system", caption, frame, draw_forest(frame, measure=measure)
    )


def pairs_of_comparison(comparison: Comparison) -> NamedChart:
    """Return the chart of the differences.

    Parameters
    ----------
    comparison
        Of two or more systems.
    """
    measure = comparison.scores.measure
    frame = pairs_data(comparison)
    how = {
        "single": "",
        "simultaneous": ", simultaneous for all pairs",
        "unadjusted": ", not adjusted for the number of pairs",
    }[comparison.analysis.coverage]
    method = comparison.claims[0].difference.method
    level = comparison.claims[0].difference.level
    correction = comparison.analysis.correction
    adjusted = f", p-values adjusted by {correction}" if correction else ""
    caption = (
        f"Mean difference in {measure} with {level:.0%} confidence interval ({method}{how}). Grey "
        f"and hollow: not significant (α = {comparison.alpha:g}{adjusted})."
    )
    if len(frame) < len(comparison.claims):
        caption += (
            f" Only pairs with the best system are shown: {len(comparison.claims)} pairs are more "
            f"than the {MOST_PAIRS} that fit."
        )
    return NamedChart(
        "pairs",
        f"Difference{'s' if len(frame) > 1 else ''} in {measure}",
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
    scores, effects = comparison.scores, claim.effects
    first, second, sign = oriented(claim, comparison)
    frame = query_differences_data(scores, first, second, texts)
    wins, losses = (effects.wins, effects.losses)[::sign]
    caption = (
        f"One bar per {unit}, sorted: {first} is better on {wins:,}, {second} on {losses:,}, "
        f"{effects.ties:,} are equal. Dashed: the mean difference."
    )
    return NamedChart(
        _numbered("query-differences", number),
        f"Difference on each {unit}: {first} − {second}",
        caption,
        frame,
        draw_query_differences(frame, first, second, measure=scores.measure, unit=unit),
    )


def _numbered(key: str, number: int) -> str:
    return key if not number else f"{key}-{number + 1}"


def _heatmap(comparison: Comparison, texts: Mapping[str, str] | None, unit: str) -> NamedChart:
    scores = comparison.scores
    frame = heatmap_data(scores, texts)
    plural = "queries" if unit == "query" else f"{unit}s"
    caption = (
        f"{scores.measure} of each system on each {unit}, from the hardest (left) to the easiest "
        "(right)."
    )
    if int(frame["queries"].max() or 1) > 1:  # type: ignore[arg-type]
        caption += f" Each column is the mean of {plural} of similar difficulty."
    return NamedChart(
        "heatmap",
        f"Each system on each {unit}",
        caption,
        frame,
        draw_heatmap(
            frame, measure=scores.measure, higher_is_better=scores.higher_is_better, unit=unit
        ),
    )


def _null(comparison: Comparison, claim: Claim, unit: str) -> Iterator[NamedChart]:
    """Only if the randomization test was used; differences of folds are distributed differently."""
    made = next((one for one in claim.outcomes if one.test == "randomization"), None)
    if made is None:
        return
    scores = comparison.scores
    first, second, _ = oriented(claim, comparison)
    frame = null_data(
        scores, first, second, alternative=comparison.alternative, seed=comparison.analysis.seed
    )
    said = f"p = {made.p:.4f}" if made.p >= 0.0001 else "p < 0.0001"
    caption = (
        f"If {first} and {second} were equally good, each per-{unit} difference would be as likely "
        f"to have the opposite sign. Randomization test: {said} ({made.detail}). Drawn from "
        f"{'all' if len(scores.units) <= 16 else '20,000 random'} sign assignments."
    )
    if comparison.analysis.correction:
        caption += (
            f" One of {len(comparison.claims)} comparisons: p = {claim.adjusted:.4f} adjusted by "
            f"{comparison.analysis.correction}."
        )
    yield NamedChart(
        "null",
        "Could the difference be due to chance?",
        caption,
        frame,
        draw_null(frame, measure=scores.measure),
    )


def _ranks(comparison: Comparison, unit: str) -> NamedChart:
    friedman, nemenyi = comparison.friedman or (None, None)
    assert friedman is not None  # noqa: S101 - asked before
    assert nemenyi is not None  # noqa: S101
    frame = critical_difference_data(comparison.scores.systems, nemenyi)
    caption = (
        f"Mean ranks over {_count(comparison, unit)}, 1 is best. Bars join systems whose ranks "
        f"differ by at most the critical difference (Nemenyi, level {nemenyi.level:.0%}; "
        f"Friedman's test: p {'< 0.0001' if friedman.p < 0.0001 else f'= {friedman.p:.4f}'})."
    )
    return NamedChart(
        "critical-difference",
        "Mean ranks and critical difference",
        caption,
        frame,
        draw_critical_difference(frame),
    )


def _count(comparison: Comparison, unit: str) -> str:
    count = len(comparison.scores.units)
    plural = "queries" if unit == "query" else f"{unit}s"
    return f"{count:,} {unit if count == 1 else plural}"
