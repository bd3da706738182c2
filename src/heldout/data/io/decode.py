"""Bytes as text and as JSON; what is wrong with them is said here, with file and line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from heldout.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["decode_text", "json_object", "parse_json"]


def decode_text(content: bytes, name: str, line: int = 1) -> str:
    """Decode the lines of a text in UTF-8.

    Parameters
    ----------
    content
        Whole lines.
    name
        What to call the file in messages.
    line
        The number of the first line.
    """
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        line += content.count(b"\n", 0, error.start)
        reason = f"byte 0x{content[error.start]:02x} is not UTF-8: save the file as UTF-8"
        raise FormatError(f"{name}:{line}", reason) from None
    if "\0" in text:
        line += text.count("\n", 0, text.index("\0"))
        raise FormatError(f"{name}:{line}", "not a text file (byte 0x00)")
    return text


def parse_json(
    text: str,
    name: str,
    line: int = 1,
    *,
    object_pairs_hook: Callable[[list[tuple[str, Any]]], Any] | None = None,
) -> Any:
    """The value of a JSON text whose first line has this number.

    Parameters
    ----------
    text, name, line
        The text, what to call its file in messages, and the number of its first line.
    object_pairs_hook
        What makes a value of the pairs of each object, as `json.loads` has it.
    """
    try:
        return json.loads(text, object_pairs_hook=object_pairs_hook)
    except json.JSONDecodeError as error:
        place = f"{name}:{line + error.lineno - 1}"
        raise FormatError(place, f"not JSON ({error.msg}, column {error.colno})") from None
    except (RecursionError, ValueError):
        place = f"{name}:{line}"
        raise FormatError(place, "JSON nested too deep, or a number too long") from None


def json_object(text: str, name: str, line: int) -> dict[str, Any]:
    """The JSON object in a line."""
    found = parse_json(text, name, line)
    if not isinstance(found, dict):
        place = f"{name}:{line}"
        raise FormatError(place, f"a JSON object is expected, not {type(found).__name__}")
    return found
