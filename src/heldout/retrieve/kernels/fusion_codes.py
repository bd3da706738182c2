"""How the values of a document are combined: numbers that the compiled loop knows."""

from __future__ import annotations

from typing import Final

__all__ = ["ANZ", "MAX", "MED", "MIN", "MNZ", "SUM"]

SUM: Final = 0
MNZ: Final = 1
"""The sum times the number of values (n)."""
ANZ: Final = 2
"""The sum over n."""
MAX: Final = 3
MIN: Final = 4
MED: Final = 5
