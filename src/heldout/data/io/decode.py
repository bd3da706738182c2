"""Decode bytes as text and JSON, with errors that name file and line."""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING, Any, Final

from heldout.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["UTF16", "decode_text", "json_object", "looks_like_utf16", "parse_json"]

UTF16: Final = "this is UTF-16: convert it to UTF-8, for example with iconv -f UTF-16 -t UTF-8"


def looks_like_utf16(start: bytes) -> bool:
    """Return whether the first bytes of a file are those of a text in UTF-16.

    Examples
    --------
    >>> looks_like_utf16("a 1".encode("utf-16")), looks_like_utf16("q1 Q0 d1".encode("utf-16-be"))
    (True, True)
    >>> looks_like_utf16(b"q1 Q0 d1")
    False
    """
    if start[:2] in {codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE}:
        return True
    # Without a byte order mark, every second byte of a Latin text is 0.
    pairs = start[: min(len(start) // 2 * 2, 64)]
    zeros = (pairs[0::2].count(0), pairs[1::2].count(0))
    return len(pairs) >= 4 and min(zeros) == 0 and max(zeros) * 4 > len(pairs)


def decode_text(content: bytes, name: str, line: int = 1) -> str:
    """Decode the lines of a text in UTF-8.

    Parameters
    ----------
    content
        Whole lines.
    name
        The name of the file in messages.
    line
        The number of the first line.
    """
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        if line == 1 and looks_like_utf16(content):
            raise FormatError(f"{name}:1", UTF16) from None
        line += content.count(b"\n", 0, error.start)
        reason = f"byte 0x{content[error.start]:02x} is not UTF-8: save the file as UTF-8"
        raise FormatError(f"{name}:{line}", reason) from None
    if "\0" in text:
        if line == 1 and looks_like_utf16(content):
            raise FormatError(f"{name}:1", UTF16)
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
    """Parse a JSON text.

    Parameters
    ----------
    text, name, line
        The text, the name of its file in messages, and the number of its first line.
    object_pairs_hook
        As for `json.loads`.
    """
    import json

    try:
        return json.loads(text, object_pairs_hook=object_pairs_hook)
    except json.JSONDecodeError as error:
        place = f"{name}:{line + error.lineno - 1}"
        raise FormatError(place, f"not JSON ({error.msg}, column {error.colno})") from None
    except (RecursionError, ValueError):
        place = f"{name}:{line}"
        raise FormatError(place, "JSON is nested too deeply, or a number is too long") from None


def json_object(text: str, name: str, line: int) -> dict[str, Any]:
    """Parse the JSON object in a line."""
    found = parse_json(text, name, line)
    if not isinstance(found, dict):
        place = f"{name}:{line}"
        raise FormatError(place, f"expected a JSON object, found {type(found).__name__}")
    return found
