"""The bias study's first figure: the mean estimate of each strategy in each training set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from heldout.report.charts.marks import inline, shapes, tip
from heldout.report.charts.theme import WIDTH

if TYPE_CHECKING:
    from collections.abc import Iterable

    import polars as pl

    from heldout.report.charts.named import Drawing

__all__ = ["TRUTH", "bias_means_data", "draw_bias_means"]

TRUTH: Final = "truth"


def bias_means_data(means: Iterable[tuple[int, int, str, float, float]]) -> pl.DataFrame:
    """A row an estimator and training set; the truth is one of the estimators.

    Parameters
    ----------
    means
        `heldout.experiment.studies.bias.BiasStudy.means`: draw, set, estimator, estimate, truth.

    Returns
    -------
    polars.DataFrame
        set (from 1 on), estimator, mean (over the draws), draws.
    """
    import polars as pl

    names = ["draw", "set", "estimator", "estimate", "truth"]
    rows = pl.DataFrame(list(means), schema=names, orient="row")
    each = rows.group_by("set", "estimator", maintain_order=True).agg(
        pl.col("estimate").mean().alias("mean"), pl.len().alias("draws")
    )
    # One estimator has a truth of its own (empty queries count 0); the others share this one.
    shared = rows.filter(pl.col("estimator") != "per-fold-zero")
    truth = (
        shared.unique(["draw", "set"], maintain_order=True)
        .group_by("set", maintain_order=True)
        .agg(
            pl.lit(TRUTH).alias("estimator"),
            pl.col("truth").mean().alias("mean"),
            pl.len().alias("draws"),
        )
    )
    return pl.concat([truth, each.select(truth.columns)]).with_columns(pl.col("set") + 1)


def draw_bias_means(frame: pl.DataFrame, *, measure: str = "score") -> Drawing:
    """A point a strategy and set, joined by lines; the truth is dashed.

    Parameters
    ----------
    frame
        Of `bias_means_data`.
    measure
        What was estimated.
    """
    import altair as alt  # slow to import

    order = frame["estimator"].unique(maintain_order=True).to_list()
    x = alt.X("set:O", title="training set", axis=alt.Axis(labelAngle=0))
    y = alt.Y("mean:Q", title=f"mean {measure}", scale=alt.Scale(zero=False, padding=12))
    colour = alt.Color(
        "estimator:N", title=None, scale=alt.Scale(domain=order), legend=alt.Legend(columns=4)
    )
    hover = tip(
        ("estimator:N", "strategy"),
        ("set:O", "training set"),
        ("mean:Q", measure, ".4f"),
        ("draws:Q", "draws"),
    )
    base = alt.Chart(inline(frame)).encode(x=x, y=y, color=colour, tooltip=hover)
    dashes = [[6, 3] if name == TRUTH else [1, 0] for name in order]
    line = base.mark_line(strokeWidth=1.5).encode(
        strokeDash=alt.StrokeDash(
            "estimator:N",
            title=None,
            legend=alt.Legend(columns=4),
            scale=alt.Scale(domain=order, range=dashes),
        )
    )
    point = base.mark_point(size=90).encode(
        shape=alt.Shape(
            "estimator:N",
            title=None,
            legend=alt.Legend(columns=4),
            scale=alt.Scale(domain=order, range=shapes(len(order))),
        )
    )
    return alt.layer(line, point).properties(
        width=WIDTH,
        height=280,
        description=f"Mean {measure} that each strategy estimates from each training set, beside "
        "the truth on unseen documents.",
    )
