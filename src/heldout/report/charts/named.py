"""A chart with all that is needed to show it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

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

__all__ = ["NamedChart"]


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
