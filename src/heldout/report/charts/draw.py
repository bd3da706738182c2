"""What all charts share: a chart with its words and numbers, its themes, marks, and files.

Drawings name no colour themselves: there is one theme for light and one for dark. The colours are
those of Okabe and Ito, which are distinct for all kinds of colour vision. Drawings also use shapes,
dashes and positions, for print in grey.
"""

from __future__ import annotations

import math
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import altair as alt

from heldout.data.atomic import write_atomically
from heldout.errors import InputError
from heldout.report.table import printable

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Sequence

    import polars as pl

WIDTH: Final = 600
SUFFIXES: Final = (".png", ".svg", ".pdf", ".html", ".json")
FONT: Final = 'system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", Arial, sans-serif'
# These have equal widths, so that no label of a picture is cut on another machine.
PICTURE_FONT: Final = 'Arial, "Liberation Sans", Helvetica, sans-serif'
SHAPES: Final = (
    *("circle", "square", "triangle-up", "diamond", "cross"),
    *("triangle-down", "triangle-left", "triangle-right"),
)
DASHES: Final = ([1, 0], [8, 2], [5, 2, 1, 2], [2, 2])
UNIT: Final = alt.Scale(domain=[0, 1], nice=False)  # shares


class Chart(NamedTuple):
    """A drawing with the frame of its numbers, and the words around it."""

    key: str  # its name on the command line, unique among the charts of a result
    title: str
    caption: str
    frame: pl.DataFrame
    drawing: Any

    def themed(self, *, dark: bool = False) -> Any:
        """The drawing with its title and caption, in a theme."""
        copy = self.drawing.copy(deep=True)
        copy.title = alt.TitleParams(text=self.title, subtitle=wrap(self.caption, 95))
        copy.config = alt.Config.from_dict(theme(dark=dark))
        return copy

    def specification(self) -> dict[str, Any]:
        """Vega-Lite for the script of a page, as wide as its place; the page adds a theme."""
        spec: dict[str, Any] = _printable(self.drawing.to_dict())
        if "width" in spec:  # Vega-Lite cannot fit panels: they scroll
            spec |= {"width": "container", "autosize": {"type": "fit-x", "contains": "padding"}}
        return spec

    @property
    def picture(self) -> str:
        """The drawing as SVG in the light theme, for print and for places without scripts."""
        return _file(self.drawing.to_dict() | {"config": theme(transparent=True)}, ".svg").decode()


def suffix_of(path: str | os.PathLike[str]) -> str:
    """The format of a file that a chart can be written to."""
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        said = f"ends in {suffix!r}" if suffix else "has no suffix"
        raise InputError(f"{path}: {said}; expected one of {', '.join(SUFFIXES)}")
    return suffix


def save_chart(chart: Any, path: str | os.PathLike[str]) -> None:
    """Write a chart to a file; the suffix determines the format.

    Parameters
    ----------
    chart
        An Altair chart, such as `heldout.chart` returns.
    path
        ``.png``, ``.svg``, ``.pdf``, ``.html`` (one page that needs no network) or ``.json`` (the
        Vega-Lite specification). An existing file is replaced once everything is written.
    """
    content = _file(chart.to_dict(), suffix_of(path))
    with write_atomically(path) as aside:
        aside.write_bytes(content)


def _file(spec: dict[str, Any], suffix: str) -> bytes:
    import vl_convert  # slow to import

    spec = _printable(spec)
    if suffix == ".json":
        from heldout.as_json import json_text

        return json_text(spec, indent=1).encode()
    if suffix == ".html":
        from heldout.report.charts.standalone import chart_page

        return chart_page(spec).encode()
    spec.get("config", {})["font"] = PICTURE_FONT
    version = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
    if suffix == ".svg":
        return str(vl_convert.vegalite_to_svg(spec, vl_version=version)).encode()
    if suffix == ".pdf":
        return bytes(vl_convert.vegalite_to_pdf(spec, vl_version=version))
    return bytes(vl_convert.vegalite_to_png(spec, vl_version=version, scale=2.0))


def _printable(part: Any) -> Any:
    """A specification without control characters: vl-convert aborts the process on them."""
    if isinstance(part, dict):
        return {_printable(name): _printable(value) for name, value in part.items()}
    if isinstance(part, list):
        return [_printable(value) for value in part]
    return printable(part) if isinstance(part, str) else part


# ---- themes --------------------------------------------------------------------------------------


