"""Estimators with a search by Optuna."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from heldout.errors import InputError
from heldout.experiment.execution.tasks import EVERYTHING
from heldout.experiment.systems.choose_in_folds import TEST, TUNE, fold_means
from heldout.experiment.systems.descriptions import described
from heldout.experiment.systems.estimators import EstimatorSystem
from heldout.experiment.systems.optuna_base import SEARCH, Searched, SearchRecord

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from heldout.data.words import Floats
    from heldout.experiment.execution.tasks import Task
    from heldout.experiment.settings import PredictionSettings
    from heldout.experiment.systems.base import Context, Point, Value
    from heldout.experiment.systems.estimators import HeldOutFit, TriedFit
    from heldout.experiment.systems.records import Record
    from heldout.tune.space import Point as TrialPoint
    from heldout.tune.space import Space

__all__ = ["SearchedEstimator", "SearchedFit"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SearchedFit(SearchRecord):
    """A search on one training side, and the predictions of the chosen point for the other side.

    Parameters
    ----------
    failed
        The trial and the reason of each failed fit.
    warned
        The warnings of all fits.
    predicted, scores, probabilities
        As for `HeldOutFit`; `predicted` is None where nothing is held out.
    """

    failed: tuple[tuple[int, str], ...]
    warned: tuple[str, ...]
    predicted: NDArray[Any] | None = None
    scores: Floats | None = None
    probabilities: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SearchedEstimator(Searched, EstimatorSystem):
    """An estimator whose parameters Optuna searches.

    Parameters
    ----------
    space
        The space of the proposals.
    trials
        The number of trials per search.
    objects
        Values that are neither numbers nor texts, by the name of their parameter; in the space they
        are replaced by their positions, as texts.
    tried
        The points that were tried, when all tasks are finished.
    """

    RECORDS: ClassVar[Mapping[str, type[Record]]] = {SEARCH: SearchedFit}

    space: Space
    trials: int
    objects: Mapping[str, Sequence[Any]]
    tried: tuple[Point, ...] = ()

    def point(self, row: Sequence[Value]) -> Point:
        """Return the parameters of a trial, from its row in a record."""
        return with_objects(Searched.point(self, row), self.objects)

    def examples(self) -> tuple[Point, ...]:
        """Return points that together have every value of every parameter."""
        axes = self.space.axes
        first = [one.values[0] for one in axes]
        rows = [
            [*first[:at], value, *first[at + 1 :]]
            for at, axis in enumerate(axes)
            for value in axis.values
        ]
        return tuple(map(self.point, rows))

    def describe(self) -> dict[str, Any]:
        """Return what it is as plain values; they change when estimator or search does."""
        record = self.describe_search({**EstimatorSystem.describe(self), "points": []})
        for name, values in self.objects.items():
            record["space"][name]["values"] = [described(value) for value in values]
        return record

    def perform(self, task: Task, context: Context[PredictionSettings]) -> SearchedFit:
        """Search by inner folds of the training side, then fit all of it and predict the other."""
        settings = context.settings
        tried: list[list[TriedFit]] = []

        def values(proposed: TrialPoint) -> Floats:
            tried.append(self._tries(task, context, self.point(tuple(proposed.values()))))
            return fold_means(tried[-1])

        try:
            found = self.search(task, settings, values)
        except InputError as error:
            fits = [one for trial in tried for one in trial]
            if np.isfinite([fit.values for fit in fits]).any():
                raise
            reason = self.why_no_choice(settings, fits)
            raise InputError(f"{task.key}: {reason}") from error
        record = SearchedFit(
            points=tuple(tuple(point.values()) for point in found.points),
            means=found.choice.means,
            trial=found.choice.number,
            failed=tuple(
                (at, one.failed)
                for at, trial in enumerate(tried)
                for one in trial
                if one.failed is not None
            ),
            warned=tuple(text for trial in tried for one in trial for text in one.warned),
        )
        if task.split == EVERYTHING:
            return record
        best = self.point(record.points[record.trial])
        tested: HeldOutFit = self._perform_at(best, replace(task, kind=TEST), context)
        return replace(
            record,
            warned=(*record.warned, *tested.warned),
            predicted=tested.predicted,
            scores=tested.scores,
            probabilities=tested.probabilities,
        )

    def failures(
        self, settings: PredictionSettings, records: Mapping[str, Record]
    ) -> Iterator[tuple[int, str]]:
        """Yield the point and the reason of each failed fit."""
        numbers = self.numbers(settings, records)
        for task in self.tasks(settings):
            record: Any = records[task.key]
            for trial, reason in record.failed:
                yield numbers[record.points[trial]], reason

    def _tries(
        self, task: Task, context: Context[PredictionSettings], point: Point
    ) -> list[TriedFit]:
        parts = [replace(task, kind=TUNE, inner=at) for at in range(context.settings.inner)]
        return [self._perform_at(point, part, context) for part in parts]

    def _perform_at(self, point: Point, task: Task, context: Context[PredictionSettings]) -> Any:
        """Perform a task with an estimator that has only this point."""
        given = {field.name: getattr(self, field.name) for field in fields(EstimatorSystem)}
        plain = EstimatorSystem(**given | {"space": None, "grid": (point,)})
        return plain.perform(replace(task, points=(0,)), context)


def with_objects(point: Mapping[str, object], objects: Mapping[str, Sequence[Any]]) -> Point:
    """Return a point with the objects at the positions that the space has in their place."""
    return {
        name: objects[name][int(str(value))] if name in objects else value
        for name, value in point.items()
    }
