"""The directive ``gallery``: every chart, drawn when the documentation is built."""  # noqa: INP001

from __future__ import annotations

import html
import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sphinx.application import Sphinx

_FOLDER = "gallery"


class Gallery(SphinxDirective):
    """Draws every chart, light and dark, and shows the code that draws it."""

    def run(self) -> list[nodes.Node]:
        """A section a chart: picture, caption, code."""
        from heldout.report.charts.gallery import gallery

        place = Path(self.env.app.outdir) / "_static" / _FOLDER
        place.mkdir(parents=True, exist_ok=True)
        self.env.note_dependency(inspect.getfile(gallery))
        return [section for named in gallery() for section in self._section(named, place)]

    def _section(self, named: Any, place: Path) -> Iterator[nodes.Node]:
        section = nodes.section(ids=[nodes.make_id(named.key)], names=[named.key])
        section += nodes.title(text=named.title)
        section += nodes.raw("", _figure(named, place), format="html")
        section += nodes.paragraph(text=named.caption)
        code = getattr(named, "code", "") or f"heldout chart RESULTS {named.key} -o {named.key}.svg"
        language = "python" if "import" in code or "(" in code.partition("\n")[0] else "console"
        section += nodes.literal_block(code, code, language=language)
        yield section


def _figure(named: Any, place: Path) -> str:
    """The picture that suits the page: one is hidden by the theme."""
    from heldout.report.charts.export import save_chart
    from heldout.report.charts.theme import themed

    parts = []
    for dark in (False, True):
        name = f"{named.key}-{'dark' if dark else 'light'}.svg"
        save_chart(themed(named.chart, dark=dark), place / name)
        side = "only-dark" if dark else "only-light"
        alt = html.escape(named.caption, quote=True)
        parts.append(f'<img class="{side}" src="_static/{_FOLDER}/{name}" alt="{alt}">')
    return f'<figure class="chart">{"".join(parts)}</figure>'


def setup(app: Sphinx) -> dict[str, bool]:
    """Make the directive known."""
    app.add_directive("gallery", Gallery)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
