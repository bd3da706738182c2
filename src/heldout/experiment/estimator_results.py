"""What estimators have done on held-out data, ready for tests, intervals and tables."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from heldout.data.predictions import ClassPredictions, NumberPredictions
from heldout.data.scores import Scores
from heldout.errors import InputError, MeasureError
from heldout.experiment.instances import defined_value
from heldout.experiment.results import PREDICTIONS, Results
from heldout.infer.compare_predictions import compare_predictions
from heldout.infer.folds import corrected_t
from heldout.infer.prediction_scores import score_predictions
from heldout.measure.parse import parse_measure
from heldout.measure.prediction.paired import data_fingerprint, repeated_value, unit_scores
from heldout.measure.prediction.undefined_hint import undefined_hint
from heldout.measure.undefined import Undefined
from heldout.notes import Note
from heldout.resample.split import SplitKey

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from heldout.infer.compare import Comparison
    from heldout.infer.results import Interval
    from heldout.measure.base import Measure
    from heldout.measure.undefined import Number

    Predictions = ClassPredictions | NumberPredictions

__all__ = ["EstimatorFold", "EstimatorResults"]


class EstimatorFold(NamedTuple):
    """One system on one split.

    Parameters
    ----------
    system, key
        Which.
    predictions
        For the held-out rows.
    """

    system: str
    key: SplitKey
    predictions: Predictions


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class EstimatorResults(Results):
    """What an experiment with estimators has found.

    Parameters
    ----------
    values
        The long table: system, repeat, fold, run, unit, measure, value, parameters. A unit of null:
        the value of the whole held-out side (null where it does not exist); of measures that are
        means over units there is also a row for each unit.
    folds, surface
        As for `Results`; what is seen are the inner folds.
    lists
        What was predicted, in ``predictions.parquet``: system, repeat, fold, run, unit, group
        (if there are groups), truth, prediction, scores (of each class, by its name),
        probabilities (whether the scores are).
    summary, manifest, timings, splits
        As for `Results`.
    """

    FILES: ClassVar[dict[str, str]] = {**Results.FILES, "lists": PREDICTIONS}

    _by_system: dict[str, list[EstimatorFold]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_by_system", _folds(self))

    @property
    def test_share(self) -> float:
        """n_test / n_train, on average over splits."""
        return float(self.manifest["settings"]["test_share"])

    def of(self, system: str) -> list[EstimatorFold]:
        """The folds of a system."""
        if system not in self._by_system:
            raise InputError(f"no system {system!r}; there are {', '.join(self.systems)}")
        return self._by_system[system]

    def chosen(self, system: str) -> list[dict[str, Any]]:
        """The parameters that were chosen, one a split."""
        import polars as pl

        self.of(system)  # a name that is not known is said to be so
        rows = self.folds.filter(pl.col("system") == system)
        return [json.loads(one) for one in rows["parameters"]]

    def _name_of(self, measure: str | None) -> str:
        return str(self._measure(measure))

    def _measure(self, measure: str | None) -> Measure:
        return parse_measure(measure or self.measures[0], self.task)

    def split_values(self, system: str, measure: str | None = None) -> list[Number]:
        """The value of each split, of any measure of the task."""
        wanted = self._measure(measure)
        return [defined_value(wanted, fold.predictions) for fold in self.of(system)]

    def mean(self, system: str, measure: str | None = None) -> float:
        """The mean over splits; refused if the measure does not exist on some.

        Of leave-one-out it is the value of all rows together: few measures exist for one row.
        """
        if self.one_by_one:
            whole = repeated_value(self._together(system), self._measure(measure))
            if isinstance(whole, Undefined):
                raise MeasureError(
                    f"{self._measure(measure)} of {system} does not exist: {whole.reason}"
                )
            return whole
        found = self.split_values(system, measure)
        for fold, value in zip(self.of(system), found, strict=True):
            if isinstance(value, Undefined):
                raise MeasureError(
                    f"{self._measure(measure)} of {system} does not exist on split {fold.key}: "
                    f"{value.reason}{undefined_hint(self._measure(measure), value.reason, '')}"
                )
        return float(np.mean([value for value in found if not isinstance(value, Undefined)]))

    def spread(self, system: str, measure: str | None = None) -> float | None:
        """The standard deviation over runs of the mean of a run; None if there is one run."""
        by_run: dict[int, list[float]] = {}
        for fold, value in zip(self.of(system), self.split_values(system, measure), strict=True):
            if fold.key.run is not None and not isinstance(value, Undefined):
                by_run.setdefault(fold.key.run, []).append(value)
        if len(by_run) < 2:
            return None
        return float(np.std([np.mean(values) for values in by_run.values()], ddof=1))

    @property
    def by_unit(self) -> bool:
        """Whether tests are over units: one hold-out, or one unit a fold."""
        keys = {(fold.key.repeat, fold.key.fold) for fold in self.of(self.systems[0])}
        return len(keys) == 1 or self.one_by_one

    @property
    def one_by_one(self) -> bool:
        """Whether each split holds out one row, as leave-one-out does."""
        first = self.of(self.systems[0])
        return len(first) > 1 and all(len(fold.predictions.units) == 1 for fold in first)

    def _compared(self, systems: Sequence[str] | None, baseline: str | None) -> list[str]:
        """Those that were asked for; else all that were given, one alone beside a baseline."""
        if systems is not None:
            return list(systems)
        added = [one["name"] for one in self.summary if one["baseline"]]
        own = [one for one in self.systems if one not in added]
        if len(own) == 1:
            own = [*added[:1], *own]
        return own if baseline is None or baseline in own else [baseline, *own]

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
            By default the first.
        systems
            Which; by default all but the baselines, or the only one and the first baseline.
        by_unit
            Whether the unit is the row, and not the split. Values of several runs and repeats of
            one row, or of several runs on one split, are averaged.
        """
        wanted = self._measure(measure)
        names = self._compared(systems, None)
        if self.by_unit if by_unit is None else by_unit:
            return self._by_unit(wanted, names)
        return self._by_split(wanted, names)

    def _by_split(self, measure: Measure, names: list[str]) -> Scores:
        table: dict[str, dict[str, float]] = {}
        notes: list[Note] = []
        for name in names:
            sums: dict[str, list[float]] = {}
            lost = set()
            for fold in self.of(name):
                unit = str(replace(fold.key, run=None))
                value = defined_value(measure, fold.predictions)
                if isinstance(value, Undefined):
                    text = f"{measure} of {name} does not exist on {unit}: {value.reason}"
                    text += undefined_hint(measure, value.reason, "")
                    notes.append(Note("undefined-fold", text))
                    lost.add(unit)
                else:
                    sums.setdefault(unit, []).append(value)
            table[name] = {
                unit: float(np.mean(values)) for unit, values in sums.items() if unit not in lost
            }
            if not table[name]:
                raise MeasureError(f"{measure} of {name} does not exist on any split")
        return Scores.of(
            table,
            str(measure),
            higher_is_better=measure.higher_is_better,
            data=self._data(),
            notes=(*notes, *self._effort()),
        )

    def _by_unit(self, measure: Measure, names: list[str]) -> Scores:
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
            table,
            str(measure),
            higher_is_better=measure.higher_is_better,
            data=self._data(),
            notes=tuple(self._effort()),
        )

    def _data(self) -> str:
        return data_fingerprint([fold.predictions for fold in self.of(self.systems[0])])

    def interval(
        self, system: str, measure: str | None = None, level: float = 0.95
    ) -> Interval | None:
        """Corrected t over splits; of one hold-out and of leave-one-out that over the units.

        Over units it is Wilson's, DeLong's, t or the bootstrap: see `heldout.score_predictions`.
        """
        wanted = self._measure(measure)
        if self.by_unit:
            given: Any = [self._together(system)]
            scored = score_predictions(given, [str(wanted)], level=level)
            return scored.rows[0].intervals[0]
        values = self.split_values(system, str(wanted))
        if any(isinstance(value, Undefined) for value in values):
            return None
        scores = self.scores(str(wanted), systems=[system], by_unit=False)
        if len(scores.units) < 2:
            return None
        return corrected_t(scores.values[:, 0], self.test_share, level)

    def compare(
        self,
        measure: str | None = None,
        *,
        baseline: str | None = None,
        systems: Sequence[str] | None = None,
        by_unit: bool | None = None,
        **options: Any,
    ) -> Comparison:
        """Compare systems: over folds by the corrected t test, over units by what fits.

        Over units: McNemar's test for accuracy, DeLong's for an AUC, randomization for F1 and other
        scores that are no means, and for groups.

        Parameters
        ----------
        measure, systems, by_unit
            As for `scores`.
        baseline
            Compare all others with this system; by default the experiment's own.
        options
            As for `heldout.compare`.
        """
        from heldout.infer.compare import compare  # SciPy

        settings = self.manifest["settings"]
        first = baseline or (settings["baseline"] if systems is None else None)
        names = self._compared(systems, first)
        over_units = self.by_unit if by_unit is None else by_unit
        wanted = self._measure(measure)
        chosen: dict[str, Any] = {
            "baseline": first,
            "alpha": settings["alpha"],
            "seed": settings["seed"],
            "tuned": tuple(
                one["name"] for one in self.summary if one["tuned"] and one["name"] in names
            ),
            **options,
        }
        if over_units:
            several: Any = [self._together(name) for name in names]
            if wanted.aggregate != "mean" or several[0].groups:
                made = compare_predictions(several, [str(wanted)], by="unit", **chosen)
                return made[0].comparison
        scores = self.scores(measure, systems=names, by_unit=over_units)
        share = None if over_units else self.test_share
        return compare(scores, **{"test_share": share, **chosen})

    def _together(self, system: str) -> Any:
        """The predictions of all splits; a row that was predicted several times has repeats."""
        mine = self.of(system)
        several = len({(fold.key.repeat, fold.key.run) for fold in mine}) > 1
        repeats = tuple(
            f"{fold.key.repeat}/{fold.key.run}" for fold in mine for _ in fold.predictions.units
        )
        folded = not self.by_unit
        return _joined(mine, folds=folded, repeats=repeats if several else ())

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
        return _joined(mine, folds=len(mine) > 1)


