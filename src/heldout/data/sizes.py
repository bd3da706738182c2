"""Sizes in bytes, as written by people: 500MB, 1.5GB."""

from __future__ import annotations

import re
from math import inf
from typing import Final

from heldout.errors import InputError

__all__ = ["parse_size", "shown_size"]

_SIZE: Final = re.compile(r"(\d+(?:\.\d+)?)\s*(?:([KMGT])(?:i?B)?|B)?", re.IGNORECASE | re.ASCII)
_LARGEST: Final = 1 << 60


def parse_size(text: str) -> int:
    """Return the number of bytes of a size such as ``500MB``.

    Examples
    --------
    >>> parse_size("1.5 kB"), parse_size("2GB") == 2 << 30
    (1536, True)
    """
    match = _SIZE.fullmatch(text.strip())
    size = float(match[1]) * 1024 ** " KMGT".index((match[2] or " ").upper()) if match else inf
    if not size < _LARGEST:
        raise InputError(f"{text[:50]!r} is not a size: write 500MB or 1.5GB, for example")
    return int(size)


def shown_size(size: int) -> str:
    """Return a readable size.

    Examples
    --------
    >>> shown_size(3 << 29), shown_size(300)
    ('1.5 GB', '1 MB')
    """
    return f"{size / 2**30:.1f} GB" if size >= 2**30 else f"{max(size >> 20, 1)} MB"
