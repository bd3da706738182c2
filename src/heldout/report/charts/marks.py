"""Helpers of drawings: inline data, ranges, short texts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

__all__ = [
    "SHORT",
    "brief",
    "inline",
    "padded",
    "rows_height",
    "signed",
]

DIGITS: Final = 6
"""Significant digits of the numbers in a drawing, to keep files small."""

SHORT: Final = 120
"""Characters of a text that a tooltip shows."""


def inline(frame: pl.DataFrame) -> alt.InlineData:
    """The rows of a frame for a drawing; values that are not finite are null.

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
    data = alt.InlineData(values=[])
    data.values = rows  # unchecked: Altair checks every row when the drawing is written
    return data


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


def signed(value: float) -> str:
    """A difference with four decimals and its sign, a true minus as on the axes.

    Examples
    --------
    >>> signed(0.25), signed(-0.25)
    ('+0.2500', '−0.2500')
    """
    return f"{value:+.4f}".replace("-", "−")


def rows_height(count: int, step: int) -> int:
    """The height of a drawing of rows; Vega's steps do not work with a responsive width."""
    return max(count, 2) * step
