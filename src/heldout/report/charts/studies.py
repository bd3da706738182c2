"""Charts of studies of bias: of each estimator, in each training set, and on each query."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import altair as alt
import polars as pl

from heldout.report.charts import draw

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

ERROR: Final = "estimate − true value"
# Estimators with their own figure; that of per-fold-zero would repeat per-fold.
FIGURES: Final = ("pooled", "training", "per-fold", "pro-weighted", "dynamic-cutoff")


def bias(records: Sequence[Mapping[str, Any]]) -> draw.Chart:
    """The mean error of each estimator with its standard error, from the JSON of a study."""
    measure, first = records[0]["measure"], records[0]
    own = "estimator bias se rmse default"
    frame = draw.table(own, [[record[name] for name in own.split()] for record in records])
    mean, se, name = pl.col("bias"), pl.col("se"), pl.col("estimator")
    frame = frame.select(
        "estimator", mean, se, low=mean - se, high=mean + se, rmse="rmse", default="default"
    )
    default = pl.when("default").then(pl.format("{} (default)", name)).otherwise(name)
    shown = frame.with_columns(low2=mean - 2 * se, high2=mean + 2 * se, name=default)
    scale = draw.padded([0.0, *shown["low2"], *shown["high2"]])
    base = draw.data(shown).encode(
        y=alt.Y("name:N", sort=shown["name"].to_list(), title=None),
        tooltip=draw.tips(("name", "estimator"), bias="+.4f", se=".4f", rmse=".4f"),
    )
    x = alt.X(
        "low2:Q", title=f"{ERROR} in {measure}: mean, ± 1 and ± 2 standard errors", scale=scale
    )
    drawing = draw.layers(
        draw.reference(x=0),
        base.mark_rule(strokeWidth=1.5).encode(x=x, x2="high2:Q"),
        base.mark_rule(strokeWidth=5).encode(x="low:Q", x2="high:Q"),
        base.mark_point(size=110).encode(
            x="bias:Q",
            shape=draw.look(alt.Shape, "default", [False, True], legend=None),
        ),
        height=30 * max(len(frame), 2),
    )
    caption = (
        f"Mean of {ERROR} in {measure} over the draws, with one and two standard errors; "
        f"{first['sample_size']:,} training documents, {first['target_size']:,} new ones, "
        f"{first['draws']} draws."
    )
    return draw.Chart("bias", "Bias of each estimator", caption, frame, drawing)


def figures(
    means: Sequence[tuple[Any, ...]],
    queries: Sequence[tuple[Any, ...]],
    measure: str,
    texts: Mapping[str, str],
) -> Iterator[draw.Chart]:
    """Means in training sets, and errors on queries; `texts` are of all queries, in order."""
    yield bias_means(means, measure)
    known = {row[2] for row in queries}
    for name in [name for name in FIGURES if name in known]:
        yield bias_queries(queries, name, measure, texts)


def bias_means(means: Sequence[tuple[Any, ...]], measure: str) -> draw.Chart:
    """The mean of each estimator in each training set, and the true value."""
    rows = draw.table("draw set estimator estimate truth", means)
    # One estimator has its own true value (empty queries count 0); the others share this one.
    shared = rows.filter(pl.col("estimator") != "per-fold-zero")
    shared = shared.unique(["draw", "set"], maintain_order=True)
    truth = shared.select("set", estimator=pl.lit("truth"), estimate="truth")
    groups = pl.concat([truth, rows.select(truth.columns)]).group_by(
        "set", "estimator", maintain_order=True
    )
    frame = groups.agg(mean=pl.col("estimate").mean(), draws=pl.len())
    frame = frame.with_columns(pl.col("set") + 1)
    order = frame["estimator"].unique(maintain_order=True).to_list()
    legend = alt.Legend(columns=4)
    base = draw.data(frame).encode(
        x=alt.X("set:O", title="training set", axis=alt.Axis(labelAngle=0)),
        y=alt.Y("mean:Q", title=f"mean {measure}", scale=alt.Scale(zero=False, padding=12)),
        color=draw.look(alt.Color, "estimator", order, legend=legend),
        tooltip=draw.tips("estimator", "set", mean=".4f", draws=",d"),
    )
    dashed = [[6, 3] if name == "truth" else [1, 0] for name in order]
    dashes = draw.look(alt.StrokeDash, "estimator", order, *dashed, legend=legend)
    shapes = draw.look(alt.Shape, "estimator", order, legend=legend)
    lines, points = base.mark_line(strokeWidth=1.5), base.mark_point(size=90)
    drawing = draw.layers(lines.encode(strokeDash=dashes), points.encode(shape=shapes), height=280)
    caption = f"Mean {measure} over the draws, and the true value on new documents."
    title = "Mean of each estimator in each training set"
    return draw.Chart("bias-means", title, caption, frame, drawing)


def bias_queries(
    queries: Sequence[tuple[Any, ...]], estimator: str, measure: str, texts: Mapping[str, str]
) -> draw.Chart:
    """The error of an estimator on each query and training set of the first draw."""
    rows = draw.table("set number estimator estimate truth pro10", queries)
    own, ids = rows.filter(estimator=estimator), list(texts)
    names = [ids[place] if ids else str(place) for place in own["number"]]
    frame = own.select(
        pl.col("set") + 1,
        "number",
        pl.Series("query", names),
        pl.Series("text", [draw.brief(texts.get(name, "")) for name in names]),
        "estimate",
        "truth",
        (pl.col("estimate") - pl.col("truth")).alias("difference"),
        "pro10",
    )
    hint = ["text"] if any(frame["text"]) else []
    formats = {"estimate": ".4f", "truth": ".4f", "difference": "+.4f", "pro10": ".1f"}
    many = len(frame) > 500 * frame["set"].n_unique()
    legend: dict[str, Any] = {
        "title": "Pro10",
        "legend": alt.Legend(titleOrient="left", titleLimit=420),
    }
    tone = alt.Scale(domain=[0, 1], range="ordinal")
    sizes = alt.Scale(domain=[0, 1], range=[6, 40] if many else [14, 90])
    axis = alt.Axis(title="query", labels=False, ticks=False, grid=False)
    points = alt.Chart().mark_point(strokeWidth=0, opacity=0.9)
    points = points.encode(
        x=alt.X("number:Q", scale=alt.Scale(nice=False), axis=axis),
        y=alt.Y("difference:Q", title=ERROR),
        color=alt.Color("pro10:Q", scale=tone, **legend),
        size=alt.Size("pro10:Q", scale=sizes, **legend),
        tooltip=draw.tips("query", *hint, **formats),
    )
    panel = alt.layer(draw.reference(y=0), points, data=draw.data(frame).data)
    header = alt.Header(labelExpr="'set ' + datum.value")
    drawing = panel.properties(width=draw.WIDTH, height=150).facet(
        row=alt.Row("set:O", title=None, header=header)
    )
    caption = (
        f"{ERROR.capitalize()} in {measure} of the first draw, one panel per training set. Pro10: "
        "number of relevant documents in the sample, up to ten, divided by ten."
    )
    title = f"Error on each query: {estimator}"
    return draw.Chart("bias-queries", title, caption, frame, drawing)
