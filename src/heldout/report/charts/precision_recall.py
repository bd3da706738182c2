"""Precision-recall curves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heldout.measure.undefined import Undefined
from heldout.report.charts.marks import dashes, inline, stroke_legend, tip
from heldout.report.charts.roc import SIZE, positives_of, thinned

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from heldout.data.predictions import ClassPredictions
    from heldout.report.charts.named import Drawing

__all__ = ["draw_precision_recall", "precision_recall_data"]


def precision_recall_data(
    several: Sequence[ClassPredictions], positive: str | None = None
) -> pl.DataFrame:
    """Points of the curves.

    Parameters
    ----------
    several, positive
        As for `heldout.report.charts.roc.roc_data`.

    Returns
    -------
    polars.DataFrame
        positive, system, recall, precision, threshold, average_precision (null if it does not
        exist), share (of the positive units: the precision of chance).
    """
    import numpy as np
    import polars as pl

    from heldout.measure.prediction.curves import curves

    rows = []
    for name in positives_of(several[0].classes, positive):
        at = several[0].classes.index(name)
        for one, curve in zip(several, curves(several, "pr", name), strict=True):
            share = float(np.average(one.truth == at, weights=one.weights))
            value = curve.average_precision
            precise = None if isinstance(value, Undefined) else float(value)
            rows += [
                (
                    name,
                    curve.name,
                    float(curve.x[point]),
                    float(curve.y[point]),
                    float(curve.thresholds[point]),
                    precise,
                    share,
                )
                for point in thinned(curve).tolist()
            ]
    names = ["positive", "system", "recall", "precision", "threshold"]
    return pl.DataFrame(
        rows, schema=[*names, "average_precision", "share"], orient="row", infer_schema_length=None
    )


def draw_precision_recall(frame: pl.DataFrame) -> Drawing:
    """Steps of precision as recall grows; the share of positives is what chance reaches.

    Parameters
    ----------
    frame
        Of `precision_recall_data`; a panel for each positive class.
    """
    import altair as alt  # slow to import
    import polars as pl

    several = frame["positive"].n_unique() > 1
    labels = {
        (system, precise): system
        if several or precise is None
        else f"{system} (average precision {precise:.3f})"
        for system, precise in frame["system", "average_precision"].iter_rows()
    }
    drawn = frame.with_columns(
        pl.Series(
            "label", [labels[row] for row in frame["system", "average_precision"].iter_rows()]
        ),
        pl.int_range(pl.len()).alias("order"),
    )
    names = drawn["label"].unique(maintain_order=True).to_list()
    size = SIZE if not several else 210
    unit = alt.Scale(domain=[0, 1], nice=False)
    curve = (
        alt.Chart()
        .mark_line(interpolate="step-before")
        .encode(
            x=alt.X("recall:Q", title="recall", scale=unit),
            y=alt.Y("precision:Q", title="precision", scale=unit),
            order="order:Q",
            color=alt.Color(
                "label:N", title=None, scale=alt.Scale(domain=names), legend=stroke_legend()
            ),
            strokeDash=alt.StrokeDash(
                "label:N", title=None, scale=alt.Scale(domain=names, range=dashes(len(names)))
            ),
            tooltip=tip(
                ("system:N", "system"),
                ("recall:Q", "recall", ".3f"),
                ("precision:Q", "precision", ".3f"),
                ("threshold:Q", "threshold", ".4g"),
                ("average_precision:Q", "average precision", ".4f"),
            ),
        )
    )
    chance = (
        alt.Chart()
        .mark_rule(style="reference", strokeWidth=1)
        .encode(y=alt.Y("mean(share):Q", scale=unit))
    )
    words = (
        "Precision as a function of recall; the dashed line is the share of positive units, which "
        "chance reaches."
    )
    layered = alt.layer(chance, curve, data=inline(drawn)).properties(width=size, height=size)
    if not several:
        return layered.properties(description=words)
    chart: alt.FacetChart = layered.facet(
        facet=alt.Facet("positive:N", title=None), columns=3
    ).properties(description=words)
    return chart
