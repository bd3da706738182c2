"""The held-out predictions of an experiment with estimators."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from heldout.data.predictions import ClassPredictions, NumberPredictions
from heldout.data.scores import Scores
from heldout.errors import InputError, MeasureError
from heldout.experiment.held_out import FoldPredictions, UnitName
from heldout.experiment.instances import defined_value
from heldout.experiment.own_measures import is_stored, know_own
from heldout.measure.base import Undefined
from heldout.measure.names import parse_measure
from heldout.measure.prediction.classes import undefined_hint
from heldout.measure.prediction.folds import data_fingerprint, repeated_value, unit_scores
from heldout.notes import Note
from heldout.resample.split import SplitKey

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from heldout.experiment.results import Results
    from heldout.infer.comparison import Comparison
    from heldout.infer.results import Interval
    from heldout.measure.base import Measure, Number

    Predictions = ClassPredictions | NumberPredictions

__all__ = ["HeldOutPredictions"]


class HeldOutPredictions:
    """Held-out predictions, evaluated by any measure of the task.

    Parameters
    ----------
    results
        The results of an experiment with estimators.
    """

    __slots__ = ("_by_system", "_results")

    def __init__(self, results: Results) -> None:
        self._results = results
        know_own(results.manifest)
        self._by_system = _folds(results)

    def measure_name(self, measure: str | None) -> str:
        """Return the name of a measure in the tables; by default the first."""
        return str(self._measure(measure or self._results.measures[0]))

    def higher_is_better(self, measure: str) -> bool | None:
        """Return the direction of a measure."""
        return self._measure(measure).higher_is_better

    def _measure(self, measure: str) -> Measure:
        know_own(self._results.manifest)
        return parse_measure(measure, self._results.task)

    @property
    def unit(self) -> UnitName:
        """Return the unit: splits; units if there is one hold-out, or one unit per fold."""
        first = self.folds(self._results.systems[0])
        keys = {(fold.key.repeat, fold.key.fold) for fold in first}
        return "instance" if len(keys) == 1 or self.one_by_one else "split"

    @property
    def one_by_one(self) -> bool:
        """Return whether each split holds out one row, as leave-one-out does."""
        first = self.folds(self._results.systems[0])
        return len(first) > 1 and all(len(fold.predictions.units) == 1 for fold in first)

    def folds(self, system: str) -> list[FoldPredictions]:
        """Return the predictions of a system, split by split."""
        return self._by_system[system]

    def predictions(self, system: str, run: int | None = None) -> Predictions:
        """Return the held-out predictions of all folds together, with their fold; see `Results`."""
        mine = [fold for fold in self.folds(system) if fold.key.run in {None, run or 0}]
        units = [unit for fold in mine for unit in fold.predictions.units]
        if len(set(units)) < len(units):
            raise InputError(
                "rows were held out several times: use fold_predictions(system) for each fold"
            )
        joined: Predictions = _joined(mine, folds=len(mine) > 1)
        return joined

    def split_values(self, system: str, measure: str) -> list[tuple[SplitKey, Number]]:
        """Return the value of each split."""
        wanted = self._measure(measure)
        if is_stored(wanted):
            return self._stored_values(system, str(wanted))
        return [(fold.key, defined_value(wanted, fold.predictions)) for fold in self.folds(system)]

    def _stored_values(self, system: str, measure: str) -> list[tuple[SplitKey, Number]]:
        """Return the values in the table, of a measure of the user's own."""
        import polars as pl

        rows = self._results.values.filter(
            pl.col("system") == system, pl.col("measure") == measure, pl.col("unit").is_null()
        )
        reason = Undefined("it had no value when the experiment ran")
        return [
            (SplitKey(repeat, fold, run=run), reason if value is None else value)
            for repeat, fold, run, value in rows.select("repeat", "fold", "run", "value").rows()
        ]

    def value(self, system: str, measure: str) -> float:
        """Return the mean over splits; for leave-one-out, the value of all rows together.

        Few measures are defined for one row.
        """
        wanted = self._measure(measure)
        if self.one_by_one:
            whole = repeated_value(self._together(system), wanted)
            if isinstance(whole, Undefined):
                raise MeasureError(f"{wanted} of {system} does not exist: {whole.reason}")
            return whole
        found = []
        for key, value in self.split_values(system, measure):
            if isinstance(value, Undefined):
                raise MeasureError(
                    f"{wanted} of {system} does not exist on split {key}: "
                    f"{value.reason}{undefined_hint(wanted, value.reason)}"
                )
            found.append(value)
        return float(np.mean(found))

    def interval(self, system: str, measure: str, level: float) -> Interval | None:
        """Return a corrected t interval over splits; over units Wilson, DeLong, t or bootstrap."""
        from heldout.infer.intervals import corrected_t, inside
        from heldout.infer.scored_inputs import system_interval
        from heldout.measure.prediction.evaluate import evaluate_predictions

        if self.unit == "instance":
            given: Any = [self._together(system)]
            found = evaluate_predictions(given, [measure])
            return system_interval(found, found.names[0], found.measures[0], level=level)
        values = self.split_values(system, measure)
        if any(isinstance(value, Undefined) for _, value in values):
            return None
        scores = self.scores(measure, [system], by_unit=False)
        if len(scores.units) < 2:
            return None
        return inside(corrected_t(scores.values[:, 0], self._test_share, level), scores.range)

    @property
    def _test_share(self) -> float:
        """Return n_test / n_train, averaged over splits."""
        return float(self._results.manifest["settings"]["test_share"])

    def scores(self, measure: str, systems: Sequence[str], *, by_unit: bool) -> Scores:
        """Return scores per split, or per unit of a hold-out.

        Values of several runs and repeats of one row, or of several runs on one split, are
        averaged.
        """
        wanted = self._measure(measure)
        notes: list[Note] = []
        if by_unit:
            table = {name: self._by_unit(wanted, name) for name in systems}
        else:
            table = {name: self._by_split(wanted, name, notes) for name in systems}
        return Scores.of(
            table,
            str(wanted),
            higher_is_better=bool(wanted.higher_is_better),
            data=self._data(),
            notes=(*notes, *self._results.tuning_notes()),
            range=wanted.range,
        )

    def _by_split(self, measure: Measure, system: str, notes: list[Note]) -> dict[str, float]:
        sums: dict[str, list[float]] = {}
        lost = set()
        for key, value in self.split_values(system, str(measure)):
            unit = str(key._replace(run=None))
            if isinstance(value, Undefined):
                text = f"{measure} of {system} does not exist on {unit}: {value.reason}"
                text += undefined_hint(measure, value.reason)
                notes.append(Note("undefined-fold", text))
                lost.add(unit)
            else:
                sums.setdefault(unit, []).append(value)
        found = {unit: float(np.mean(values)) for unit, values in sums.items() if unit not in lost}
        if not found:
            raise MeasureError(f"{measure} of {system} does not exist on any split")
        return found

    def _by_unit(self, measure: Measure, system: str) -> dict[str, float]:
        sums: Counter[str] = Counter()
        times: Counter[str] = Counter()
        for fold in self.folds(system):
            one = unit_scores([fold.predictions], measure)
            for unit, value in zip(one.units, one.values[:, 0].tolist(), strict=True):
                sums[unit] += value
                times[unit] += 1
        return {unit: sums[unit] / times[unit] for unit in times}

    def _data(self) -> str:
        first = self._results.systems[0]
        return data_fingerprint([fold.predictions for fold in self.folds(first)])

    def compare(
        self,
        measure: str,
        systems: Sequence[str],
        options: dict[str, Any],
        *,
        baseline: str | None,
        by_unit: bool,
    ) -> Comparison:
        """Compare over folds by the corrected t test, over units by the test that fits.

        Over units: McNemar's test for accuracy, DeLong's for an AUC, randomization for F1 and other
        scores that are not means, and for groups.
        """
        from heldout.infer.compare import compare  # SciPy

        wanted = self._measure(measure)
        if by_unit:
            several: Any = [self._together(name) for name in systems]
            if wanted.aggregate != "mean" or several[0].groups:
                return compare(several, str(wanted), by="unit", baseline=baseline, **options)
        share = None if by_unit else self._test_share
        given = {"test_share": share, **options}
        scores = self.scores(measure, systems, by_unit=by_unit)
        return compare(scores, baseline=baseline, **given)

    def _together(self, system: str) -> Any:
        """Return the predictions of all splits; a row predicted several times has repeats."""
        mine = self.folds(system)
        several = len({(fold.key.repeat, fold.key.run) for fold in mine}) > 1
        repeats = tuple(
            f"{fold.key.repeat}/{fold.key.run}" for fold in mine for _ in fold.predictions.units
        )
        return _joined(mine, folds=self.unit == "split", repeats=repeats if several else ())


