"""What each query gained or lost, sorted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heldout.infer.results import drop_noise
from heldout.report.charts.marks import brief, inline, signed, tip
from heldout.report.charts.theme import WIDTH

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from heldout.data.scores import Scores
    from heldout.report.charts.named import Drawing

__all__ = ["draw_query_differences", "query_differences_data"]


def query_differences_data(
    scores: Scores, first: str, second: str, texts: Mapping[str, str] | None = None
) -> pl.DataFrame:
    """A row a query, the largest difference first.

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
        place (1, 2, …), query, text, first, second, difference, better (the system that did
        better, or "equal").
    """
    import numpy as np
    import polars as pl

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
    """Bars up and down from 0, a query each; hovering shows its text.

    Parameters
    ----------
    frame
        Of `query_differences_data`.
    first, second
        The systems.
    measure
        What the differences are of.
    unit
        What one bar is.
    """
    import altair as alt  # slow to import
    import polars as pl

    names = [first, second]
    drawn = frame.with_columns(
        (pl.col("place") - 0.5).alias("left"), (pl.col("place") + 0.5).alias("right")
    )
    mean = float(frame["difference"].mean() or 0.0)  # type: ignore[arg-type]
    shown = [("query:N", unit)]
    shown += [("text:N", "text")] if any(frame["text"]) else []
    hover = tip(
        *shown,
        ("first:Q", first, ".4f"),
        ("second:Q", second, ".4f"),
        ("difference:Q", "difference", "+.4f"),
    )
    across = alt.X(
        "left:Q",
        title=f"{len(frame):,} {_plural(unit, len(frame))}, sorted by difference",
        scale=alt.Scale(domain=[0.5, len(frame) + 0.5], nice=False),
        axis=alt.Axis(grid=False, labels=False, ticks=False),
    )
    bars = (
        alt.Chart(inline(drawn))
        .mark_bar(binSpacing=0)
        .encode(
            x=across,
            x2="right:Q",
            y=alt.Y("difference:Q", title=f"difference in {measure}"),
            y2=alt.datum(0),
            color=alt.Color(
                "better:N",
                title="better",
                scale=alt.Scale(domain=names),
                legend=alt.Legend(values=names),
            ),
            tooltip=hover,
        )
    )
    note = pl.DataFrame({"mean": [mean], "label": [f"mean {signed(mean)}"]})
    base = alt.Chart(inline(note))
    line = base.mark_rule(style="reference", strokeWidth=1.5).encode(y="mean:Q")
    label = base.mark_text(align="right", baseline="bottom", dy=-3, style="label").encode(
        x=alt.value("width"), y="mean:Q", text="label:N"
    )
    return alt.layer(bars, line, label).properties(
        width=WIDTH,
        height=260,
        description=f"Difference in {measure} between {first} and {second} for every {unit}, "
        f"from the largest gain to the largest loss; the mean is {mean:+.4f}.",
    )


def _plural(unit: str, count: int) -> str:
    if count == 1:
        return unit
    return "queries" if unit == "query" else f"{unit}s"
