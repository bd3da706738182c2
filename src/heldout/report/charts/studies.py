"""Charts of studies of bias: of each estimator, in each training set, and on each query."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import altair as alt
import polars as pl

from heldout.errors import InputError
from heldout.report.charts.draw import (
    WIDTH,
    Chart,
    brief,
    colours,
    dashes,
    drawn,
    layers,
    numbered,
    padded,
    reference,
    rows_height,
    shapes,
    tips,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

TRUTH: Final = "truth"
ERROR: Final = "estimate − true value"
# Estimators with their own figure; that of per-fold-zero would repeat per-fold.
FIGURES: Final = ("pooled", "training", "per-fold", "pro-weighted", "dynamic-cutoff")


def bias(rows: Iterable[Mapping[str, object]], measure: str, sizes: str) -> Chart:
    """The mean error of each estimator with one and two standard errors."""
    names = ("estimator", "bias", "se", "rmse", "default")
    frame = pl.DataFrame({name: row[name] for name in names} for row in rows)
    mean, se, name = pl.col("bias"), pl.col("se"), pl.col("estimator")
    frame = frame.select(
        "estimator",
        "bias",
        "se",
        (mean - se).alias("low"),
        (mean + se).alias("high"),
        "rmse",
        "default",
    )
    shown = frame.with_columns(
        low2=mean - 2 * se,
        high2=mean + 2 * se,
        name=pl.when("default").then(pl.format("{} (default)", name)).otherwise(name),
    )
    scale = padded([0.0, *shown["low2"], *shown["high2"]])
    errors = (("se", "standard error", ".4f"), ("rmse", "rmse", ".4f"))
    base = drawn(shown).encode(
        y=alt.Y("name:N", sort=shown["name"].to_list(), title=None),
        tooltip=tips(("name", "estimator"), ("bias", "bias", "+.4f"), *errors),
    )
    title = f"{ERROR} in {measure}: mean, ± 1 and ± 2 standard errors"
    square = shapes("default", [True, False], ["square", "circle"], legend=None)
    drawing = layers(
        reference(x=0),
        base.mark_rule(strokeWidth=1.5).encode(
            x=alt.X("low2:Q", title=title, scale=scale), x2="high2:Q"
        ),
        base.mark_rule(strokeWidth=5).encode(x=alt.X("low:Q", scale=scale), x2="high:Q"),
        base.mark_point(size=110).encode(x=alt.X("bias:Q", scale=scale), shape=square),
        height=rows_height(len(frame), 30),
        words=f"Bias of each estimator of {measure} on new documents with its standard error; the "
        "default estimator has a square.",
    )
    caption = (
        f"Mean of {ERROR} in {measure} over the draws, with one and two standard errors; {sizes}."
    )
    return Chart("bias", "Bias of each estimator", caption, frame, drawing)


def bias_means(means: Iterable[tuple[int, int, str, float, float]], measure: str) -> Chart:
    """The mean of each estimator in each training set, and the true value."""
    head = ["draw", "set", "estimator", "estimate", "truth"]
    rows = pl.DataFrame(list(means), schema=head, orient="row")
    # One estimator has its own true value (empty queries count 0); the others share this one.
    shared = rows.filter(pl.col("estimator") != "per-fold-zero")
    shared = shared.unique(["draw", "set"], maintain_order=True)
    truth = shared.select("set", estimator=pl.lit(TRUTH), estimate="truth")
    frame = (
        pl.concat([truth, rows.select(truth.columns)])
        .group_by("set", "estimator", maintain_order=True)
        .agg(mean=pl.col("estimate").mean(), draws=pl.len())
        .with_columns(pl.col("set") + 1)
    )
    order = frame["estimator"].unique(maintain_order=True).to_list()
    legend = alt.Legend(columns=4)
    hover = tips(
        "estimator", ("set", "training set"), ("mean", measure, ".4f"), ("draws", "draws", ",d")
    )
    base = drawn(frame).encode(
        x=alt.X("set:O", title="training set", axis=alt.Axis(labelAngle=0)),
        y=alt.Y("mean:Q", title=f"mean {measure}", scale=alt.Scale(zero=False, padding=12)),
        color=colours("estimator", order, legend=legend),
        tooltip=hover,
    )
    dashed = [[6, 3] if name == TRUTH else [1, 0] for name in order]
    drawing = layers(
        base.mark_line(strokeWidth=1.5).encode(
            strokeDash=dashes("estimator", order, dashed, legend=legend)
        ),
        base.mark_point(size=90).encode(shape=shapes("estimator", order, legend=legend)),
        height=280,
        words=f"Mean {measure} of each estimator in each training set, and the true value on new "
        "documents.",
    )
    caption = f"Mean {measure} over the draws, and the true value on new documents."
    title = "Mean of each estimator in each training set"
    return Chart("bias-means", title, caption, frame, drawing)


def bias_queries(
    queries: Iterable[tuple[int, int, str, float, float, float]],
    estimator: str,
    measure: str,
    texts: Mapping[str, str],
    number: int = 1,
) -> Chart:
    """The error of an estimator on each query and training set of the first draw.

    `texts` has the ids of all queries in the order of their numbers.
    """
    head = ["set", "number", "estimator", "estimate", "truth", "pro10"]
    rows = pl.DataFrame(list(queries), schema=head, orient="row")
    known, ids = rows["estimator"].unique(maintain_order=True).to_list(), list(texts)
    if estimator not in known:
        raise InputError(f"no estimator {estimator!r} by query; there are {', '.join(known)}")
    own = rows.filter(estimator=estimator)
    names = [ids[place] if ids else str(place) for place in own["number"]]
    frame = own.select(
        pl.col("set") + 1,
        "number",
        pl.Series("query", names),
        pl.Series("text", [brief(texts.get(name, "")) for name in names]),
        "estimate",
        "truth",
        (pl.col("estimate") - pl.col("truth")).alias("difference"),
        "pro10",
    )
    hover = tips(
        *("query", "text") if any(frame["text"]) else ("query",),
        ("estimate", "estimate", ".4f"),
        ("truth", "true value", ".4f"),
        ("difference", "difference", "+.4f"),
        ("pro10", "Pro10", ".1f"),
    )
    many = len(frame) > 500 * frame["set"].n_unique()
    legend = alt.Legend(titleOrient="left", titleLimit=420)
    axis = alt.Axis(labels=False, ticks=False, grid=False)
    tone = alt.Scale(domain=[0, 1], range="ordinal")
    sizes = alt.Scale(domain=[0, 1], range=[6, 40] if many else [14, 90])
    points = (
        alt.Chart()
        .mark_point(strokeWidth=0, opacity=0.9)
        .encode(
            x=alt.X("number:Q", title="query", scale=alt.Scale(nice=False), axis=axis),
            y=alt.Y("difference:Q", title=ERROR),
            color=alt.Color("pro10:Q", title="Pro10", scale=tone, legend=legend),
            size=alt.Size("pro10:Q", title="Pro10", scale=sizes, legend=legend),
            tooltip=hover,
        )
    )
    panel = alt.layer(reference(y=0), points, data=drawn(frame).data)
    header = alt.Header(labelExpr="'set ' + datum.value")
    drawing = (
        panel.properties(width=WIDTH, height=150)
        .facet(row=alt.Row("set:O", title=None, header=header))
        .properties(
            description=f"Estimate ({estimator}) minus true value in {measure} of each query, one "
            "panel per training set; larger points have more relevant documents in the sample."
        )
    )
    caption = (
        f"{ERROR.capitalize()} in {measure} of the first draw, one panel per training set. Pro10: "
        "number of relevant documents in the sample, up to ten, divided by ten."
    )
    title = f"Error on each query: {estimator}"
    return Chart(numbered("bias-queries", number), title, caption, frame, drawing)
