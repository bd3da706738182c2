"""Charts as files: pictures, pages and specifications, without a browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from heldout.as_json import json_text
from heldout.data.atomic import write_atomically
from heldout.errors import InputError
from heldout.report.charts.theme import PICTURE_FONT

if TYPE_CHECKING:
    import os

    from heldout.report.charts.named import Drawing

__all__ = ["SUFFIXES", "chart_bytes", "check_suffix", "save_chart"]

SUFFIXES: Final = (".png", ".svg", ".pdf", ".html", ".json")
SCALE: Final = 2.0
"""Pixels of a picture per pixel of the drawing."""
_SIGNS: Final = {
    **{code: 0x2400 + code for code in range(0x20)},  # U+2400 … show control characters
    0x7F: 0x2421,
    **dict.fromkeys((0x2028, 0x2029, 0xFFFE, 0xFFFF), 0xFFFD),
}
"""Signs for characters that SVG and Vega cannot draw: a name with one would abort the process."""


def check_suffix(path: str | os.PathLike[str]) -> str:
    """The suffix of a file that a chart can be written to.

    Parameters
    ----------
    path
        Of the file.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        said = f"ends in {suffix!r}" if suffix else "has no suffix"
        raise InputError(f"{path}: {said}; expected one of {', '.join(SUFFIXES)}")
    return suffix


def save_chart(chart: Drawing, path: str | os.PathLike[str]) -> None:
    """Write a chart; the suffix determines the format.

    Parameters
    ----------
    chart
        A drawing, best in a theme.
    path
        ``.png``, ``.svg``, ``.pdf``, ``.html`` (one page that needs no network) or ``.json`` (the
        Vega-Lite specification). An existing file is replaced once everything is written.
    """
    content = chart_bytes(chart, check_suffix(path))
    with write_atomically(path) as aside:
        aside.write_bytes(content)


def _drawable(part: Any) -> Any:
    """A part of a specification, all its texts without characters that cannot be drawn."""
    if isinstance(part, str):
        return part.translate(_SIGNS)
    if isinstance(part, dict):
        return {_drawable(key): _drawable(value) for key, value in part.items()}
    return [_drawable(one) for one in part] if isinstance(part, list) else part


def chart_bytes(chart: Drawing, suffix: str) -> bytes:
    """A chart as the content of a file.

    Parameters
    ----------
    suffix
        One of `SUFFIXES`.
    """
    import altair as alt  # slow to import, as is the next
    import vl_convert

    spec = _drawable(chart.to_dict())
    version = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
    if suffix == ".json":
        return json_text(spec, indent=1).encode()
    if suffix == ".html":
        from heldout.report.charts.standalone import chart_page

        return chart_page(spec).encode()
    if "config" in spec:
        spec["config"]["font"] = PICTURE_FONT
    if suffix == ".svg":
        return str(vl_convert.vegalite_to_svg(spec, vl_version=version)).encode()
    if suffix == ".pdf":
        return bytes(vl_convert.vegalite_to_pdf(spec, vl_version=version))
    return bytes(vl_convert.vegalite_to_png(spec, vl_version=version, scale=SCALE))
