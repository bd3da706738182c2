"""Charts of single queries: differences between two systems, and all systems."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import altair as alt
import numpy as np
import polars as pl

from heldout.infer.results import drop_noise
from heldout.report.charts.builders import colours, drawing, label, table_of, tip
from heldout.report.charts.marks import brief, inline, rows_height, signed
from heldout.report.charts.theme import WIDTH

if TYPE_CHECKING:
    from collections.abc import Mapping

    from heldout.data.scores import Scores
    from heldout.report.charts.named import Drawing

__all__ = [
    "MOST_COLUMNS",
    "draw_heatmap",
    "draw_query_differences",
    "heatmap_data",
    "query_differences_data",
]

MOST_COLUMNS: Final = 300
"""Columns that can be seen; more queries are grouped by difficulty."""


def query_differences_data(
    scores: Scores, first: str, second: str, texts: Mapping[str, str] | None = None
) -> pl.DataFrame:
    """Return one row per query, the largest difference first.

    Parameters
    ----------
    scores
        Of all systems.
    first, second
        Systems; differences are first minus second.
    texts
        The text of each query by its id.

    Returns
    -------
    polars.DataFrame
        place (1, 2, …), query, text, first, second, difference, better (the better
        system, or "equal").
    """
    one, other = scores.column(first), scores.column(second)
    gaps = drop_noise(one, other)
    order = np.argsort(-gaps, kind="stable").tolist()
    up, down = (first, second) if scores.higher_is_better else (second, first)
    better = np.where(gaps > 0, up, np.where(gaps < 0, down, "equal")).tolist()
    known = texts or {}
    return pl.DataFrame(
        {
            "place": list(range(1, len(order) + 1)),
            "query": [scores.units[at] for at in order],
            "text": [brief(known.get(scores.units[at], "")) for at in order],
            "first": [float(one[at]) for at in order],
            "second": [float(other[at]) for at in order],
            "difference": [float(gaps[at]) for at in order],
            "better": [better[at] for at in order],
        },
        schema_overrides={"place": pl.Int64},
    )


def draw_query_differences(
    frame: pl.DataFrame, first: str, second: str, *, measure: str = "score", unit: str = "query"
) -> Drawing:
    """Draw one bar per query, up or down from 0; hovering shows its text.

    Parameters
    ----------
    frame
        Of `query_differences_data`.
    first, second
        The systems.
    measure
        The measure of the differences.
    unit
        What one bar is called.
    """
    mean = float(frame["difference"].mean() or 0.0)  # type: ignore[arg-type]
    shown = [("query:N", unit)]
    shown += [("text:N", "text")] if any(frame["text"]) else []
    hover = tip(
        *shown,
        ("first:Q", first, ".4f"),
        ("second:Q", second, ".4f"),
        ("difference:Q", "difference", "+.4f"),
    )
    title = f"{len(frame):,} {_plural(unit, len(frame))}, sorted by difference"
    names = [first, second]
    bars = (
        alt.Chart(inline(_with_edges(frame, "place")))
        .mark_bar(binSpacing=0)
        .encode(
            x=_places(len(frame), title),
            x2="right:Q",
            y=alt.Y("difference:Q", title=f"difference in {measure}"),
            y2=alt.datum(0),
            color=colours("better", names, "better", legend=alt.Legend(values=names)),
            tooltip=hover,
        )
    )
    note = pl.DataFrame({"mean": [mean], "label": [f"mean {signed(mean)}"]})
    base = alt.Chart(inline(note)).encode(y="mean:Q")
    line = base.mark_rule(style="reference", strokeWidth=1.5)
    words = (
        f"Difference in {measure} between {first} and {second} for every {unit}, from the largest "
        f"gain to the largest loss; the mean is {mean:+.4f}."
    )
    return drawing([bars, line, label(base, align="right", baseline="bottom", dy=-3)], words, 260)


def _with_edges(frame: pl.DataFrame, place: str) -> pl.DataFrame:
    """The frame with the left and right edge of each place: 1 extends from 0.5 to 1.5."""
    return frame.with_columns(
        (pl.col(place) - 0.5).alias("left"), (pl.col(place) + 0.5).alias("right")
    )


def _places(count: int, title: str | list[str]) -> alt.X:
    """An axis of places without numbers."""
    return alt.X(
        "left:Q",
        title=title,
        scale=alt.Scale(domain=[0.5, count + 0.5], nice=False),
        axis=alt.Axis(grid=False, labels=False, ticks=False),
    )


def _plural(unit: str, count: int) -> str:
    if count == 1:
        return unit
    return "queries" if unit == "query" else f"{unit}s"


def heatmap_data(
    scores: Scores, texts: Mapping[str, str] | None = None, most: int = MOST_COLUMNS
) -> pl.DataFrame:
    """Return one row per system and query, hardest query first, best system first.

    Parameters
    ----------
    scores
        Of all systems.
    texts
        The text of each query by its id.
    most
        Number of columns at most; more queries are grouped by difficulty and averaged.

    Returns
    -------
    polars.DataFrame
        system, column (1, 2, …), query (the first of a column), text, queries (in the column),
        value (their mean).
    """
    sign = 1 if scores.higher_is_better else -1
    hard = np.argsort(sign * scores.values.mean(axis=1), kind="stable")
    best = np.argsort(-sign * scores.values.mean(axis=0), kind="stable").tolist()
    parts = np.array_split(hard, min(most, len(hard)))
    known = texts or {}
    rows = [
        (
            scores.systems[system],
            column,
            scores.units[part[0]],
            brief(known.get(scores.units[part[0]], "")),
            len(part),
            float(scores.values[part, system].mean()),
        )
        for system in best
        for column, part in enumerate(parts, 1)
    ]
    names = ["system", "column", "query", "text", "queries", "value"]
    return table_of(rows, names)


def draw_heatmap(
    frame: pl.DataFrame,
    *,
    measure: str = "score",
    higher_is_better: bool = True,
    unit: str = "query",
) -> Drawing:
    """Draw one coloured cell per system and query.

    Parameters
    ----------
    frame
        Of `heatmap_data`.
    measure
        The measure of the values.
    higher_is_better
        Its direction, for the description.
    unit
        What a column is called.
    """
    several = int(frame["queries"].max() or 1) > 1  # type: ignore[arg-type]
    columns = int(frame["column"].max() or 1)  # type: ignore[arg-type]
    plural = _plural(unit, 2)
    shown = [("system:N", "system"), ("query:N", f"first {unit}" if several else unit)]
    shown += [("text:N", "text")] if any(frame["text"]) else []
    shown += [("queries:Q", plural)] if several else []
    hover = tip(*shown, ("value:Q", f"mean {measure}" if several else measure, ".4f"))
    total = int(frame.unique("column")["queries"].sum())
    title = [f"{total:,} {plural}, from hard to easy"]  # one per line, or they are cut on a phone
    title += [f"in {columns} groups of similar difficulty"] if several else []
    systems = frame["system"].unique(maintain_order=True).to_list()
    legend = alt.Legend(gradientLength=150, titleOrient="top")
    cells: alt.Chart = (
        alt.Chart(inline(_with_edges(frame, "column")))
        .mark_rect(strokeWidth=0)
        .encode(
            x=_places(columns, title),
            x2="right:Q",
            y=alt.Y("system:N", title=None, sort=systems),
            color=alt.Color("value:Q", title=measure, legend=legend),
            tooltip=hover,
        )
    )
    better = "darker" if higher_is_better else "lighter"
    return cells.properties(
        width=WIDTH,
        height=rows_height(len(systems), 26),
        description=f"{measure} of every system on every {unit}, from the hardest to the easiest; "
        f"in the light theme {better} is better.",
    )
