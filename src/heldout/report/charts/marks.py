"""What drawings share: data that is put into them, tooltips, lines of reference."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

__all__ = [
    "SHORT",
    "brief",
    "dashes",
    "inline",
    "padded",
    "rows_height",
    "shapes",
    "stroke_legend",
    "tip",
    "zero_line",
]

DIGITS: Final = 6
"""Significant digits that a drawing holds: no eye sees more, and files stay small."""

SHORT: Final = 120
"""Characters of a text that a tooltip shows."""


def inline(frame: pl.DataFrame) -> alt.InlineData:
    """The rows of a frame as they stand in a drawing; what is not finite is null.

    Parameters
    ----------
    frame
        Numbers, texts and truth values.
    """
    import altair as alt  # slow to import

    names = frame.columns
    rows = [
        {name: _plain(value) for name, value in zip(names, row, strict=True)}
        for row in frame.iter_rows()
    ]
    return alt.InlineData(values=rows)


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None
    return value


def brief(text: str) -> str:
    """A text that fits a tooltip.

    Examples
    --------
    >>> brief("two" + 2 * chr(10) + "words"), len(brief("a" * 500))
    ('two words', 120)
    """
    flat = " ".join(text.split())
    return flat if len(flat) <= SHORT else flat[: SHORT - 1] + "…"


def tip(*fields: tuple[str, str] | tuple[str, str, str]) -> list[alt.Tooltip]:
    """What hovering shows: fields with their types, what to call them, and a number's format.

    Parameters
    ----------
    fields
        ``("mean:Q", "nDCG@10", ".4f")``; without a format the value as it is.
    """
    import altair as alt  # slow to import

    return [
        alt.Tooltip(one[0], title=one[1], format=one[2])
        if len(one) == 3
        else alt.Tooltip(one[0], title=one[1])
        for one in fields
    ]


def zero_line(*, vertical: bool = True, at: float = 0.0) -> alt.Chart:
    """A dashed line where nothing differs.

    Parameters
    ----------
    vertical
        On the horizontal axis; else on the other.
    at
        Where.
    """
    import altair as alt  # slow to import
    import polars as pl

    axis = alt.X("zero:Q") if vertical else alt.Y("zero:Q")
    chart = alt.Chart(inline(pl.DataFrame({"zero": [at]})))
    drawn: alt.Chart = chart.mark_rule(style="reference", strokeWidth=1).encode(axis)
    return drawn


def padded(values: list[float | None], share: float = 0.06) -> list[float]:
    """The range of some numbers with a little room on both sides.

    Examples
    --------
    >>> padded([0.0, None, 1.0], 0.5)
    [-0.5, 1.5]
    >>> padded([2.0])
    [1.5, 2.5]
    """
    known = [one for one in values if one is not None and math.isfinite(one)]
    if not known:
        return [0.0, 1.0]
    low, high = min(known), max(known)
    room = share * (high - low) if high > low else 0.5
    return [low - room, high + room]


def shapes(count: int) -> list[str]:
    """Shapes of points that are told apart without colours.

    Parameters
    ----------
    count
        How many things there are; from the ninth on shapes come again.
    """
    known = [
        "circle",
        "square",
        "triangle-up",
        "diamond",
        "cross",
        "triangle-down",
        "triangle-left",
        "triangle-right",
    ]
    return [known[at % len(known)] for at in range(count)]


def dashes(count: int) -> list[list[int]]:
    """Dashes of lines that are told apart without colours; the first is whole."""
    known = [[1, 0], [8, 2], [5, 2, 1, 2], [2, 2]]
    return [known[at % len(known)] for at in range(count)]


def stroke_legend() -> alt.Legend:
    """A legend with a name a line, beside a piece of the line."""
    import altair as alt  # slow to import

    return alt.Legend(columns=1, symbolType="stroke", symbolStrokeWidth=2)


def signed(value: float) -> str:
    """A difference with four decimals and its sign, a true minus as on the axes.

    Examples
    --------
    >>> signed(0.25), signed(-0.25)
    ('+0.2500', '−0.2500')
    """
    return f"{value:+.4f}".replace("-", "−")


def rows_height(count: int, step: int) -> int:
    """The height of a drawing of rows; Vega's own steps do not go with a width that fits a page."""
    return max(count, 2) * step
