"""ROC curves with their convex hull."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from heldout.report.charts.marks import dashes, inline, stroke_legend, tip

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from heldout.data.predictions import ClassPredictions
    from heldout.data.words import Ints
    from heldout.measure.prediction.curves import Curve
    from heldout.report.charts.named import Drawing

__all__ = ["HULL", "MOST_POINTS", "draw_roc", "positives_of", "roc_data", "thinned"]

HULL: Final = "convex hull"
MOST_POINTS: Final = 400
"""Points of a curve that are drawn: an eye sees no more."""

SIZE: Final = 360


def positives_of(classes: Sequence[str], positive: str | None) -> list[str]:
    """The classes that curves are drawn for: the one asked for, the last of two, or each."""
    if positive is not None:
        return [positive]
    return [classes[-1]] if len(classes) == 2 else list(classes)


def thinned(curve: Curve, most: int = MOST_POINTS) -> Ints:
    """Numbers of points that show the curve: both ends, the hull, and others evenly.

    Parameters
    ----------
    curve
        Of `heldout.measure.prediction.curves.curves`.
    most
        Beside those of the hull.
    """
    count = len(curve.x)
    if count <= most:
        return np.arange(count)
    evenly = np.linspace(0, count - 1, most).round().astype(np.int64)
    return np.union1d(evenly, np.flatnonzero(curve.on_hull))


def roc_data(several: Sequence[ClassPredictions], positive: str | None = None) -> pl.DataFrame:
    """Points of the curves, then those of their hull.

    Parameters
    ----------
    several
        Systems with scores, all with the same classes.
    positive
        The class against all others; by default the last of two, or each of more in its turn.

    Returns
    -------
    polars.DataFrame
        positive, system, hull (whether it is the hull of all systems), fp_rate, tp_rate,
        threshold (null: nothing is positive), auc.
    """
    import polars as pl

    from heldout.measure.prediction.curves import curves
    from heldout.measure.prediction.hull import roc_hull
    from heldout.measure.prediction.roc import RocCurve

    rows: list[tuple[str, str, bool, float, float, float | None, float]] = []
    for name in positives_of(several[0].classes, positive):
        found = curves(several, "roc", name)
        for curve in found:
            for at in thinned(curve).tolist():
                mark = float(curve.thresholds[at])
                shown = mark if math.isfinite(mark) else None
                point = (float(curve.x[at]), float(curve.y[at]))
                rows.append((name, curve.name, False, *point, shown, curve.area))
        hull = roc_hull(
            {one.name: RocCurve(one.x, one.y, one.thresholds, 1.0, 1.0) for one in found}
        )
        rows += [
            (name, HULL, True, corner.fp_rate, corner.tp_rate, None, hull.area)
            for corner in hull.points
        ]
    names = ["positive", "system", "hull", "fp_rate", "tp_rate", "threshold", "auc"]
    return pl.DataFrame(rows, schema=names, orient="row", infer_schema_length=None)


def draw_roc(frame: pl.DataFrame) -> Drawing:
    """Curves of the systems, their hull dashed, and the line of chance.

    Parameters
    ----------
    frame
        Of `roc_data`; a panel for each positive class.
    """
    import altair as alt  # slow to import
    import polars as pl

    # What is told apart by colour is told apart by its name with its area, too.
    several = frame["positive"].n_unique() > 1
    label = pl.col("system") if several else pl.format("{} (AUC {})", "system", _shown("auc"))
    drawn = frame.with_columns(label.alias("label"), pl.int_range(pl.len()).alias("order"))
    rest = drawn.filter(~pl.col("hull"))["label"].unique(maintain_order=True).to_list()
    size = SIZE if not several else 210
    unit = alt.Scale(domain=[0, 1], nice=False)
    curve = (
        alt.Chart()
        .mark_line(interpolate="linear", strokeWidth=2, clip=False)
        .encode(
            x=alt.X("fp_rate:Q", title="false positive rate", scale=unit),
            y=alt.Y("tp_rate:Q", title="true positive rate", scale=unit),
            order="order:Q",
            color=alt.Color(
                "label:N", title=None, scale=alt.Scale(domain=rest), legend=stroke_legend()
            ),
            strokeDash=alt.StrokeDash(
                "label:N", title=None, scale=alt.Scale(domain=rest, range=dashes(len(rest)))
            ),
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
    edge = (
        alt.Chart()
        .mark_line(style="hull")
        .encode(x=alt.X("fp_rate:Q", scale=unit), y=alt.Y("tp_rate:Q", scale=unit), order="order:Q")
        .transform_filter("datum.hull")
    )
    chance = (
        alt.Chart(inline(pl.DataFrame({"fp_rate": [0.0, 1.0], "tp_rate": [0.0, 1.0]})))
        .mark_line(style="reference", strokeWidth=1)
        .encode(x=alt.X("fp_rate:Q", scale=unit), y=alt.Y("tp_rate:Q", scale=unit))
    )
    words = (
        "ROC curves of the systems, their convex hull (grey, with corners) and the line of chance "
        "(dashed)."
    )
    layered = alt.layer(chance, edge, curve, data=inline(drawn)).properties(width=size, height=size)
    if not several:
        return layered.properties(description=words)
    chart: alt.FacetChart = layered.facet(
        facet=alt.Facet("positive:N", title=None), columns=3
    ).properties(description=words)
    return chart


def _shown(name: str) -> pl.Expr:
    import polars as pl

    return pl.col(name).map_elements(lambda value: f"{value:.3f}", return_dtype=pl.String)