def _joined(mine: Sequence[EstimatorFold], *, folds: bool, repeats: tuple[str, ...] = ()) -> Any:
    """The predictions of several splits in one table."""
    parts: list[Any] = [fold.predictions for fold in mine]
    marks = tuple(str(replace(fold.key, run=None)) for fold in mine for _ in fold.predictions.units)
    joined: dict[str, Any] = {
        "units": tuple(unit for one in parts for unit in one.units),
        "truth": np.concatenate([one.truth for one in parts]),
        "predicted": np.concatenate([one.predicted for one in parts]),
        "folds": marks if folds else (),
        "groups": tuple(group for one in parts for group in one.groups),
        "repeats": repeats,
    }
    if isinstance(parts[0], ClassPredictions):
        whole = all(one.scores is not None for one in parts)
        joined["scores"] = np.concatenate([one.scores for one in parts]) if whole else None
    return replace(parts[0], **joined)


def _folds(results: EstimatorResults) -> dict[str, list[EstimatorFold]]:
    """The predictions of each system on each split, from the table."""
    found: dict[str, list[EstimatorFold]] = {name: [] for name in results.systems}
    classes = tuple(results.manifest["settings"]["data"]["classes"])
    columns = ["system", "repeat", "fold", "run"]
    for part in results.lists.partition_by(columns, maintain_order=True):
        system, repeat, fold, run = part.select(columns).row(0)
        made = _predictions(part, system, classes)
        found[system].append(EstimatorFold(system, SplitKey(repeat, fold, run=run), made))
    return found


def _predictions(part: pl.DataFrame, system: str, classes: tuple[str, ...]) -> Predictions:
    units = tuple(part["unit"].to_list())
    groups = tuple(part["group"].to_list()) if "group" in part.columns else ()
    if not classes:
        truth, predicted = part["truth"].to_numpy(), part["prediction"].to_numpy()
        return NumberPredictions(system, units, truth, predicted, groups=groups)
    number = {name: at for at, name in enumerate(classes)}
    truth, predicted = (
        np.array([number[one] for one in part[name].to_list()], np.int64)
        for name in ("truth", "prediction")
    )
    scores = None
    if not part["scores"].is_null().any():
        scores = np.ascontiguousarray(part["scores"].struct.unnest().to_numpy())
    probable = bool(part["probabilities"][0])
    return ClassPredictions(
        system, units, classes, truth, predicted, scores, probable, groups=groups
    )
