"""How commands are declared, and how their help looks at any width."""

from __future__ import annotations

import argparse
import re
import sys
import textwrap
from typing import TYPE_CHECKING, Any, Final, NoReturn

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["UNVERIFIED", "Formatter", "Parser", "add_json", "add_quiet", "command"]

MOST_IN_USAGE: Final = 6
"""More options than these make a usage that nobody reads."""

UNVERIFIED: Final = "use results though their files were changed after the experiment"
"""The help of an option that several commands have."""

_LISTED = re.compile(r"( {2,}\S(?:.*?\S)?)( {2,})(\S.*)")


class Parser(argparse.ArgumentParser):
    """A parser whose complaint is one line that says where help is."""

    def error(self, message: str) -> NoReturn:
        """Say what was wrong and end with 2."""
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")

    def _print_message(self, message: str, file: Any = None) -> None:
        """Write help and complaints; argparse would be silent about a full disk."""
        (file or sys.stderr).write(message)


class Formatter(argparse.HelpFormatter):
    """Prose is filled to the width; commands to copy stay on their line.

    An indented line is a command or an entry of a list. What stands behind two blanks or more
    explains it, and goes on below itself where the line is too long. The usage names what must be
    given; all that may be given is listed below it anyway.
    """

    def _format_usage(
        self,
        usage: str | None,
        actions: Iterable[argparse.Action],
        groups: Iterable[Any],
        prefix: str | None,
    ) -> str:
        given = list(actions)
        needed = [one for one in given if one.required or not one.option_strings]
        if usage is not None or len(given) - len(needed) <= MOST_IN_USAGE:
            return super()._format_usage(usage, given, groups, prefix)
        words = " ".join([f"usage: {self._prog} [options]", *map(_spelled, needed)])
        return _filled(words, self._width, "", hanging=" " * 7) + "\n\n"

    def _format_action_invocation(self, action: argparse.Action) -> str:
        if not action.option_strings or action.nargs == 0:
            return super()._format_action_invocation(action)
        # The value once, behind the last spelling: -f, --format FORMAT
        value = self._format_args(action, action.dest.upper())
        return f"{', '.join(action.option_strings)} {value}"

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        blocks: list[str] = []
        prose: list[str] = []
        for line in [*text.split("\n"), ""]:
            if line and not line.startswith(" "):
                prose.append(line)
                continue
            if prose:
                blocks.append(_filled(" ".join(prose), min(width, 100), ""))
                prose = []
            blocks.append(_listed(line, width))
        return "\n".join(indent + line for line in "\n".join(blocks).strip("\n").split("\n"))


def _spelled(action: argparse.Action) -> str:
    """An argument as the usage has it: ``QRELS``, ``RUN [RUN ...]``, ``--by {query,document}``."""
    choices = "{" + ",".join(map(str, action.choices)) + "}" if action.choices else ""
    name = str(action.metavar or choices or action.dest.upper())
    name = {"?": f"[{name}]", "*": f"[{name} ...]", "+": f"{name} [{name} ...]"}.get(
        str(action.nargs or ""), name
    )
    return f"{action.option_strings[-1]} {name}" if action.option_strings else name


def _listed(line: str, width: int) -> str:
    found = _LISTED.fullmatch(line)
    if found is None or len(line) <= width:
        return line
    head = found[1] + found[2]
    if width - len(head) < 20:  # no room beside it: below, a little further in
        return found[1] + "\n" + _filled(found[3], width, " " * 6)
    return head + _filled(found[3], width, " " * len(head)).lstrip()


def _filled(text: str, width: int, indent: str, hanging: str | None = None) -> str:
    return textwrap.fill(
        text,
        width,
        initial_indent=indent,
        subsequent_indent=indent if hanging is None else hanging,
        break_on_hyphens=False,
    )


def command(commands: Any, name: str, summary: str, examples: str) -> argparse.ArgumentParser:
    """Add a command with its summary and examples."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=summary,
        description=summary,
        epilog=f"examples:\n{examples}",
        formatter_class=Formatter,
        allow_abbrev=False,
    )
    return parser


def add_json(parser: argparse.ArgumentParser, help_text: str = "") -> None:
    """Add ``--json``."""
    words = help_text or "every number at full precision"
    parser.add_argument("--json", action="store_true", help=words)


def add_quiet(
    parser: argparse.ArgumentParser, help_text: str = "only the result, no notes"
) -> None:
    """Add ``--quiet``."""
    parser.add_argument("--quiet", action="store_true", help=help_text)
