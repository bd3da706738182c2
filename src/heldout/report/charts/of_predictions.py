"""Every chart that predictions of classes allow."""

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
    """roc, precision-recall and calibration, as far as scores and probabilities are there.

    Parameters
    ----------
    several
        Systems, all with the same classes.
    positive
        The positive class; by default the last of two, or each of more in its turn.
    """
    return tuple(_charts(several, positive))


def _charts(several: Sequence[ClassPredictions], positive: str | None) -> Iterator[NamedChart]:
    scored = [one for one in several if one.scores is not None]
    few = positive is not None or (scored and len(scored[0].classes) <= MOST_CLASSES)
    if scored and few:
        with suppress(HeldoutError):  # a class that has no unit, say: there is no such curve
            yield from _curves(scored, positive)
    probable = [one for one in scored if one.probabilities]
    if probable:
        yield _calibration(probable, positive)


def _said(several: Sequence[ClassPredictions], positive: str | None) -> str:
    classes = several[0].classes
    if positive is None and len(classes) > 2:
        return "A panel a class, which is positive against all others."
    return f"Positive: {positive or classes[-1]}."


def _curves(several: Sequence[ClassPredictions], positive: str | None) -> Iterator[NamedChart]:
    units = f"{len(several[0].units):,} held-out units"
    said = _said(several, positive)
    frame = roc_data(several, positive)
    yield NamedChart(
        "roc",
        "ROC curves and their convex hull",
        f"{said} {units}. Wide and grey: what the systems reach together, mixed by chance; a "
        "system below it everywhere is never the best choice. Dashed: chance.",
        frame,
        draw_roc(frame),
    )
    points = precision_recall_data(several, positive)
    yield NamedChart(
        "precision-recall",
        "Precision and recall",
        f"{said} {units}. Dashed: the share of positive units, which chance reaches.",
        points,
        draw_precision_recall(points),
    )


def _calibration(several: Sequence[ClassPredictions], positive: str | None) -> NamedChart:
    frame = calibration_data(several, positive)
    of = f"of {positive or several[0].classes[-1]}"
    if positive is None and len(several[0].classes) > 2:
        of = "of the class that was predicted"
    return NamedChart(
        "calibration",
        "Are the probabilities right?",
        f"Probabilities {of} in ten bins: how often it came true, with 95% intervals (Wilson). "
        "Below the dashed line the system is too sure of itself.",
        frame,
        draw_calibration(frame),
    )
