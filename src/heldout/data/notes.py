"""Counts and lists of names for messages."""

from __future__ import annotations

import math
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def named_few(names: Iterable[str], count: int, shown: int = 5) -> str:
    """Return the first names, and an ellipsis if there are more.

    Examples
    --------
    >>> named_few(["a", "b", "c"], 3, shown=2)
    'a, b, …'
    """
    listed = list(islice(names, shown))
    return ", ".join(listed) + (", …" if count > len(listed) else "")


def count_of(number: int, noun: str, several: str = "") -> str:
    """Return a number with its noun in the singular or plural.

    Examples
    --------
    >>> count_of(1, "unit"), count_of(2000, "unit"), count_of(2, "loss", "losses")
    ('1 unit', '2,000 units', '2 losses')
    """
    return f"{number:,} {noun if number == 1 else several or noun + 's'}"


def power_text(base: int, exponent: int) -> str:
    """Return a power as a number, or as ``base^exponent`` if it has more than 15 digits.

    Examples
    --------
    >>> power_text(2, 10), power_text(2, 300)
    ('1,024', '2^300')
    """
    if base > 1 and exponent * math.log10(base) > 15:
        return f"{base}^{exponent}"
    return f"{base**exponent:,}"
