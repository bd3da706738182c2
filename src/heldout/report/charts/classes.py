"""Charts of predicted classes: ROC, precision and recall, calibration."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import altair as alt
import numpy as np
import polars as pl

from heldout.errors import InputError
from heldout.measure.base import Undefined
from heldout.report.charts.builders import (
    UNIT,
    colours,
    dashed,
    diagonal,
    drawing,
    panels,
    shaped,
    stroke_legend,
    table_of,
    tip,
)
from heldout.report.charts.marks import inline

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.data.predictions import ClassPredictions
    from heldout.data.words import Ints
    from heldout.measure.prediction.curves import RocCurve
    from heldout.report.charts.named import Drawing

__all__ = [
    "HULL",
    "MOST_POINTS",
    "calibration_data",
    "draw_calibration",
    "draw_precision_recall",
    "draw_roc",
    "positives_of",
    "precision_recall_data",
    "roc_data",
    "thinned",
]

HULL: Final = "convex hull"
MOST_POINTS: Final = 400
"""Points of a curve that are drawn."""

SIZE: Final = 360
SMALL: Final = 210
"""Size of each panel, if there are several."""


def positives_of(classes: Sequence[str], positive: str | None) -> list[str]:
    """The classes that curves are drawn for: the one asked for, the last of two, or each."""
    if positive is not None:
        return [positive]
    return [classes[-1]] if len(classes) == 2 else list(classes)


def thinned(curve: RocCurve, corners: set[tuple[float, float]]) -> Ints:
    """Return the points of a curve to draw: both ends, the hull, and others evenly spaced.

    Only corners of the hull can be optimal, also on a precision-recall curve (Davis & Goadrich
    2006. The relationship between precision-recall and ROC curves. ICML).
    """
    count = len(curve.thresholds)
    if count <= MOST_POINTS:
        return np.arange(count)
    evenly = np.linspace(0, count - 1, MOST_POINTS).round().astype(np.int64)
    rates = zip(curve.fp_rate.tolist(), curve.tp_rate.tolist(), strict=True)
    return np.union1d(evenly, np.flatnonzero([rate in corners for rate in rates]))


def roc_data(several: Sequence[ClassPredictions], positive: str | None = None) -> pl.DataFrame:
    """Return the points of the curves, then those of their hull.

    Parameters
    ----------
    several
        Systems with scores, all with the same classes.
    positive
        The class against all others; by default the last of two, or each of several in turn.

    Returns
    -------
    polars.DataFrame
        positive, system, hull (whether it is the hull of all systems), fp_rate, tp_rate,
        threshold (null: nothing is positive), auc.
    """
    from heldout.measure.prediction.curves import curves, roc_hull

    rows: list[tuple[str, str, bool, float, float, float | None, float]] = []
    for name in positives_of(several[0].classes, positive):
        drawn = curves(several, name)
        hull = roc_hull(drawn)
        corners = {point[:2] for point in hull.points}
        for system, curve in drawn.items():
            columns = (curve.fp_rate, curve.tp_rate, curve.thresholds)
            for x, y, mark in np.column_stack(columns)[thinned(curve, corners)].tolist():
                shown = mark if math.isfinite(mark) else None
                rows.append((name, system, False, x, y, shown, curve.area))
        rows += [
            (name, HULL, True, corner.fp_rate, corner.tp_rate, None, hull.area)
            for corner in hull.points
        ]
    names = ["positive", "system", "hull", "fp_rate", "tp_rate", "threshold", "auc"]
    return table_of(rows, names, infer_schema_length=None)


def draw_roc(frame: pl.DataFrame) -> Drawing:
    """Draw the curves of the systems, their hull, and the line of random guessing.

    Parameters
    ----------
    frame
        Of `roc_data`; one panel per positive class.
    """
    # Colours are not the only distinction: labels have the area, too.
    several = frame["positive"].n_unique() > 1
    area = pl.col("auc").map_elements(lambda value: f"{value:.3f}", return_dtype=pl.String)
    name = pl.col("system") if several else pl.format("{} (AUC {})", "system", area)
    drawn = frame.with_columns(name.alias("label"), pl.int_range(pl.len()).alias("order"))
    names = drawn.filter(~pl.col("hull"))["label"].unique(maintain_order=True).to_list()
    curve = (
        alt.Chart()
        .mark_line(interpolate="linear", strokeWidth=2, clip=False)
        .encode(
            x=alt.X("fp_rate:Q", title="false positive rate", scale=UNIT),
            y=alt.Y("tp_rate:Q", title="true positive rate", scale=UNIT),
            order="order:Q",
            color=colours("label", names, legend=stroke_legend()),
            strokeDash=dashed("label", names),
            tooltip=tip(
                ("system:N", "system"),
                ("fp_rate:Q", "false positive rate", ".3f"),
                ("tp_rate:Q", "true positive rate", ".3f"),
                ("threshold:Q", "threshold", ".4g"),
                ("auc:Q", "AUC", ".4f"),
            ),
        )
        .transform_filter("!datum.hull")
    )
    x, y = alt.X("fp_rate:Q", scale=UNIT), alt.Y("tp_rate:Q", scale=UNIT)
    edge = alt.Chart().mark_line(style="hull").encode(x=x, y=y, order="order:Q")
    layers = [diagonal(x, y), edge.transform_filter("datum.hull"), curve]
    words = (
        "ROC curves of the systems, their convex hull (grey) and the line of random guessing "
        "(dashed)."
    )
    size, by = (SMALL, "positive") if several else (SIZE, None)
    return panels(layers, drawn, words, size, by)


def precision_recall_data(
    several: Sequence[ClassPredictions], positive: str | None = None
) -> pl.DataFrame:
    """Return the points of the curves.

    Parameters
    ----------
    several, positive
        As for `roc_data`.

    Returns
    -------
    polars.DataFrame
        positive, system, recall, precision, threshold, average_precision (null if
        undefined), share (of the positive units: the precision of random guessing).
    """
    from heldout.measure.base import definitions
    from heldout.measure.prediction.curves import curves, roc_hull

    rows = []
    for name in positives_of(several[0].classes, positive):
        drawn = curves(several, name)
        corners = {point[:2] for point in roc_hull(drawn).points}
        measure = definitions("classification")["average-precision"].make({"class": name})
        for system, curve in zip(several, drawn.values(), strict=True):
            share = float(curve.true[-1] / (curve.true[-1] + curve.false[-1]))
            value = measure.compute(system)
            precise = None if isinstance(value, Undefined) else value
            columns = np.column_stack([curve.tp_rate, curve.precision, curve.thresholds])
            points = columns[thinned(curve, corners)]
            rows += [
                (name, system.name, *point, precise, share)
                for point in points[np.isfinite(points[:, 1])].tolist()
            ]
    names = ["positive", "system", "recall", "precision", "threshold"]
    return table_of(rows, [*names, "average_precision", "share"], infer_schema_length=None)


def draw_precision_recall(frame: pl.DataFrame) -> Drawing:
    """Draw precision by recall, and the share of positives.

    Parameters
    ----------
    frame
        Of `precision_recall_data`; one panel per positive class.
    """
    several = frame["positive"].n_unique() > 1
    labels = [
        system if several or precise is None else f"{system} (average precision {precise:.3f})"
        for system, precise in frame["system", "average_precision"].iter_rows()
    ]
    order = pl.int_range(pl.len()).alias("order")
    drawn = frame.with_columns(pl.Series("label", labels), order)
    names = drawn["label"].unique(maintain_order=True).to_list()
    curve = (
        alt.Chart()
        .mark_line(interpolate="step-before")
        .encode(
            x=alt.X("recall:Q", title="recall", scale=UNIT),
            y=alt.Y("precision:Q", title="precision", scale=UNIT),
            order="order:Q",
            color=colours("label", names, legend=stroke_legend()),
            strokeDash=dashed("label", names),
            tooltip=tip(
                ("system:N", "system"),
                ("recall:Q", "recall", ".3f"),
                ("precision:Q", "precision", ".3f"),
                ("threshold:Q", "threshold", ".4g"),
                ("average_precision:Q", "average precision", ".4f"),
            ),
        )
    )
    share = alt.Y("mean(share):Q", scale=UNIT)
    chance = alt.Chart().mark_rule(style="reference", strokeWidth=1).encode(y=share)
    words = (
        "Precision as a function of recall; the dashed line is the share of positive units, the "
        "precision of random guessing."
    )
    size, by = (SMALL, "positive") if several else (SIZE, None)
    return panels([chance, curve], drawn, words, size, by)


def calibration_data(
    several: Sequence[ClassPredictions], positive: str | None = None
) -> pl.DataFrame:
    """Return one row per system and bin of equal width, without empty bins.

    Parameters
    ----------
    several
        Systems with probabilities.
    positive
        The class of the probabilities; by default the last of two, of more the predicted one.

    Returns
    -------
    polars.DataFrame
        system, from and to (of the bin), units, confidence (mean probability), share (positive or
        correct), low, high (Wilson, 95 %).
    """
    from heldout.infer.intervals import wilson
    from heldout.measure.prediction.probabilities import calibration_bins

    rows = []
    for one in several:
        if one.scores is None or not one.probabilities:
            raise InputError(f"{one.name} has no probabilities to calibrate")
        sure, right = _pairs(one, positive)
        for low, high, units, confidence, accuracy in calibration_bins(sure, right):
            share = wilson(round(accuracy * units), units, 0.95)
            row = (one.name, low, high, units, confidence, accuracy, share.low, share.high)
            rows.append(row)
    names = ["system", "from", "to", "units", "confidence", "share", "low", "high"]
    return table_of(rows, names)


def _pairs(one: ClassPredictions, positive: str | None) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities, and whether the class is the true one."""
    from heldout.data.predictions import positive_number

    table = np.asarray(one.scores)
    if positive is not None or len(one.classes) == 2:
        at = positive_number(one.classes, positive)
        return table[:, at], one.truth == at
    best = table.argmax(axis=1)
    return table[np.arange(len(best)), best], one.truth == best


