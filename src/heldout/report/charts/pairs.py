"""Differences of pairs of systems, with intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from heldout.report.charts.marks import inline, padded, rows_height, tip, zero_line
from heldout.report.charts.theme import WIDTH

if TYPE_CHECKING:
    import polars as pl

    from heldout.infer.compare import Claim, Comparison
    from heldout.report.charts.named import Drawing

__all__ = ["MOST_PAIRS", "draw_pairs", "pairs_data"]

MOST_PAIRS: Final = 66
"""Pairs that fit a page: of more than twelve systems only those with the best are drawn."""


def pairs_data(comparison: Comparison) -> pl.DataFrame:
    """Return one row per claim, the largest difference first.

    Among three or more systems without a baseline, every difference is of the system with the
    better mean minus the other one, so that all have the same sign.

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
    import math

    import polars as pl

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
        first, second, difference, low, high = _oriented(claim, comparison)
        rows.append(
            {
                "pair": f"{called(first)} − {called(second)}",
                "first": first,
                "second": second,
                "difference": difference,
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


def _oriented(claim: Claim, comparison: Comparison) -> tuple[str, str, float, float, float]:
    """Return both systems, the better one first, their difference and its interval.

    With a baseline, with two systems, or with a one-sided test the claim's own order has a
    meaning, and stays.
    """
    first, second, gap = claim.first, claim.second, claim.difference
    own = (
        comparison.baseline is not None
        or len(comparison.systems) < 3
        or comparison.alternative != "two-sided"
    )
    worse = gap.estimate < 0 if comparison.scores.higher_is_better else gap.estimate > 0
    if own or not worse:
        return first, second, gap.estimate, gap.low, gap.high
    return second, first, -gap.estimate, -gap.high, -gap.low


def draw_pairs(frame: pl.DataFrame, *, measure: str = "score") -> Drawing:
    """Points with intervals beside a line at 0; what was not told apart is hollow and grey.

    Parameters
    ----------
    frame
        Of `pairs_data`.
    measure
        What the differences are of.
    """
    import altair as alt  # slow to import
    import polars as pl

    span = padded([0.0, *frame["difference"], *frame["low"], *frame["high"]])
    across = alt.Scale(domain=span, nice=False)
    # An interval that is open ends at the edge of the drawing.
    drawn = frame.with_columns(
        pl.col("low").fill_null(span[0]).alias("from"),
        pl.col("high").fill_null(span[1]).alias("to"),
    )
    hover = tip(
        ("pair:N", "pair"),
        ("difference:Q", "difference", "+.4f"),
        ("low:Q", "from", "+.4f"),
        ("high:Q", "to", "+.4f"),
        ("p:Q", "p, adjusted", ".4f"),
    )
    down = alt.Y("pair:N", sort=frame["pair"].to_list(), title=None, axis=alt.Axis(labelLimit=320))
    across_from = alt.X("from:Q", scale=across, title=f"difference in {measure}")
    layers: list[alt.Chart] = [zero_line()]
    # What was not told apart stands back: grey and hollow, so that it does so in print, too.
    looks: tuple[tuple[bool, dict[str, Any]], ...] = (
        (True, {"filled": True}),
        (False, {"filled": False, "style": "back"}),
    )
    for told, look in looks:
        part = drawn.filter(pl.col("significant") == told)
        base = alt.Chart(inline(part)).encode(y=down, tooltip=hover)
        style = {"style": look["style"]} if "style" in look else {}
        layers.append(base.mark_rule(**style).encode(x=across_from, x2="to:Q"))
        point = base.mark_point(size=90, strokeWidth=2, **look)
        layers.append(point.encode(x=alt.X("difference:Q", scale=across)))
    return alt.layer(*layers).properties(
        width=WIDTH,
        height=rows_height(len(frame), 26 if len(frame) <= 20 else 17),
        description=f"Differences in {measure} of pairs of systems with their intervals; "
        "intervals that do not cross the line at 0 show a difference.",
    )
