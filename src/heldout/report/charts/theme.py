"""How charts look: one theme for light, one for dark; drawings name no colour themselves.

The colours are those of Okabe and Ito, which are distinct for all kinds of colour vision. Drawings
also use shapes and positions, for print in grey.
"""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from heldout.report.charts.named import Drawing

__all__ = ["FONT", "PICTURE_FONT", "WIDTH", "responsive", "theme_config", "themed", "titled"]

WIDTH: Final = 600
"""Width of a chart in its own file, in pixels."""

FONT: Final = 'system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", Arial, sans-serif'

PICTURE_FONT: Final = 'Arial, "Liberation Sans", Helvetica, sans-serif'
"""Fonts of pictures: they have equal widths, so that no label is cut on another machine."""


class _Look(NamedTuple):
    """The colours of a theme.

    Parameters
    ----------
    paper, ink, faint, grid
        Background, text, secondary text and marks, lines behind the data.
    colours
        Of categories, in the order of use, those with the best contrast first.
    ramp
        From little to much; also monotone in lightness, for print in grey.
    diverging
        From below to above a middle.
    """

    paper: str
    ink: str
    faint: str
    grid: str
    colours: tuple[str, ...]
    ramp: tuple[str, ...]
    diverging: tuple[str, ...]


_LIGHT: Final = _Look(
    "#ffffff",
    "#1b1f24",
    "#5a626c",
    "#e3e6ea",
    ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#b3a400"),
    ("#f2f5f9", "#bcd9ec", "#6fb1d9", "#2b83ba", "#0b5a92", "#06325a"),
    ("#a63c00", "#e58c4f", "#f6dcc8", "#f5f5f5", "#c6e0f0", "#5aa6d3", "#005a94"),
)
_DARK: Final = _Look(
    "#14171b",
    "#e8eaed",
    "#a2abb6",
    "#2f353c",
    ("#56b4e9", "#e69f00", "#2fc79a", "#e29bc3", "#f0e442", "#ff8a4a", "#ffffff", "#5b8def"),
    ("#1d2733", "#1c4a6e", "#1f74a8", "#4aa3d6", "#93cdf0", "#e2f2fc"),
    ("#ffb077", "#d0743a", "#6b4028", "#2a2e34", "#234a63", "#3a86b8", "#9bd4f7"),
)


def theme_config(*, dark: bool = False, transparent: bool = False) -> dict[str, Any]:
    """The Vega-Lite configuration of a theme.

    Parameters
    ----------
    dark
        Light text on a dark background.
    transparent
        Without a background.
    """
    look = _DARK if dark else _LIGHT
    text = {
        "labelColor": look.ink,
        "titleColor": look.ink,
        "labelFontSize": 12,
        "titleFontSize": 12,
    }
    return {
        "background": "transparent" if transparent else look.paper,
        "font": FONT,
        "padding": 8,
        "view": {"stroke": None},
        "title": {
            "color": look.ink,
            "subtitleColor": look.faint,
            "fontSize": 15,
            "subtitleFontSize": 12,
            "anchor": "start",
            "fontWeight": 600,
            "offset": 12,
        },
        "axis": {
            **text,
            "titleFontWeight": "normal",
            "domainColor": look.faint,
            "tickColor": look.faint,
            "gridColor": look.grid,
            "labelLimit": 220,
            "titleLimit": 520,
            "labelOverlap": True,
        },
        "axisQuantitative": {"tickCount": 7},
        "legend": {
            **text,
            "titleFontWeight": "normal",
            "labelLimit": 260,
            "titleLimit": 260,
            "orient": "top",
            "symbolSize": 90,
        },
        "header": {**text, "labelFontWeight": 600, "labelLimit": 300, "titleLimit": 300},
        "range": {
            "category": list(look.colours),
            "ordinal": list(look.ramp[2:]),
            "ramp": list(look.ramp),
            "heatmap": list(look.ramp),
            "diverging": list(look.diverging),
        },
        "mark": {"color": look.colours[0], "tooltip": None},
        "point": {"filled": True, "size": 70, "opacity": 1},
        "line": {"strokeWidth": 2},
        "bar": {"color": look.colours[0]},
        "rule": {"color": look.colours[0], "strokeWidth": 2},
        "text": {"color": look.ink, "fontSize": 12},
        "tick": {"color": look.ink},
        "style": {
            "reference": {"color": look.faint, "stroke": look.faint, "strokeDash": [4, 3]},
            "frame": {"color": look.ink, "stroke": look.ink, "fill": look.ink},
            "outline": {"color": look.ink, "stroke": look.ink, "fillOpacity": 0, "filled": False},
            "faint": {"color": look.faint, "stroke": look.faint, "fill": look.faint},
            "label": {"color": look.ink, "fill": look.ink, "fontSize": 12},
            "back": {"color": look.faint, "stroke": look.faint},
            "badge": {
                "color": look.paper,
                "fill": look.paper,
                "stroke": look.ink,
                "strokeWidth": 1.5,
            },
            "hull": {"color": look.faint, "stroke": look.faint, "strokeWidth": 6, "opacity": 0.4},
            "joined": {"color": look.colours[0], "strokeCap": "round"},
            "second": {"color": look.colours[1], "stroke": look.colours[1]},
            "paper": {"color": look.paper, "stroke": look.paper, "fill": look.paper},
        },
    }


def themed(chart: Drawing, *, dark: bool = False) -> Drawing:
    """The same chart in a theme.

    Parameters
    ----------
    chart
        A drawing of this package.
    dark
        Use light text on a dark background.
    """
    import altair as alt  # slow to import

    copy = chart.copy(deep=True)
    copy.config = alt.Config.from_dict(theme_config(dark=dark))
    return copy


def titled(chart: Drawing, title: str, caption: str = "") -> Drawing:
    """The same chart with a title and a caption.

    Parameters
    ----------
    title, caption
        The title and the smaller text below it.
    """
    import altair as alt  # slow to import

    copy = chart.copy(deep=True)
    lines = _wrapped(caption, 95)
    copy.title = alt.TitleParams(text=title, subtitle=lines) if lines else alt.TitleParams(title)
    return copy


def _wrapped(text: str, width: int) -> list[str]:
    from textwrap import wrap

    return wrap(text, width)


def responsive(spec: dict[str, Any]) -> dict[str, Any]:
    """The same Vega-Lite object as wide as the element of a page that it is put in.

    Parameters
    ----------
    spec
        From a chart's ``to_dict()``. Charts of several panels keep their width: Vega-Lite knows
        no other way, so the page lets them scroll.
    """
    found = deepcopy(spec)
    if any(part in found for part in ("facet", "hconcat", "vconcat", "concat", "repeat")):
        return found
    if isinstance(found.get("width"), int | float):
        found["width"] = "container"
        found["autosize"] = {"type": "fit-x", "contains": "padding"}
    return found
