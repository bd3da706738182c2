"""Scores by parameters, and the settings that were selected in folds."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import altair as alt
import polars as pl

from heldout.errors import InputError
from heldout.report.charts.builders import colours, drawing, tip
from heldout.report.charts.marks import inline, rows_height
from heldout.report.charts.theme import WIDTH

if TYPE_CHECKING:
    from heldout.experiment.results.results import Results
    from heldout.report.charts.named import Drawing

__all__ = ["draw_tuning", "has_held_out_line", "has_test_curve", "tuned_axes", "tuning_data"]

_TRAINING: Final = "training data"
_HELD_OUT: Final = "held-out data"


def tuning_data(results: Results, system: str) -> pl.DataFrame:
    """Return one row per setting.

    Parameters
    ----------
    results
        With a surface.
    system
        A tuned system.

    Returns
    -------
    polars.DataFrame
        One column per parameter that varies; mean, low and high (mean, minimum and maximum of the
        training scores of the splits), whole (score on all data; null if not known), test,
        test_low and test_high (mean, minimum and maximum of the scores of the setting on the
        held-out sides; null if not known), times (number of splits that selected the setting),
        shipped (whether it was selected on all data), held_out (the held-out score of the system as
        tuned in the splits; the same in all rows, and null if it is not comparable with training
        scores).
    """
    rows = results.surface.filter((pl.col("system") == system) & pl.col("mean").is_not_null())
    if rows["number"].n_unique() < 2:
        raise InputError(f"{system} was not tuned")
    summary = next(one for one in results.summary if one["name"] == system)
    chosen = results.folds.filter(pl.col("system") == system)["number"].to_list()
    parameters = dict(rows.select("number", "parameters").iter_rows())
    points = {number: json.loads(text) for number, text in parameters.items()}
    names, held_out = _varying(list(points.values())), _held_out(results, system)
    found = []
    for number, point in sorted(points.items()):
        own = rows.filter(pl.col("number") == number)
        whole = own.filter(pl.col("repeat").is_null())["mean"].to_list()
        parts = own.filter(pl.col("repeat").is_not_null())
        splits = parts["mean"].to_list() or whole
        found.append(
            {
                **{name: point.get(name) for name in names},
                "mean": sum(splits) / len(splits),
                "low": min(splits),
                "high": max(splits),
                "whole": whole[0] if whole else None,
                "test": parts["held_out"].mean(),
                "test_low": parts["held_out"].min(),
                "test_high": parts["held_out"].max(),
                "times": chosen.count(number),
                "shipped": number == summary["ship_number"],
                "held_out": held_out,
            }
        )
    return pl.DataFrame(found, infer_schema_length=None, strict=False)


def _held_out(results: Results, system: str) -> float | None:
    """The held-out score by the measure that was tuned for, where queries or rows are held out."""
    settings = results.manifest["settings"]
    if settings["by"] in {"document", "both"} or settings["tune_for"] not in settings["measures"]:
        return None
    value = results.estimate(system, settings["tune_for"])["value"]
    return None if value is None else float(value)


def _varying(points: list[dict[str, Any]]) -> list[str]:
    """The parameters that vary."""
    names = dict.fromkeys(name for point in points for name in point)
    return [name for name in names if len({json.dumps(point.get(name)) for point in points}) > 1]


def tuned_axes(frame: pl.DataFrame) -> list[str]:
    """The parameters of a frame of `tuning_data`."""
    own = {"mean", "low", "high", "whole", "times", "shipped", "held_out"}
    own |= {"test", "test_low", "test_high"}
    return [name for name in frame.columns if name not in own]


def has_test_curve(frame: pl.DataFrame) -> bool:
    """Whether a frame of `tuning_data` has the scores of each setting on held-out data."""
    return "test" in frame.columns and bool(frame["test"].is_not_null().any())


def has_held_out_line(frame: pl.DataFrame) -> bool:
    """Whether a frame of `tuning_data` has a held-out score to compare its curves with."""
    return "held_out" in frame.columns and frame["held_out"][0] is not None


def draw_tuning(
    frame: pl.DataFrame, *, measure: str = "score", higher_is_better: bool = True
) -> Drawing:
    """Draw a curve for one parameter, a heat map for two, profiles for three or more.

    Parameters
    ----------
    frame
        Of `tuning_data`.
    measure
        The measure that was tuned for.
    higher_is_better
        Its direction.
    """
    axes = tuned_axes(frame)
    if len(axes) == 1:
        return _curve(frame, axes[0], measure)
    if len(axes) == 2:
        return _surface(frame, axes, measure, higher_is_better=higher_is_better)
    return _profiles(frame, axes, measure, higher_is_better=higher_is_better)


def _is_number(frame: pl.DataFrame, name: str) -> bool:
    return bool(frame[name].dtype.is_numeric() and not frame[name].has_nulls())


def _in_words(frame: pl.DataFrame, axes: list[str]) -> pl.DataFrame:
    """The frame with the parameters as texts p0, p1, …: a name may have any character."""
    return frame.with_columns(
        pl.Series(f"p{at}", [_shown(value) for value in frame[name].to_list()], pl.String)
        for at, name in enumerate(axes)
    )


def _shown(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _order(frame: pl.DataFrame, name: str) -> list[str]:
    """The values of a parameter as texts; numbers are sorted."""
    values = list(dict.fromkeys(frame[name].to_list()))
    return [_shown(one) for one in (sorted(values) if _is_number(frame, name) else values)]


def _worded(frame: pl.DataFrame, name: str) -> alt.X:
    """An axis with the values of a parameter as texts."""
    return alt.X("p0:N", title=name, sort=_order(frame, name), axis=alt.Axis(labelAngle=0))


def _logarithmic(values: list[float]) -> bool:
    """Whether numbers grow by factors rather than by steps."""
    known = sorted(set(values))
    if len(known) < 3 or known[0] <= 0:
        return False
    steps = [later - sooner for sooner, later in pairwise(known)]
    factors = [math.log(later / sooner) for sooner, later in pairwise(known)]
    return max(factors) / min(factors) < max(steps) / min(steps)


def _badges(frame: pl.DataFrame, x: alt.X, y: alt.Y, hover: list[alt.Tooltip]) -> list[alt.Chart]:
    """How many folds selected a setting, in a disc; in a square if selected on all data."""
    layers: list[alt.Chart] = []
    for shape, shipped in (("circle", False), ("square", True)):
        part = frame.filter(
            (pl.col("shipped") == shipped) & ((pl.col("times") > 0) | pl.col("shipped"))
        )
        if not len(part):
            continue
        base = alt.Chart(inline(part)).encode(x=x, y=y, tooltip=hover)
        layers.append(base.mark_point(style="badge", shape=shape, size=420, filled=True))
        layers.append(
            base.mark_text(style="label", fontSize=11, fontWeight="bold").encode(text="times:Q")
        )
    return layers


def _curve(frame: pl.DataFrame, name: str, measure: str) -> Drawing:
    drawn = _in_words(frame, [name])
    x: alt.X
    if _is_number(frame, name):
        values = [float(one) for one in frame[name].to_list()]
        drawn = drawn.with_columns(pl.Series("value", values))
        across = alt.Scale(zero=False, nice=False, padding=16)
        if _logarithmic(values):
            across = alt.Scale(type="log", nice=False, padding=16)
        x = alt.X("value:Q", title=name, scale=across)
    else:
        x = _worded(frame, name)
    both = has_test_curve(frame)
    title = measure if both else f"{measure} on training data"
    y = alt.Y("mean:Q", title=title, scale=alt.Scale(zero=False, padding=16))
    hover = tip(
        ("p0:N", name),
        ("mean:Q", f"{measure} on training data" if both else measure, ".4f"),
        ("low:Q", "minimum over folds", ".4f"),
        ("high:Q", "maximum over folds", ".4f"),
        ("whole:Q", "on all data", ".4f"),
        *([("test:Q", "on held-out data", ".4f")] if both else []),
        ("times:Q", "folds that selected it"),
    )
    base = alt.Chart(inline(drawn)).encode(x=x, tooltip=hover)
    curve = _curve_layers(base, ("mean", "low", "high"), title, _TRAINING if both else None)
    if both:
        test = _curve_layers(base, ("test", "test_low", "test_high"), title, _HELD_OUT)
        curve = [test[0], curve[0], curve[1], test[1]]  # bands behind lines
    words = (
        f"{measure} as a function of {name} on training data, the range over the folds, and how "
        "many folds selected each value."
    )
    if has_held_out_line(frame):
        words += " A line is at the held-out score."
    if both:
        words += " A second curve has the scores of each value on held-out data."
    layers = [*curve, *_held_out_line(frame), *_badges(drawn, x, y, hover)]
    return drawing(layers, words, 260)


def _curve_layers(
    base: alt.Chart, columns: tuple[str, str, str], title: str, name: str | None
) -> list[alt.Chart]:
    """A band, and a line; with a name they get a colour and an entry of the legend."""
    middle, low, high = columns
    band = base.mark_area(opacity=0.18).encode(
        y=alt.Y(f"{low}:Q", title=title, scale=alt.Scale(zero=False)), y2=f"{high}:Q"
    )
    dash = [5, 4] if name == _HELD_OUT else [1, 0]
    shape = "diamond" if name == _HELD_OUT else "circle"
    line = base.mark_line(strokeDash=dash, point=alt.OverlayMarkDef(shape=shape)).encode(
        y=alt.Y(f"{middle}:Q", title=title, scale=alt.Scale(zero=False, padding=16))
    )
    if name is None:
        return [band, line]
    legend = alt.Legend(symbolType="stroke", symbolStrokeWidth=2, symbolOpacity=1)
    colour = colours("curve", [_TRAINING, _HELD_OUT], legend=legend)
    return [one.transform_calculate(curve=repr(name)).encode(color=colour) for one in (band, line)]


def _held_out_line(frame: pl.DataFrame) -> list[alt.Chart]:
    """A line at the held-out score, with its value; nothing if it is not known."""
    if not has_held_out_line(frame):
        return []
    base = alt.Chart(inline(frame.select("held_out").head(1))).encode(y="held_out:Q")
    shown = f"held-out {frame['held_out'][0]:.4f}"
    # On the side where no setting was selected, so that no number is covered.
    chosen = [at for at, times in enumerate(frame["times"].to_list()) if times]
    left = 2 * sum(chosen) >= len(chosen) * (len(frame) - 1)
    words = base.mark_text(style="label", align="left" if left else "right", dy=-8)
    return [
        base.mark_rule(style="reference", strokeWidth=1),
        words.encode(x=alt.value(6 if left else WIDTH), text=alt.value(shown)),
    ]


def _surface(
    frame: pl.DataFrame, axes: list[str], measure: str, *, higher_is_better: bool
) -> Drawing:
    # The longer axis goes across.
    first, second = sorted(axes, key=lambda name: -frame[name].n_unique())
    drawn = _in_words(frame, [first, second])
    x = _worded(frame, first)
    y = alt.Y("p1:N", title=second, sort=_order(frame, second)[::-1])
    hover = tip(
        ("p0:N", first),
        ("p1:N", second),
        ("mean:Q", measure, ".4f"),
        ("times:Q", "folds that selected it"),
    )
    cells = (
        alt.Chart(inline(drawn))
        .mark_rect()
        .encode(
            x=x,
            y=y,
            color=alt.Color(
                "mean:Q",
                title=f"{measure} on training data",
                scale=alt.Scale(zero=False, reverse=not higher_is_better),
                legend=alt.Legend(gradientLength=150, titleOrient="top"),
            ),
            tooltip=hover,
        )
    )
    words = (
        f"{measure} on training data for every {first} and {second}, and how many folds selected "
        "each pair."
    )
    layers = [cells, *_badges(drawn, x, y, hover)]
    return drawing(layers, words, rows_height(frame[second].n_unique(), 40))


def _profiles(
    frame: pl.DataFrame, axes: list[str], measure: str, *, higher_is_better: bool
) -> Drawing:
    """For each value of each parameter the best score over the others."""
    best = pl.col("mean").max() if higher_is_better else pl.col("mean").min()
    charts = []
    for name in axes:
        spelt = _in_words(frame, [name])
        part = spelt.group_by("p0", maintain_order=True).agg(
            best, pl.col("times").sum(), pl.col("shipped").any()
        )
        x = _worded(frame, name)
        y = alt.Y(
            "mean:Q",
            title=f"best {measure} on training data" if name == axes[0] else None,
            scale=alt.Scale(zero=False, padding=16),
        )
        hover = tip(
            ("p0:N", name), ("mean:Q", measure, ".4f"), ("times:Q", "folds that selected it")
        )
        line = alt.Chart(inline(part)).mark_line(point=True).encode(x=x, y=y, tooltip=hover)
        charts.append(
            alt.layer(line, *_badges(part, x, y, hover)).properties(
                width=max(140, WIDTH // len(axes) - 30), height=220
            )
        )
    words = (
        f"For each value of each parameter the best {measure} on training data over the other "
        "parameters, and how many folds selected it."
    )
    shared: alt.HConcatChart = alt.hconcat(*charts, description=words).resolve_scale(y="shared")
    return shared
