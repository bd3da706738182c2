"""Optimism: the training score beside the held-out score."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from heldout.errors import InputError
from heldout.report.charts.builders import colours, drawing, label, row_chart, shaped, span, tip
from heldout.report.charts.marks import inline, padded, rows_height, signed

if TYPE_CHECKING:
    from heldout.experiment.manifest import SettingsRecord
    from heldout.experiment.results.results import Results
    from heldout.report.charts.named import Drawing

__all__ = ["draw_optimism", "optimism_data"]


def optimism_data(results: Results, measure: str | None = None) -> pl.DataFrame:
    """Return one row per tuned system, after one row for each of its comparable splits.

    Parameters
    ----------
    results
        With a tuned system.
    measure
        By default the first. Of estimators it is always the one they were tuned for.

    Returns
    -------
    polars.DataFrame
        system, split (null: all together), seen (training score), held_out, gap (seen minus held
        out).
    """
    settings = results.manifest["settings"]
    tuned = [one["name"] for one in results.summary if one["tuned"]]
    own = settings["tune_for"]
    wanted = (
        own
        if settings["task"] != "ranking"
        else results.estimate(results.systems[0], measure)["measure"]
    )
    rows: list[tuple[str, str | None, float, float]] = []
    for name in tuned:
        splits = _splits(results, name) if wanted == own and _alike(settings) else []
        rows += [(name, *one) for one in splits]
        whole = _whole(results, name, wanted, splits)
        rows += [(name, None, *whole)] if whole else []
    if not rows:
        raise InputError("no system was tuned, or there is no training score")
    schema = {
        "system": pl.String,
        "split": pl.String,
        "seen": pl.Float64,
        "held_out": pl.Float64,
    }
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    return frame.with_columns((pl.col("seen") - pl.col("held_out")).alias("gap"))


def _alike(settings: SettingsRecord) -> bool:
    """Whether training and held-out scores of a split are comparable.

    A fold of documents is a smaller collection than the training side, and easier or harder.
    """
    return settings["by"] not in {"document", "both"}


def _splits(results: Results, system: str) -> list[tuple[str, float, float]]:
    rows = results.folds.filter(
        (pl.col("system") == system)
        & pl.col("train").is_not_null()
        & pl.col("held_out").is_not_null()
    )
    wanted = ("repeat", "fold", "train", "held_out")
    return [
        (f"r{repeat}/f{fold}", train, held_out)
        for repeat, fold, train, held_out in rows.select(wanted).iter_rows()
    ]


def _whole(
    results: Results, system: str, measure: str, splits: list[tuple[str, float, float]]
) -> tuple[float, float] | None:
    """Scores of all splits together; of estimators the means over their splits."""
    estimate = results.estimate(system, measure)
    train, value = estimate.get("train"), estimate["value"]
    if train is not None and value is not None:
        return float(train), float(value)
    if "train" in estimate or not splits:
        return None
    return (
        sum(one[1] for one in splits) / len(splits),
        sum(one[2] for one in splits) / len(splits),
    )


def draw_optimism(frame: pl.DataFrame, *, measure: str = "score") -> Drawing:
    """Draw training scores, held-out scores and the gap between them.

    Parameters
    ----------
    frame
        Of `optimism_data`.
    measure
        The measure.
    """
    order = frame["system"].unique(maintain_order=True).to_list()
    whole = frame.filter(pl.col("split").is_null())
    splits = frame.filter(pl.col("split").is_not_null())
    across = alt.Scale(domain=padded([*frame["seen"], *frame["held_out"]]), nice=False)
    sides = ["held out", "training"]
    long = pl.concat(
        part.select(
            "system",
            "split",
            "seen",
            "held_out",
            "gap",
            pl.lit(side).alias("side"),
            pl.col(column).alias("score"),
            pl.lit(part is whole).alias("all"),
        )
        for part in (splits, whole)
        for side, column in zip(sides, ("held_out", "seen"), strict=True)
    )
    hover = tip(
        ("system:N", "system"),
        ("split:N", "split"),
        ("seen:Q", "training", ".4f"),
        ("held_out:Q", "held out", ".4f"),
        ("gap:Q", "training − held out", "+.4f"),
    )
    points = row_chart(long, "system", hover, order).encode(
        x=alt.X("score:Q", title=measure, scale=across),
        shape=shaped("side", sides, ["circle", "diamond"]),
        color=colours("side", sides),
    )
    down = alt.Y("system:N", sort=order, title=None)
    gap = pl.col("gap").map_elements(signed, return_dtype=pl.String).alias("label")
    lines = alt.Chart(inline(whole)).encode(y=down)
    labels = alt.Chart(inline(whole.with_columns(gap))).encode(y=down)
    layers = [
        span(lines, ("seen", "held_out"), across, measure, style="faint", strokeWidth=2),
        points.transform_filter("!datum.all").mark_point(size=35, opacity=0.4, filled=True),
        points.transform_filter("datum.all").mark_point(size=150, filled=True),
        label(labels, align="left", dx=8),
    ]
    words = (
        f"{measure} of each tuned system on the data used for tuning and on held-out data; the "
        "number is their difference."
    )
    return drawing(layers, words, rows_height(len(order), 40))
