"""Building blocks of drawings: points with intervals, lines, cells, references.

Altair is slow to import: modules that draw import this one, and are imported when a chart is made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt
import polars as pl

from heldout.report.charts.marks import inline
from heldout.report.charts.theme import WIDTH

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.report.charts.named import Drawing

__all__ = [
    "UNIT",
    "beside",
    "colours",
    "dashed",
    "diagonal",
    "dots",
    "drawing",
    "label",
    "panels",
    "row_chart",
    "shaped",
    "span",
    "stroke_legend",
    "table_of",
    "tip",
    "zero_line",
]

UNIT = alt.Scale(domain=[0, 1], nice=False)
"""Shares from 0 to 1."""

_SHAPES = (
    "circle",
    "square",
    "triangle-up",
    "diamond",
    "cross",
    "triangle-down",
    "triangle-left",
    "triangle-right",
)
_DASHES = ([1, 0], [8, 2], [5, 2, 1, 2], [2, 2])


def table_of(rows: Any, names: Sequence[str], **options: Any) -> pl.DataFrame:
    """The data of a chart: rows under column names."""
    return pl.DataFrame(list(rows), schema=list(names), orient="row", **options)


def tip(*fields: tuple[str, str] | tuple[str, str, str]) -> list[alt.Tooltip]:
    """A tooltip: fields with their types, titles and number formats.

    Parameters
    ----------
    fields
        ``("mean:Q", "nDCG@10", ".4f")``; without a format the plain value.
    """
    return [
        alt.Tooltip(one[0], title=one[1], format=one[2])
        if len(one) == 3
        else alt.Tooltip(one[0], title=one[1])
        for one in fields
    ]


def row_chart(
    frame: pl.DataFrame,
    field: str,
    hover: list[alt.Tooltip],
    order: Sequence[str] | None = None,
    **axis: Any,
) -> alt.Chart:
    """A chart with one row per name, by default in the order of the frame.

    Parameters
    ----------
    frame
        The numbers.
    field
        The column of the names.
    hover
        Of `tip`.
    order
        The names from top to bottom.
    axis
        Further settings of `altair.Y`.
    """
    names = list(frame[field] if order is None else order)
    down = alt.Y(f"{field}:N", sort=names, title=None, **axis)
    return alt.Chart(inline(frame)).encode(y=down, tooltip=hover)


def span(
    base: alt.Chart,
    bounds: tuple[str, str],
    scale: alt.Scale | None = None,
    title: str | None = None,
    **mark: Any,
) -> alt.Chart:
    """An interval in each row: a line from one column to another."""
    settings = _given(scale=scale, title=title)
    across = alt.X(f"{bounds[0]}:Q", **settings)
    drawn: alt.Chart = base.mark_rule(**mark).encode(x=across, x2=f"{bounds[1]}:Q")
    return drawn


def dots(
    base: alt.Chart, field: str, scale: alt.Scale | None = None, *, size: int = 90, **mark: Any
) -> alt.Chart:
    """A point in each row."""
    across = alt.X(f"{field}:Q", **_given(scale=scale))
    drawn: alt.Chart = base.mark_point(size=size, **mark).encode(x=across)
    return drawn


def colours(
    field: str, names: Sequence[Any], title: str | None = None, **settings: Any
) -> alt.Color:
    """A colour for each name."""
    return alt.Color(f"{field}:N", title=title, scale=alt.Scale(domain=list(names)), **settings)


def dashed(
    field: str,
    names: Sequence[str],
    dashes: Sequence[list[int]] | None = None,
    **settings: Any,
) -> alt.StrokeDash:
    """Dashes that distinguish lines without colours; the first is solid."""
    found = dashes or [_DASHES[at % len(_DASHES)] for at in range(len(names))]
    scale = alt.Scale(domain=list(names), range=list(found))
    return alt.StrokeDash(f"{field}:N", title=None, scale=scale, **settings)


def shaped(
    field: str, names: Sequence[Any], shapes: Sequence[str] | None = None, **settings: Any
) -> alt.Shape:
    """Shapes that distinguish points without colours; they repeat from the ninth on."""
    found = shapes or [_SHAPES[at % len(_SHAPES)] for at in range(len(names))]
    scale = alt.Scale(domain=list(names), range=list(found))
    return alt.Shape(f"{field}:N", scale=scale, **{"title": None, **settings})


def stroke_legend() -> alt.Legend:
    """A legend with one name per line, beside a piece of the line."""
    return alt.Legend(columns=1, symbolType="stroke", symbolStrokeWidth=2)


def zero_line(*, vertical: bool = True) -> alt.Chart:
    """A dashed line at 0."""
    axis = alt.X("zero:Q") if vertical else alt.Y("zero:Q")
    chart = alt.Chart(inline(pl.DataFrame({"zero": [0.0]})))
    drawn: alt.Chart = chart.mark_rule(style="reference", strokeWidth=1).encode(axis)
    return drawn


def diagonal(x: alt.X, y: alt.Y) -> alt.Chart:
    """A dashed diagonal from 0 to 1."""
    names = [str(one.shorthand).partition(":")[0] for one in (x, y)]
    ends = pl.DataFrame({name: [0.0, 1.0] for name in names})
    line = alt.Chart(inline(ends)).mark_line(style="reference", strokeWidth=1)
    drawn: alt.Chart = line.encode(x=x, y=y)
    return drawn


def label(base: alt.Chart, field: str = "label", **mark: Any) -> alt.Chart:
    """A text for each row, at the right edge of the drawing."""
    texts = base.mark_text(style="label", **mark)
    drawn: alt.Chart = texts.encode(x=alt.value("width"), text=f"{field}:N")
    return drawn


def beside(base: alt.Chart, height: float, *, left: bool, gap: int, **mark: Any) -> alt.Chart:
    """A text (the column ``label``) to the left or right of a mark, at a height."""
    side = {"align": "right", "dx": -gap} if left else {"align": "left", "dx": gap}
    texts = base.mark_text(style="label", **{**mark, **side})
    drawn: alt.Chart = texts.encode(y=alt.value(height), text="label:N")
    return drawn


def drawing(layers: Sequence[Any], description: str, height: int, width: int = WIDTH) -> Drawing:
    """Layers as one drawing, with a text description."""
    return alt.layer(*layers).properties(width=width, height=height, description=description)


def panels(
    layers: Sequence[Any], frame: pl.DataFrame, description: str, size: int, by: str | None
) -> Drawing:
    """Square layers over the same numbers; with `by` a panel for each of its values."""
    layered = alt.layer(*layers, data=inline(frame)).properties(width=size, height=size)
    if by is None:
        return layered.properties(description=description)
    chart: alt.FacetChart = layered.facet(
        facet=alt.Facet(f"{by}:N", title=None), columns=2
    ).properties(description=description)
    return chart


def _given(**settings: Any) -> dict[str, Any]:
    return {name: value for name, value in settings.items() if value is not None}