class _Look(NamedTuple):
    paper: str
    ink: str
    faint: str  # secondary text and marks
    grid: str
    colours: tuple[str, ...]  # of categories, those with the best contrast first
    ramp: tuple[str, ...]  # from little to much, also monotone in lightness
    diverging: tuple[str, ...]  # from below to above a middle


_LIGHT: Final = _Look(
    *("#ffffff", "#1b1f24", "#5a626c", "#e3e6ea"),
    ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#b3a400"),
    ("#f2f5f9", "#bcd9ec", "#6fb1d9", "#2b83ba", "#0b5a92", "#06325a"),
    ("#a63c00", "#e58c4f", "#f6dcc8", "#f5f5f5", "#c6e0f0", "#5aa6d3", "#005a94"),
)
_DARK: Final = _Look(
    *("#14171b", "#e8eaed", "#a2abb6", "#2f353c"),
    ("#56b4e9", "#e69f00", "#2fc79a", "#e29bc3", "#f0e442", "#ff8a4a", "#ffffff", "#5b8def"),
    ("#1d2733", "#1c4a6e", "#1f74a8", "#4aa3d6", "#93cdf0", "#e2f2fc"),
    ("#ffb077", "#d0743a", "#6b4028", "#2a2e34", "#234a63", "#3a86b8", "#9bd4f7"),
)


def theme(*, dark: bool = False, transparent: bool = False) -> dict[str, Any]:
    """The Vega-Lite configuration of a theme."""
    look = _DARK if dark else _LIGHT
    paper, ink, faint, first = look.paper, look.ink, look.faint, look.colours[0]
    text = {"labelColor": ink, "titleColor": ink, "labelFontSize": 12, "titleFontSize": 12}
    title = {"color": ink, "subtitleColor": faint, "fontSize": 15, "subtitleFontSize": 12}
    axis = {"domainColor": faint, "tickColor": faint, "gridColor": look.grid, "labelOverlap": True}
    legend = {"orient": "top", "symbolSize": 90, "labelLimit": 260, "titleLimit": 260}
    plain = {"titleFontWeight": "normal"}
    return {
        "background": "transparent" if transparent else paper,
        "font": FONT,
        "padding": 8,
        "view": {"stroke": None},
        "title": {**title, "anchor": "start", "fontWeight": 600, "offset": 12},
        "axis": {**text, **plain, **axis, "labelLimit": 220, "titleLimit": 520},
        "axisQuantitative": {"tickCount": 7},
        "legend": {**text, **plain, **legend},
        "header": {**text, "labelFontWeight": 600, "labelLimit": 300, "titleLimit": 300},
        "range": {
            "category": list(look.colours),
            "ordinal": list(look.ramp[2:]),
            "ramp": list(look.ramp),
            "heatmap": list(look.ramp),
            "diverging": list(look.diverging),
        },
        "mark": {"color": first, "tooltip": None},
        "point": {"filled": True, "size": 70, "opacity": 1},
        "line": {"strokeWidth": 2},
        "bar": {"color": first},
        "rule": {"color": first, "strokeWidth": 2},
        "text": {"color": ink, "fontSize": 12},
        "tick": {"color": ink},
        "style": {
            "reference": {"stroke": faint, "color": faint, "strokeDash": [4, 3], "strokeWidth": 1},
            "frame": {"color": ink, "stroke": ink, "fill": ink},
            "faint": {"color": faint, "stroke": faint, "fill": faint},
            "back": {"color": faint, "stroke": faint},
            "label": {"color": ink, "fill": ink, "fontSize": 12},
            "badge": {"color": paper, "fill": paper, "stroke": ink, "strokeWidth": 1.5},
            "hull": {"color": faint, "stroke": faint, "strokeWidth": 6, "opacity": 0.4},
            "joined": {"color": first, "strokeCap": "round"},
        },
    }


# ---- data, scales, tooltips, layers --------------------------------------------------------------


def drawn(frame: pl.DataFrame) -> alt.Chart:
    """A chart of the rows of a frame; six digits keep files small, what is not finite is null."""

    def plain(value: Any) -> Any:
        if isinstance(value, float):
            return float(f"{value:.6g}") if math.isfinite(value) else None
        return value

    data = alt.InlineData(values=[])
    # Set afterwards, unchecked: Altair checks every row when the drawing is written.
    data.values = [
        {name: plain(value) for name, value in row.items()} for row in frame.iter_rows(named=True)
    ]
    return alt.Chart(data)


