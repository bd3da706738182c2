"""Calibration: how often predictions are right, beside how sure they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heldout.errors import InputError
from heldout.report.charts.marks import dashes, inline, shapes, tip
from heldout.report.charts.roc import SIZE

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from heldout.data.predictions import ClassPredictions
    from heldout.report.charts.named import Drawing

__all__ = ["calibration_data", "draw_calibration"]


def calibration_data(
    several: Sequence[ClassPredictions],
    positive: str | None = None,
    bins: int = 10,
    level: float = 0.95,
) -> pl.DataFrame:
    """A row a system and bin; empty bins are left out.

    Parameters
    ----------
    several
        Systems with probabilities.
    positive
        The class whose probability is looked at; by default the last of two, and of more classes
        the one that is predicted.
    bins
        How many, of equal width.
    level
        Of the intervals (Wilson).

    Returns
    -------
    polars.DataFrame
        system, from and to (of the bin), units, confidence (mean probability), share (that are
        positive, or right), low, high.
    """
    import polars as pl

    from heldout.infer.intervals import wilson
    from heldout.measure.prediction.calibration import calibration_bins

    rows = []
    for one in several:
        if one.scores is None or not one.probabilities:
            raise InputError(f"{one.name} has no probabilities: there is nothing to calibrate")
        sure, right = _pairs(one, positive)
        for part in calibration_bins(sure, right, bins):
            found = wilson(round(part.accuracy * part.units), part.units, level)
            rows.append(
                (
                    one.name,
                    part.low,
                    part.high,
                    part.units,
                    part.confidence,
                    part.accuracy,
                    found.low,
                    found.high,
                )
            )
    names = ["system", "from", "to", "units", "confidence", "share", "low", "high"]
    return pl.DataFrame(rows, schema=names, orient="row")


def _pairs(one: ClassPredictions, positive: str | None) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities, and whether what they are of came true."""
    from heldout.data.predictions import positive_number

    table = np.asarray(one.scores)
    if positive is not None or len(one.classes) == 2:
        at = positive_number(one.classes, positive)
        return table[:, at], one.truth == at
    best = table.argmax(axis=1)
    return table[np.arange(len(best)), best], one.truth == best


def draw_calibration(frame: pl.DataFrame) -> Drawing:
    """Points with intervals beside the line of perfect calibration.

    Parameters
    ----------
    frame
        Of `calibration_data`.
    """
    import altair as alt  # slow to import
    import polars as pl

    names = frame["system"].unique(maintain_order=True).to_list()
    unit = alt.Scale(domain=[0, 1], nice=False)
    colour = alt.Color("system:N", title=None, scale=alt.Scale(domain=names))
    x = alt.X("confidence:Q", title="mean probability", scale=unit)
    y = alt.Y("share:Q", title="share that came true", scale=unit)
    hover = tip(
        ("system:N", "system"),
        ("confidence:Q", "mean probability", ".3f"),
        ("share:Q", "share that came true", ".3f"),
        ("units:Q", "units", ","),
        ("from:Q", "bin from", ".2f"),
        ("to:Q", "to", ".2f"),
    )
    base = alt.Chart(inline(frame)).encode(x=x, color=colour, tooltip=hover)
    bars = base.mark_rule(strokeWidth=1.2).encode(y=alt.Y("low:Q", scale=unit), y2="high:Q")
    line = base.mark_line().encode(
        y=y,
        strokeDash=alt.StrokeDash(
            "system:N", title=None, scale=alt.Scale(domain=names, range=dashes(len(names)))
        ),
    )
    point = base.mark_point(size=70).encode(
        y=y,
        shape=alt.Shape(
            "system:N",
            title=None,
            scale=alt.Scale(domain=names, range=shapes(len(names))),
        ),
    )
    perfect = (
        alt.Chart(inline(pl.DataFrame({"confidence": [0.0, 1.0], "share": [0.0, 1.0]})))
        .mark_line(style="reference", strokeWidth=1)
        .encode(x=x, y=y)
    )
    return alt.layer(perfect, bars, line, point).properties(
        width=SIZE,
        height=SIZE,
        description="How often predictions came true beside how probable they were said to be; on "
        "the dashed line the two are the same.",
    )
