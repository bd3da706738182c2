"""Chance: the distribution of the difference under the null hypothesis, and power."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import altair as alt
import numpy as np
import polars as pl

from heldout.infer.results import TIE, check_alternative, drop_noise
from heldout.report.charts.builders import beside, colours, dashed, drawing, table_of, tip
from heldout.report.charts.marks import inline, padded, signed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.data.scores import Scores
    from heldout.data.words import Floats
    from heldout.infer.results import Alternative
    from heldout.report.charts.named import Drawing

__all__ = ["draw_null", "draw_power", "null_data", "power_data"]

FEW: Final = 16
"""Up to this number of differences all sign assignments are enumerated."""

POINTS: Final = 40
MOST: Final = 20_000
"""Largest number of queries on the axis."""

EFFECTS: Final = (0.1, 0.2, 0.3, 0.5)
"""Default differences, as shares of the standard deviation, rounded."""


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
    """Return a histogram of the mean difference under random signs, and the observed value.

    Parameters
    ----------
    scores
        Of all systems.
    first, second
        Systems; differences are first minus second.
    alternative
        Which values are at least as extreme as the observed one.
    replicates, seed
        Of the random signs; up to 16 units all assignments are used.
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
    from heldout.infer.tests.draws import all_signed_sums, check_draws, signed_sums

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


def power_data(
    sd: float,
    *,
    n: int | None = None,
    deltas: Sequence[float] | None = None,
    level: float = 0.95,
    alternative: Alternative = "two-sided",
) -> pl.DataFrame:
    """Return the power of the paired t test for some differences and numbers of queries.

    Parameters
    ----------
    sd
        Standard deviation of the differences, from a pilot.
    n
        The present number of queries; the axis extends beyond it.
    deltas
        True differences; by default four round shares of the standard deviation.
    level, alternative
        Of the test.

    Returns
    -------
    polars.DataFrame
        n, delta, power.
    """
    from heldout.infer.power import curve, queries_needed

    sign = -1.0 if alternative == "less" else 1.0
    wanted = list(deltas) if deltas else [sign * _rounded(share * sd) for share in EFFECTS]
    wanted = list(dict.fromkeys(wanted))
    least = min(wanted, key=abs)
    needed = queries_needed(sd, least, power=0.95, level=level, alternative=alternative)
    end = max(n or 0, min(max(2 * (n or 0), needed), MOST))
    sizes = np.unique(np.geomspace(5, max(end, 50), POINTS).round().astype(int)).tolist()
    rows = curve(sd, ns=sizes, deltas=wanted, level=level, alternative=alternative)
    return table_of(rows, ["n", "delta", "power"])


def _rounded(value: float) -> float:
    """A round number near this one.

    Examples
    --------
    >>> [_rounded(one) for one in (0.0137, 0.0214, 0.046)]
    [0.01, 0.02, 0.05]
    """
    scale = 10.0 ** math.floor(math.log10(value))
    return float(
        f"{min((1, 2, 5, 10), key=lambda one: abs(math.log(value / scale / one))) * scale:g}"
    )


def draw_power(
    frame: pl.DataFrame, *, n: int | None = None, measure: str = "score", unit: str = "query"
) -> Drawing:
    """Draw one line per difference, the usual 80 % and the present number of queries.

    Parameters
    ----------
    frame
        Of `power_data`.
    n
        The present number of queries.
    measure
        The measure of the differences.
    unit
        What a unit is called.
    """
    plural = {"query": "queries"}.get(unit, f"{unit}s")
    name = pl.col("delta").map_elements(lambda one: f"{one:g}", return_dtype=pl.String)
    drawn = frame.with_columns(name.alias("label"))
    order = drawn["label"].unique(maintain_order=True).to_list()
    title = f"true difference in {measure}"
    x = alt.X("n:Q", title=plural, scale=alt.Scale(type="log", nice=False))
    y = alt.Y(
        "power:Q",
        title="power",
        scale=alt.Scale(domain=[0, 1]),
        axis=alt.Axis(format="%"),
    )
    lines = (
        alt.Chart(inline(drawn))
        .mark_line()
        .encode(
            x=x,
            y=y,
            color=colours("label", order, title),
            strokeDash=dashed("label", order, title),
            tooltip=tip(
                ("n:Q", plural, ","), ("delta:Q", "difference"), ("power:Q", "power", ".0%")
            ),
        )
    )
    usual = alt.Chart(inline(pl.DataFrame({"power": [0.8], "label": ["80%"]})))
    layers = [usual.mark_rule(style="reference", strokeWidth=1).encode(y=y), lines]
    if n is not None:
        note = pl.DataFrame({"n": [n], "label": [f"{n:,} {plural} here"]})
        here = alt.Chart(inline(note)).encode(x=x)
        far = n * n > int(frame["n"].min()) * int(frame["n"].max())  # type: ignore[arg-type]
        layers.append(here.mark_rule(style="frame", strokeWidth=1))
        layers.append(beside(here, 244, left=far, gap=5, baseline="bottom"))
    words = (
        f"Power of a paired t test for true differences in {measure} by the number of {plural}; "
        "one line per difference."
    )
    return drawing(layers, words, 250)
