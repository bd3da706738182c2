"""The bias study's other figures: estimate minus truth of each query, by training set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heldout.errors import InputError
from heldout.report.charts.marks import brief, inline, tip, zero_line
from heldout.report.charts.theme import WIDTH

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    import polars as pl

    from heldout.report.charts.named import Drawing

__all__ = ["bias_queries_data", "draw_bias_queries"]


def bias_queries_data(
    queries: Collection[tuple[int, int, str, float, float, float]],
    estimator: str,
    ids: Sequence[str] = (),
    texts: Sequence[str] = (),
) -> pl.DataFrame:
    """A row a query and training set of the first draw.

    Parameters
    ----------
    queries
        `heldout.experiment.studies.bias.BiasStudy.queries`: set, number of the query, estimator,
        estimate, truth, Pro10.
    estimator
        The strategy.
    ids, texts
        Of the queries, by their numbers.

    Returns
    -------
    polars.DataFrame
        set (from 1 on), number (of the query), query, text, estimate, truth, difference, pro10.
    """
    import polars as pl

    known = list(dict.fromkeys(row[2] for row in queries))
    if estimator not in known:
        raise InputError(f"no estimator {estimator!r} by query; there are {', '.join(known)}")
    rows = [
        (
            one + 1,
            number,
            ids[number] if ids else str(number),
            brief(texts[number]) if texts else "",
            estimate,
            truth,
            estimate - truth,
            pro,
        )
        for one, number, name, estimate, truth, pro in queries
        if name == estimator
    ]
    names = ["set", "number", "query", "text", "estimate", "truth", "difference", "pro10"]
    return pl.DataFrame(rows, schema=names, orient="row")


def draw_bias_queries(
    frame: pl.DataFrame, *, measure: str = "score", estimator: str = "estimate"
) -> Drawing:
    """Points a query, a panel a training set, coloured and sized by Pro10.

    Parameters
    ----------
    frame
        Of `bias_queries_data`.
    measure
        What was estimated.
    estimator
        What the estimate is called.
    """
    import altair as alt  # slow to import

    shown = [("query:N", "query")]
    shown += [("text:N", "text")] if any(frame["text"]) else []
    hover = tip(
        *shown,
        ("estimate:Q", "estimate", ".4f"),
        ("truth:Q", "truth", ".4f"),
        ("difference:Q", "difference", "+.4f"),
        ("pro10:Q", "Pro10", ".1f"),
    )
    many = len(frame) > 500 * frame["set"].n_unique()
    pro = "Pro10"
    points = (
        alt.Chart()
        .mark_point(strokeWidth=0, opacity=0.9)
        .encode(
            x=alt.X(
                "number:Q",
                title="query",
                scale=alt.Scale(nice=False),
                axis=alt.Axis(labels=False, ticks=False, grid=False),
            ),
            y=alt.Y("difference:Q", title="estimate − truth"),
            color=alt.Color(
                "pro10:Q",
                title=pro,
                scale=alt.Scale(domain=[0, 1], range="ordinal"),
                legend=alt.Legend(titleOrient="left", titleLimit=420),
            ),
            size=alt.Size(
                "pro10:Q",
                title=pro,
                scale=alt.Scale(domain=[0, 1], range=[6, 40] if many else [14, 90]),
                legend=alt.Legend(titleOrient="left", titleLimit=420),
            ),
            tooltip=hover,
        )
    )
    layered = alt.layer(zero_line(vertical=False), points, data=inline(frame)).properties(
        width=WIDTH, height=150
    )
    chart: alt.FacetChart = layered.facet(
        row=alt.Row("set:O", title=None, header=alt.Header(labelExpr="'set ' + datum.value")),
    ).properties(
        description=f"Estimate ({estimator}) minus truth in {measure} of each query, a panel a "
        "training set; larger and darker points have more relevant documents in the sample."
    )
    return chart
