"""A scikit-learn estimator or pipeline as a system: a name, a grid, fit, predict."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from heldout.errors import InputError, cause_of
from heldout.experiment.execution.tasks import EVERYTHING
from heldout.experiment.instances import Predicted, defined_value
from heldout.experiment.systems.choose_in_folds import (
    TEST,
    TUNE,
    NestedSystem,
    call_seed,
    shown_split,
)
from heldout.experiment.systems.descriptions import described, plain_value
from heldout.experiment.systems.fits import first_line, fit_predict
from heldout.experiment.systems.outcomes import FoldRow, Place, PredictedOutcome, PredictedSide
from heldout.experiment.systems.records import Record, TuneRecord
from heldout.experiment.systems.references import load_reference, reference_hash
from heldout.measure.base import Undefined
from heldout.notes import Note

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from heldout.data.words import Floats, Ints
    from heldout.experiment.execution.tasks import Task
    from heldout.experiment.settings import PredictionSettings
    from heldout.experiment.systems.base import Context, Point


__all__ = ["EstimatorSystem", "HeldOutFit", "TriedFit", "collect_fits", "make_estimator"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TriedFit(TuneRecord):
    """The value of a parameter setting on one inner fold.

    Parameters
    ----------
    warned
        Warnings of the fit, each once.
    """

    warned: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HeldOutFit(Record):
    """Predictions for a held-out side.

    Parameters
    ----------
    number
        The parameter setting.
    predicted, scores, probabilities
        As in `heldout.experiment.instances.Predicted`.
    warned
        Warnings of the fit, each once.
    """

    number: int
    predicted: NDArray[Any]
    scores: Floats | None
    probabilities: bool
    warned: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EstimatorSystem(NestedSystem["PredictionSettings"]):
    """An estimator with the parameter settings to try.

    Parameters
    ----------
    estimator
        Anything with ``fit`` and ``predict``, and ``set_params`` if it is tuned. Only copies of it
        are fitted.
    grid
        The parameter settings, the simplest first; a single empty one: nothing is tuned.
    baseline
        Whether it is a baseline that was added automatically.
    references
        The references it was made from (``module:name``), if any; several make a pipeline.
    home
        The folder that a relative reference is resolved from.
    """

    RECORDS: ClassVar[Mapping[str, type[Record]]] = {TUNE: TriedFit, TEST: HeldOutFit}

    estimator: Any = field(repr=False)
    grid: tuple[Mapping[str, Any], ...] = ({},)
    baseline: bool = False
    references: tuple[str, ...] = ()
    home: str = ""

    def points(self) -> tuple[Point, ...]:
        """Return the parameter settings to choose from; of two, the earlier one is simpler."""
        return tuple(dict(point) for point in self.grid)

    def point_at(self, number: int) -> Point:
        """Return one of the parameter settings."""
        return dict(self.grid[number])

    def examples(self) -> tuple[Mapping[str, Any], ...]:
        """Return parameter settings to check before the run; together they have every value."""
        return self.grid

    def settings(self, number: int) -> Point:
        """Return all parameters at a point, as plain values."""
        found = {**dict(self.parameters), **self.point_at(number)}
        return {name: plain_value(value) for name, value in found.items()}

    def edges(self, number: int) -> tuple[str, ...]:
        """Return the parameters whose value is the smallest or largest of several numbers."""
        found = []
        for name, value in self.grid[number].items():
            tried = [point[name] for point in self.grid if name in point]
            numbers = {trial for trial in tried if _is_number(trial)}
            if len(numbers) > 1 and all(map(_is_number, tried)):
                found += [name] if value in {min(numbers), max(numbers)} else []
        return tuple(found)

    def describe(self) -> dict[str, Any]:
        """Return what it is as plain values; they change when the estimator does."""
        shown = [self.settings(number) for number in range(len(self.points()))]
        return {
            "name": self.name,
            "points": shown if self.tuned else [],
            "estimator": described(self.estimator),
            "grid": [described(dict(point)) for point in self.grid],
            "references": list(self.references),
            "source": self.source_hash(),
        }

    def loaded(self) -> tuple[str, ...]:
        """Return the files and modules of its references."""
        return tuple(reference.rpartition(":")[0] for reference in self.references)

    def source_hash(self) -> str:
        """Return hashes of the files it was made from; empty if there are none."""
        hashes = (reference_hash(reference, self.home) for reference in self.references)
        return " ".join(digest for digest in hashes if digest)

    def misfits(self, by: str) -> Iterator[str]:
        """Yield why it cannot rank."""
        del by
        yield "an estimator does not rank documents: set task = 'classification' or 'regression'"

    def why_no_choice(self, settings: PredictionSettings, tried: Sequence[TuneRecord]) -> str:
        """Return why no parameter setting can be chosen."""
        failed = [trial.failed for trial in tried if trial.failed is not None]
        if failed:
            return f"every parameter setting failed, the first with {failed[0]}"
        return (
            f"{settings.tune_for} is undefined on all inner folds: set tune_for to another measure"
        )

    def perform(self, task: Task, context: Context[PredictionSettings]) -> Record:
        """Fit the training side and predict the other; compute the measure if a point is tried."""
        return self._tried(task, context) if task.kind == TUNE else self._tested(task, context)

    def _tested(self, task: Task, context: Context[PredictionSettings]) -> HeldOutFit:
        sides = _sides(task, context)
        try:
            found, warned = self._fit(task, context.settings, sides, scored=True)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            # An estimator can fail in any way; the message says on which split.
            raise self._failed(task, context.settings, error) from error
        return HeldOutFit(number=task.points[0], **found._asdict(), warned=warned)

    def _failed(self, task: Task, settings: PredictionSettings, error: BaseException) -> InputError:
        cause = cause_of(error).partition("\n")[0]
        return InputError(f"{self.name} failed on split {shown_split(settings, task)}: {cause}")

    def _tried(self, task: Task, context: Context[PredictionSettings]) -> TriedFit:
        settings, sides = context.settings, _sides(task, context)
        values = np.full(settings.inner, np.nan)
        try:
            # For some estimators, scores need a second pass over the rows.
            scored = settings.tune_for.needs_scores
            found, warned = self._fit(task, settings, sides, scored=scored)
            value = settings.tune_for.compute(settings.data.predictions(self.name, sides[1], found))
        except KeyboardInterrupt:
            raise
        except Exception as error:  # noqa: BLE001 - any estimator may fail in any way
            reason = f"{type(error).__name__}: {first_line(error)}"
            return TriedFit(values=values, failed=reason, warned=())
        except BaseException as error:  # wrong code, not a parameter setting that does not work
            raise self._failed(task, settings, error) from error
        if not isinstance(value, Undefined):
            values[task.inner] = value
        return TriedFit(values=values, warned=warned)

    def _fit(
        self, task: Task, settings: PredictionSettings, sides: tuple[Ints, Ints], *, scored: bool
    ) -> tuple[Predicted, tuple[str, ...]]:
        key = None if task.split == EVERYTHING else settings.splits.key(task.split)
        seen, held_out = settings.data.sides(*sides)
        found = fit_predict(
            self.estimator,
            self.grid[task.points[0]],
            # The same seed for all points, so that they are compared under the same random numbers.
            call_seed(settings.seed, self.name, shown_split(settings, task), task.inner),
            seen,
            held_out,
            reseed=key is not None and key.run is not None,
            scored=scored,
        )
        return settings.data.predicted(self.name, found), found.warned

    def collect(
        self, settings: PredictionSettings, records: Mapping[str, Record]
    ) -> PredictedOutcome:
        """Combine the records of its fits."""
        return collect_fits(self, settings, records)

    def failures(
        self, settings: PredictionSettings, records: Mapping[str, Record]
    ) -> Iterator[tuple[int, str]]:
        """Yield the point and the reason of each failed fit."""
        for task in self.tasks(settings):
            record: Any = records[task.key]
            if task.kind == TUNE and record.failed is not None:
                yield task.points[0], record.failed

    def sendable(self) -> Self:
        """Return the system without the estimator if a worker can make that from its references."""
        if not self.references:
            return self
        return replace(self, estimator=None, home=str(Path(self.home).resolve()))

    def source(self) -> str | None:
        """Return hashes of the files it was made from, if it has references."""
        return self.source_hash() if self.references else None

    def reloaded(self, source: str) -> Self:
        """Return the system with an estimator made from its references, once per process."""
        made = _made_before(self.references, self.home, self.parameters, source)
        return replace(self, estimator=made)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _sides(task: Task, context: Context[PredictionSettings]) -> tuple[Ints, Ints]:
    """Return the numbers of the training rows and of the held-out rows."""
    settings = context.settings
    if task.inner < 0:
        split = settings.splits[task.split]
    else:
        outer = None if task.split == EVERYTHING else settings.splits[task.split]
        inner = context.last("inner folds", task.split, lambda: settings.inner_splits(outer))
        split = inner[task.inner]
    # A row drawn several times is fitted several times and predicted once.
    return split.rows("train"), np.flatnonzero(split.test)


@lru_cache(maxsize=8)
def _made_before(
    references: tuple[str, ...], home: str, parameters: tuple[tuple[str, Any], ...], version: str
) -> Any:
    """Return an estimator from the cache, or a new one if its source has changed."""
    del version
    return make_estimator(references, home, parameters)


def make_estimator(
    references: tuple[str, ...], home: str, parameters: tuple[tuple[str, Any], ...]
) -> Any:
    """Make an estimator from references, or a pipeline from several.

    Parameters
    ----------
    references
        ``module:name`` or ``file.py:name`` of an estimator, a class, or a function that makes one.
    home
        The folder that a relative file is resolved from.
    parameters
        Parameters to set.
    """
    from sklearn.pipeline import make_pipeline  # type: ignore[import-untyped] # slow to import

    steps = [_step(reference, home) for reference in references]
    made = steps[0] if len(steps) == 1 else make_pipeline(*steps)
    return made.set_params(**dict(parameters)) if parameters else made


def _step(reference: str, home: str) -> Any:
    loaded = load_reference(reference, Path(home) if home else None)
    is_made = not isinstance(loaded, type) and (hasattr(loaded, "fit") or not callable(loaded))
    if is_made:
        return loaded
    try:
        return loaded()
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise InputError(f"{reference}() failed ({cause_of(error)})") from error


def collect_fits(
    system: EstimatorSystem, settings: PredictionSettings, records: Mapping[str, Record]
) -> PredictedOutcome:
    """Combine the records of the fits of an estimator."""
    chosen = system.choices(settings, records)
    folds, held_out = [], []
    for task in system.tasks(settings):
        if task.kind == TUNE or task.split == EVERYTHING:
            continue
        record: Any = records[task.key]
        split = settings.splits[task.split]
        found = Predicted(record.predicted, record.scores, record.probabilities)
        rows = np.flatnonzero(split.test)
        predictions = settings.data.predictions(system.name, rows, found)
        value = defined_value(settings.tune_for, predictions)
        worth = np.nan if isinstance(value, Undefined) else value
        place = Place.of(split.key)
        folds.append(FoldRow(place, chosen[task.split], worth))
        held_out.append(PredictedSide(place, chosen[task.split].number, predictions))
    notes = _notes(system, settings, records)
    return PredictedOutcome(tuple(folds), chosen[EVERYTHING], tuple(held_out), notes)


def _notes(
    system: EstimatorSystem, settings: PredictionSettings, records: Mapping[str, Record]
) -> tuple[Note, ...]:
    """Return notes about failed fits and warnings, with their numbers."""
    failed: dict[int, list[str]] = {}
    warned: Counter[str] = Counter()
    for point, reason in system.failures(settings, records):
        failed.setdefault(point, []).append(reason)
    for task in system.tasks(settings):
        record: Any = records[task.key]
        warned.update(record.warned)
    notes = []
    for point, reasons in sorted(failed.items()):
        tried = ", ".join(f"{key}={value}" for key, value in system.point_at(point).items())
        times = _times(len(reasons))
        text = f"{tried} failed on {times} and was not chosen there (first {reasons[0]})"
        notes.append(Note("failed-fits", text))
    notes += [
        Note("fit-warning", f"{text} (on {_times(count)})")
        for text, count in sorted(warned.items())
    ]
    return tuple(notes)


def _times(count: int) -> str:
    return "1 fit" if count == 1 else f"{count:,} fits"
