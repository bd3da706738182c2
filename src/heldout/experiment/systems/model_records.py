"""Records of the tasks of built-in models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from heldout.experiment.documents.estimate import Estimate
from heldout.experiment.documents.ranked_lists import Lists
from heldout.experiment.systems.records import Record

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from heldout.experiment.execution.tasks import Task

    Floats = NDArray[np.float64]
    Numbers = NDArray[np.int32]

__all__ = ["FoldsRecord", "GridRecord", "ListsRecord", "SideRecord", "SidesRecord", "TwoWayRecord"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GridRecord(Record):
    """Some points of a model on all queries.

    Parameters
    ----------
    values
        Measures × points × queries, the tuning measure last.
    """

    values: Floats


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ListsRecord(Record):
    """The top of the rankings at some points.

    Parameters
    ----------
    numbers
        The points.
    documents, scores
        Queries × points × places.
    """

    numbers: tuple[int, ...]
    documents: Numbers
    scores: Floats

    def by_point(self) -> dict[int, Lists]:
        """Return the ranked lists at each point."""
        return {
            number: Lists(self.documents[:, at], self.scores[:, at])
            for at, number in enumerate(self.numbers)
        }


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _EstimatesRecord(Record):
    """A record with estimates of the score on new documents, one per measure."""

    def plain(self) -> dict[str, object]:
        """Return the fields by name, also those of the estimates."""
        estimates: tuple[Estimate, ...] = getattr(self, "estimates")  # noqa: B009 - of subclasses
        return {**Record.plain(self), "estimates": [estimate.plain() for estimate in estimates]}

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> Self:
        """Return the record from the values of `plain`."""
        found = super(_EstimatesRecord, cls).of(plain)
        estimates = tuple(map(Estimate.of, found.estimates))  # type: ignore[attr-defined]
        object.__setattr__(found, "estimates", estimates)
        return found


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FoldsRecord(_EstimatesRecord):
    """A model under the document folds of one repeat.

    Parameters
    ----------
    chosen, surface
        The point of each fold; folds × points: means on the training sides.
    final, final_surface
        The choice on all documents, and the means by which it was made.
    fold_scores
        Mean of the tuning measure on the documents of each fold by themselves.
    values, train_values
        Measures × queries, on held-out documents, and on those that the final point was chosen on.
    estimates
        One per measure.
    documents, scores
        The top of the merged ranking.
    """

    chosen: tuple[int, ...]
    surface: Floats
    final: int
    final_surface: Floats
    fold_scores: Floats
    values: Floats
    train_values: Floats
    estimates: tuple[Estimate, ...]
    documents: Numbers
    scores: Floats


def selected_in_folds(tasks: Iterable[Task], records: Mapping[str, Record]) -> list[int]:
    """Return the point of each document fold and, last, of all data, from one task per repeat."""
    found: list[Any] = [records[task.key] for task in tasks]
    return [*(int(number) for one in found for number in one.chosen), int(found[0].final)]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TwoWayRecord(_EstimatesRecord):
    """A model under the folds of queries and documents of one repeat.

    Parameters
    ----------
    query_folds
        The fold of each query; −1: none.
    chosen, train
        Query folds × document folds: the point, and its mean on the training side.
    surface
        Query folds × document folds × points: means on the training sides.
    values
        Measures × queries on held-out data, the tuning measure last.
    final, final_surface, train_values, estimates, documents, scores
        As for `FoldsRecord`.
    """

    query_folds: Numbers
    chosen: tuple[tuple[int, ...], ...]
    train: tuple[tuple[float, ...], ...]
    final: int
    final_surface: Floats
    values: Floats
    train_values: Floats
    estimates: tuple[Estimate, ...]
    documents: Numbers
    scores: Floats
    surface: Floats


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SideRecord(_EstimatesRecord):
    """A model on one held-out side of the documents.

    Parameters
    ----------
    number, train, surface
        The chosen point, its mean on the training side, and the means of all points there.
    values
        Measures × queries on the held-out documents, the tuning measure last.
    estimates, documents, scores
        As for `FoldsRecord`.
    """

    number: int
    train: float
    surface: Floats
    values: Floats
    estimates: tuple[Estimate, ...]
    documents: Numbers
    scores: Floats


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SidesRecord(Record):
    """A model on several held-out sides of the documents.

    Parameters
    ----------
    sides
        One record each.
    """

    sides: tuple[SideRecord, ...]

    def plain(self) -> dict[str, object]:
        """Return the records by name."""
        return {"sides": [side.plain() for side in self.sides]}

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> Self:
        """Return the record from the values of `plain`."""
        found = super(SidesRecord, cls).of(plain)
        return cls(sides=tuple(SideRecord.of(side) for side in found.sides))  # type: ignore[arg-type]
