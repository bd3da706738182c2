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
import polars as pl
import polars.selectors as cs

from heldout.data.atomic import write_atomically
from heldout.errors import InputError
from heldout.report.table import printable

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Sequence

WIDTH: Final = 600
SUFFIXES: Final = (".png", ".svg", ".pdf", ".html", ".json")
FONT: Final = 'system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", Arial, sans-serif'
# These have equal widths, so that no label of a picture is cut on another machine.
PICTURE_FONT: Final = 'Arial, "Liberation Sans", Helvetica, sans-serif'
# Signs of their own, so that different names stay different; U+FFFE is not allowed in SVG.
SIGNS: Final = {code: 0x2400 + code for code in range(32)} | {0xFFFE: 0xFFFD, 0xFFFF: 0xFFFD}
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
        copy.description = f"{self.title}. {self.caption}"  # for those who cannot see it
        copy.config = alt.Config.from_dict(theme(dark=dark))
        return copy

    def specification(self) -> dict[str, Any]:
        """Vega-Lite for the script of a page, as wide as its place; the page adds a theme."""
        words = {"description": f"{self.title}. {self.caption}"}
        spec: dict[str, Any] = _printable(self.drawing.to_dict() | words)
        if "width" in spec:  # Vega-Lite cannot fit panels: they scroll
            spec |= {"width": "container", "autosize": {"type": "fit-x", "contains": "padding"}}
        return spec

    @property
    def picture(self) -> str:
        """The drawing as SVG in the light theme, for print and for places without scripts."""
        return _file(self.drawing.to_dict() | {"config": theme(transparent=True)}, ".svg").decode()


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
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(f"{path}: expected a name that ends in one of {', '.join(SUFFIXES)}")
    if suffix == ".html":
        from heldout.report.page.render import chart_page

        content = chart_page(chart).encode()
    else:
        content = _file(chart.to_dict(), suffix)
    with write_atomically(path) as aside:
        aside.write_bytes(content)


def _file(spec: dict[str, Any], suffix: str) -> bytes:
    import vl_convert  # slow to import

    spec = _printable(spec)
    if suffix == ".json":
        from heldout.as_json import json_text

        return json_text(spec, indent=1).encode()
    spec.get("config", {})["font"] = PICTURE_FONT
    version = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
    size = {"scale": 2.0} if suffix == ".png" else {}
    draw = getattr(vl_convert, f"vegalite_to_{suffix[1:]}")
    content = draw(spec, vl_version=version, **size)
    return content.encode() if isinstance(content, str) else bytes(content)


def _printable(part: Any) -> Any:
    """A specification without control characters: vl-convert aborts the process on them."""
    if isinstance(part, dict):
        return {_printable(name): _printable(value) for name, value in part.items()}
    if isinstance(part, list):
        return [_printable(value) for value in part]
    return printable(part.translate(SIGNS)) if isinstance(part, str) else part


# ---- themes --------------------------------------------------------------------------------------


# Paper, ink, faint (of secondary text and marks), grid; the colours of categories, those with the
# best contrast first; a ramp from little to much, also monotone in lightness.
LIGHT: Final = (
    *("#ffffff", "#1b1f24", "#5a626c", "#e3e6ea"),
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#b3a400"],
    ["#f2f5f9", "#bcd9ec", "#6fb1d9", "#2b83ba", "#0b5a92", "#06325a"],
)
DARK: Final = (
    *("#14171b", "#e8eaed", "#a2abb6", "#2f353c"),
    ["#56b4e9", "#e69f00", "#2fc79a", "#e29bc3", "#f0e442", "#ff8a4a", "#ffffff", "#5b8def"],
    ["#1d2733", "#1c4a6e", "#1f74a8", "#4aa3d6", "#93cdf0", "#e2f2fc"],
)


def theme(*, dark: bool = False, transparent: bool = False) -> dict[str, Any]:
    """The Vega-Lite configuration of a theme."""
    paper, ink, faint, grid, colours, ramp = DARK if dark else LIGHT
    text = {"labelColor": ink, "titleColor": ink, "titleFontWeight": "normal"}
    guide = {**text, "labelFontSize": 12, "titleFontSize": 12, "labelLimit": 220}
    symbols = {"symbolOpacity": 1, "symbolSize": 90, "gradientLength": 150}
    lines = {"domainColor": faint, "tickColor": faint, "gridColor": grid}
    title = {"color": ink, "subtitleColor": faint, "fontSize": 15, "fontWeight": 600}
    secondary = {"color": faint, "stroke": faint}
    return {
        "background": "transparent" if transparent else paper,
        "font": FONT,
        "padding": 8,
        "view": {"stroke": None},
        "title": {**title, "subtitleFontSize": 12, "anchor": "start", "offset": 12},
        "axis": {**guide, **lines, "titleLimit": 520, "labelOverlap": True},
        "axisQuantitative": {"tickCount": 7},
        "legend": {**guide, "labelLimit": 260, "orient": "top", **symbols},
        "header": {**guide, "labelFontWeight": 600, "labelLimit": 300},
        "range": {"category": colours, "ordinal": ramp[2:], "ramp": ramp, "heatmap": ramp},
        "mark": {"color": colours[0], "tooltip": None},
        "point": {"filled": True, "size": 70, "opacity": 1},
        "line": {"strokeWidth": 2},
        "rule": {"color": colours[0], "strokeWidth": 2},
        "style": {
            "reference": {**secondary, "strokeDash": [4, 3]},
            "frame": {"color": ink, "stroke": ink, "fill": ink},
            "faint": secondary,
            "label": {"color": ink, "fill": ink, "fontSize": 12},
            "badge": {"color": paper, "fill": paper, "stroke": ink},
            "hull": {**secondary, "strokeWidth": 6, "opacity": 0.4},
        },
    }


