"""Tasks of estimators: fit what is seen, predict what is held out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from heldout.errors import USER_FAULTS, InputError, cause_of
from heldout.experiment.calls import call_seed
from heldout.experiment.estimator_systems import EstimatorSystem, first_line, fit_predict
from heldout.experiment.tasks import EVERYTHING
from heldout.measure.undefined import Undefined

if TYPE_CHECKING:
    from heldout.data.words import Ints
    from heldout.experiment.estimator_settings import EstimatorSettings
    from heldout.experiment.instances import Instances
    from heldout.experiment.journal import Record
    from heldout.experiment.tasks import Task
    from heldout.measure.predicted import PredictionMeasure
    from heldout.resample.split import Splits

__all__ = ["Fit", "FitMaker"]


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """All that a fit needs.

    Parameters
    ----------
    data
        The instances.
    system, number, seed
        The system, the point, and the seed of the fit.
    reseed
        Whether a seed that was set on the estimator gives way.
    train, test
        The rows of each side.
    shown
        The split, for messages.
    inner, inners
        The number of the inner fold that a point is tried on, of how many; −1: none.
    measure
        What points are chosen by.
    """

    data: Instances
    system: EstimatorSystem
    number: int
    seed: int
    reseed: bool
    train: Ints
    test: Ints
    shown: str
    inner: int
    inners: int
    measure: PredictionMeasure

    def make(self) -> Record:
        """Fit, predict, and measure if a point is tried: what goes into the journal."""
        return self._tested(self.data) if self.inner < 0 else self._tried(self.data)

    def _found(self, data: Instances, *, scored: bool) -> tuple[Record, list[str]]:
        seen, held_out = data.sides(self.train, self.test)
        found = fit_predict(
            self.system.estimator,
            self.system.grid[self.number],
            self.seed,
            seen,
            held_out,
            reseed=self.reseed,
            scored=scored,
        )
        return data.record(self.system.name, found), list(found.warned)

    def _tested(self, data: Instances) -> Record:
        try:
            record, warned = self._found(data, scored=True)
        except USER_FAULTS as error:
            # Any estimator may fail in any way; the reason stands beside the place.
            raise self._failed(error) from error
        return {"number": self.number, **record, "warned": warned}

    def _failed(self, error: BaseException) -> InputError:
        cause = cause_of(error).partition("\n")[0]
        return InputError(f"{self.system.name} failed on split {self.shown}: {cause}")

    def _tried(self, data: Instances) -> Record:
        values = np.full(self.inners, np.nan)
        try:
            # Scores are a second pass over the rows, for some estimators.
            record, warned = self._found(data, scored=self.measure.needs_scores)
            value = self.measure.value(data.predictions(self.system.name, self.test, record))
        except SystemExit as error:  # not a point that does not work, but code that is wrong
            raise self._failed(error) from error
        except Exception as error:  # noqa: BLE001 - any estimator may fail in any way
            reason = f"{type(error).__name__}: {first_line(error)}"
            return {"values": values, "failed": reason, "warned": []}
        if not isinstance(value, Undefined):
            values[self.inner] = value
        return {"values": values, "warned": warned}


class FitMaker:
    """Makes the fits of tasks; inner folds are made once for each split.

    Parameters
    ----------
    settings
        The experiment.
    """

    def __init__(self, settings: EstimatorSettings) -> None:
        self._settings = settings
        self._inner: tuple[int, Splits] | None = None

    def __call__(self, task: Task, number: int) -> Fit:
        """The fit of a task, with the point of its own or the one that was chosen."""
        settings = self._settings
        system = settings.systems[task.system]
        key = None if task.split == EVERYTHING else settings.splits.key(task.split)
        shown = "all" if key is None else str(key)
        train, test = self._sides(task)
        return Fit(
            settings.data,
            system,
            number,
            # The same for all points, so that they are compared under the same chance.
            call_seed(settings.seed, system.name, shown, task.inner),
            key is not None and key.run is not None,
            train,
            test,
            shown,
            task.inner,
            settings.inner,
            settings.tune_for,
        )

    def _sides(self, task: Task) -> tuple[Ints, Ints]:
        if task.inner < 0:
            split = self._settings.splits[task.split]
        else:
            if self._inner is None or self._inner[0] != task.split:
                whole = task.split == EVERYTHING
                outer = None if whole else self._settings.splits[task.split]
                self._inner = task.split, self._settings.inner_splits(outer)
            split = self._inner[1][task.inner]
        # What was drawn several times is seen several times, and predicted once.
        return split.rows("train"), np.flatnonzero(split.test)
