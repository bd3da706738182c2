"""Learning curve: the held-out score by what is seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from heldout.report.charts.marks import inline, tip
from heldout.report.charts.theme import WIDTH

if TYPE_CHECKING:
    from collections.abc import Iterable

    import polars as pl

    from heldout.experiment.studies.curve import CurvePoint
    from heldout.report.charts.named import Drawing

__all__ = ["draw_learning_curve", "learning_curve_data"]


def learning_curve_data(
    points: Iterable[CurvePoint], *, by: Literal["document", "query"] = "document"
) -> pl.DataFrame:
    """A row a size and side.

    Parameters
    ----------
    points
        Of `heldout.experiment.studies.curve.learning_curve`.
    by
        What is held out. The score on seen documents falls as they grow more, whatever was
        learnt, so it is left out.

    Returns
    -------
    polars.DataFrame
        size, side (``held out`` or ``seen``), score, low and high (± 1 standard error over the
        draws; the score itself for what was seen).
    """
    import polars as pl

    rows: list[tuple[int, str, float, float, float]] = []
    for point in points:
        low, high = point.held_out - point.se, point.held_out + point.se
        rows.append((point.size, "held out", point.held_out, low, high))
        if by == "query":
            rows.append((point.size, "seen", point.train, point.train, point.train))
    names = ["size", "side", "score", "low", "high"]
    return pl.DataFrame(rows, schema=names, orient="row").sort("size", maintain_order=True)


def draw_learning_curve(
    frame: pl.DataFrame, *, measure: str = "score", by: Literal["document", "query"] = "document"
) -> Drawing:
    """Lines with points, and a band of a standard error.

    Parameters
    ----------
    frame
        Of `learning_curve_data`.
    measure
        What was measured.
    by
        What was seen and held out.
    """
    import altair as alt  # slow to import

    unit = {"document": "documents", "query": "queries"}[by]
    sides = ["held out", "seen"]
    legend = alt.Legend() if by == "query" else None
    hover = tip(
        ("side:N", ""),
        ("size:Q", f"{unit} seen", ","),
        ("score:Q", measure, ".4f"),
        ("low:Q", "− 1 se", ".4f"),
        ("high:Q", "+ 1 se", ".4f"),
    )
    flat = alt.Scale(zero=False, nice=True)
    base = alt.Chart(inline(frame)).encode(
        x=alt.X("size:Q", title=f"{unit} seen", scale=alt.Scale(zero=False, padding=12)),
        color=alt.Color("side:N", title=None, scale=alt.Scale(domain=sides), legend=legend),
        tooltip=hover,
    )
    score = alt.Y("score:Q", title=measure, scale=flat)
    band = base.mark_area(opacity=0.2).encode(
        y=alt.Y("low:Q", title=measure, scale=flat), y2="high:Q"
    )
    line = base.mark_line().encode(y=score)
    point = base.mark_point(size=80).encode(
        y=score,
        shape=alt.Shape(
            "side:N",
            title=None,
            scale=alt.Scale(domain=sides, range=["circle", "diamond"]),
            legend=legend,
        ),
    )
    return alt.layer(band, line, point).properties(
        width=WIDTH,
        height=260,
        description=f"Held-out {measure} by the number of {unit} seen, with its standard error.",
    )
