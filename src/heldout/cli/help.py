"""How help looks at any width: of all commands, and of one."""

from __future__ import annotations

import os
import re
import sys
import textwrap
from typing import TYPE_CHECKING, Final

from heldout.cli.options import options_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from heldout.cli.options import Option, Parser

_WIDEST: Final = 24  # columns of what is explained
_MOST: Final = 100  # columns of prose


def help_of_all(summary: str, commands: Mapping[str, str], notes: str) -> str:
    """The help of the command line: a table of its commands."""
    table = "\n".join(_columns(commands.items(), _width()))
    usage = "usage: heldout COMMAND [options] [FILE ...]\n       heldout --version"
    return f"{usage}\n\n{summary}\n\ncommands:\n{table}\n\n{_filled(notes)}\n"


def help_of(parser: Parser) -> str:
    """The help of a command: usage, arguments, options by group, notes, examples."""
    width = _width()
    head = f"{parser.prog} [options]"
    calls = "\n".join(
        _wrapped(f"{head} {line}", width, "       ", "           ")
        for line in parser.calls.split("\n")
    )
    blocks = [f"usage: {calls.lstrip()}", parser.summary]
    groups: dict[str, list[tuple[str, str]]] = {}
    groups["arguments"] = [(name, words) for name, (words, _) in parser.arguments.items()]
    groups["options"] = []
    for option in options_of(parser.command):
        groups.setdefault(option.group, []).append((_written(option), option.help))
    groups["help"] = [("-h, --help", "show this help and exit")]
    lines = _columns([row for rows in groups.values() for row in rows], width)
    for title, rows in groups.items():
        blocks += ["\n".join([f"{title}:", *(next(lines) for _ in rows)])] if rows else []
    blocks += [_filled(parser.notes)] if parser.notes else []
    blocks += [_filled(f"examples:\n{parser.examples}")] if parser.examples else []
    return "\n\n".join(blocks) + "\n"


def _written(option: Option) -> str:
    value = option.metavar + (f" [{option.metavar} ...]" if option.repeat == "+" else "")
    return f"{', '.join(option.flags)} {value}".rstrip()


def _columns(rows: Iterable[tuple[str, str]], width: int) -> Iterator[str]:
    """Words and what they mean, beside each other where there is room."""
    rows = list(rows)
    head = min(max(len(word) for word, _ in rows) + 4, _WIDEST)
    head = head if width - head >= 20 else 6
    for word, meaning in rows:
        filled = _wrapped(meaning, width, " " * head, " " * head)
        if len(word) + 4 <= head:
            yield f"  {word:<{head - 2}}{filled[head:]}"
        else:
            yield f"  {word}\n{filled}"


def _filled(text: str) -> str:
    """Fill prose; an indented line is a command, or an entry whose explanation may go on below."""
    width, blocks, prose = _width(), [], []
    for line in [*text.split("\n"), ""]:
        if line and not line.startswith(" "):
            prose.append(line)
            continue
        blocks += [_wrapped(" ".join(prose), min(width, _MOST))] if prose else []
        prose = []
        entry = re.fullmatch(r"( {2,}\S(?:.*?\S)?)( {2,})(\S.*)", line)
        if entry is None or len(line) <= width:
            blocks.append(line)
        elif width - entry.start(3) < 20:  # no room beside it
            blocks += [entry[1], _wrapped(entry[3], width, " " * 6, " " * 6)]
        else:
            below = _wrapped(entry[3], width, " " * entry.start(3), " " * entry.start(3))
            blocks.append(entry[1] + entry[2] + below.lstrip())
    return "\n".join(blocks).strip("\n")


def _wrapped(text: str, width: int, first: str = "", further: str = "") -> str:
    return textwrap.fill(
        text, width, initial_indent=first, subsequent_indent=further, break_on_hyphens=False
    )


def _width() -> int:
    """As `shutil.get_terminal_size`, which imports all modules for compression."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns):
        return int(columns) - 2
    try:
        return (os.get_terminal_size(sys.__stdout__.fileno()).columns or 80) - 2  # type: ignore[union-attr]
    except (AttributeError, ValueError, OSError):  # closed, or not a terminal
        return 78
