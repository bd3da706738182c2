"""The directive ``warning-codes``: what every code means."""  # noqa: INP001

from __future__ import annotations

from typing import TYPE_CHECKING

from sphinx.util.docutils import SphinxDirective
from warning_codes import MEANINGS

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx


class WarningCodes(SphinxDirective):
    """Documents the codes, each below a label such as ``warning-few-units``."""

    def run(self) -> list[nodes.Node]:
        """Write a section for each code, and have it parsed."""
        lines = []
        for code, meaning in MEANINGS.items():
            lines += [f".. _warning-{code}:", "", code, "-" * len(code), "", meaning, ""]
        return self.parse_text_to_nodes("\n".join(lines), allow_section_headings=True)


def setup(app: Sphinx) -> dict[str, bool]:
    """Make the directive known."""
    app.add_directive("warning-codes", WarningCodes)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
