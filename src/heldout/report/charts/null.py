"""The null distribution: the mean differences that there could have been by chance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from heldout.infer.results import TIE, check_alternative, drop_noise
from heldout.report.charts.marks import inline, padded, signed, tip
from heldout.report.charts.theme import WIDTH

if TYPE_CHECKING:
    import polars as pl

    from heldout.data.scores import Scores
    from heldout.data.words import Floats
    from heldout.report.charts.named import Drawing

__all__ = ["draw_null", "null_data"]

FEW: Final = 16
"""Up to so many differences all assignments of signs are drawn."""


def null_data(
    scores: Scores,
    first: str,
    second: str,
    *,
    alternative: str = "two-sided",
    replicates: int = 20_000,
    seed: int = 0,
    bins: int = 51,
) -> pl.DataFrame:
    """A histogram of the mean difference over random signs, the observed value on every row.

    Parameters
    ----------
    scores
        Of all systems.
    first, second
        Systems; differences are first minus second.
    alternative
        The alternative: which values are as far out as the observed one.
    replicates, seed
        Random signs; up to 16 units all assignments are taken.
    bins
        How many.

    Returns
    -------
    polars.DataFrame
        low, high (the bin), within and beyond (shares of the assignments less far out than the
        observed difference, and at least as far), observed.
    """
    import polars as pl

    side = check_alternative(alternative)
    gaps = drop_noise(scores.column(first), scores.column(second))
    observed = float(gaps.mean())
    means = _means(gaps, replicates, seed)
    noise = TIE * float(np.abs(gaps).mean())
    towards = 1.0 if scores.higher_is_better else -1.0
    if side == "two-sided":
        beyond = np.abs(means) >= abs(observed) - noise
    else:
        sign = towards if side == "greater" else -towards
        beyond = sign * means >= sign * observed - noise
    reach = float(np.abs([*means, observed]).max()) or 1.0
    edges = np.linspace(-reach, reach, bins + 1)
    # A mean that is at the reach but for rounding belongs to the last bin.
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
    """A histogram with the observed difference; what is as far out is of another colour.

    Parameters
    ----------
    frame
        Of `null_data`.
    measure
        What the differences are of.
    """
    import altair as alt  # slow to import
    import polars as pl

    observed = float(frame["observed"][0])
    kinds = ["less far out", "at least as far out as observed"]
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
    span = padded([*used["low"], *used["high"], observed], 0.03)
    across = alt.Scale(domain=span, nice=False)
    bars = (
        alt.Chart(inline(stacked))
        .mark_bar(binSpacing=1)
        .encode(
            x=alt.X(
                "low:Q", title=f"mean difference in {measure} under random signs", scale=across
            ),
            x2="high:Q",
            # Some room at the top, for what is written beside the line.
            y=alt.Y(
                "bottom:Q",
                title="share of assignments",
                axis=alt.Axis(format="%"),
                scale=alt.Scale(domain=[0, 1.15 * highest], nice=False),
            ),
            y2="top:Q",
            color=alt.Color("kind:N", title=None, scale=alt.Scale(domain=kinds)),
            tooltip=tip(
                ("low:Q", "from", "+.4f"),
                ("high:Q", "to", "+.4f"),
                ("kind:N", ""),
                ("share:Q", "share", ".2%"),
            ),
        )
    )
    right = observed > (span[0] + span[1]) / 2
    note = pl.DataFrame({"x": [observed], "label": [f"observed {signed(observed)}"]})
    base = alt.Chart(inline(note)).encode(x=alt.X("x:Q", scale=across))
    line = base.mark_rule(style="frame", strokeWidth=2)
    label = base.mark_text(
        style="label",
        fontWeight="bold",
        align="right" if right else "left",
        dx=-6 if right else 6,
        baseline="top",
    ).encode(y=alt.value(2), text="label:N")
    return alt.layer(bars, line, label).properties(
        width=WIDTH,
        height=240,
        description=f"Distribution of the mean difference in {measure} were the two systems the "
        f"same, and the observed difference of {observed:+.4f}.",
    )
