"""Results as JSON: convert values to JSON types, and write them."""

from __future__ import annotations

import math
import re
from dataclasses import fields, is_dataclass
from typing import Any, Final

from heldout.notes import Note

__all__ = ["json_text", "plain"]

_CONTROL: Final = "[\x7f-\x9f\u2028-\u202e\u2066-\u2069]"
"""Characters that control a terminal or reverse text; `json.dumps` escapes the first 32."""


def plain(value: Any) -> Any:
    """Return a value as JSON types.

    Records (named tuples and data classes) become objects, NumPy numbers and arrays become numbers
    and lists, and a number that is not finite becomes null.

    Parameters
    ----------
    value
        Numbers, texts, notes, records, and collections of them.

    Examples
    --------
    >>> import numpy as np
    >>> plain({"mean": np.float64(0.5), "values": np.array([1.0, np.nan]), "pair": ("a", "b")})
    {'mean': 0.5, 'values': [1.0, None], 'pair': ['a', 'b']}
    >>> plain(Note("few-units", "only 5 units"))
    {'code': 'few-units', 'text': 'only 5 units', 'severity': 'warning', 'count': None}
    """
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    record = _record(value)
    if record is not None:
        return {key: plain(inner) for key, inner in record.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    return plain(value.tolist()) if hasattr(value, "tolist") else value


def _record(value: Any) -> dict[Any, Any] | None:
    """Return the named parts of a record; None for anything else."""
    if isinstance(value, dict):
        return value
    if isinstance(value, Note):
        return value.to_dict()
    if hasattr(value, "_asdict"):
        return dict(value._asdict())
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    return None


def json_text(content: Any, *, indent: int | None = 2) -> str:
    r"""Return a value as JSON that is safe to print in a terminal.

    Parameters
    ----------
    content
        As for `plain`.
    indent
        Spaces per level; None for one line.

    Examples
    --------
    >>> json_text(["a\x9b2J"], indent=None)
    '["a\\u009b2J"]\n'
    """
    import json

    text = json.dumps(plain(content), ensure_ascii=False, indent=indent, allow_nan=False) + "\n"
    if text.isascii():
        return text
    return re.sub(_CONTROL, lambda found: f"\\u{ord(found[0]):04x}", text)