# ---- data, scales, tooltips, layers: untyped, as Altair's own types do not survive chaining -----


def table(head: str, rows: Iterable[Sequence[Any]]) -> pl.DataFrame:
    """A frame of rows under the names of its columns."""
    return pl.DataFrame(list(rows), head.split(), orient="row", infer_schema_length=None)


def data(frame: pl.DataFrame) -> Any:
    """A chart of the rows of a frame; six digits keep files small, what is not finite is null."""
    digits = cs.float().round_sig_figs(6)
    inline = alt.InlineData(values=[])
    # Set afterwards, unchecked: Altair checks every row when the drawing is written.
    inline.values = frame.with_columns(pl.when(cs.float().is_finite()).then(digits)).to_dicts()
    return alt.Chart(inline)


def tips(*fields: str | tuple[str, ...], **formats: str) -> list[alt.Tooltip]:
    """Tooltips: columns of words, or with a title and a format; then numbers by their formats."""
    named = [field if isinstance(field, tuple) else (field, field) for field in fields]
    named += [(name, name.replace("_", " "), form) for name, form in formats.items()]
    return [
        alt.Tooltip(f"{name}:Q", title=title, format=form[0])
        if form
        else alt.Tooltip(f"{name}:N", title=title)
        for name, title, *form in named
    ]


def padded(values: Iterable[float | None], share: float = 0.06) -> alt.Scale:
    """A scale with a little room on both sides of some numbers."""
    known = [value for value in values if value is not None and math.isfinite(value)]
    low, high = (min(known), max(known)) if known else (0.5, 0.5)
    room = share * (high - low) if high > low else 0.5
    return alt.Scale(domain=[low - room, high + room], nice=False, zero=False)


def look(kind: type, field: str, names: Sequence[Any], *own: Any, **more: Any) -> Any:
    """The colours, shapes or dashes of names; `own` are not those that Vega would take."""
    scale = alt.Scale(domain=list(names), range=list(own) or alt.Undefined)
    return kind(f"{field}:N", **{"title": None, "scale": scale, **more})


def reference(**places: float) -> Any:
    """A dashed line at a value: ``reference(x=0)``."""
    line = data(pl.DataFrame({axis: [float(value)] for axis, value in places.items()}))
    return line.mark_rule(style="reference", strokeWidth=1).encode(**{a: f"{a}:Q" for a in places})


def diagonal(x: alt.X, y: alt.Y, ends: Sequence[float] = (0, 1)) -> Any:
    """A dashed line where both axes are equal."""
    names = [axis.shorthand.partition(":")[0] for axis in (x, y)]
    line = data(pl.DataFrame({name: list(ends) for name in names}))
    return line.mark_line(style="reference", strokeWidth=1).encode(x=x, y=y)


def at_right(base: Any, column: str, **mark: Any) -> Any:
    """A text for each row at the right edge."""
    words = base.mark_text(style="label", **{"align": "left", "dx": 8, **mark})
    return words.encode(x=alt.value("width"), text=f"{column}:N")


def layers(*parts: Any, height: int, width: int = WIDTH) -> Any:
    """Drawings above each other; Vega's own steps do not work with a responsive width."""
    return alt.layer(*parts).properties(width=width, height=height)


def panels(*parts: Any, frame: pl.DataFrame, by: str, sizes: tuple[int, int]) -> Any:
    """Square layers over the same numbers: one, or a smaller panel for each value of a column."""
    several = frame[by].n_unique() > 1
    size = sizes[several]
    square = alt.layer(*parts, data=data(frame).data).properties(width=size, height=size)
    return square.facet(facet=alt.Facet(f"{by}:N", title=None), columns=2) if several else square


def brief(text: str) -> str:
    """A text that fits a tooltip."""
    flat = " ".join(text.split())
    return flat if len(flat) <= 120 else f"{flat[:119]}…"


def hint(frame: pl.DataFrame) -> list[str]:
    """The column of texts for a tooltip, if there are any."""
    return ["text"] if any(frame["text"]) else []


def signed(value: float) -> str:
    """A difference with a true minus, as on the axes."""
    return f"{value:+.4f}".replace("-", "−")
