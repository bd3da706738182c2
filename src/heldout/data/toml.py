"""TOML files, with errors that name the line."""

from __future__ import annotations

import os
import tomllib
from typing import Any

from heldout.data.files import BOM, decode_text
from heldout.errors import FormatError


def parse_toml(content: bytes, name: str) -> tuple[dict[str, Any], str]:
    """Return the values and the text of a TOML file, which is called `name` in messages."""
    text = decode_text(content.removeprefix(BOM), name)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    try:
        return tomllib.loads(text), text
    except (ValueError, RecursionError) as error:  # also a number of thousands of digits
        raise FormatError(name, f"not valid TOML: {error}") from None


def toml_text(values: dict[str, Any]) -> str:
    """Return values as TOML; None is skipped, and Python objects raise a TypeError."""
    import tomli_w  # seldom needed

    return tomli_w.dumps(_plain(values))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(name): _plain(one) for name, one in value.items() if one is not None}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return os.fspath(value) if isinstance(value, os.PathLike) else value
