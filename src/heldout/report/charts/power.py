"""Power curves: how sure so many queries are to show a difference."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from heldout.report.charts.marks import dashes, inline, tip
from heldout.report.charts.theme import WIDTH

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from heldout.infer.results import Alternative
    from heldout.report.charts.named import Drawing

__all__ = ["draw_power", "power_data"]

POINTS: Final = 40
MOST: Final = 20_000
"""Queries that the axis reaches at the most."""

EFFECTS: Final = (0.1, 0.2, 0.3, 0.5)
"""Differences by default, as shares of the standard deviation, rounded."""


def power_data(
    sd: float,
    *,
    n: int | None = None,
    deltas: Sequence[float] | None = None,
    level: float = 0.95,
    alternative: Alternative = "two-sided",
) -> pl.DataFrame:
    """The power of the paired t test for some differences and numbers of queries.

    Parameters
    ----------
    sd
        Standard deviation of the differences, from a pilot.
    n
        Queries there are: the axis reaches beyond them.
    deltas
        True differences; by default four round ones of the size of the spread.
    level, alternative
        Of the test.

    Returns
    -------
    polars.DataFrame
        n, delta, power.
    """
    import numpy as np
    import polars as pl

    from heldout.infer.power import curve, queries_needed

    sign = -1.0 if alternative == "less" else 1.0
    wanted = list(deltas) if deltas else [sign * _rounded(share * sd) for share in EFFECTS]
    wanted = list(dict.fromkeys(wanted))
    least = min(wanted, key=abs)
    needed = queries_needed(sd, least, power=0.95, level=level, alternative=alternative)
    end = max(n or 0, min(max(2 * (n or 0), needed), MOST))
    sizes = np.unique(np.geomspace(5, max(end, 50), POINTS).round().astype(int)).tolist()
    rows = curve(sd, ns=sizes, deltas=wanted, level=level, alternative=alternative)
    return pl.DataFrame(rows, schema=["n", "delta", "power"], orient="row")


def _rounded(value: float) -> float:
    """A round number near this one.

    Examples
    --------
    >>> [_rounded(one) for one in (0.0137, 0.0214, 0.046)]
    [0.01, 0.02, 0.05]
    """
    import math

    scale = 10.0 ** math.floor(math.log10(value))
    return float(
        f"{min((1, 2, 5, 10), key=lambda one: abs(math.log(value / scale / one))) * scale:g}"
    )


def draw_power(
    frame: pl.DataFrame, *, n: int | None = None, measure: str = "score", unit: str = "query"
) -> Drawing:
    """A line a difference; the usual 80 % and the queries there are stand beside them.

    Parameters
    ----------
    frame
        Of `power_data`.
    n
        Queries there are.
    measure
        What the differences are of.
    unit
        What is counted.
    """
    import altair as alt  # slow to import
    import polars as pl

    plural = {"query": "queries"}.get(unit, f"{unit}s")
    drawn = frame.with_columns(
        pl.col("delta").map_elements(lambda one: f"{one:g}", return_dtype=pl.String).alias("label")
    )
    order = drawn["label"].unique(maintain_order=True).to_list()
    title = f"true difference in {measure}"
    x = alt.X("n:Q", title=plural, scale=alt.Scale(type="log", nice=False))
    y = alt.Y(
        "power:Q",
        title="chance to show it",
        scale=alt.Scale(domain=[0, 1]),
        axis=alt.Axis(format="%"),
    )
    lines = (
        alt.Chart(inline(drawn))
        .mark_line()
        .encode(
            x=x,
            y=y,
            color=alt.Color("label:N", title=title, scale=alt.Scale(domain=order)),
            strokeDash=alt.StrokeDash(
                "label:N",
                title=title,
                scale=alt.Scale(domain=order, range=dashes(len(order))),
            ),
            tooltip=tip(
                ("n:Q", plural, ","), ("delta:Q", "difference"), ("power:Q", "power", ".0%")
            ),
        )
    )
    usual = alt.Chart(inline(pl.DataFrame({"power": [0.8], "label": ["80%"]})))
    layers = [
        usual.mark_rule(style="reference", strokeWidth=1).encode(y=y),
        lines,
    ]
    if n is not None:
        have = alt.Chart(inline(pl.DataFrame({"n": [n], "label": [f"{n:,} {plural} here"]})))
        layers.append(have.mark_rule(style="frame", strokeWidth=1).encode(x=x))
        far = n * n > int(frame["n"].min()) * int(frame["n"].max())  # type: ignore[arg-type]
        layers.append(
            have.mark_text(
                style="label",
                align="right" if far else "left",
                dx=-5 if far else 5,
                baseline="bottom",
            ).encode(x=x, y=alt.value(244), text="label:N")
        )
    return alt.layer(*layers).properties(
        width=WIDTH,
        height=250,
        description=f"The chance that a paired t test shows a true difference in {measure}, by the "
        f"number of {plural}; a line a difference.",
    )
