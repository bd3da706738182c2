"""How help looks at any width: of all commands, and of one."""

from __future__ import annotations

import os
import textwrap
from itertools import groupby
from typing import TYPE_CHECKING, Final

from heldout.cli.options import options_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from heldout.cli.options import Parser

_WIDEST: Final = 24  # columns of what is explained
_MOST: Final = 100  # columns of prose


def help_of_all(summary: str, parsers: Sequence[Parser], notes: str) -> str:
    """The help of the command line: a table of its commands."""
    table = "\n".join(_columns([(parser.command, parser.summary) for parser in parsers]))
    usage = "usage: heldout COMMAND [options] [FILE ...]\n       heldout --version"
    return f"{usage}\n\n{summary}\n\ncommands:\n{table}\n\n{_filled(notes)}\n"


def help_of(parser: Parser) -> str:
    """The help of a command: usage, arguments, options by group, notes, examples."""
    forms = {"?": "[{0}]", "*": "[{0} ...]", "+": "{0} [{0} ...]"}
    arguments = [(*name.split(" ", 1), words) for name, words in parser.arguments.items()]
    shown = " ".join(forms.get(name[-1], "{0}").format(value) for name, value, _ in arguments)
    calls = (parser.usage or shown).split("\n")
    heads = (f"heldout {parser.command} [options] {call}" for call in calls)
    usage = "\n".join(_wrapped(head, "       ", "           ") for head in heads).lstrip()
    entries = [("arguments", value, words) for _, value, words in arguments]
    for option in options_of(parser.command):
        value = option.metavar + (f" [{option.metavar} ...]" if option.repeat == "+" else "")
        entries.append((option.group, f"{', '.join(option.flags)} {value}".rstrip(), option.help))
    entries.append(("help", "-h, --help", "show this help and exit"))
    lines = _columns([entry[1:] for entry in entries])
    blocks = [f"usage: {usage}", _wrapped(parser.summary)]
    for title, group in groupby(entries, key=lambda entry: entry[0]):
        blocks.append("\n".join([f"{title}:", *(next(lines) for _ in group)]))
    notes = f"{parser.notes}\n" if parser.notes else ""
    return "\n\n".join([*blocks, _filled(f"{notes}examples:\n{parser.examples}")]) + "\n"


def _columns(rows: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Words and what they mean, beside each other where there is room."""
    head = min(max(len(word) for word, _ in rows) + 4, _WIDEST)
    for word, meaning in rows:
        filled = _wrapped(meaning, " " * head, " " * head)
        beside = len(word) + 4 <= head
        yield f"  {word:<{head - 2}}{filled[head:]}" if beside else f"  {word}\n{filled}"


def _filled(text: str) -> str:
    """Fill prose; an indented line is a command or an entry of a list, and stays as it is."""
    blocks: list[str] = []
    for is_prose, group in groupby(text.split("\n"), lambda line: line > "!"):
        lines = list(group)
        blocks += [_wrapped(" ".join(lines))] if is_prose else lines
    return "\n".join(blocks).strip("\n")


def _wrapped(text: str, first: str = "", further: str = "") -> str:
    try:  # not by shutil, which imports all modules for compression
        columns = int(os.environ.get("COLUMNS") or os.get_terminal_size().columns)
    except (ValueError, OSError):  # no number; closed, or not a terminal
        columns = 0
    width = min((columns or 80) - 2, _MOST)
    return textwrap.fill(
        text, width, initial_indent=first, subsequent_indent=further, break_on_hyphens=False
    )
