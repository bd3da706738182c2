"""How commands are declared, and how their help looks at any width."""

from __future__ import annotations

import argparse
import os
import re
import sys
import textwrap
from typing import TYPE_CHECKING, Any, Final, NoReturn

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["Formatter", "Parser", "add_help_options", "command", "group"]

MOST_IN_USAGE: Final = 6
"""A usage line with more options than these is left to the list of options."""

ORDER: Final = (
    *("commands", "positional arguments", "options", "predictions", "texts", "input"),
    *(
        "machine judgements",
        "plan (what is held out)",
        "analysis",
        "text analysis",
        "output",
        "execution",
        "help",
    ),
)
"""The order of the groups of options, the command's own first."""

_LISTED = r"( {2,}\S(?:.*?\S)?)( {2,})(\S.*)"

# All other text is English, and looking for translations of argparse's takes time at every start.
setattr(argparse, "_", lambda text: text)  # noqa: B010 - a name that its types do not have


class Parser(argparse.ArgumentParser):
    """A parser whose error message is one line that says where help is."""

    def error(self, message: str) -> NoReturn:
        """Say what was wrong and exit with code 2."""
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Suggest the nearest of the choices for one that does not exist."""
        if action.choices is None or value in action.choices:
            return
        from difflib import get_close_matches  # only for a mistake

        known = list(map(str, action.choices))
        close = get_close_matches(str(value), known, 1)
        close = close or [one for one in known if str(value).startswith(one)][:1]
        meant = f"did you mean {close[0]}?" if close else f"expected one of {', '.join(known)}"
        if action.metavar == "COMMAND":
            self.error(f"unknown command {value!r}: {meant}")
        name = action.option_strings[-1] if action.option_strings else str(action.metavar)
        self.error(f"{name} {value}: {meant}")

    def _print_message(self, message: str, file: Any = None) -> None:
        """Write help and errors; argparse would ignore a full disk."""
        (file or sys.stderr).write(message)

    def format_help(self) -> str:
        """Return the help with its groups in their order."""
        self._action_groups.sort(key=lambda one: ORDER.index(str(one.title)))
        return super().format_help()


class Formatter(argparse.HelpFormatter):
    """Fill prose to the width; keep commands on their line.

    An indented line is a command or an entry of a list. Text behind two blanks or more explains
    it, and continues below itself where the line is too long. The usage names required arguments;
    options are listed below it anyway.
    """

    def __init__(self, prog: str, width: int | None = None) -> None:
        super().__init__(prog, width=_terminal_width() - 2 if width is None else width)

    def _format_usage(
        self,
        usage: str | None,
        actions: Iterable[argparse.Action],
        groups: Iterable[Any],
        prefix: str | None,
    ) -> str:
        given = list(actions)
        needed = [one for one in given if one.required or not one.option_strings]
        if usage is not None:
            head = f"{self._prog} [options] "
            lines = [
                _filled(head + line, self._width - 7, "", hanging=" " * 4)
                for line in usage.split("\n")
            ]
            return "usage: " + "\n".join(lines).replace("\n", "\n       ") + "\n\n"
        if len(given) - len(needed) <= MOST_IN_USAGE:
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


def _terminal_width() -> int:
    """The same as `shutil.get_terminal_size`; that imports all modules for compression.

    argparse makes a formatter for each argument that is added.
    """
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns):
        return int(columns)
    try:
        return os.get_terminal_size(sys.__stdout__.fileno()).columns or 80  # type: ignore[union-attr]
    except (AttributeError, ValueError, OSError):  # closed, or not a terminal
        return 80


def _spelled(action: argparse.Action) -> str:
    """An argument as the usage has it: ``QRELS``, ``RUN [RUN ...]``, ``--by {query,document}``."""
    choices = "{" + ",".join(map(str, action.choices)) + "}" if action.choices else ""
    name = str(action.metavar or choices or action.dest.upper())
    name = {"?": f"[{name}]", "*": f"[{name} ...]", "+": f"{name} [{name} ...]"}.get(
        str(action.nargs or ""), name
    )
    return f"{action.option_strings[-1]} {name}" if action.option_strings else name


def _listed(line: str, width: int) -> str:
    found = re.fullmatch(_LISTED, line)
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


def command(
    commands: Any, name: str, summary: str, examples: str, *, notes: str = "", usage: str = ""
) -> argparse.ArgumentParser:
    """Add a command.

    Parameters
    ----------
    summary
        One line about what it does.
    examples
        Command lines, indented.
    notes
        What a user should know beside the options; shown above the examples.
    usage
        What follows ``heldout NAME [options]``, one line per way to call it; by default from the
        arguments.
    """
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=summary,
        description=summary,
        epilog=(f"{notes.rstrip()}\n\n" if notes else "") + f"examples:\n{examples}",
        formatter_class=Formatter,
        allow_abbrev=False,
        add_help=False,
        usage=usage or None,
    )
    return parser


def group(parser: argparse.ArgumentParser, title: str) -> Any:
    """Return the group of options of this title, made if it is new."""
    for one in parser._action_groups:  # noqa: SLF001 (argparse has no public way to them)
        if one.title == title:
            return one
    return parser.add_argument_group(title)


def add_help_options(parser: argparse.ArgumentParser) -> None:
    """Add ``--help`` as the last option of a command, and of the commands below it."""
    for one in _whole(parser):
        if not one.add_help:
            add = group(one, "help").add_argument
            add("-h", "--help", action="help", help="show this help and exit")


def _whole(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    yield parser
    for action in parser._actions:  # noqa: SLF001 (the same)
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            for below in action.choices.values():
                yield from _whole(below)
