"""Results as JSON: convert values to JSON types, and write them."""

from __future__ import annotations

import math
import re
from dataclasses import fields, is_dataclass
from typing import Any, Final

_CONTROL: Final = "[\x7f-\x9f\u2028-\u202e\u2066-\u2069]"
"""Characters that control a terminal or reverse text; `json.dumps` escapes the first 32."""


def plain(value: Any) -> Any:
    """Return a value as JSON types: records become objects, NaN and infinity null.

    >>> import numpy as np
    >>> plain({"mean": np.float64(0.5), "values": np.array([1.0, np.nan]), "pair": ("a", "b")})
    {'mean': 0.5, 'values': [1.0, None], 'pair': ['a', 'b']}
    """
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if hasattr(value, "_asdict"):  # a named tuple
        value = value._asdict()
    elif is_dataclass(value):
        value = {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    return plain(value.tolist()) if hasattr(value, "tolist") else value


def json_text(content: Any, *, indent: int | None = 2) -> str:
    r"""Return a value as JSON that is safe to print in a terminal.

    >>> json_text(["a\x9b2J"], indent=None)
    '["a\\u009b2J"]\n'
    """
    import json

    text = json.dumps(plain(content), ensure_ascii=False, indent=indent, allow_nan=False) + "\n"
    if text.isascii():
        return text
    return re.sub(_CONTROL, lambda found: f"\\u{ord(found[0]):04x}", text)
