"""Critical-difference diagram: mean ranks and groups of similar systems (Demšar 2006)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import altair as alt
import polars as pl

from heldout.errors import InputError
from heldout.report.charts.builders import drawing, table_of, tip
from heldout.report.charts.marks import inline

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.infer.blocks import Nemenyi
    from heldout.report.charts.named import Drawing

__all__ = ["critical_difference_data", "draw_critical_difference", "rank_groups"]

ABOVE: Final = -1.7
"""Extent of the drawing above the axis of ranks, in lines of names."""

LONGEST: Final = 22
"""Characters of a name that fit beside the diagram; hovering shows all of it."""


def rank_groups(ranks: Sequence[float], critical: float) -> list[tuple[int, int]]:
    """Return the largest groups of neighbours without a significant difference of ranks.

    Parameters
    ----------
    ranks
        Mean ranks, ascending.
    critical
        Ranks that differ by more are significantly different.

    Returns
    -------
    list of tuple
        First and last place of each group.

    Examples
    --------
    >>> rank_groups([1.0, 1.8, 2.5, 4.0], 1.0)
    [(0, 1), (1, 2)]
    """
    found: list[tuple[int, int]] = []
    for first in range(len(ranks)):
        last = max(at for at in range(first, len(ranks)) if ranks[at] - ranks[first] <= critical)
        if last > first and (not found or last > found[-1][1]):
            found.append((first, last))
    return found


def critical_difference_data(systems: Sequence[str], nemenyi: Nemenyi) -> pl.DataFrame:
    """Return mean ranks, groups without a significant difference, the critical difference.

    Parameters
    ----------
    systems
        Their names, in the order of the ranks.
    nemenyi
        Of `heldout.infer.blocks.nemenyi`.

    Returns
    -------
    polars.DataFrame
        kind (``system``, ``group`` or ``critical``), name, rank (a system's, or the first of a
        group), end (the last of a group), place (of a system or group, from 1).
    """
    if len(systems) < 3:
        raise InputError(f"{len(systems)} systems: mean ranks need at least three")
    ordered = sorted(zip(nemenyi.ranks, systems, strict=True))
    ranks = [rank for rank, _ in ordered]
    rows: list[tuple[str, str, float, float, int]] = [
        ("system", name, rank, rank, place) for place, (rank, name) in enumerate(ordered, 1)
    ]
    rows += [
        ("group", f"{ordered[first][1]} to {ordered[last][1]}", ranks[first], ranks[last], place)
        for place, (first, last) in enumerate(rank_groups(ranks, nemenyi.critical_difference), 1)
    ]
    rows.append(("critical", "critical difference", 1.0, 1.0 + nemenyi.critical_difference, 0))
    return table_of(rows, ["kind", "name", "rank", "end", "place"])


def draw_critical_difference(frame: pl.DataFrame) -> Drawing:
    """Draw Demšar's diagram: bars join systems that are not significantly different.

    Parameters
    ----------
    frame
        Of `critical_difference_data`.
    """
    systems = frame.filter(pl.col("kind") == "system")
    groups = frame.filter(pl.col("kind") == "group")
    length = float(frame.filter(pl.col("kind") == "critical")["end"][0]) - 1.0
    count = len(systems)
    hung = _hung(systems, 0.35 * len(groups) + 0.8)
    deepest = float(hung["depth"].max()) + 0.6  # type: ignore[arg-type]
    room = 0.62 * (count - 1)
    plane = _Plane([1 - room, count + room], [deepest, ABOVE])
    ticks = range(1, count + 1)
    bar = min(1.0 + length, count + room)
    edge = 0.015 * (count - 1)
    whole = plane.lines([(1.0, float(count), 0.0, 0.0)], "frame", 1.5)
    marks = plane.lines([(float(at), float(at), 0.0, -0.2) for at in ticks], "frame", 1)
    numbers = plane.texts([(float(at), -0.2, str(at)) for at in ticks], "center", dy=-8)
    drops = [(rank, rank, 0.0, depth) for rank, depth in hung["rank", "depth"].iter_rows()]
    leads = [
        (rank, side, depth, depth)
        for rank, side, depth in hung["rank", "side", "depth"].iter_rows()
    ]
    layers = [plane.lines([*drops, *leads], "faint", 1), whole, marks, numbers]
    for align, side, shift in (("right", 1.0, -6), ("left", float(count), 6)):
        named = hung.filter(pl.col("side") == side)["side", "depth", "label"].iter_rows()
        layers.append(plane.texts(list(named), align, dx=shift))
    joined = [
        (first - edge, last + edge, 0.35 * place + 0.1, 0.35 * place + 0.1)
        for first, last, place in groups["rank", "end", "place"].iter_rows()
    ]
    layers += [plane.lines(joined, "joined", 5)] if joined else []
    layers.append(plane.lines([(1.0, bar, -1.05, -1.05)], "frame", 2))
    layers.append(plane.texts([(1.0, -1.05, f"critical difference {length:.2f}")], "left", dy=-9))
    layers.append(plane.hover(hung))
    words = (
        "Mean ranks of the systems, the best at the left; bars join systems whose ranks differ by "
        "at most the critical difference."
    )
    return drawing(layers, words, int(26 * (deepest - ABOVE)))


def _hung(systems: pl.DataFrame, gap: float) -> pl.DataFrame:
    """The position of each name: the better half at the left, the best highest."""
    count = len(systems)
    left = pl.col("place") <= (count + 1) // 2
    return systems.with_columns(
        pl.when(left)
        .then(pl.col("place"))
        .otherwise(count + 1 - pl.col("place"))
        .add(gap)
        .alias("depth"),
        pl.when(left).then(1.0).otherwise(float(count)).alias("side"),
        pl.format(
            "{} ({})",
            _short("name"),
            pl.col("rank").map_elements(lambda rank: f"{rank:.2f}", return_dtype=pl.String),
        ).alias("label"),
    )


def _short(column: str) -> pl.Expr:
    """A name that leaves room for its rank."""
    name = pl.col(column)
    long = name.str.len_chars() > LONGEST
    return pl.when(long).then(pl.format("{}…", name.str.slice(0, LONGEST - 1))).otherwise(name)


class _Plane:
    """Lines and texts on one pair of scales without axes."""

    def __init__(self, across: list[float], down: list[float]) -> None:
        self._x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=across, nice=False))
        self._y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=down, nice=False))

    def lines(self, parts: Sequence[tuple[float, ...]], style: str, width: float) -> alt.Chart:
        """From x to x2, from y to y2."""
        frame = table_of(parts, ["x", "x2", "y", "y2"])
        drawn: alt.Chart = (
            alt.Chart(inline(frame))
            .mark_rule(style=style, strokeWidth=width)
            .encode(x=self._x, x2="x2:Q", y=self._y, y2="y2:Q")
        )
        return drawn

    def texts(
        self, parts: list[tuple[Any, ...]], align: str, *, dx: float = 0, dy: float = 0
    ) -> alt.Chart:
        """At x and y."""
        frame = table_of(parts, ["x", "y", "text"])
        mark: dict[str, Any] = {"align": align, "dx": dx, "dy": dy, "limit": 190}
        drawn: alt.Chart = (
            alt.Chart(inline(frame))
            .mark_text(style="label", **mark)
            .encode(x=self._x, y=self._y, text="text:N")
        )
        return drawn

    def hover(self, hung: pl.DataFrame) -> alt.Chart:
        """Points on the axis with tooltips."""
        frame = hung.select("name", "rank", pl.col("rank").alias("x"), pl.lit(0.0).alias("y"))
        drawn: alt.Chart = (
            alt.Chart(inline(frame))
            .mark_point(size=60)
            .encode(
                x=self._x,
                y=self._y,
                tooltip=tip(("name:N", "system"), ("rank:Q", "mean rank", ".2f")),
            )
        )
        return drawn
