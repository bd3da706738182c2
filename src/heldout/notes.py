"""Notes: warnings and remarks about data, a plan or a result, as data.

A note is made where a condition is noticed, and belongs to the object that it is about. What its
code means stands in ``docs/_extension/warning_codes.py``. No code reads its text, so that it can
be reworded freely.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable

Severity = Literal["warning", "info"]
"""A warning is about numbers that may mislead; an info needs no action."""


@dataclass(frozen=True, slots=True)
class Note:
    """A warning or remark.

    Parameters
    ----------
    code
        Its stable code, for programs and to look it up; empty for a note written by a user.
    text
        A sentence without a full stop.
    severity
        ``warning`` or ``info``.
    count
        The number of units or documents that it is about; None if nothing is counted.
    """

    code: str
    text: str
    severity: Severity = "warning"
    count: int | None = None

    def __str__(self) -> str:
        return self.text

    def line(self) -> str:
        """Return the note as one line of output, with its code.

        Examples
        --------
        >>> Note("few-units", "only 5 units: little can be shown").line()
        'Warning: only 5 units: little can be shown. [few-units]'
        """
        tag = f" [{self.code}]" if self.code else ""
        return f"{self.label.capitalize()}: {self.text}.{tag}"

    @property
    def label(self) -> str:
        """``warning`` or ``note``, for output."""
        return "warning" if self.severity == "warning" else "note"

    def of(self, name: str) -> Note:
        """Return the same note, prefixed by the name of its subject."""
        return replace(self, text=f"{name}: {self.text}")

    def to_dict(self) -> dict[str, Any]:
        """Return all fields, as in JSON and in stored results."""
        return asdict(self)


def distinct(notes: Iterable[Note]) -> tuple[Note, ...]:
    """Return each note once, in the order of their first appearance."""
    return tuple(dict.fromkeys(notes))


def named_few(names: Iterable[str], count: int, shown: int = 5) -> str:
    """Return the first names, and an ellipsis if there are more: ``a, b, …``."""
    listed = list(islice(names, shown))
    return ", ".join(listed) + (", …" if count > len(listed) else "")


def count_of(number: int, noun: str, several: str = "") -> str:
    """Return a number with its noun in the singular or plural: ``1 unit``, ``2,000 units``."""
    return f"{number:,} {noun if number == 1 else several or noun + 's'}"
