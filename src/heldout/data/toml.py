"""TOML files, with errors that name the line."""

from __future__ import annotations

import json
import os
import re
import tomllib
from typing import Any, Final

from heldout.data.files import BOM, decode_text
from heldout.errors import FormatError

_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")
_PLACE: Final = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")


def parse_toml(content: bytes, name: str) -> tuple[dict[str, Any], str]:
    """Return the values and the text of a TOML file, which is called `name` in messages."""
    text = decode_text(content.removeprefix(BOM), name)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    try:
        return tomllib.loads(text), text
    except (ValueError, RecursionError) as error:  # also a number of thousands of digits
        reason, place = str(error), _PLACE.search(str(error))
        if place is not None:
            line = int(place[1] or len(text.rstrip().split("\n")))
            reason, name = reason[: place.start()], f"{name}:{line}"
        raise FormatError(name, f"not valid TOML: {reason}") from None


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
