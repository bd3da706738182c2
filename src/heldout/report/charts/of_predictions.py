"""All charts of predicted classes."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from heldout.errors import HeldoutError
from heldout.report.charts.classes import (
    calibration_data,
    draw_calibration,
    draw_precision_recall,
    draw_roc,
    precision_recall_data,
    roc_data,
)
from heldout.report.charts.named import NamedChart

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from heldout.data.predictions import ClassPredictions

__all__ = ["charts_of_predictions"]

MOST_CLASSES = 9
"""Panels that fit a page."""


def charts_of_predictions(
    several: Sequence[ClassPredictions], *, positive: str | None = None
) -> tuple[NamedChart, ...]:
    """Return roc, precision-recall and calibration, if there are scores and probabilities.

    Parameters
    ----------
    several
        Systems, all with the same classes.
    positive
        The positive class; by default the last of two, or each of several in turn.
    """
    return tuple(_charts(several, positive))


def _charts(several: Sequence[ClassPredictions], positive: str | None) -> Iterator[NamedChart]:
    scored = [one for one in several if one.scores is not None]
    few = positive is not None or (scored and len(scored[0].classes) <= MOST_CLASSES)
    if scored and few:
        with suppress(HeldoutError):  # such as a class without a unit, which has no curve
            yield from _curves(scored, positive)
    probable = [one for one in scored if one.probabilities]
    if probable:
        yield _calibration(probable, positive)


def _said(several: Sequence[ClassPredictions], positive: str | None) -> str:
    classes = several[0].classes
    if positive is None and len(classes) > 2:
        return "One panel per class against all others."
    return f"Positive class: {positive or classes[-1]}."


def _curves(several: Sequence[ClassPredictions], positive: str | None) -> Iterator[NamedChart]:
    units = f"{len(several[0].units):,} held-out rows"
    said = _said(several, positive)
    frame = roc_data(several, positive)
    yield NamedChart(
        "roc",
        "ROC curves and convex hull",
        f"{said} {units}. Wide grey line: convex hull, reached by mixing systems at random; a "
        "system that is below it everywhere is never the best choice. Dashed: random guessing.",
        frame,
        draw_roc(frame),
    )
    points = precision_recall_data(several, positive)
    yield NamedChart(
        "precision-recall",
        "Precision and recall",
        f"{said} {units}. Dashed: the share of positive rows, the precision of random guessing.",
        points,
        draw_precision_recall(points),
    )


def _calibration(several: Sequence[ClassPredictions], positive: str | None) -> NamedChart:
    frame = calibration_data(several, positive)
    of = f"of {positive or several[0].classes[-1]}"
    if positive is None and len(several[0].classes) > 2:
        of = "of the predicted class"
    return NamedChart(
        "calibration",
        "Calibration of the probabilities",
        f"Predicted probability {of} in ten bins, and the observed frequency with 95% confidence "
        "intervals (Wilson). Below the dashed line a system is overconfident.",
        frame,
        draw_calibration(frame),
    )