def _joined(mine: Sequence[FoldPredictions], *, folds: bool, repeats: tuple[str, ...] = ()) -> Any:
    """Return the predictions of several splits in one table."""
    parts: list[Any] = [fold.predictions for fold in mine]
    marks = tuple(str(fold.key._replace(run=None)) for fold in mine for _ in fold.predictions.units)
    joined: dict[str, Any] = {
        "units": tuple(unit for part in parts for unit in part.units),
        "truth": np.concatenate([part.truth for part in parts]),
        "predicted": np.concatenate([part.predicted for part in parts]),
        "folds": marks if folds else (),
        "groups": tuple(group for part in parts for group in part.groups),
        "repeats": repeats,
    }
    if isinstance(parts[0], ClassPredictions):
        whole = all(part.scores is not None for part in parts)
        joined["scores"] = np.concatenate([part.scores for part in parts]) if whole else None
    return replace(parts[0], **joined)


def _folds(results: Results) -> dict[str, list[FoldPredictions]]:
    """Return the predictions of each system on each split, from the table."""
    found: dict[str, list[FoldPredictions]] = {name: [] for name in results.systems}
    classes = tuple(results.manifest["settings"]["data"]["classes"])
    columns = ["system", "repeat", "fold", "run"]
    for part in results.held_out.partition_by(columns, maintain_order=True):
        system, repeat, fold, run = part.select(columns).row(0)
        made = _predictions(part, system, classes)
        found[system].append(FoldPredictions(system, SplitKey(repeat, fold, run=run), made))
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