def tips(*fields: str | tuple[str, str] | tuple[str, str, str]) -> list[alt.Tooltip]:
    """Tooltips: texts by the name of their column; numbers with a title, and a format."""
    tooltips = []
    for field in fields:
        name, title, *form = (field, field) if isinstance(field, str) else field
        kind = "Q" if form else "N"
        tooltips.append(
            alt.Tooltip(f"{name}:{kind}", title=title, **({"format": form[0]} if form else {}))
        )
    return tooltips


def padded(values: Iterable[float | None], share: float = 0.06) -> alt.Scale:
    """A scale with a little room on both sides of some numbers."""
    known = [value for value in values if value is not None and math.isfinite(value)]
    low, high = (min(known), max(known)) if known else (0.5, 0.5)
    room = share * (high - low) if high > low else 0.5
    return alt.Scale(domain=[low - room, high + room], nice=False, zero=False)


def colours(field: str, names: Sequence[Any], title: str | None = None, **more: Any) -> alt.Color:
    """A colour for each name."""
    return alt.Color(f"{field}:N", title=title, scale=alt.Scale(domain=list(names)), **more)


def dashes(
    field: str, names: Sequence[str], choices: Sequence[list[int]] = (), **more: Any
) -> alt.StrokeDash:
    """Dashes that distinguish lines without colours; the first is solid."""
    picked = choices or [DASHES[number % len(DASHES)] for number in range(len(names))]
    scale = alt.Scale(domain=list(names), range=list(picked))
    return alt.StrokeDash(f"{field}:N", title=None, scale=scale, **more)


def shapes(field: str, names: Sequence[Any], choices: Sequence[str] = (), **more: Any) -> alt.Shape:
    """Shapes that distinguish points without colours; they repeat from the ninth on."""
    picked = choices or [SHAPES[number % len(SHAPES)] for number in range(len(names))]
    scale = alt.Scale(domain=list(names), range=list(picked))
    return alt.Shape(f"{field}:N", title=None, scale=scale, **more)


def reference(**place: float) -> alt.Chart:
    """A dashed line at a value: ``reference(x=0)``."""
    line = alt.Chart(alt.InlineData(values=[{}])).mark_rule(style="reference")
    ((axis, value),) = place.items()
    return line.encode(**{axis: alt.datum(value)})


def diagonal(x: alt.X, y: alt.Y, ends: Sequence[float] = (0, 1)) -> alt.Chart:
    """A dashed line where both axes are equal."""
    names = [axis.shorthand.partition(":")[0] for axis in (x, y)]
    points = [dict.fromkeys(names, float(end)) for end in ends]
    line = alt.Chart(alt.InlineData(values=points)).mark_line(style="reference")
    return line.encode(x=x, y=y)


def layers(*parts: Any, height: int, words: str, width: int = WIDTH) -> alt.LayerChart:
    """Drawings above each other; `words` describe them to those who cannot see them."""
    return alt.layer(*parts).properties(width=width, height=height, description=words)


def rows_height(count: int, step: int) -> int:
    """The height of rows; Vega's own steps do not work with a responsive width."""
    return max(count, 2) * step


def panels(
    *parts: Any, frame: pl.DataFrame, by: str | None, size: int, words: str
) -> alt.LayerChart | alt.FacetChart:
    """Square layers over the same numbers; with `by` a panel for each of its values."""
    square = alt.layer(*parts, data=drawn(frame).data).properties(width=size, height=size)
    if by is None:
        return square.properties(description=words)
    facet = alt.Facet(f"{by}:N", title=None)
    return square.facet(facet=facet, columns=2).properties(description=words)


# ---- words ---------------------------------------------------------------------------------------


def brief(text: str) -> str:
    """A text that fits a tooltip."""
    flat = " ".join(text.split())
    return flat if len(flat) <= 120 else f"{flat[:119]}…"


def signed(value: float) -> str:
    """A difference with a true minus, as on the axes."""
    return f"{value:+.4f}".replace("-", "−")


def numbered(key: str, number: int) -> str:
    """The key of the first, second, … chart of a kind: ``tuning``, ``tuning-2``."""
    return key if number == 1 else f"{key}-{number}"


def counted(count: int, unit: str) -> str:
    """A number of units: ``1 query``, ``50 queries``."""
    return f"{count:,} {unit if count == 1 else plural(unit)}"


def plural(unit: str) -> str:
    """Several units."""
    return "queries" if unit == "query" else f"{unit}s"
