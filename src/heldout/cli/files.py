"""Files that commands read and write."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from heldout.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "emit",
    "folded",
    "is_file",
    "refuse_same_file",
    "show",
    "split_paths",
    "terminal_width",
]


def split_paths(given: str) -> list[str]:
    """The files in a list with commas, unless there is a file of that very name."""
    return [given] if is_file(given) else given.split(",")


def is_file(given: str) -> bool:
    """Whether there is a file of that name."""
    return os.path.isfile(given)  # pathlib is slow to import


def refuse_same_file(paths: Sequence[str]) -> None:
    """Refuse a file that is given twice, also under another spelling of its path or as a link."""
    first: dict[object, str] = {}
    for path in paths:
        key: object = path
        if is_file(path):
            status = os.stat(path)  # noqa: PTH116 - of the file that a link points to
            key = (status.st_dev, status.st_ino)
        if first.get(key) == path:
            raise InputError(f"{path} is given twice: leave one out")
        if key in first:
            raise InputError(f"{first[key]} and {path} are the same file: leave one out")
        first[key] = path


def emit(text: str, output: str | None = None) -> None:
    """Print a text, or write it to a file when it is complete."""
    if output is None:
        sys.stdout.write(text)
        sys.stdout.flush()  # before the notes, and before anybody is told that all is well
        return
    from heldout.data.atomic import write_atomically

    with write_atomically(output) as aside:
        aside.write_text(text, encoding="utf-8", newline="\n")


def show(text: str, output: str | None = None) -> None:
    """Print a text for people; on a terminal, sentences are filled to its width.

    Tables, which have columns, stay as they are.
    """
    if output is None and sys.stdout.isatty():
        text = folded(text, terminal_width())
    emit(text, output)


def terminal_width() -> int:
    """How many characters a line of the terminal has."""
    import shutil

    return shutil.get_terminal_size((100, 24)).columns


def folded(text: str, width: int) -> str:
    r"""A text with its sentences filled to a width.

    Examples
    --------
    >>> print(folded("one two three\na  1\n", 8), end="")
    one two
      three
    a  1
    """
    import textwrap

    lines: list[str] = []
    for line in text.split("\n"):
        words = line.strip()
        if len(line) <= width or "  " in words:
            lines.append(line)
            continue
        start = line[: len(line) - len(line.lstrip())]
        lines += textwrap.wrap(
            words,
            width,
            initial_indent=start,
            subsequent_indent=start + "  ",
            break_on_hyphens=False,
            break_long_words=False,
        )
    return "\n".join(lines)
