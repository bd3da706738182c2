"""Optimism: the score on what was seen beside the score on what was held out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from heldout.errors import InputError
from heldout.report.charts.builders import colours, drawing, label, row_chart, shaped, span, tip
from heldout.report.charts.marks import inline, padded, rows_height, signed

if TYPE_CHECKING:
    from heldout.experiment.manifest import SettingsRecord
    from heldout.experiment.results import Results
    from heldout.report.charts.named import Drawing

__all__ = ["draw_optimism", "optimism_data"]


def optimism_data(results: Results, measure: str | None = None) -> pl.DataFrame:
    """A row a tuned system, and before it a row for each of its splits where they are comparable.

    Parameters
    ----------
    results
        With a tuned system.
    measure
        By default the first. Of estimators it is the one they were tuned for, whichever is asked.

    Returns
    -------
    polars.DataFrame
        system, split (null: all together), seen, held_out, gap (seen minus held out).
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
        raise InputError("no system was tuned, or none can be measured on what was seen")
    schema = {
        "system": pl.String,
        "split": pl.String,
        "seen": pl.Float64,
        "held_out": pl.Float64,
    }
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    return frame.with_columns((pl.col("seen") - pl.col("held_out")).alias("gap"))


def _alike(settings: SettingsRecord) -> bool:
    """Whether the score of one split is of the kind of the score on what it has seen.

    A fold of documents is a smaller collection than what was seen: easier or harder by its size.
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
    """Of all splits together; of estimators the means over their splits."""
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
    """Hollow on what was seen, filled on what was held out, the gap between them.

    Parameters
    ----------
    frame
        Of `optimism_data`.
    measure
        What was measured.
    """
    order = frame["system"].unique(maintain_order=True).to_list()
    whole = frame.filter(pl.col("split").is_null())
    splits = frame.filter(pl.col("split").is_not_null())
    across = alt.Scale(domain=padded([*frame["seen"], *frame["held_out"]]), nice=False)
    sides = ["held out", "seen"]
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
        ("seen:Q", "seen", ".4f"),
        ("held_out:Q", "held out", ".4f"),
        ("gap:Q", "seen − held out", "+.4f"),
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
        f"{measure} of each tuned system on what was seen and on what was held out; the number is "
        "the difference of the two."
    )
    return drawing(layers, words, rows_height(len(order), 40))
