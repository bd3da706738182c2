"""Charts of predicted classes: ROC, precision and recall, calibration."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, Literal

import altair as alt
import numpy as np
import polars as pl

from heldout.data.predictions import positive_number
from heldout.infer.intervals import wilson
from heldout.measure.base import definitions
from heldout.measure.prediction.curves import curves, roc_hull
from heldout.measure.prediction.probabilities import calibration_bins
from heldout.notes import count_of
from heldout.report.charts import draw

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.data.predictions import ClassPredictions

MOST_POINTS: Final = 400  # of a curve that are drawn
SIZE, SMALL = 360, 210  # of one chart, and of each panel if there are several
CURVES: Final = {  # title, columns of both axes and of the area, name of the area, how to read it
    "roc": (
        "ROC curves and convex hull",
        ("fp_rate", "tp_rate", "auc"),
        ("false positive rate", "true positive rate", "AUC"),
        (
            "Wide grey line: convex hull, reached by mixing systems at random; a system that is "
            "below it everywhere is never the best choice. Dashed: random guessing."
        ),
    ),
    "precision-recall": (
        "Precision and recall",
        ("recall", "precision", "average_precision"),
        ("recall", "precision", "average precision"),
        "Dashed: the share of positive rows, the precision of random guessing.",
    ),
}


def curve(
    key: Literal["roc", "precision-recall"],
    several: Sequence[ClassPredictions],
    positive: str | None = None,
) -> draw.Chart:
    """ROC or precision-recall curves of the systems; of three or more classes a panel for each."""
    title, (across, up, area_column), (x_title, y_title, area_name), reading = CURVES[key]
    classes, roc = several[0].classes, key == "roc"
    rows: list[tuple[Any, ...]] = []
    names = [positive] if positive else classes[-1:] if len(classes) == 2 else classes
    for name in names:
        lines = curves(several, name)
        hull = roc_hull(lines)
        corners = {point[:2] for point in hull.points}
        precision = definitions("classification")["average-precision"].make({"class": name})
        for system, line in zip(several, lines.values(), strict=True):
            share = float(line.true[-1] / (line.true[-1] + line.false[-1]))
            rates = (line.fp_rate, line.tp_rate) if roc else (line.tp_rate, line.precision)
            area = line.area if roc else precision.compute(system)
            # Both ends, the hull and others evenly spaced: only corners of the hull can be optimal,
            # also on a precision-recall curve (Davis & Goadrich 2006, ICML).
            reached = zip(line.fp_rate.tolist(), line.tp_rate.tolist(), strict=True)
            evenly = np.linspace(0, len(line.thresholds) - 1, MOST_POINTS).round().astype(np.int64)
            drawn = np.union1d(evenly, np.flatnonzero([rate in corners for rate in reached]))
            for a, b, mark in np.column_stack([*rates, line.thresholds])[drawn].tolist():
                if math.isfinite(b):  # there is no precision where nothing is positive
                    threshold = mark if math.isfinite(mark) else None
                    rows.append((name, system.name, False, a, b, threshold, area, share))
        ends = hull.points if roc else ()
        rows += [(name, "convex hull", True, *end[:2], None, hull.area, None) for end in ends]
    columns = f"positive system hull {across} {up} threshold {area_column} share"
    frame = draw.table(columns, rows)
    alone = len(names) == 1
    labels = [  # colours are not the only distinction: labels have the area, too
        f"{name} ({area_name} {area:.3f})" if alone else name
        for name, area in frame["system", area_column].iter_rows()
    ]
    shown = frame.with_columns(label=pl.Series(labels), order=pl.int_range(pl.len()))
    listed = shown.filter(~pl.col("hull"))["label"].unique(maintain_order=True).to_list()
    x = alt.X(f"{across}:Q", title=x_title, scale=draw.UNIT)
    y = alt.Y(f"{up}:Q", title=y_title, scale=draw.UNIT)
    formats = {across: ".3f", up: ".3f", "threshold": ".4g", area_column: ".4f"}
    legend = alt.Legend(columns=1, symbolType="stroke", symbolStrokeWidth=2)
    front = alt.Chart().mark_line(interpolate="linear" if roc else "step-before")
    front = front.transform_filter("!datum.hull").encode(
        x=x,
        y=y,
        order="order:Q",
        color=draw.look(alt.Color, "label", listed, legend=legend),
        strokeDash=draw.look(alt.StrokeDash, "label", listed),
        tooltip=draw.tips("system", **formats),
    )
    if roc:
        edge = alt.Chart().mark_line(style="hull").encode(x=x, y=y, order="order:Q")
        back = [draw.diagonal(x, y), edge.transform_filter("datum.hull")]
    else:
        chance = alt.Chart().mark_rule(style="reference", strokeWidth=1)
        back = [chance.encode(y=alt.Y("mean(share):Q", title=y_title, scale=draw.UNIT))]
    drawing = draw.panels(*back, front, frame=shown, by="positive", sizes=(SIZE, SMALL))
    about = f"Positive class: {names[0]}" if alone else "One panel per class against all others"
    caption = f"{about}. {count_of(len(several[0].units), 'held-out row')}. {reading}"
    return draw.Chart(key, title, caption, frame.drop("share" if roc else "hull"), drawing)


def calibration(several: Sequence[ClassPredictions], positive: str | None = None) -> draw.Chart:
    """Observed frequency by predicted probability, in bins of equal width."""
    rows, classes = [], several[0].classes
    for system in several:
        scores = np.asarray(system.scores)
        picked = scores.argmax(axis=1)
        if positive or len(classes) == 2:  # else the predicted class
            picked[:] = positive_number(classes, positive)
        sure, right = scores[np.arange(len(picked)), picked], system.truth == picked
        for *bin_of, units, confidence, share in calibration_bins(sure, right):
            _, low, high, *_ = wilson(round(share * units), units, 0.95)
            rows.append((system.name, *bin_of, units, confidence, share, low, high))
    frame = draw.table("system from to units confidence share low high", rows)
    names = frame["system"].unique(maintain_order=True).to_list()
    x = alt.X("confidence:Q", title="predicted probability", scale=draw.UNIT)
    y = alt.Y("share:Q", title="observed frequency", scale=draw.UNIT)
    formats = {"confidence": ".3f", "share": ".3f", "units": ",", "from": ".2f", "to": ".2f"}
    colour = draw.look(alt.Color, "system", names)
    base = draw.data(frame).encode(x=x, y=y, color=colour, tooltip=draw.tips("system", **formats))
    drawing = draw.layers(
        draw.diagonal(x, y),
        base.mark_rule(strokeWidth=1.2).encode(y="low:Q", y2="high:Q"),
        base.mark_line().encode(strokeDash=draw.look(alt.StrokeDash, "system", names)),
        base.mark_point().encode(shape=draw.look(alt.Shape, "system", names)),
        height=SIZE,
        width=SIZE,
    )
    of = positive or ("the predicted class" if len(classes) > 2 else classes[-1])
    caption = (
        f"Predicted probability of {of} in ten bins, and the observed frequency with 95% "
        "confidence intervals (Wilson). Below the dashed line a system is overconfident."
    )
    return draw.Chart("calibration", "Calibration of the probabilities", caption, frame, drawing)
