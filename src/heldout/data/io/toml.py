"""TOML files, with a line in every complaint."""

from __future__ import annotations

import re
import tomllib
from typing import Any, Final, NamedTuple

from heldout.data.io.compression import BOM
from heldout.data.io.decode import decode_text
from heldout.errors import FormatError

__all__ = ["parse_toml"]

# Texts and comments, in which brackets mean nothing, then the brackets themselves.
_TOKEN: Final = re.compile(
    r'"""(?:\\.|(?!""").)*(?:""")?'
    r"|'''(?:(?!''').)*(?:''')?"
    r'|"(?:\\.|[^"\\\n])*"?'
    r"|'[^'\n]*'?"
    r"|#[^\n]*"
    r"|[][{}]",
    re.DOTALL,
)
_CLOSING: Final = {"]": "[", "}": "{"}
_PLACE: Final = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


class _Opened(NamedTuple):
    """A bracket that is not closed."""

    bracket: str
    line: int


def parse_toml(content: bytes, name: str) -> tuple[dict[str, Any], str]:
    """The values of a TOML file, and its text.

    Parameters
    ----------
    content
        The bytes of the file.
    name
        What to call it in messages.
    """
    text = decode_text(content.removeprefix(BOM), name)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    try:
        return tomllib.loads(text), text
    except (ValueError, RecursionError) as error:  # also a number of thousands of digits
        raise _complaint(str(error), text, name) from None


def _complaint(reason: str, text: str, name: str) -> FormatError:
    place = _PLACE.search(reason)
    if place is None:
        return FormatError(name, f"not valid TOML: {reason}")
    lines = text.split("\n")
    at_end = place[1] is None
    line = len(text.rstrip().split("\n")) if at_end else int(place[1])
    read = lines[:line] if at_end else [*lines[: line - 1], lines[line - 1][: int(place[2]) - 1]]
    opened = _innermost("\n".join(read))
    what = reason[: place.start()]
    if opened is None:
        return FormatError(f"{name}:{line}", f"not valid TOML: {what}")
    kind = "list" if opened.bracket == "[" else "table in braces"
    where = "the end of the file" if at_end else f"line {line}, column {place[2]}"
    return FormatError(
        f"{name}:{opened.line}",
        f"not valid TOML: the {kind} that begins here is not closed, or lacks a comma, at {where}",
    )


def _innermost(text: str) -> _Opened | None:
    """The last bracket that was opened and not closed; none if all are closed."""
    stack: list[_Opened] = []
    line, at = 1, 0
    for token in _TOKEN.finditer(text):
        line, at = line + text.count("\n", at, token.start()), token.start()
        if token[0] in _CLOSING.values():
            stack.append(_Opened(token[0], line))
        elif stack and stack[-1].bracket == _CLOSING.get(token[0]):
            stack.pop()
    return stack[-1] if stack else None
