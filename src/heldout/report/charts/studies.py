"""Charts of studies of bias: of each estimator, in each training set, and on each query."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import altair as alt
import polars as pl

from heldout.report.charts import draw

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from heldout.experiment.studies.bias import BiasStudy

ERROR: Final = "estimate − true value"
# Estimators with their own figure; that of per-fold-zero would repeat per-fold.
FIGURES: Final = ("pooled", "training", "per-fold", "pro-weighted", "dynamic-cutoff")


def charts(study: BiasStudy, texts: Mapping[str, str]) -> Iterator[draw.Chart]:
    """All charts of a study; `texts` are of all queries, in order."""
    yield bias(study.to_dict())
    means = draw.table("draw set estimator estimate truth", study.means)
    queries = draw.table("set number estimator estimate truth pro10", study.queries)
    ids = dict(enumerate(texts))
    names = pl.Series("query", [ids.get(number, str(number)) for number in queries["number"]])
    yield from _figures(means, queries.with_columns(names), str(study.settings.measure), texts)


def charts_of_folder(folder: Path, measure: str) -> Iterator[draw.Chart]:
    """The charts of what ``heldout study bias --figures`` wrote."""
    means = pl.read_csv(folder / "means.csv")
    queries = pl.read_csv(folder / "queries.csv", schema_overrides={"query": pl.String})
    ids = queries["query"].unique(maintain_order=True)
    number = pl.col("query").replace_strict(ids, range(len(ids)))
    yield from _figures(means, queries.with_columns(number=number), measure, {})


def _figures(
    means: pl.DataFrame, queries: pl.DataFrame, measure: str, texts: Mapping[str, str]
) -> Iterator[draw.Chart]:
    yield bias_means(means, measure)
    for estimator in FIGURES:
        own = queries.filter(estimator=estimator)
        if len(own):
            yield bias_queries(own, estimator, measure, texts)


def bias(records: Sequence[Mapping[str, Any]]) -> draw.Chart:
    """The mean error of each estimator with its standard error, from the JSON of a study."""
    first, mean, se = records[0], pl.col("bias"), pl.col("se")
    frame = pl.DataFrame(records).select(
        "estimator", mean, se, low=mean - se, high=mean + se, rmse="rmse", default="default"
    )
    default = pl.when("default").then(pl.format("{} (default)", "estimator"))
    shown = frame.with_columns(
        low2=mean - 2 * se, high2=mean + 2 * se, name=default.otherwise("estimator")
    )
    base = draw.data(shown).encode(
        y=alt.Y("name:N", sort=shown["name"].to_list(), title=None),
        tooltip=draw.tips(("name", "estimator"), bias="+.4f", se=".4f", rmse=".4f"),
    )
    title = f"{ERROR} in {first['measure']}: mean, ± 1 and ± 2 standard errors"
    scale = draw.padded([0.0, *shown["low2"], *shown["high2"]])
    shape = draw.look(alt.Shape, "default", [False, True], legend=None)
    drawing = draw.layers(
        draw.reference(x=0),
        base.mark_rule(strokeWidth=1.5).encode(
            x=alt.X("low2:Q", title=title, scale=scale), x2="high2:Q"
        ),
        base.mark_rule(strokeWidth=5).encode(x="low:Q", x2="high:Q"),
        base.mark_point(size=110).encode(x="bias:Q", shape=shape),
        height=30 * max(len(frame), 2),
    )
    caption = (
        f"Mean of {ERROR} in {first['measure']} over the draws, with one and two standard errors; "
        f"{first['sample_size']:,} training documents, {first['target_size']:,} new ones, "
        f"{first['draws']} draws."
    )
    return draw.Chart("bias", "Bias of each estimator", caption, frame, drawing)


def bias_means(means: pl.DataFrame, measure: str) -> draw.Chart:
    """The mean of each estimator in each training set, and the true value."""
    # One estimator has its own true value (empty queries count 0); the others share this one.
    shared = means.filter(pl.col("estimator") != "per-fold-zero")
    shared = shared.unique(["draw", "set"], maintain_order=True)
    truth = shared.select("set", estimator=pl.lit("truth"), estimate="truth")
    groups = pl.concat([truth, means.select(truth.columns)]).group_by(
        pl.col("set") + 1, "estimator", maintain_order=True
    )
    frame = groups.agg(mean=pl.col("estimate").mean(), draws=pl.len())
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
    own: pl.DataFrame, estimator: str, measure: str, texts: Mapping[str, str]
) -> draw.Chart:
    """The error of an estimator on each query and training set of the first draw."""
    frame = own.select(
        pl.col("set") + 1,
        "number",
        "query",
        pl.Series("text", [draw.brief(texts.get(name, "")) for name in own["query"]]),
        "estimate",
        "truth",
        (pl.col("estimate") - pl.col("truth")).alias("difference"),
        "pro10",
    )
    formats = {"estimate": ".4f", "truth": ".4f", "difference": "+.4f", "pro10": ".1f"}
    many = len(frame) > 500 * frame["set"].n_unique()
    legend = alt.Legend(titleOrient="left", titleLimit=420)
    tone = alt.Scale(domain=[0, 1], range="ordinal")
    sizes = alt.Scale(domain=[0, 1], range=[6, 40] if many else [14, 90])
    axis = alt.Axis(title="query", labels=False, ticks=False, grid=False)
    points = alt.Chart().mark_point(strokeWidth=0, opacity=0.9)
    points = points.encode(
        x=alt.X("number:Q", scale=alt.Scale(nice=False), axis=axis),
        y=alt.Y("difference:Q", title=ERROR),
        color=alt.Color("pro10:Q", title="Pro10", scale=tone, legend=legend),
        size=alt.Size("pro10:Q", title="Pro10", scale=sizes, legend=legend),
        tooltip=draw.tips("query", *draw.hint(frame), **formats),
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
