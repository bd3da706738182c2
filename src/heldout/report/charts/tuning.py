"""Charts of tuning: scores by parameters, the selected settings, and the optimism of training."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import altair as alt
import polars as pl

from heldout.errors import InputError
from heldout.report.charts import draw
from heldout.report.standing import is_up

if TYPE_CHECKING:
    from heldout.experiment.results.results import Results

SIDES: Final = {
    "training data": ("mean", "low", "high"),
    "held-out data": ("test", "test_low", "test_high"),
}
FOLDS: Final = ("times", "folds that selected it", ",d")


def tuning(results: Results, system: str) -> draw.Chart:
    """A curve for one parameter, a heat map for two; for more, the best over the others.

    Parameters are drawn as p0, p1, …: Vega reads some characters of a name as a path.
    """
    measure, splits = (results.manifest["settings"][name] for name in ("tune_for", "splits"))
    frame, axes = _settings(results, system)
    up, on_training = is_up(results, measure), f"{measure} on the training data"
    if len(axes) == 1:
        drawing = _curve(frame, axes[0], measure)
        caption = f"Mean {measure} over the folds; bands: their range."
        if frame["held_out"].count():
            value = frame["held_out"][0]
            caption += f" Dashed: held-out score {value:.4f} of the system tuned in the folds."
        if frame["test"].count():
            caption += " The held-out curve illustrates: choosing there would tune on test data."
    elif len(axes) == 2:
        drawing = _surface(frame, axes, measure, up=up)
        caption = f"{on_training} for each setting."
    else:
        drawing = _profiles(frame, axes, measure, up=up)
        caption = f"The best {on_training} for each value of a parameter."
    caption += (
        f" Numbers: how many of {splits} folds selected a setting. Square: selected on all data."
    )
    title = f"{system}: {measure} by {', '.join(axes)}"
    return draw.Chart("tuning", title, caption, frame, drawing)


def _settings(results: Results, system: str) -> tuple[pl.DataFrame, list[str]]:
    """One row per setting, and the parameters that vary: their columns come first."""
    settings, rows = results.manifest["settings"], results.surface
    rows = rows.filter(pl.col("mean").is_not_null(), system=system)
    if rows["number"].n_unique() < 2:
        raise InputError(f"{system} was not tuned")
    whole = pl.col("mean").filter(pl.col("repeat").is_null()).first()
    mean, test = (
        pl.col(name).filter(pl.col("repeat").is_not_null()) for name in ("mean", "held_out")
    )
    chosen = results.folds.filter(system=system)["number"].to_list()
    summary = next(entry for entry in results.summary if entry["name"] == system)
    value = None
    if not _by_document(results) and settings["tune_for"] in settings["measures"]:
        value = results.estimate(system, settings["tune_for"])["value"]
    frame = rows.group_by("number").agg(
        pl.first("parameters"),
        mean=pl.coalesce(mean.mean(), whole),
        low=pl.coalesce(mean.min(), whole),
        high=pl.coalesce(mean.max(), whole),
        whole=whole,
        test=test.mean(),
        test_low=test.min(),
        test_high=test.max(),
        times=pl.first("number").map_elements(chosen.count, pl.Int64),
        shipped=pl.first("number") == summary["ship_number"],
        held_out=pl.lit(value, pl.Float64),
    )
    frame = frame.sort("number")
    points = [json.loads(text) for text in frame["parameters"]]
    columns = {name: [point.get(name) for point in points] for point in points for name in point}
    columns = {name: own for name, own in columns.items() if len(set(map(json.dumps, own))) > 1}
    parameters = pl.DataFrame(columns, strict=False)  # values may be of several types
    return parameters.hstack(frame.drop("number", "parameters")), list(columns)


def _by_document(results: Results) -> bool:
    """Whether a fold is a smaller collection, whose scores are not comparable with the others."""
    return results.manifest["settings"]["by"] in {"document", "both"}


def _axis(kind: type, frame: pl.DataFrame, column: str, name: str) -> Any:
    """An axis with the values of a parameter: numbers are sorted, upwards on both axes."""
    order = "ascending" if kind is alt.X else "descending"
    sort = order if frame[column].dtype.is_numeric() else None
    return kind(f"{column}:O", title=name, sort=sort, axis=alt.Axis(labelAngle=0))


def _badges(frame: pl.DataFrame, **encoding: Any) -> list[Any]:
    """How many folds selected a setting, in a disc; in a square if selected on all data."""
    shape = pl.when("shipped").then(pl.lit("square")).otherwise(pl.lit("circle")).alias("shape")
    chosen = frame.filter(pl.col("shipped") | (pl.col("times") > 0)).with_columns(shape)
    base = draw.data(chosen).encode(**encoding)
    discs = base.mark_point(style="badge", size=420, strokeWidth=1.5)
    texts = base.mark_text(style="label", fontSize=11, fontWeight="bold")
    # Without a scale: lines may have another one for their points.
    return [discs.encode(shape=alt.Shape("shape:N", scale=None)), texts.encode(text="times:Q")]


def _curve(frame: pl.DataFrame, name: str, measure: str) -> Any:
    shown, held_out = frame.rename({name: "p0"}), frame["held_out"][0]
    x = _axis(alt.X, shown, "p0", name)
    if frame[name].dtype.is_numeric() and not frame[name].has_nulls():
        factors = 0 < 100 * min(frame[name]) <= max(frame[name])
        kind = {"type": "log"} if factors else {"zero": False}
        x = alt.X("p0:Q", title=name, scale=alt.Scale(nice=False, padding=16, **kind))
    sides = {side: names for side, names in SIDES.items() if frame[names[0]].count()}
    long = pl.concat(
        shown.with_columns(pl.lit(side).alias("side"), score=mean, minimum=low, maximum=high)
        for side, (mean, low, high) in sides.items()
    )
    formats = dict.fromkeys(("score", "minimum", "maximum", "whole"), ".4f")
    hover = [*draw.tips(("p0", name), "side", **formats), *draw.tips(FOLDS)]
    y = alt.Y("score:Q", title=measure, scale=alt.Scale(zero=False, padding=16))
    legend = alt.Legend(symbolType="stroke", symbolStrokeWidth=2)
    colour = draw.look(alt.Color, "side", list(sides), legend=legend)
    base = draw.data(long).encode(x=x, y=y, color=colour, tooltip=hover)
    dashes = draw.look(alt.StrokeDash, "side", list(sides), [1, 0], [5, 4])
    return draw.layers(
        base.mark_area(opacity=0.18).encode(y=alt.Y("minimum:Q", title=measure), y2="maximum:Q"),
        base.mark_line(point=True).encode(strokeDash=dashes),
        *([] if held_out is None else [draw.reference(y=held_out)]),
        *_badges(shown, x=x, y=alt.Y("mean:Q"), tooltip=draw.tips(("p0", name), FOLDS, mean=".4f")),
        height=260,
    )


def _surface(frame: pl.DataFrame, axes: list[str], measure: str, *, up: bool) -> Any:
    first, second = sorted(axes, key=lambda name: -frame[name].n_unique())  # the longer across
    shown, title = frame.rename({first: "p0", second: "p1"}), f"{measure} on training data"
    encoding = {
        "x": _axis(alt.X, shown, "p0", first),
        "y": _axis(alt.Y, shown, "p1", second),
        "tooltip": draw.tips(("p0", first), ("p1", second), ("mean", measure, ".4f"), FOLDS),
    }
    scale, legend = alt.Scale(zero=False, reverse=not up), alt.Legend(titleOrient="top")
    colour = alt.Color("mean:Q", title=title, scale=scale, legend=legend)
    cells = draw.data(shown).mark_rect().encode(**encoding, color=colour)
    height = 40 * max(frame[second].n_unique(), 2)
    return draw.layers(cells, *_badges(shown, **encoding), height=height)


def _profiles(frame: pl.DataFrame, axes: list[str], measure: str, *, up: bool) -> Any:
    """For each value of each parameter the best score over the others."""
    best = pl.col("mean").max() if up else pl.col("mean").min()
    charts = []
    for name in axes:
        groups = frame.rename({name: "p0"}).group_by("p0", maintain_order=True)
        part = groups.agg(best, pl.col("times").sum(), pl.col("shipped").any())
        title = f"best {measure} on training data" if name == axes[0] else None
        encoding = {
            "x": _axis(alt.X, part, "p0", name),
            "y": alt.Y("mean:Q", title=title, scale=alt.Scale(zero=False, padding=16)),
            "tooltip": draw.tips(("p0", name), ("mean", measure, ".4f"), FOLDS),
        }
        line = draw.data(part).mark_line(point=True).encode(**encoding)
        width = max(140, draw.WIDTH // len(axes) - 30)
        charts.append(draw.layers(line, *_badges(part, **encoding), height=220, width=width))
    return alt.hconcat(*charts).resolve_scale(y="shared")


def optimism(results: Results, measure: str) -> draw.Chart:
    """Training and held-out scores of each tuned system: of its comparable splits, and of all."""
    tune_for = results.manifest["settings"]["tune_for"]
    if results.task != "ranking":  # inner folds have only the measure that was tuned for
        measure = tune_for
    names = [entry["name"] for entry in results.summary if entry["tuned"]]
    rows: list[tuple[Any, ...]] = []
    for name in names:
        folds = results.folds.filter(system=name).drop_nulls(["train", "held_out"])
        if measure != tune_for or _by_document(results):
            folds = folds.clear()
        split = pl.format("r{}/f{}", "repeat", "fold")
        rows += [(name, *row) for row in folds.select(split, "train", "held_out").rows()]
        estimate = results.estimate(name, measure)
        train, held_out = estimate.get("train"), estimate["value"]
        if "train" not in estimate:  # of estimators the means over their splits
            train, held_out = folds["train"].mean(), folds["held_out"].mean()
        if train is not None and held_out is not None:
            rows.append((name, None, train, held_out))
    if not rows:
        raise InputError("no system was tuned, or there is no training score")
    frame = draw.table("system split seen held_out", rows)
    frame = frame.with_columns(gap=pl.col("seen") - pl.col("held_out"))
    sides = {"held out": "held_out", "training": "seen"}
    long = pl.concat(
        frame.with_columns(side=pl.lit(side), score=column, all=pl.col("split").is_null())
        for side, column in sides.items()
    )
    scale = draw.padded([*frame["seen"], *frame["held_out"]])
    y = alt.Y("system:N", sort=frame["system"].unique(maintain_order=True).to_list(), title=None)
    numbers = (("seen", "training", ".4f"), ("gap", "training − held out", "+.4f"))
    points = draw.data(long).encode(
        x=alt.X("score:Q", title=measure, scale=scale),
        y=y,
        shape=draw.look(alt.Shape, "side", list(sides), "circle", "diamond"),
        color=draw.look(alt.Color, "side", list(sides)),
        tooltip=draw.tips("system", "split", *numbers, held_out=".4f"),
    )
    whole = frame.filter(pl.col("split").is_null())
    labels = whole.with_columns(label=pl.Series(map(draw.signed, whole["gap"]), dtype=pl.String))
    base = draw.data(labels).encode(y=y)
    drawing = draw.layers(
        base.mark_rule(style="faint").encode(x="seen:Q", x2="held_out:Q"),
        points.transform_filter("!datum.all").mark_point(size=35, opacity=0.4),
        points.transform_filter("datum.all").mark_point(size=150),
        draw.at_right(base, "label"),
        height=40 * max(len(names), 2),
    )
    caption = (
        f"{measure} on held-out data (circle) and on the data used for tuning (diamond). The "
        "number is their difference, the optimism of the training score."
    )
    caption += " Small points: single folds." if frame["split"].count() else ""
    return draw.Chart("optimism", "Training and held-out scores", caption, frame, drawing)
