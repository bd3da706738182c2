"""Systems by queries: who does well where."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from heldout.report.charts.marks import brief, inline, rows_height, tip
from heldout.report.charts.theme import WIDTH

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from heldout.data.scores import Scores
    from heldout.report.charts.named import Drawing

__all__ = ["MOST_COLUMNS", "draw_heatmap", "heatmap_data"]

MOST_COLUMNS: Final = 300
"""Columns that are still seen: more queries are put together, neighbours in difficulty."""


def heatmap_data(
    scores: Scores, texts: Mapping[str, str] | None = None, most: int = MOST_COLUMNS
) -> pl.DataFrame:
    """A row a system and query, the hardest query first, the best system first.

    Parameters
    ----------
    scores
        Of all systems.
    texts
        The text of each query by its id.
    most
        Columns at the most; of more queries, neighbours in difficulty share a column with their
        mean.

    Returns
    -------
    polars.DataFrame
        system, column (1, 2, …), query (the first of a column), text, queries (in the column),
        value (their mean).
    """
    import numpy as np
    import polars as pl

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
    return pl.DataFrame(rows, schema=names, orient="row")


def draw_heatmap(
    frame: pl.DataFrame,
    *,
    measure: str = "score",
    higher_is_better: bool = True,
    unit: str = "query",
) -> Drawing:
    """A coloured cell for each system and query.

    Parameters
    ----------
    frame
        Of `heatmap_data`.
    measure
        What the values are.
    higher_is_better
        Its direction, for the words of the axis.
    unit
        What a column is.
    """
    import altair as alt  # slow to import
    import polars as pl

    several = int(frame["queries"].max() or 1) > 1  # type: ignore[arg-type]
    columns = int(frame["column"].max() or 1)  # type: ignore[arg-type]
    plural = "queries" if unit == "query" else f"{unit}s"
    drawn = frame.with_columns(
        (pl.col("column") - 0.5).alias("left"), (pl.col("column") + 0.5).alias("right")
    )
    shown = [("system:N", "system"), ("query:N", f"first {unit}" if several else unit)]
    shown += [("text:N", "text")] if any(frame["text"]) else []
    shown += [("queries:Q", plural)] if several else []
    hover = tip(*shown, ("value:Q", f"mean {measure}" if several else measure, ".4f"))
    total = int(frame.unique("column")["queries"].sum())
    title = [f"{total:,} {plural}, from hard to easy"]  # one line each, or a phone cuts them off
    title += [f"in {columns} groups of neighbours"] if several else []
    cells: alt.Chart = (
        alt.Chart(inline(drawn))
        .mark_rect(strokeWidth=0)
        .encode(
            x=alt.X(
                "left:Q",
                title=title,
                scale=alt.Scale(domain=[0.5, columns + 0.5], nice=False),
                axis=alt.Axis(grid=False, labels=False, ticks=False),
            ),
            x2="right:Q",
            y=alt.Y(
                "system:N", title=None, sort=frame["system"].unique(maintain_order=True).to_list()
            ),
            color=alt.Color(
                "value:Q",
                title=measure,
                legend=alt.Legend(gradientLength=150, titleOrient="top"),
            ),
            tooltip=hover,
        )
    )
    better = "darker" if higher_is_better else "lighter"
    return cells.properties(
        width=WIDTH,
        height=rows_height(frame["system"].n_unique(), 26),
        description=f"{measure} of every system on every {unit}, from the hardest to the easiest; "
        f"in the light theme {better} is better.",
    )
