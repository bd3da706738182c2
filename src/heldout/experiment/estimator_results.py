"""What cross-validating estimators has found, ready for tests, intervals and tables."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from heldout.data.predictions import ClassPredictions, NumberPredictions
from heldout.data.scores import Scores
from heldout.errors import InputError, MeasureError
from heldout.infer.folds import corrected_t
from heldout.infer.prediction_scores import score_predictions
from heldout.measure.paired_predictions import data_fingerprint, unit_scores
from heldout.measure.predicted import PredictionMeasure, parse_prediction_measures
from heldout.measure.undefined import Undefined

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from heldout.experiment.estimator_systems import EstimatorSystem
    from heldout.infer.compare import Comparison
    from heldout.infer.results import Interval
    from heldout.measure.undefined import Number
    from heldout.resample.split import SplitKey, Splits

__all__ = ["EstimatorFold", "EstimatorResults"]


class EstimatorFold(NamedTuple):
    """One system on one split.

    Parameters
    ----------
    system, key
        Which.
    number
        The point that was chosen.
    chosen_by
        Its mean over the inner folds; None if nothing was tuned.
    n_train, n_test
        How many rows were seen and held out.
    predictions
        For the held-out rows.
    """

    system: str
    key: SplitKey
    number: int
    chosen_by: float | None
    n_train: int
    n_test: int
    predictions: ClassPredictions | NumberPredictions


@dataclass(frozen=True, slots=True, eq=False)
class EstimatorResults:
    """Estimators on held-out data.

    Parameters
    ----------
    task
        ``classification`` or ``regression``.
    measure
        What points were chosen by.
    systems
        The systems, then the baselines.
    folds
        Every system on every split.
    splits
        The splits.
    """

    task: str
    measure: PredictionMeasure
    systems: tuple[EstimatorSystem, ...]
    folds: tuple[EstimatorFold, ...]
    splits: Splits

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the systems, baselines included."""
        return tuple(system.name for system in self.systems)

    @property
    def test_share(self) -> float:
        """n_test / n_train, on average over splits."""
        mine = self.of(self.names[0])
        return float(np.mean([fold.n_test / fold.n_train for fold in mine]))

    def of(self, system: str) -> list[EstimatorFold]:
        """The folds of a system."""
        if system not in self.names:
            raise InputError(f"no system {system!r}; there are {', '.join(self.names)}")
        return [fold for fold in self.folds if fold.system == system]

    def chosen(self, system: str) -> list[Mapping[str, Any]]:
        """The parameters that were chosen, one a split."""
        points = self.systems[self.names.index(system)].points
        return [points[fold.number] for fold in self.of(system)]

    def _measure(self, measure: str | None) -> PredictionMeasure:
        return parse_prediction_measures(self.task, [measure])[0] if measure else self.measure

    def values(self, system: str, measure: str | None = None) -> list[Number]:
        """The value of each split."""
        wanted = self._measure(measure)
        return [wanted.value(fold.predictions) for fold in self.of(system)]

    def mean(self, system: str, measure: str | None = None) -> float:
        """The mean over splits; refused if the measure does not exist on some."""
        found = self.values(system, measure)
        for fold, value in zip(self.of(system), found, strict=True):
            if isinstance(value, Undefined):
                raise MeasureError(
                    f"{self._measure(measure)} of {system} does not exist on split {fold.key}: "
                    f"{value.reason}"
                )
        return float(np.mean([value for value in found if not isinstance(value, Undefined)]))

    def spread(self, system: str, measure: str | None = None) -> float | None:
        """The standard deviation over runs of the mean of a run; None if there is one run."""
        by_run: dict[int, list[float]] = {}
        for fold, value in zip(self.of(system), self.values(system, measure), strict=True):
            if fold.key.run is not None and not isinstance(value, Undefined):
                by_run.setdefault(fold.key.run, []).append(value)
        if len(by_run) < 2:
            return None
        return float(np.std([np.mean(values) for values in by_run.values()], ddof=1))

    @property
    def by_unit(self) -> bool:
        """Whether tests are over units: one hold-out, or one unit a fold."""
        keys = {(fold.key.repeat, fold.key.fold) for fold in self.folds}
        return len(keys) == 1 or all(fold.n_test == 1 for fold in self.folds)

    def scores(
        self,
        measure: str | None = None,
        *,
        systems: Sequence[str] | None = None,
        by_unit: bool | None = None,
    ) -> Scores:
        """Scores to compare: of each split, or of each unit of a hold-out.

        Parameters
        ----------
        measure
            By default what points were chosen by.
        systems
            Which; by default all but the baselines.
        by_unit
            Whether the unit is the row, and not the split. Values of several runs and repeats of
            one row, or of several runs on one split, are averaged.
        """
        wanted = self._measure(measure)
        names = list(systems or [one.name for one in self.systems if not one.baseline])
        if self.by_unit if by_unit is None else by_unit:
            return self._by_unit(wanted, names)
        return self._by_split(wanted, names)

    def _by_split(self, measure: PredictionMeasure, names: list[str]) -> Scores:
        table: dict[str, dict[str, float]] = {}
        notes: list[str] = []
        for name in names:
            sums: dict[str, list[float]] = {}
            lost = set()
            for fold in self.of(name):
                unit = str(replace(fold.key, run=None))
                value = measure.value(fold.predictions)
                if isinstance(value, Undefined):
                    notes.append(f"{measure} of {name} does not exist on {unit}: {value.reason}")
                    lost.add(unit)
                else:
                    sums.setdefault(unit, []).append(value)
            table[name] = {
                unit: float(np.mean(values)) for unit, values in sums.items() if unit not in lost
            }
        return Scores.of(
            table,
            str(measure),
            higher_is_better=measure.higher_is_better,
            data=self._data(),
            notes=tuple(notes),
        )

    def _by_unit(self, measure: PredictionMeasure, names: list[str]) -> Scores:
        table: dict[str, dict[str, float]] = {}
        for name in names:
            sums: Counter[str] = Counter()
            times: Counter[str] = Counter()
            for fold in self.of(name):
                one = unit_scores([fold.predictions], measure)
                for unit, value in zip(one.units, one.values[:, 0].tolist(), strict=True):
                    sums[unit] += value
                    times[unit] += 1
            table[name] = {unit: sums[unit] / times[unit] for unit in times}
        return Scores.of(
            table, str(measure), higher_is_better=measure.higher_is_better, data=self._data()
        )

    def _data(self) -> str:
        return data_fingerprint([fold.predictions for fold in self.of(self.names[0])])

    def interval(
        self, system: str, measure: str | None = None, level: float = 0.95
    ) -> Interval | None:
        """Corrected t over splits; Wilson, DeLong or t over the units of one hold-out."""
        wanted = self._measure(measure)
        mine = self.of(system)
        if len(mine) == 1:
            given: Any = [mine[0].predictions]
            scored = score_predictions(given, [str(wanted)], level=level)
            return scored.rows[0].intervals[0]
        scores = self.scores(str(wanted), systems=[system], by_unit=False)
        if scores.dropped or len(scores.units) < 2:
            return None
        return corrected_t(scores.values[:, 0], self.test_share, level)

    def compare(
        self,
        measure: str | None = None,
        *,
        systems: Sequence[str] | None = None,
        by_unit: bool | None = None,
        **options: Any,
    ) -> Comparison:
        """Compare systems: McNemar's test on one hold-out, corrected t over folds.

        Parameters
        ----------
        measure, systems, by_unit
            As for `scores`.
        options
            As for `heldout.compare`.
        """
        from heldout.infer.compare import compare  # SciPy

        scores = self.scores(measure, systems=systems, by_unit=by_unit)
        over_units = self.by_unit if by_unit is None else by_unit
        tuned = tuple(one.name for one in self.systems if one.tuned and one.name in scores.systems)
        share = None if over_units else self.test_share
        return compare(scores, **{"test_share": share, "tuned": tuned, **options})

    def predictions(self, system: str, run: int | None = None) -> Any:
        """The held-out predictions of all folds together, with their fold, for one repeat and run.

        Parameters
        ----------
        system
            Which.
        run
            Which run, if there are several; by default the first.
        """
        mine = [fold for fold in self.of(system) if fold.key.run in {None, run or 0}]
        units = [unit for fold in mine for unit in fold.predictions.units]
        if len(set(units)) < len(units):
            raise InputError(
                "rows were held out several times: take the folds of one repeat with of(system)"
            )
        parts: list[Any] = [fold.predictions for fold in mine]
        marks = tuple(
            str(replace(fold.key, run=None)) for fold in mine for _ in fold.predictions.units
        )
        joined: dict[str, Any] = {
            "units": tuple(units),
            "truth": np.concatenate([one.truth for one in parts]),
            "predicted": np.concatenate([one.predicted for one in parts]),
            "folds": marks if len(mine) > 1 else (),
            "notes": tuple(dict.fromkeys(note for one in parts for note in one.notes)),
        }
        if isinstance(parts[0], ClassPredictions):
            whole = all(one.scores is not None for one in parts)
            joined["scores"] = np.concatenate([one.scores for one in parts]) if whole else None
        return replace(parts[0], **joined)

    def to_frame(self, *measures: str) -> pl.DataFrame:
        """The long table: system, repeat, fold, run, measure, value, parameters; one row a split.

        Parameters
        ----------
        measures
            By default what points were chosen by. A value that does not exist is null.
        """
        import polars as pl  # slow to import

        rows = []
        for name in measures or (str(self.measure),):
            wanted = self._measure(name)
            for fold in self.folds:
                value = wanted.value(fold.predictions)
                points = self.systems[self.names.index(fold.system)].points
                rows.append(
                    {
                        "system": fold.system,
                        "repeat": fold.key.repeat,
                        "fold": fold.key.fold,
                        "run": fold.key.run,
                        "measure": str(wanted),
                        "value": None if isinstance(value, Undefined) else value,
                        "parameters": json.dumps(dict(points[fold.number]), default=str),
                        "n_train": fold.n_train,
                        "n_test": fold.n_test,
                    }
                )
        return pl.DataFrame(rows, infer_schema_length=None)
