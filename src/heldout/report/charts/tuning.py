"""Charts of tuning: scores by parameters, the selected settings, and the optimism of training."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import altair as alt
import polars as pl

from heldout.errors import InputError
from heldout.report.charts.draw import (
    WIDTH,
    Chart,
    colours,
    drawn,
    layers,
    numbered,
    padded,
    rows_height,
    shapes,
    signed,
    tips,
)
from heldout.report.standing import is_up

if TYPE_CHECKING:
    from heldout.experiment.results.results import Results

SIDES: Final = ("training data", "held-out data")
LOOKS: Final = {SIDES[0]: ([1, 0], "circle"), SIDES[1]: ([5, 4], "diamond")}
FOLDS: Final = ("times", "folds that selected it", ",d")


def _comparable(results: Results) -> bool:
    """Whether training and held-out scores of a split are: a fold of documents is smaller."""
    return results.manifest["settings"]["by"] not in {"document", "both"}


def tuning(results: Results, system: str, number: int = 1) -> Chart:
    """A curve for one parameter, a heat map for two; for more, the best over the others."""
    settings = results.manifest["settings"]
    measure = settings["tune_for"]
    frame, axes = _settings(results, system)
    kind = " for each setting" if len(axes) == 2 else " for each value of a parameter"
    caption = f"{'The best ' * (len(axes) > 2)}{measure} on the training data{kind}."
    if len(axes) == 1:
        drawing = _curve(frame, axes[0], measure)
        caption = f"{measure} on the training data; the band is the range over the folds."
        if frame["test"].is_not_null().any():
            caption = (
                f"Mean {measure} over the folds; the bands are their range. The held-out curve is "
                "for illustration: choosing there would be tuning on test data."
            )
        if frame["held_out"][0] is not None:
            caption += " Horizontal line: held-out score of the system tuned in the folds."
    elif len(axes) == 2:
        drawing = _surface(frame, axes, measure, up=is_up(results, measure))
    else:
        drawing = _profiles(frame, axes, measure, up=is_up(results, measure))
    caption += (
        f" Numbers: how many of {settings['splits']} folds selected a setting. Square: selected on "
        "all data."
    )
    title = f"{system}: {measure} by {', '.join(axes)}"
    return Chart(numbered("tuning", number), title, caption, frame, drawing)


def _settings(results: Results, system: str) -> tuple[pl.DataFrame, list[str]]:
    """One row per setting, and the parameters that vary: their columns come first."""
    settings = results.manifest["settings"]
    rows = results.surface.filter(pl.col("mean").is_not_null(), system=system)
    if rows["number"].n_unique() < 2:
        raise InputError(f"{system} was not tuned")
    mean, held_out = (
        pl.col(name).filter(pl.col("repeat").is_not_null()) for name in ("mean", "held_out")
    )
    whole = pl.col("mean").filter(pl.col("repeat").is_null()).first()
    scores = rows.group_by("number").agg(
        pl.first("parameters"),
        mean=pl.coalesce(mean.mean(), whole),
        low=pl.coalesce(mean.min(), whole),
        high=pl.coalesce(mean.max(), whole),
        whole=whole,
        test=held_out.mean(),
        test_low=held_out.min(),
        test_high=held_out.max(),
    )
    scores = scores.sort("number")
    points = [json.loads(text) for text in scores["parameters"]]
    names = dict.fromkeys(name for point in points for name in point)
    axes = [n for n in names if len({json.dumps(point.get(n)) for point in points}) > 1]
    columns = {name: [point.get(name) for point in points] for name in axes}
    chosen = results.folds.filter(system=system)["number"].to_list()
    summary = next(entry for entry in results.summary if entry["name"] == system)
    value = None
    if _comparable(results) and settings["tune_for"] in settings["measures"]:
        value = results.estimate(system, settings["tune_for"])["value"]
    frame = scores.drop("number", "parameters").with_columns(
        times=pl.Series([chosen.count(number) for number in scores["number"]]),
        shipped=scores["number"] == summary["ship_number"],
        held_out=pl.lit(value, pl.Float64),
    )
    # The values of a parameter may be of several types.
    return pl.concat([pl.DataFrame(columns, strict=False), frame], how="horizontal"), axes


def _in_words(frame: pl.DataFrame, axes: list[str]) -> pl.DataFrame:
    """The frame with the parameters as texts p0, p1, …: a name may have any character."""
    return frame.with_columns(
        pl.Series(f"p{place}", [_shown(value) for value in frame[name]], pl.String)
        for place, name in enumerate(axes)
    )


def _shown(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _order(frame: pl.DataFrame, name: str) -> list[str]:
    """The values of a parameter as texts; numbers are sorted."""
    values = list(dict.fromkeys(frame[name]))
    return [_shown(value) for value in (sorted(values) if _is_number(frame, name) else values)]


def _is_number(frame: pl.DataFrame, name: str) -> bool:
    return frame[name].dtype.is_numeric() and not frame[name].has_nulls()


def _worded(frame: pl.DataFrame, name: str) -> alt.X:
    """An axis with the values of a parameter as texts."""
    return alt.X("p0:N", title=name, sort=_order(frame, name), axis=alt.Axis(labelAngle=0))


def _badges(frame: pl.DataFrame, x: alt.X, y: alt.Y, hover: list[alt.Tooltip]) -> list[alt.Chart]:
    """How many folds selected a setting, in a disc; in a square if selected on all data."""
    parts = []
    for shape, shipped in (("circle", False), ("square", True)):
        part = frame.filter(pl.col("times") > 0 if not shipped else True, shipped=shipped)
        base = drawn(part).encode(x=x, y=y, tooltip=hover)
        words = base.mark_text(style="label", fontSize=11, fontWeight="bold")
        if len(part):
            parts += [base.mark_point(style="badge", shape=shape, size=420, filled=True)]
            parts += [words.encode(text="times:Q")]
    return parts


def _curve(frame: pl.DataFrame, name: str, measure: str) -> alt.LayerChart:
    shown, x = _in_words(frame, [name]), _worded(frame, name)
    if _is_number(frame, name):
        values = [float(value) for value in frame[name]]
        kind = "log" if _logarithmic(values) else "linear"
        shown = shown.with_columns(value=pl.Series(values))
        x = alt.X(
            "value:Q", title=name, scale=alt.Scale(type=kind, zero=False, nice=False, padding=16)
        )
    both, line = bool(frame["test"].is_not_null().any()), frame["held_out"][0]
    title = measure if both else f"{measure} on training data"
    scale = alt.Scale(zero=False, padding=16)
    tests = [("test", f"{measure} on held-out data", ".4f")] if both else []
    hover = tips(
        ("p0", name),
        ("mean", f"{measure} on training data", ".4f"),
        ("low", "minimum over folds", ".4f"),
        ("high", "maximum over folds", ".4f"),
        ("whole", "on all data", ".4f"),
        *tests,
        FOLDS,
    )
    base = drawn(shown).encode(x=x, tooltip=hover)
    legend = alt.Legend(symbolType="stroke", symbolStrokeWidth=2, symbolOpacity=1)
    bands, lines = [], []
    columns = (("mean", "low", "high"), ("test", "test_low", "test_high"))
    for side, (middle, low, high) in list(zip(SIDES, columns, strict=True))[: 1 + both]:
        part = base
        if both:
            part = base.transform_calculate(curve=repr(side))
            part = part.encode(color=colours("curve", SIDES, legend=legend))
        dash, shape = LOOKS[side]
        y = alt.Y(f"{middle}:Q", title=title, scale=scale)
        bands.append(
            part.mark_area(opacity=0.18).encode(
                y=alt.Y(f"{low}:Q", title=title, scale=alt.Scale(zero=False)), y2=f"{high}:Q"
            )
        )
        lines.append(
            part.mark_line(strokeDash=dash, point=alt.OverlayMarkDef(shape=shape)).encode(y=y)
        )
    words = (
        f"{measure} as a function of {name} on training data, the range over the folds, and how "
        "many folds selected each value."
    )
    words += " A line is at the held-out score." if line is not None else ""
    words += " A second curve has the scores of each value on held-out data." if both else ""
    badges = _badges(shown, x, alt.Y("mean:Q", title=title, scale=scale), hover)
    return layers(*bands, *lines, *_held_out_line(frame), *badges, height=260, words=words)


def _held_out_line(frame: pl.DataFrame) -> list[alt.Chart]:
    """A line at the held-out score, with its value; nothing if it is not known."""
    if frame["held_out"][0] is None:
        return []
    base = drawn(frame.select("held_out").head(1)).encode(y="held_out:Q")
    # On the side where no setting was selected, so that no number is covered.
    chosen = [place for place, times in enumerate(frame["times"]) if times]
    left = 2 * sum(chosen) >= len(chosen) * (len(frame) - 1)
    words = base.mark_text(style="label", align="left" if left else "right", dy=-8)
    text = alt.value(f"held-out {frame['held_out'][0]:.4f}")
    x = alt.value(6) if left else alt.value("width")
    return [base.mark_rule(style="reference"), words.encode(x=x, text=text)]


def _logarithmic(values: list[float]) -> bool:
    """Whether numbers grow by factors rather than by steps."""
    known = sorted(set(values))
    if len(known) < 3 or known[0] <= 0:
        return False
    steps = [later - sooner for sooner, later in pairwise(known)]
    factors = [math.log(later / sooner) for sooner, later in pairwise(known)]
    return max(factors) / min(factors) < max(steps) / min(steps)


def _surface(frame: pl.DataFrame, axes: list[str], measure: str, *, up: bool) -> alt.LayerChart:
    first, second = sorted(axes, key=lambda name: -frame[name].n_unique())  # the longer across
    shown, x = _in_words(frame, [first, second]), _worded(frame, first)
    y = alt.Y("p1:N", title=second, sort=_order(frame, second)[::-1])
    hover = tips(("p0", first), ("p1", second), ("mean", measure, ".4f"), FOLDS)
    colour = alt.Color(
        "mean:Q",
        title=f"{measure} on training data",
        scale=alt.Scale(zero=False, reverse=not up),
        legend=alt.Legend(gradientLength=150, titleOrient="top"),
    )
    return layers(
        drawn(shown).mark_rect().encode(x=x, y=y, color=colour, tooltip=hover),
        *_badges(shown, x, y, hover),
        height=rows_height(frame[second].n_unique(), 40),
        words=f"{measure} on training data for every {first} and {second}, and how many folds "
        "selected each pair.",
    )


def _profiles(frame: pl.DataFrame, axes: list[str], measure: str, *, up: bool) -> alt.HConcatChart:
    """For each value of each parameter the best score over the others."""
    best = pl.col("mean").max() if up else pl.col("mean").min()
    charts = []
    for name in axes:
        part = _in_words(frame, [name]).group_by("p0", maintain_order=True)
        part = part.agg(best, pl.col("times").sum(), pl.col("shipped").any())
        x = _worded(frame, name)
        title = f"best {measure} on training data" if name == axes[0] else None
        y = alt.Y("mean:Q", title=title, scale=alt.Scale(zero=False, padding=16))
        hover = tips(("p0", name), ("mean", measure, ".4f"), FOLDS)
        line = drawn(part).mark_line(point=True).encode(x=x, y=y, tooltip=hover)
        sizes = {"width": max(140, WIDTH // len(axes) - 30), "height": 220}
        charts.append(alt.layer(line, *_badges(part, x, y, hover)).properties(**sizes))
    words = (
        f"For each value of each parameter the best {measure} on training data over the other "
        "parameters, and how many folds selected it."
    )
    return alt.hconcat(*charts, description=words).resolve_scale(y="shared")


def optimism(results: Results, measure: str) -> Chart:
    """Training and held-out scores of each tuned system: of its comparable splits, and of all."""
    settings = results.manifest["settings"]
    if results.task != "ranking":  # inner folds have only the measure that was tuned for
        measure = settings["tune_for"]
    rows = [
        row
        for entry in results.summary
        if entry["tuned"]
        for row in _training_scores(results, entry["name"], measure)
    ]
    if not rows:
        raise InputError("no system was tuned, or there is no training score")
    schema = {"system": pl.String, "split": pl.String, "seen": pl.Float64, "held_out": pl.Float64}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    frame = frame.with_columns(gap=pl.col("seen") - pl.col("held_out"))
    order = frame["system"].unique(maintain_order=True).to_list()
    whole, sides = frame.filter(pl.col("split").is_null()), ["held out", "training"]
    long = pl.concat(
        frame.with_columns(side=pl.lit(side), score=pl.col(column), all=pl.col("split").is_null())
        for side, column in zip(sides, ("held_out", "seen"), strict=True)
    )
    scale = padded([*frame["seen"], *frame["held_out"]])
    scores = (("seen", "training", ".4f"), ("held_out", "held out", ".4f"))
    y = alt.Y("system:N", sort=order, title=None)
    points = drawn(long).encode(
        x=alt.X("score:Q", title=measure, scale=scale),
        y=y,
        shape=shapes("side", sides, ["circle", "diamond"]),
        color=colours("side", sides),
        tooltip=tips("system", "split", *scores, ("gap", "training − held out", "+.4f")),
    )
    gaps = whole.with_columns(
        label=pl.Series([signed(gap) for gap in whole["gap"]], dtype=pl.String)
    )
    base = drawn(gaps).encode(y=y)
    drawing = layers(
        base.mark_rule(style="faint").encode(
            x=alt.X("seen:Q", title=measure, scale=scale), x2="held_out:Q"
        ),
        points.transform_filter("!datum.all").mark_point(size=35, opacity=0.4),
        points.transform_filter("datum.all").mark_point(size=150),
        base.mark_text(style="label", align="left", dx=8).encode(
            x=alt.value("width"), text="label:N"
        ),
        height=rows_height(len(order), 40),
        words=f"{measure} of each tuned system on the data used for tuning and on held-out data; "
        "the number is their difference.",
    )
    caption = (
        f"{measure} on held-out data (circle) and on the data used for tuning (diamond). The "
        "number is their difference, the optimism of the training score."
    )
    caption += " Small points: single folds." if frame["split"].count() else ""
    return Chart("optimism", "Training and held-out scores", caption, frame, drawing)


def _training_scores(
    results: Results, system: str, measure: str
) -> list[tuple[str, str | None, float, float]]:
    """Of each split, if they are comparable, and of all together."""
    splits: list[tuple[str, str | None, float, float]] = []
    if measure == results.manifest["settings"]["tune_for"] and _comparable(results):
        rows = results.folds.filter(system=system).drop_nulls(["train", "held_out"])
        columns = rows.select("repeat", "fold", "train", "held_out")
        splits = [(system, f"r{repeat}/f{fold}", *both) for repeat, fold, *both in columns.rows()]
    estimate = results.estimate(system, measure)
    if estimate.get("train") is not None and estimate["value"] is not None:
        return [*splits, (system, None, estimate["train"], estimate["value"])]
    if "train" in estimate or not splits:
        return splits
    # Of estimators the means over their splits.
    means = (sum(split[place] for split in splits) / len(splits) for place in (2, 3))  # type: ignore[misc]
    return [*splits, (system, None, *means)]  # type: ignore[list-item]
