"""Bias studies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import altair as alt
import polars as pl

from heldout.errors import InputError
from heldout.report.charts.builders import (
    colours,
    dashed,
    dots,
    drawing,
    row_chart,
    shaped,
    span,
    table_of,
    tip,
    zero_line,
)
from heldout.report.charts.marks import brief, inline, padded, rows_height
from heldout.report.charts.theme import WIDTH

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from heldout.experiment.studies.bias import BiasRow
    from heldout.report.charts.named import Drawing

__all__ = [
    "TRUTH",
    "bias_data",
    "bias_means_data",
    "bias_queries_data",
    "draw_bias",
    "draw_bias_means",
    "draw_bias_queries",
]

TRUTH: Final = "truth"


def bias_data(rows: Iterable[BiasRow]) -> pl.DataFrame:
    """Return one row per estimator, in the order of the study.

    Parameters
    ----------
    rows
        `heldout.experiment.studies.bias.BiasStudy.rows`.

    Returns
    -------
    polars.DataFrame
        estimator, bias, se, low and high (bias ± se), rmse, default.
    """
    found = [
        (
            row.estimator,
            row.bias,
            row.se,
            row.bias - row.se,
            row.bias + row.se,
            row.rmse,
            row.default,
        )
        for row in rows
    ]
    names = ["estimator", "bias", "se", "low", "high", "rmse", "default"]
    return table_of(found, names)


def draw_bias(frame: pl.DataFrame, *, measure: str = "score") -> Drawing:
    """Draw points with one and two standard errors, and the line of no bias.

    Parameters
    ----------
    frame
        Of `bias_data`.
    measure
        The measure.
    """
    default = pl.format("{} (default)", "estimator")
    drawn = frame.with_columns(
        (pl.col("bias") - 2 * pl.col("se")).alias("low2"),
        (pl.col("bias") + 2 * pl.col("se")).alias("high2"),
        pl.when("default").then(default).otherwise("estimator").alias("name"),
    )
    across = alt.Scale(domain=padded([0.0, *drawn["low2"], *drawn["high2"]]), nice=False)
    hover = tip(
        ("name:N", "estimator"),
        ("bias:Q", "bias", "+.4f"),
        ("se:Q", "standard error", ".4f"),
        ("rmse:Q", "rmse", ".4f"),
    )
    base = row_chart(drawn, "name", hover)
    title = f"estimate − true value in {measure}: mean, ± 1 and ± 2 standard errors"
    default_is_square = alt.Shape(
        "default:N",
        legend=None,
        scale=alt.Scale(domain=[True, False], range=["square", "circle"]),
    )
    layers = [
        zero_line(),
        span(base, ("low2", "high2"), across, title, strokeWidth=1.5),
        span(base, ("low", "high"), across, strokeWidth=5),
        dots(base, "bias", across, size=110).encode(shape=default_is_square),
    ]
    words = (
        f"Bias of each estimator of {measure} on new documents with its standard error; the "
        "default estimator has a square."
    )
    return drawing(layers, words, rows_height(len(frame), 30))


def bias_means_data(means: Iterable[tuple[int, int, str, float, float]]) -> pl.DataFrame:
    """Return one row per estimator and training set; the true value is one of them.

    Parameters
    ----------
    means
        `heldout.experiment.studies.bias.BiasStudy.means`: draw, set, estimator, estimate, truth.

    Returns
    -------
    polars.DataFrame
        set (from 1), estimator, mean (over the draws), draws.
    """
    names = ["draw", "set", "estimator", "estimate", "truth"]
    rows = pl.DataFrame(list(means), schema=names, orient="row")
    each = rows.group_by("set", "estimator", maintain_order=True).agg(
        pl.col("estimate").mean().alias("mean"), pl.len().alias("draws")
    )
    # One estimator has its own true value (empty queries count 0); the others share this one.
    shared = rows.filter(pl.col("estimator") != "per-fold-zero")
    truth = (
        shared.unique(["draw", "set"], maintain_order=True)
        .group_by("set", maintain_order=True)
        .agg(
            pl.lit(TRUTH).alias("estimator"),
            pl.col("truth").mean().alias("mean"),
            pl.len().alias("draws"),
        )
    )
    return pl.concat([truth, each.select(truth.columns)]).with_columns(pl.col("set") + 1)


def draw_bias_means(frame: pl.DataFrame, *, measure: str = "score") -> Drawing:
    """Draw one point per estimator and set, joined by lines; the true value is dashed.

    Parameters
    ----------
    frame
        Of `bias_means_data`.
    measure
        The measure.
    """
    order = frame["estimator"].unique(maintain_order=True).to_list()
    legend = alt.Legend(columns=4)
    hover = tip(
        ("estimator:N", "estimator"),
        ("set:O", "training set"),
        ("mean:Q", measure, ".4f"),
        ("draws:Q", "draws"),
    )
    base = alt.Chart(inline(frame)).encode(
        x=alt.X("set:O", title="training set", axis=alt.Axis(labelAngle=0)),
        y=alt.Y("mean:Q", title=f"mean {measure}", scale=alt.Scale(zero=False, padding=12)),
        color=colours("estimator", order, legend=legend),
        tooltip=hover,
    )
    dashes = [[6, 3] if name == TRUTH else [1, 0] for name in order]
    layers = [
        base.mark_line(strokeWidth=1.5).encode(
            strokeDash=dashed("estimator", order, dashes=dashes, legend=legend)
        ),
        base.mark_point(size=90).encode(shape=shaped("estimator", order, legend=legend)),
    ]
    words = (
        f"Mean {measure} of each estimator in each training set, and the true value on new "
        "documents."
    )
    return drawing(layers, words, 280)


def bias_queries_data(
    queries: Collection[tuple[int, int, str, float, float, float]],
    estimator: str,
    ids: Sequence[str] = (),
    texts: Sequence[str] = (),
) -> pl.DataFrame:
    """Return one row per query and training set of the first draw.

    Parameters
    ----------
    queries
        `heldout.experiment.studies.bias.BiasStudy.queries`: set, number of the query, estimator,
        estimate, truth, Pro10.
    estimator
        Its name.
    ids, texts
        Of the queries, by their numbers.

    Returns
    -------
    polars.DataFrame
        set (from 1), number (of the query), query, text, estimate, truth, difference, pro10.
    """
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
    return table_of(rows, names)


def draw_bias_queries(
    frame: pl.DataFrame, *, measure: str = "score", estimator: str = "estimate"
) -> Drawing:
    """Draw one point per query and one panel per training set, coloured and sized by Pro10.

    Parameters
    ----------
    frame
        Of `bias_queries_data`.
    measure
        The measure.
    estimator
        Its name.
    """
    shown = [("query:N", "query")]
    shown += [("text:N", "text")] if any(frame["text"]) else []
    hover = tip(
        *shown,
        ("estimate:Q", "estimate", ".4f"),
        ("truth:Q", "true value", ".4f"),
        ("difference:Q", "difference", "+.4f"),
        ("pro10:Q", "Pro10", ".1f"),
    )
    many = len(frame) > 500 * frame["set"].n_unique()
    legend = alt.Legend(titleOrient="left", titleLimit=420)
    across = alt.X(
        "number:Q",
        title="query",
        scale=alt.Scale(nice=False),
        axis=alt.Axis(labels=False, ticks=False, grid=False),
    )
    tone = alt.Scale(domain=[0, 1], range="ordinal")
    sizes = alt.Scale(domain=[0, 1], range=[6, 40] if many else [14, 90])
    points = (
        alt.Chart()
        .mark_point(strokeWidth=0, opacity=0.9)
        .encode(
            x=across,
            y=alt.Y("difference:Q", title="estimate − true value"),
            color=alt.Color("pro10:Q", title="Pro10", scale=tone, legend=legend),
            size=alt.Size("pro10:Q", title="Pro10", scale=sizes, legend=legend),
            tooltip=hover,
        )
    )
    layered = alt.layer(zero_line(vertical=False), points, data=inline(frame))
    chart: alt.FacetChart = (
        layered.properties(width=WIDTH, height=150)
        .facet(
            row=alt.Row("set:O", title=None, header=alt.Header(labelExpr="'set ' + datum.value"))
        )
        .properties(
            description=f"Estimate ({estimator}) minus true value in {measure} of each query, one "
            "panel per training set; larger points have more relevant documents in the sample."
        )
    )
    return chart
