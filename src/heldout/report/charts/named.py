"""A chart with all that is needed to show it, and the names of all charts."""

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
    "forest": "each system's mean with its interval, and the letters it shares",
    "pairs": "differences of pairs of systems with simultaneous intervals",
    "query-differences": "what each query gained or lost, sorted",
    "heatmap": "systems by queries, from hard to easy",
    "null": "what the difference could have been by chance, and what it is",
    "power": "how sure so many queries are to show a difference",
    "critical-difference": "mean ranks, and who was not told apart (Demšar)",
    "tuning": "the score by the parameters, and what was chosen in each fold",
    "optimism": "the score on what was seen against the held-out one",
    "folds": "what each split holds out, and the relevant documents there",
    "roc": "ROC curves with their convex hull",
    "precision-recall": "precision by recall",
    "calibration": "how often predictions come true beside how sure they are",
    "bias": "how far each estimator is from the truth",
    "bias-means": "the mean of each strategy in each training set",
    "bias-queries": "estimate minus truth of each query, by training set and Pro10",
    "learning-curve": "the held-out score by what is seen",
}
"""Every chart in a line."""


@dataclass(frozen=True, slots=True, eq=False)
class NamedChart:
    """A chart with its name, its words and its data.

    Parameters
    ----------
    key
        What it is called on the command line; different for each chart of a set.
    title
        A heading.
    caption
        How to read it, in a sentence or two, and where its numbers come from.
    frame
        The data: every number that is drawn.
    chart
        The drawing, in no theme yet: `heldout.report.charts.theme.themed` gives it one.
    """

    key: str
    title: str
    caption: str
    frame: pl.DataFrame
    chart: Drawing
