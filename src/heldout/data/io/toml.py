"""TOML files, with errors that name the line."""

from __future__ import annotations

import json
import os
import re
import tomllib
from typing import Any, Final, NamedTuple

from heldout.data.io.compression import BOM
from heldout.data.io.decode import decode_text
from heldout.errors import FormatError

__all__ = ["parse_toml", "toml_text"]

# Strings and comments, in which brackets have no meaning, then the brackets.
_TOKEN: Final = re.compile(
    r'"""(?:\\.|(?!""").)*(?:""")?'
    r"|'''(?:(?!''').)*(?:''')?"
    r'|"(?:\\.|[^"\\\n])*"?'
    r"|'[^'\n]*'?"
    r"|#[^\n]*"
    r"|[][{}]",
    re.DOTALL,
)
_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")
_CLOSING: Final = {"]": "[", "}": "{"}
_PLACE: Final = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


class _Opened(NamedTuple):
    """An open bracket."""

    bracket: str
    line: int


def parse_toml(content: bytes, name: str) -> tuple[dict[str, Any], str]:
    """Parse a TOML file; return its values and its text.

    Parameters
    ----------
    content
        The bytes of the file.
    name
        Its name in messages.
    """
    text = decode_text(content.removeprefix(BOM), name)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    try:
        return tomllib.loads(text), text
    except (ValueError, RecursionError) as error:  # also a number of thousands of digits
        raise _complaint(str(error), text, name) from None


def toml_text(values: dict[str, Any]) -> str:
    r"""Return values as TOML: numbers, strings, lists and tables; None is skipped.

    Examples
    --------
    >>> toml_text({"seed": 1, "plan": {"folds": 5, "groups": None}, "systems": ["a", "b"]})
    'seed = 1\nsystems = ["a", "b"]\n\n[plan]\nfolds = 5\n'
    """
    tables = {name: one for name, one in values.items() if isinstance(one, dict)}
    own = {name: one for name, one in values.items() if name not in tables}
    parts = [
        _assigned(own),
        *(f"\n[{_key(name)}]\n{_assigned(one)}" for name, one in tables.items()),
    ]
    return "".join(parts)


def _assigned(values: dict[str, Any]) -> str:
    given = ((name, one) for name, one in values.items() if one is not None)
    return "".join(f"{_key(name)} = {_value(one)}\n" for name, one in given)


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else json.dumps(name, ensure_ascii=False)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | os.PathLike):
        # The escapes of JSON and TOML differ in one character.
        return json.dumps(os.fspath(value), ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, int | float) and type(value) in {int, float}:
        return repr(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, dict):
        given = ((str(name), one) for name, one in value.items() if one is not None)
        return "{" + ", ".join(f"{_key(name)} = {_value(one)}" for name, one in given) + "}"
    raise TypeError(f"{type(value).__name__} cannot be written as TOML")


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
        f"not valid TOML: the {kind} that begins here is not closed or lacks a comma at {where}",
    )


def _innermost(text: str) -> _Opened | None:
    """Return the last bracket that is not closed; None if all are closed."""
    stack: list[_Opened] = []
    line, at = 1, 0
    for token in _TOKEN.finditer(text):
        line, at = line + text.count("\n", at, token.start()), token.start()
        if token[0] in _CLOSING.values():
            stack.append(_Opened(token[0], line))
        elif stack and stack[-1].bracket == _CLOSING.get(token[0]):
            stack.pop()
    return stack[-1] if stack else None
