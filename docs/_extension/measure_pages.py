"""The directive ``measures``: a table of every measure, from the code."""  # noqa: INP001

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sphinx.util.docutils import SphinxDirective

from heldout.report.listings import listed_measures

if TYPE_CHECKING:
    from collections.abc import Iterator

    from docutils import nodes
    from sphinx.application import Sphinx

TITLES = {
    "ranking": "Rankings",
    "classification": "Predicted classes",
    "regression": "Predicted numbers",
    "text": "Texts",
}


class Measures(SphinxDirective):
    """Documents the measures: what they are, formulas, input, and names in other tools."""

    def run(self) -> list[nodes.Node]:
        """Write a table for each task, and have it parsed."""
        listed = listed_measures()
        lines = [line for task in TITLES for line in _section(task, listed)]
        return self.parse_text_to_nodes("\n".join(lines), allow_section_headings=True)


def _section(task: str, listed: list[dict[str, Any]]) -> Iterator[str]:
    title = TITLES[task]
    yield from ("", title, "-" * len(title), "")
    yield from (".. list-table::", "   :header-rows: 1", "")
    yield from _row("Measure", "What it is", "Formula", "Input", "Also")
    for measure in listed:
        if measure["task"] == task:
            direction = " Lower is better." if measure["higher_is_better"] is False else ""
            also = ", ".join(f"``{name}``" for name in measure["also"])
            summary = measure["summary"].replace("*", "\\*").replace("|", "\\|")
            formula = f"``{measure['formula']}``" if measure["formula"] else ""
            name, needs = f"``{measure['name']}``", measure["input"]
            yield from _row(name, summary + direction, formula, needs, also)
    yield ""


def _row(*cells: str) -> Iterator[str]:
    for number, cell in enumerate(cells):
        yield f"   {'*' if number == 0 else ' '} - {cell}".rstrip()


def setup(app: Sphinx) -> dict[str, bool]:
    """Make the directive known."""
    app.add_directive("measures", Measures)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
