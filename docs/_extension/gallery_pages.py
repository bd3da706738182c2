"""The directive ``gallery``: every chart, drawn when the documentation is built."""  # noqa: INP001

from __future__ import annotations

import html
import inspect
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from heldout.report import charts

if TYPE_CHECKING:
    from types import FunctionType

    from sphinx.application import Sphinx

    from heldout.report.charts.draw import Chart

_FOLDER = "gallery"


class Gallery(SphinxDirective):
    """Draws every chart, light and dark, and shows the code that draws it."""

    def run(self) -> list[nodes.Node]:
        """A section a chart: picture, caption, data, code."""
        from gallery_charts import gallery

        if not self.config.gallery:
            return []
        place = Path(self.env.app.outdir) / "_static" / _FOLDER
        place.mkdir(parents=True, exist_ok=True)
        self.env.note_reread()  # the charts change with the code, which is no source of this page
        return [_section(named, place) for named in gallery()]


def _section(named: Chart, place: Path) -> nodes.section:
    section = nodes.section(ids=[nodes.make_id(named.key)], names=[named.key])
    section += nodes.title(text=named.title)
    section += nodes.raw("", _figure(named, place), format="html")
    section += nodes.paragraph(text=named.caption)
    command = f"$ heldout chart RESULTS {named.key} -o {named.key}.svg"
    section += nodes.literal_block(command, command, language="console")
    source = inspect.getsource(drawing_function(named.key)).strip()
    section += nodes.raw("", f"<details><summary>{_summary(named)}</summary>", format="html")
    section += nodes.literal_block(source, source, language="python")
    section += nodes.raw("", "</details>", format="html")
    return section


def _figure(named: Chart, place: Path) -> str:
    """The picture that suits the page: of the two, one is hidden."""
    from heldout.report.charts.draw import save_chart

    parts = []
    alt = html.escape(named.caption, quote=True)
    for side in ("light", "dark"):
        name = f"{named.key}-{side}.png"  # a browser has other fonts than the layout of an SVG
        save_chart(named.themed(dark=side == "dark"), place / name)
        parts.append(f'<img class="only-{side}" src="_static/{_FOLDER}/{name}" alt="{alt}">')
    return f'<figure class="chart">{"".join(parts)}</figure>'


def _summary(named: Chart) -> str:
    columns = ", ".join(named.frame.columns)
    return html.escape(f"How it is drawn, from a frame with {columns}")


def drawing_function(key: str) -> FunctionType:
    """Return the function that draws a chart, from the module that defines it."""
    name = "curve" if key in {"roc", "precision-recall"} else key.replace("-", "_")
    for module in iter_modules(charts.__path__, f"{charts.__name__}."):
        function = getattr(import_module(module.name), name, None)
        if inspect.isfunction(function) and function.__module__ == module.name:
            return function
    raise LookupError(f"no module in {charts.__name__} defines {name}")


def setup(app: Sphinx) -> dict[str, bool]:
    """Make the directive known; ``-D gallery=0`` leaves it out."""
    app.add_config_value("gallery", default=True, rebuild="env")
    app.add_directive("gallery", Gallery)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
