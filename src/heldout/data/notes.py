"""What was found odd in data and gone on with: counted, and a few of them named."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Note", "named_few"]


@dataclass(frozen=True, slots=True)
class Note:
    """One kind of oddity.

    Parameters
    ----------
    kind
        Its short name, for programs: ``empty-documents``, ``absent-documents``, …
    count
        How many there are.
    message
        A sentence for people, with places.
    """

    kind: str
    count: int
    message: str

    def __str__(self) -> str:
        return self.message


def named_few(names: Iterable[str], count: int, shown: int = 5) -> str:
    """The first names, and dots when there are more.

    Examples
    --------
    >>> named_few(["a", "b", "c"], 3, shown=2)
    'a, b, …'
    """
    listed = list(islice(names, shown))
    return ", ".join(listed) + (", …" if count > len(listed) else "")
