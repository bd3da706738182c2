"""Systems with intervals: the mean of each, and the differences of pairs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import altair as alt
import polars as pl

from heldout.report.charts.builders import dots, drawing, label, row_chart, span, tip, zero_line
from heldout.report.charts.marks import padded, rows_height

if TYPE_CHECKING:
    from collections.abc import Mapping

    from heldout.experiment.results.results import Results
    from heldout.infer.comparison import Claim, Comparison
    from heldout.report.charts.named import Drawing

__all__ = [
    "MOST_PAIRS",
    "draw_forest",
    "draw_pairs",
    "forest_data",
    "forest_data_of_results",
    "oriented",
    "pairs_data",
]

MOST_PAIRS: Final = 66
"""Pairs that fit a page; of more, only those with the best system are drawn."""


def _frame(rows: list[dict[str, Any]], *, higher_is_better: bool) -> pl.DataFrame:
    """The rows, the best first; systems without a mean come last."""
    schema = {
        "system": pl.String,
        "mean": pl.Float64,
        "low": pl.Float64,
        "high": pl.Float64,
        "letters": pl.String,
    }
    frame = pl.DataFrame(rows, schema=schema)
    return frame.sort("mean", descending=higher_is_better, nulls_last=True, maintain_order=True)


def forest_data(comparison: Comparison) -> pl.DataFrame:
    """One row per system, the best first: mean, bounds of its interval, letters.

    Parameters
    ----------
    comparison
        Of two or more systems.
    """
    rows = [
        {
            "system": row.name,
            "mean": row.mean.estimate,
            "low": row.mean.low,
            "high": row.mean.high,
            "letters": row.letters,
        }
        for row in comparison.systems
    ]
    return _frame(rows, higher_is_better=comparison.scores.higher_is_better)


def forest_data_of_results(
    results: Results,
    measure: str | None = None,
    *,
    higher_is_better: bool = True,
    letters: Mapping[str, str] | None = None,
) -> pl.DataFrame:
    """One row per system, the best first: the held-out score with its interval.

    Parameters
    ----------
    measure
        By default the first.
    higher_is_better
        Its direction.
    letters
        Of each system, from a comparison.
    """
    known = letters or {}
    found = [(name, results.estimate(name, measure)) for name in results.systems]
    rows = [
        {
            "system": name,
            "mean": one["value"],
            "low": one["low"],
            "high": one["high"],
            "letters": known.get(name, ""),
        }
        for name, one in found
    ]
    return _frame(rows, higher_is_better=higher_is_better)


def draw_forest(frame: pl.DataFrame, *, measure: str = "score") -> Drawing:
    """Points with intervals, one row per system, letters at the right.

    Parameters
    ----------
    frame
        Of `forest_data`.
    measure
        The title of the axis.
    """
    bounds = [*frame["mean"], *frame["low"], *frame["high"]]
    across = alt.Scale(domain=padded(bounds), nice=False, zero=False)
    hover = tip(
        ("system:N", "system"),
        ("mean:Q", measure, ".4f"),
        ("low:Q", "from", ".4f"),
        ("high:Q", "to", ".4f"),
        ("letters:N", "letters"),
    )
    base = row_chart(frame, "system", hover)
    layers = [
        span(base, ("low", "high"), across, measure, strokeWidth=2),
        dots(base, "mean", across),
    ]
    if any(frame["letters"]):
        layers.append(label(base, "letters", align="left", dx=8, fontWeight="bold"))
    words = f"Mean {measure} of each system with its interval, the best system first."
    return drawing(layers, words, rows_height(len(frame), 28))


def pairs_data(comparison: Comparison) -> pl.DataFrame:
    """Return one row per claim, the largest difference first.

    Without a baseline, every difference is that of the system with the better mean minus the
    other one, so that all have the same sign.

    Parameters
    ----------
    comparison
        Of two or more systems; of very many pairs those with the best system are kept.

    Returns
    -------
    polars.DataFrame
        pair, first, second, difference, low, high (null where an interval is open), p (adjusted),
        significant.
    """
    letters = {row.name: row.letters for row in comparison.systems}
    means = {row.name: row.mean.estimate for row in comparison.systems}
    choose = max if comparison.scores.higher_is_better else min
    best = choose(means, key=lambda name: means[name])
    many = len(comparison.claims) > MOST_PAIRS

    def called(name: str) -> str:
        return f"{name} ({letters[name]})" if letters[name] else name

    rows = []
    for claim in comparison.claims:
        if many and comparison.baseline is None and best not in {claim.first, claim.second}:
            continue
        first, second, sign = oriented(claim, comparison)
        gap = claim.difference
        low, high = (gap.low, gap.high) if sign > 0 else (-gap.high, -gap.low)
        rows.append(
            {
                "pair": f"{called(first)} − {called(second)}",
                "first": first,
                "second": second,
                "difference": sign * gap.estimate,
                "low": low if math.isfinite(low) else None,
                "high": high if math.isfinite(high) else None,
                "p": claim.adjusted,
                "significant": bool(claim.adjusted <= comparison.alpha),
            }
        )
    schema = {
        **dict.fromkeys(("pair", "first", "second"), pl.String),
        **dict.fromkeys(("difference", "low", "high", "p"), pl.Float64),
        "significant": pl.Boolean,
    }
    return pl.DataFrame(rows, schema=schema).sort(
        "difference", descending=True, maintain_order=True
    )


def oriented(claim: Claim, comparison: Comparison) -> tuple[str, str, int]:
    """Both systems, the better one first, and the sign of their difference.

    With three or more systems and a baseline, or with a one-sided test, the order of the claim
    has a meaning and stays.

    Parameters
    ----------
    claim
        One of the claims of the comparison.
    comparison
        Of two or more systems.

    Returns
    -------
    tuple
        The systems, and 1 if they are in the order of the claim, else -1.
    """
    fixed = comparison.baseline is not None and len(comparison.systems) > 2
    up = comparison.scores.higher_is_better
    worse = claim.difference.estimate < 0 if up else claim.difference.estimate > 0
    if fixed or comparison.alternative != "two-sided" or not worse:
        return claim.first, claim.second, 1
    return claim.second, claim.first, -1


def draw_pairs(frame: pl.DataFrame, *, measure: str = "score") -> Drawing:
    """Points with intervals and a line at 0; differences that are not significant are grey.

    Parameters
    ----------
    frame
        Of `pairs_data`.
    measure
        The measure of the differences.
    """
    ends = padded([0.0, *frame["difference"], *frame["low"], *frame["high"]])
    across = alt.Scale(domain=ends, nice=False)
    # An open interval ends at the edge of the drawing.
    drawn = frame.with_columns(
        pl.col("low").fill_null(ends[0]).alias("from"),
        pl.col("high").fill_null(ends[1]).alias("to"),
    )
    hover = tip(
        ("pair:N", "pair"),
        ("difference:Q", "difference", "+.4f"),
        ("low:Q", "from", "+.4f"),
        ("high:Q", "to", "+.4f"),
        ("p:Q", "p (adjusted)", ".4f"),
    )
    layers: list[alt.Chart] = [zero_line()]
    # Not significant: grey and hollow, which is also visible in print.
    looks: tuple[tuple[bool, dict[str, Any]], ...] = ((True, {}), (False, {"style": "back"}))
    for significant, style in looks:
        part = drawn.filter(pl.col("significant") == significant)
        base = row_chart(
            part, "pair", hover, frame["pair"].to_list(), axis=alt.Axis(labelLimit=320)
        )
        layers.append(span(base, ("from", "to"), across, f"difference in {measure}", **style))
        layers.append(dots(base, "difference", across, strokeWidth=2, filled=significant, **style))
    words = (
        f"Differences in {measure} between pairs of systems with their intervals; differences that "
        "are not significant are grey."
    )
    return drawing(layers, words, rows_height(len(frame), 26 if len(frame) <= 20 else 17))
