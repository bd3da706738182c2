"""Chance: the distribution of the difference under the null hypothesis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import altair as alt
import numpy as np
import polars as pl

from heldout.infer.results import TIE, check_alternative, drop_noise
from heldout.report.charts.builders import beside, colours, drawing, tip
from heldout.report.charts.marks import inline, padded, signed

if TYPE_CHECKING:
    from heldout.data.scores import Scores
    from heldout.data.words import Floats
    from heldout.report.charts.named import Drawing

__all__ = ["draw_null", "null_data"]

FEW: Final = 16
"""Up to this number of differences all sign assignments are enumerated."""


def null_data(
    scores: Scores,
    first: str,
    second: str,
    *,
    alternative: str = "two-sided",
    seed: int = 0,
    bins: int = 51,
) -> pl.DataFrame:
    """Return a histogram of the mean difference under random signs, and the observed value.

    Parameters
    ----------
    scores
        Of all systems.
    first, second
        Systems; differences are first minus second.
    alternative
        Which values are at least as extreme as the observed one.
    seed
        Of 20,000 random assignments of signs; up to 16 units all assignments are used.
    bins
        Number of bins.

    Returns
    -------
    polars.DataFrame
        low, high (the bin), within and beyond (shares of the assignments that are less extreme
        than the observed difference, and at least as extreme), observed.
    """
    side = check_alternative(alternative)
    gaps = drop_noise(scores.column(first), scores.column(second))
    observed = float(gaps.mean())
    means = _means(gaps, 20_000, seed)
    noise = TIE * float(np.abs(gaps).mean())
    towards = 1.0 if scores.higher_is_better else -1.0
    if side == "two-sided":
        beyond = np.abs(means) >= abs(observed) - noise
    else:
        sign = towards if side == "greater" else -towards
        beyond = sign * means >= sign * observed - noise
    reach = float(np.abs([*means, observed]).max()) or 1.0
    edges = np.linspace(-reach, reach, bins + 1)
    # A mean at the end of the range, up to rounding, belongs to the last bin.
    inside = np.clip(means, -reach, reach)
    counts = [np.histogram(inside[one], edges)[0] / len(means) for one in (~beyond, beyond)]
    return pl.DataFrame(
        {
            "low": edges[:-1],
            "high": edges[1:],
            "within": counts[0],
            "beyond": counts[1],
            "observed": np.full(bins, observed),
        }
    )


def _means(gaps: Floats, replicates: int, seed: int) -> Floats:
    """Mean differences under all assignments of signs, or under random ones."""
    from heldout.infer.draws import all_signed_sums, check_draws, signed_sums

    check_draws(replicates, seed)
    kept = gaps[gaps != 0]
    if len(kept) <= FEW:
        return all_signed_sums(kept) / len(gaps)
    return np.concatenate(list(signed_sums(kept, replicates, seed))) / len(gaps)


def draw_null(frame: pl.DataFrame, *, measure: str = "score") -> Drawing:
    """Draw the histogram and the observed difference; extreme values have another colour.

    Parameters
    ----------
    frame
        Of `null_data`.
    measure
        The measure of the differences.
    """
    observed = float(frame["observed"][0])
    kinds = ["less extreme", "at least as extreme as observed"]
    long = pl.concat(
        frame.select("low", "high", pl.lit(kind).alias("kind"), pl.col(column).alias("share"))
        for kind, column in zip(kinds, ("within", "beyond"), strict=True)
    ).filter(pl.col("share") > 0)
    # Shares are stacked here, not by Vega: a bin may hold some of both kinds.
    stacked = long.with_columns(
        (pl.col("share").cum_sum().over("low") - pl.col("share")).alias("bottom"),
        pl.col("share").cum_sum().over("low").alias("top"),
    )
    highest = float(stacked["top"].max())  # type: ignore[arg-type]
    used = frame.filter((pl.col("within") > 0) | (pl.col("beyond") > 0))
    ends = padded([*used["low"], *used["high"], observed], 0.03)
    across = alt.Scale(domain=ends, nice=False)
    # Some room at the top for the label of the line.
    up = alt.Scale(domain=[0, 1.15 * highest], nice=False)
    title = f"mean difference in {measure} under random signs"
    bars = (
        alt.Chart(inline(stacked))
        .mark_bar(binSpacing=1)
        .encode(
            x=alt.X("low:Q", title=title, scale=across),
            x2="high:Q",
            y=alt.Y(
                "bottom:Q", title="share of sign assignments", axis=alt.Axis(format="%"), scale=up
            ),
            y2="top:Q",
            color=colours("kind", kinds, legend=alt.Legend(columns=1)),  # fits a phone
            tooltip=tip(
                ("low:Q", "from", "+.4f"),
                ("high:Q", "to", "+.4f"),
                ("kind:N", ""),
                ("share:Q", "share", ".2%"),
            ),
        )
    )
    right = observed > (ends[0] + ends[1]) / 2
    note = pl.DataFrame({"x": [observed], "label": [f"observed {signed(observed)}"]})
    base = alt.Chart(inline(note)).encode(x=alt.X("x:Q", scale=across))
    layers = [
        bars,
        base.mark_rule(style="frame", strokeWidth=2),
        beside(base, 2, left=right, gap=6, fontWeight="bold", baseline="top"),
    ]
    words = (
        f"Distribution of the mean difference in {measure} if both systems were equally good, and "
        f"the observed difference of {observed:+.4f}."
    )
    return drawing(layers, words, 240)
