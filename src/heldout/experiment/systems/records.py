"""Records: the results of tasks.

A record is a dataclass in memory. In the journal and between processes it is its fields by name, as
plain values and arrays.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Self

from heldout.experiment.documents.ranked_lists import Lists

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["RankedRecord", "Record", "TuneRecord"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Record:
    """The result of a task."""

    def plain(self) -> dict[str, object]:
        """Return the fields by name, except those with their default value."""
        found = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            field.name: found[field.name]
            for field in fields(self)
            if found[field.name] is not field.default
        }

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> Self:
        """Return the record from the values of `plain`; TypeError if they are not its own."""
        return cls(**{name: _tuples(value) for name, value in plain.items()})


def _tuples(value: Any) -> Any:
    """Return lists as tuples: JSON has no tuples."""
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TuneRecord(Record):
    """The values of a parameter setting on a part of a training side.

    Parameters
    ----------
    values
        The value of each query, or of each inner fold, by the tuning measure; NaN: undefined.
    failed
        Why there are no values; None: there are.
    """

    values: Floats
    failed: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RankedRecord(Record):
    """Queries that were ranked and evaluated.

    Parameters
    ----------
    number
        The point.
    values
        Measures × queries, the tuning measure last; NaN: undefined, or not held out.
    documents, scores
        Queries × places: the ranked lists.
    """

    number: int
    values: Floats
    documents: NDArray[np.int32]
    scores: Floats

    @property
    def lists(self) -> Lists:
        """Return the ranked lists."""
        return Lists(self.documents, self.scores)
