"""Records: what tasks have found.

A record is a dataclass where it is made and where it is used. The journal, and what other processes
send, hold its fields by name, as plain values and arrays.
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
    """What a task has found."""

    def plain(self) -> dict[str, Any]:
        """The fields by name, but for those that are at their default."""
        found = {one.name: getattr(self, one.name) for one in fields(self)}
        return {
            one.name: found[one.name] for one in fields(self) if found[one.name] is not one.default
        }

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> Self:
        """The record that `plain` has described; a TypeError if it has described another."""
        return cls(**{name: _tuples(value) for name, value in plain.items()})


def _tuples(value: Any) -> Any:
    """JSON has lists where there were tuples."""
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TuneRecord(Record):
    """How a point did on a part of a train side.

    Parameters
    ----------
    values
        What each query got, or each inner fold, by the measure that points are chosen by; NaN:
        nothing.
    failed
        Why there is no value; None: there are.
    """

    values: Floats
    failed: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RankedRecord(Record):
    """Queries that were ranked and measured.

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
        """The ranked lists."""
        return Lists(self.documents, self.scores)