def draw_calibration(frame: pl.DataFrame) -> Drawing:
    """Draw points with intervals and the line of perfect calibration.

    Parameters
    ----------
    frame
        Of `calibration_data`.
    """
    names = frame["system"].unique(maintain_order=True).to_list()
    x = alt.X("confidence:Q", title="predicted probability", scale=UNIT)
    y = alt.Y("share:Q", title="observed frequency", scale=UNIT)
    hover = tip(
        ("system:N", "system"),
        ("confidence:Q", "mean probability", ".3f"),
        ("share:Q", "observed frequency", ".3f"),
        ("units:Q", "units", ","),
        ("from:Q", "bin from", ".2f"),
        ("to:Q", "to", ".2f"),
    )
    base = alt.Chart(inline(frame)).encode(x=x, color=colours("system", names), tooltip=hover)
    layers = [
        diagonal(x, y),
        base.mark_rule(strokeWidth=1.2).encode(y=alt.Y("low:Q", scale=UNIT), y2="high:Q"),
        base.mark_line().encode(y=y, strokeDash=dashed("system", names)),
        base.mark_point(size=70).encode(y=y, shape=shaped("system", names)),
    ]
    words = "Observed frequency by predicted probability; on the dashed line both are equal."
    return drawing(layers, words, SIZE, SIZE)
