"""The bias study: how far each estimator is from the truth, and how well that is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heldout.report.charts.marks import inline, padded, rows_height, tip, zero_line
from heldout.report.charts.theme import WIDTH

if TYPE_CHECKING:
    from collections.abc import Iterable

    import polars as pl

    from heldout.experiment.studies.bias import BiasRow
    from heldout.report.charts.named import Drawing

__all__ = ["bias_data", "draw_bias"]


def bias_data(rows: Iterable[BiasRow]) -> pl.DataFrame:
    """A row an estimator, in the order of the study.

    Parameters
    ----------
    rows
        `heldout.experiment.studies.bias.BiasStudy.rows`.

    Returns
    -------
    polars.DataFrame
        estimator, bias, se, low and high (bias ± se), rmse, default.
    """
    import polars as pl

    found = [
        (
            row.estimator,
            row.bias,
            row.se,
            row.bias - row.se,
            row.bias + row.se,
            row.rmse,
            row.default,
        )
        for row in rows
    ]
    names = ["estimator", "bias", "se", "low", "high", "rmse", "default"]
    return pl.DataFrame(found, schema=names, orient="row")


def draw_bias(frame: pl.DataFrame, *, measure: str = "score") -> Drawing:
    """Points with one and two standard errors beside the line of no bias.

    Parameters
    ----------
    frame
        Of `bias_data`.
    measure
        What was estimated.
    """
    import altair as alt  # slow to import
    import polars as pl

    drawn = frame.with_columns(
        (pl.col("bias") - 2 * pl.col("se")).alias("low2"),
        (pl.col("bias") + 2 * pl.col("se")).alias("high2"),
        pl.when("default")
        .then(pl.format("{} (default)", "estimator"))
        .otherwise("estimator")
        .alias("name"),
    )
    across = alt.Scale(domain=padded([0.0, *drawn["low2"], *drawn["high2"]]), nice=False)
    hover = tip(
        ("name:N", "estimator"),
        ("bias:Q", "bias", "+.4f"),
        ("se:Q", "standard error", ".4f"),
        ("rmse:Q", "rmse", ".4f"),
    )
    base = alt.Chart(inline(drawn)).encode(
        y=alt.Y("name:N", sort=drawn["name"].to_list(), title=None), tooltip=hover
    )
    title = f"estimate − truth in {measure}: mean, ± 1 and ± 2 standard errors"
    thin = base.mark_rule(strokeWidth=1.5).encode(
        x=alt.X("low2:Q", scale=across, title=title), x2="high2:Q"
    )
    thick = base.mark_rule(strokeWidth=5).encode(x=alt.X("low:Q", scale=across), x2="high:Q")
    point = base.mark_point(size=110).encode(
        x=alt.X("bias:Q", scale=across),
        shape=alt.Shape(
            "default:N",
            legend=None,
            scale=alt.Scale(domain=[True, False], range=["square", "circle"]),
        ),
    )
    return alt.layer(zero_line(), thin, thick, point).properties(
        width=WIDTH,
        height=rows_height(len(frame), 30),
        description=f"Bias of each estimator of {measure} on unseen documents with its standard "
        "error; the default estimator has a square.",
    )
