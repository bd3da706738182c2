"""Charts of predicted classes: ROC, precision and recall, calibration."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, Literal

import altair as alt
import numpy as np
import polars as pl

from heldout.data.predictions import positive_number
from heldout.errors import InputError
from heldout.infer.intervals import wilson
from heldout.measure.base import Undefined, definitions
from heldout.measure.prediction.curves import curves, roc_hull
from heldout.measure.prediction.probabilities import calibration_bins
from heldout.notes import count_of
from heldout.report.charts.draw import (
    UNIT,
    Chart,
    colours,
    dashes,
    diagonal,
    drawn,
    layers,
    panels,
    shapes,
    tips,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.data.predictions import ClassPredictions
    from heldout.data.words import Ints
    from heldout.measure.prediction.curves import RocCurve

HULL: Final = "convex hull"
MOST_POINTS: Final = 400  # of a curve that are drawn
SIZE, SMALL = 360, 210  # of one chart, and of each panel if there are several
TITLES: Final = {
    "roc": ("ROC curves and convex hull", "false positive rate", "true positive rate", "AUC"),
    "precision-recall": ("Precision and recall", "recall", "precision", "average precision"),
}
COLUMNS: Final = {
    "roc": ["fp_rate", "tp_rate", "threshold", "auc"],
    "precision-recall": ["recall", "precision", "threshold", "average_precision"],
}


def _classes(several: Sequence[ClassPredictions], positive: str | None) -> list[str]:
    """The classes that curves are drawn for: the one asked for, the last of two, or each."""
    classes = several[0].classes
    return [positive] if positive else list(classes[-1:] if len(classes) == 2 else classes)


def _thinned(curve: RocCurve, corners: set[tuple[float, float]]) -> Ints:
    """The points of a curve to draw: both ends, the hull, and others evenly spaced.

    Only corners of the hull can be optimal, also on a precision-recall curve (Davis & Goadrich
    2006. The relationship between precision-recall and ROC curves. ICML).
    """
    count = len(curve.thresholds)
    if count <= MOST_POINTS:
        return np.arange(count)
    evenly = np.linspace(0, count - 1, MOST_POINTS).round().astype(np.int64)
    rates = zip(curve.fp_rate.tolist(), curve.tp_rate.tolist(), strict=True)
    return np.union1d(evenly, np.flatnonzero([rate in corners for rate in rates]))


def curve(
    key: Literal["roc", "precision-recall"],
    several: Sequence[ClassPredictions],
    positive: str | None = None,
) -> Chart:
    """ROC or precision-recall curves of the systems; of three or more classes a panel for each."""
    roc, names, rows = key == "roc", _classes(several, positive), []
    for name in names:
        found = curves(several, name)
        hull = roc_hull(found)
        corners = {point[:2] for point in hull.points}
        for system, line in zip(several, found.values(), strict=True):
            share = float(line.true[-1] / (line.true[-1] + line.false[-1]))
            x, y = (line.fp_rate, line.tp_rate) if roc else (line.tp_rate, line.precision)
            area = line.area if roc else _average_precision(system, name)
            points = np.column_stack([x, y, line.thresholds])[_thinned(line, corners)]
            rows += [
                (name, system.name, False, a, b, mark if math.isfinite(mark) else None, area, share)
                for a, b, mark in points.tolist()
                if math.isfinite(b)
            ]
        if roc:
            rows += [(name, HULL, True, *p[:2], None, hull.area, None) for p in hull.points]
    across, up, *_, area_name = columns = COLUMNS[key]
    head = ["positive", "system", "hull", *columns, "share"]
    full = pl.DataFrame(rows, schema=head, orient="row", infer_schema_length=None)
    several_classes = len(names) > 1
    title, x_title, y_title, area_title = TITLES[key]
    # Colours are not the only distinction: labels have the area, too.
    labels = [
        name if several_classes or value is None else f"{name} ({area_title} {value:.3f})"
        for name, value in full["system", area_name].iter_rows()
    ]
    shown = full.with_columns(label=pl.Series(labels), order=pl.int_range(pl.len()))
    lines = shown.filter(~pl.col("hull"))["label"].unique(maintain_order=True).to_list()
    x = alt.X(f"{across}:Q", title=x_title, scale=UNIT)
    y = alt.Y(f"{up}:Q", title=y_title, scale=UNIT)
    legend = alt.Legend(columns=1, symbolType="stroke", symbolStrokeWidth=2)
    rates = ((across, x_title, ".3f"), (up, y_title, ".3f"))
    marks = alt.Chart().mark_line(interpolate="linear" if roc else "step-before")
    front = marks.transform_filter("!datum.hull").encode(
        x=x,
        y=y,
        order="order:Q",
        color=colours("label", lines, legend=legend),
        strokeDash=dashes("label", lines),
        tooltip=tips(
            "system", *rates, ("threshold", "threshold", ".4g"), (area_name, area_title, ".4f")
        ),
    )
    if roc:
        edge = alt.Chart().mark_line(style="hull").encode(x=x, y=y, order="order:Q")
        back = [diagonal(x, y), edge.transform_filter("datum.hull")]
        words = "ROC curves, their convex hull (grey) and the line of random guessing (dashed)."
        how = (
            "Wide grey line: convex hull, reached by mixing systems at random; a system that is "
            "below it everywhere is never the best choice. Dashed: random guessing."
        )
    else:
        chance = alt.Chart().mark_rule(style="reference")
        back = [chance.encode(y=alt.Y("mean(share):Q", title=y_title, scale=UNIT))]
        words = "Precision as a function of recall; dashed: the precision of random guessing."
        how = "Dashed: the share of positive rows, the precision of random guessing."
    by, size = ("positive", SMALL) if several_classes else (None, SIZE)
    drawing = panels(*back, front, frame=shown, by=by, size=size, words=words)
    about = (
        "One panel per class against all others"
        if several_classes
        else f"Positive class: {names[0]}"
    )
    caption = f"{about}. {count_of(len(several[0].units), 'held-out row')}. {how}"
    return Chart(key, title, caption, full.drop("share" if roc else "hull"), drawing)


def _average_precision(system: ClassPredictions, positive: str) -> float | None:
    measure = definitions("classification")["average-precision"].make({"class": positive})
    value = measure.compute(system)
    return None if isinstance(value, Undefined) else value


def calibration(several: Sequence[ClassPredictions], positive: str | None = None) -> Chart:
    """Observed frequency by predicted probability, in bins of equal width."""
    rows = []
    for system in several:
        if system.scores is None or not system.probabilities:
            raise InputError(f"{system.name} has no probabilities to calibrate")
        table = np.asarray(system.scores)
        # Of three or more classes, the predicted one.
        classes = table.argmax(axis=1)
        if positive is not None or len(system.classes) == 2:
            classes = np.full(len(table), positive_number(system.classes, positive))
        sure, right = table[np.arange(len(table)), classes], system.truth == classes
        for low, high, units, confidence, share in calibration_bins(sure, right):
            interval = wilson(round(share * units), units, 0.95)
            bounds = (interval.low, interval.high)
            rows.append((system.name, low, high, units, confidence, share, *bounds))
    head = ["system", "from", "to", "units", "confidence", "share", "low", "high"]
    frame = pl.DataFrame(rows, schema=head, orient="row")
    names = frame["system"].unique(maintain_order=True).to_list()
    x = alt.X("confidence:Q", title="predicted probability", scale=UNIT)
    y = alt.Y("share:Q", title="observed frequency", scale=UNIT)
    hover = tips(
        "system",
        ("confidence", "mean probability", ".3f"),
        ("share", "observed frequency", ".3f"),
        ("units", "units", ","),
        ("from", "bin from", ".2f"),
        ("to", "to", ".2f"),
    )
    base = drawn(frame).encode(x=x, y=y, color=colours("system", names), tooltip=hover)
    drawing = layers(
        diagonal(x, y),
        base.mark_rule(strokeWidth=1.2).encode(
            y=alt.Y("low:Q", title="observed frequency", scale=UNIT), y2="high:Q"
        ),
        base.mark_line().encode(strokeDash=dashes("system", names)),
        base.mark_point().encode(shape=shapes("system", names)),
        height=SIZE,
        width=SIZE,
        words="Observed frequency by predicted probability; on the dashed line both are equal.",
    )
    classes = several[0].classes
    of = (
        "of the predicted class"
        if not positive and len(classes) > 2
        else f"of {positive or classes[-1]}"
    )
    caption = (
        f"Predicted probability {of} in ten bins, and the observed frequency with 95% confidence "
        "intervals (Wilson). Below the dashed line a system is overconfident."
    )
    return Chart("calibration", "Calibration of the probabilities", caption, frame, drawing)
