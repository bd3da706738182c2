"""The directive ``commands``: every command of the command line, from its parser."""  # noqa: INP001

from __future__ import annotations

import argparse
import re
from typing import TYPE_CHECKING, Any

from sphinx.util.docutils import SphinxDirective

from heldout.cli import parser as heldout_parser

if TYPE_CHECKING:
    from collections.abc import Iterator

    from docutils import nodes
    from sphinx.application import Sphinx


class Commands(SphinxDirective):
    """Documents the commands: what they are for, their options, examples."""

    def run(self) -> list[nodes.Node]:
        """Write a section for each command, and have it parsed."""
        lines = [line for one in leaves(heldout_parser()) for line in _section(one)]
        return self.parse_text_to_nodes("\n".join(lines), allow_section_headings=True)


def leaves(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """The commands that do something, in the order of the help."""
    below = [one for one in _actions(parser) if isinstance(one, argparse._SubParsersAction)]  # noqa: SLF001
    if not below:
        yield parser
    for action in below:
        for command in action.choices.values():
            yield from leaves(command)


def _actions(parser: argparse.ArgumentParser) -> list[Any]:
    return parser._actions  # noqa: SLF001  (argparse has no public way to its options)


def _section(parser: argparse.ArgumentParser) -> Iterator[str]:
    name = parser.prog
    yield from ("", f".. _cli-{name.partition(' ')[2].replace(' ', '-')}:", "")
    yield from (name, "-" * len(name), "", _escaped(parser.description or ""), "")
    yield from (f".. program:: {name}", "")
    given = [one for one in _actions(parser) if one.help != argparse.SUPPRESS]
    for action in given:
        if not action.option_strings:
            yield from (f"``{_shown(action)}``", f"   {_escaped(action.help or '')}", "")
    for action in given:
        if action.option_strings and not isinstance(action, argparse._HelpAction):  # noqa: SLF001
            spellings = ", ".join(_spelling(action, one) for one in action.option_strings)
            yield from (f".. option:: {spellings}", "", f"   {_escaped(action.help or '')}", "")
    yield from _epilog(parser.epilog or "")


def _shown(action: argparse.Action) -> str:
    name = str(action.metavar or action.dest)
    return {"?": f"[{name}]", "*": f"[{name} ...]", "+": f"{name} ..."}.get(
        str(action.nargs or ""), name
    )


def _spelling(action: argparse.Action, flag: str) -> str:
    if action.nargs == 0:
        return flag
    value = action.metavar or (
        "{" + ",".join(map(str, action.choices)) + "}" if action.choices else action.dest.upper()
    )
    return f"{flag} {value}"


def _epilog(text: str) -> Iterator[str]:
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
    return re.sub(r"([\\*`|_@])", r"\\\1", text % {} if "%%" in text else text)


def setup(app: Sphinx) -> dict[str, bool]:
    """Make the directive known."""
    app.add_directive("commands", Commands)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
