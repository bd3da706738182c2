"""The directive ``commands``: every command of the command line, from its parser."""  # noqa: INP001

from __future__ import annotations

import re
from importlib import import_module
from typing import TYPE_CHECKING

from sphinx.util.docutils import SphinxDirective

from heldout.cli.main import COMMANDS
from heldout.cli.options import options_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from docutils import nodes
    from sphinx.application import Sphinx

    from heldout.cli.options import Parser


class Commands(SphinxDirective):
    """Documents the commands: what they are for, their options, examples."""

    def run(self) -> list[nodes.Node]:
        """Write a section for each command, and have it parsed."""
        parsers = (import_module(f"heldout.cli.{name}").parser() for name in COMMANDS)
        lines = [line for parser in parsers for line in _section(parser)]
        return self.parse_text_to_nodes("\n".join(lines), allow_section_headings=True)


def _section(parser: Parser) -> Iterator[str]:
    name = f"heldout {parser.command}"
    yield from ("", f".. _cli-{parser.command}:", "", name, "-" * len(name), "")
    yield from (_escaped(parser.summary), "", f".. program:: {name}", "")
    for name, words in parser.arguments.items():
        yield from (f"``{name.partition(' ')[2]}``", f"   {_escaped(words)}", "")
    for option in options_of(parser.command):
        spellings = ", ".join(f"{flag} {option.metavar}".rstrip() for flag in option.flags)
        yield from (f".. option:: {spellings}", "", f"   {_escaped(option.help)}", "")
    yield from _notes(f"{parser.notes}\nexamples:\n{parser.examples}")


def _notes(text: str) -> Iterator[str]:
    """Indented lines are commands or lists and stay as they are; the others are prose."""
    for block in re.split(r"\n(?=\S)|\n\n", text.strip("\n")):
        head, *rest = block.split("\n")
        if head.startswith("  "):
            yield from ("::", "", *("  " + line for line in block.split("\n")), "")
        elif rest and all(line.startswith("  ") for line in rest):
            yield from (f"{_escaped(head.removesuffix(':'))}::", "")
            yield from ("  " + line for line in rest)
            yield ""
        else:
            yield from (_escaped(block), "")


def _escaped(text: str) -> str:
    return re.sub(r"([\\*`|_@])", r"\\\1", text)


def setup(app: Sphinx) -> dict[str, bool]:
    """Make the directive known."""
    app.add_directive("commands", Commands)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
