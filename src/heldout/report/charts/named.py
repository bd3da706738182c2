"""A chart with its title, caption and data, and the names of all charts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

    Drawing: TypeAlias = (
        alt.Chart
        | alt.LayerChart
        | alt.FacetChart
        | alt.HConcatChart
        | alt.VConcatChart
        | alt.ConcatChart
        | alt.RepeatChart
    )

__all__ = ["NAMES", "NamedChart"]

NAMES: Final = {
    "forest": "mean of each system with its interval and groups",
    "pairs": "differences between pairs of systems with intervals",
    "query-differences": "difference between two systems on each query, sorted",
    "heatmap": "each system on each query, from hard to easy",
    "null": "distribution of the difference under the null hypothesis",
    "critical-difference": "mean ranks and critical difference (Demšar)",
    "tuning": "training score by parameters, with the selected settings",
    "optimism": "training scores and held-out scores",
    "roc": "ROC curves with their convex hull",
    "precision-recall": "precision by recall",
    "calibration": "observed frequency by predicted probability",
    "bias": "bias of each estimator",
    "bias-means": "mean of each estimator in each training set",
    "bias-queries": "estimate minus truth by query, training set and Pro10",
    "grade-confusion": "machine grades by human grade",
    "score-agreement": "scores of systems under two judges, or in two measures",
}
"""All charts, each in one line."""


@dataclass(frozen=True, slots=True, eq=False)
class NamedChart:
    """A chart with its name, its words and its data.

    Parameters
    ----------
    key
        Its name on the command line; unique among the charts of a result.
    title
        The heading.
    caption
        How to read it.
    frame
        The data: every number that is drawn.
    chart
        The drawing without a theme; see `heldout.report.charts.theme.themed`.
    """

    key: str
    title: str
    caption: str
    frame: pl.DataFrame
    chart: Drawing
