"""Results of estimators: held-out predictions, evaluated by any measure of the task."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from heldout.as_json import plain
from heldout.data.predictions import ClassPredictions, NumberPredictions
from heldout.data.scores import Scores
from heldout.errors import HeldoutError, InputError, MeasureError
from heldout.experiment.instances import defined_value
from heldout.experiment.manifest import is_stored
from heldout.experiment.results.results import FoldPredictions, Results
from heldout.experiment.results.tables import PLACE, mean_by_unit
from heldout.measure.base import Undefined
from heldout.measure.prediction.classes import undefined_hint
from heldout.measure.prediction.folds import data_fingerprint, repeated_value, unit_scores
from heldout.notes import Note
from heldout.resample.split import SplitKey

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.experiment.manifest import Manifest, Timings
    from heldout.experiment.outcomes import PredictedOutcome
    from heldout.experiment.prepare import PreparedPredictions
    from heldout.experiment.results.results import UnitName
    from heldout.experiment.results.summary import EstimateRecord
    from heldout.infer.results import Interval
    from heldout.measure.base import Measure, Number

    Predictions = ClassPredictions | NumberPredictions


class PredictionResults(Results):
    """Held-out predictions, evaluated by any measure of the task."""

    @property
    def unit(self) -> UnitName:
        """Return the unit: splits; rows if there is one hold-out, or one row per fold."""
        keys = {fold.key._replace(run=None) for fold in self._sides[self.systems[0]]}
        return "instance" if len(keys) == 1 or self._one_by_one else "split"

    @property
    def _one_by_one(self) -> bool:
        """Whether each split holds out one row, as leave-one-out does."""
        first = self._sides[self.systems[0]]
        return len(first) > 1 and all(len(fold.predictions.units) == 1 for fold in first)

    @cached_property
    def _sides(self) -> dict[str, list[FoldPredictions]]:
        """The predictions of each system for each split."""
        sides: dict[str, list[FoldPredictions]] = {name: [] for name in self.systems}
        for rows in self.held_out.partition_by("system", *PLACE, maintain_order=True):
            system, repeat, fold, _, run = rows.select("system", *PLACE).row(0)
            key, predictions = SplitKey(repeat, fold, run=run), self._predictions(rows)
            sides[system].append(FoldPredictions(system, key, predictions))
        return sides

    def _predictions(
        self, rows: pl.DataFrame, *, folds: bool = False, repeats: bool = False
    ) -> Predictions:
        """Return the predictions in some rows of the table, with their folds or repeats."""
        name, units, places = rows["system"][0], tuple(rows["unit"]), rows.select(*PLACE).rows()
        more: Any = {
            "groups": tuple(rows["group"]) if "group" in rows.columns else (),
            "folds": tuple(f"r{repeat}/f{fold}" for repeat, fold, *_ in places) if folds else (),
            "repeats": tuple(f"{repeat}/{run}" for repeat, *_, run in places) if repeats else (),
        }
        classes = tuple(self.manifest["settings"]["data"]["classes"])
        truth, predicted = rows["truth"], rows["prediction"]
        if not classes:
            return NumberPredictions(name, units, truth.to_numpy(), predicted.to_numpy(), **more)
        numbers, scores = pl.Enum(classes), None
        codes, guesses = (
            labels.cast(numbers).to_physical().to_numpy().astype(np.int64)
            for labels in (truth, predicted)
        )
        if not rows["scores"].is_null().any():
            scores = np.ascontiguousarray(rows["scores"].struct.unnest().to_numpy())
        kind = bool(rows["probabilities"][0])
        return ClassPredictions(name, units, classes, codes, guesses, scores, kind, **more)

    def fold_predictions(self, system: str) -> list[FoldPredictions]:
        """Return the predictions of a system for each held-out side."""
        return self._sides[self._system(system)["name"]]

    def predictions(self, system: str, run: int | None = None) -> Predictions:
        """Return the held-out predictions of a system for all rows, with their fold."""
        is_of_run = pl.col("run").is_null() | (pl.col("run") == (run or 0))
        rows = self.held_out.filter(is_of_run, system=self._system(system)["name"])
        if rows["unit"].is_duplicated().any():
            raise InputError(
                "rows were held out several times: use fold_predictions(system) for each fold"
            )
        return self._predictions(rows, folds=rows.select("repeat", "fold").n_unique() > 1)

    def _together(self, system: str) -> Any:
        """Return the predictions of all splits; a row predicted several times has repeats."""
        rows = self.held_out.filter(system=system)
        repeats = rows.select("repeat", "run").n_unique() > 1
        return self._predictions(rows, folds=self.unit == "split", repeats=repeats)

    # Estimates

    def _split_values(self, system: str, measure: Measure) -> list[tuple[SplitKey, Number]]:
        if not is_stored(measure):
            folds = self.fold_predictions(system)
            return [(fold.key, defined_value(measure, fold.predictions)) for fold in folds]
        # A measure of the user's own, of which only the values in the table are known.
        rows = self.values.filter(pl.col("unit").is_null(), system=system, measure=str(measure))
        unknown = Undefined("it had no value when the experiment ran")
        return [
            (SplitKey(repeat, fold, run=run), unknown if value is None else value)
            for repeat, fold, run, value in rows.select("repeat", "fold", "run", "value").rows()
        ]

    def value(self, system: str, measure: str | None = None) -> float:
        """Return the mean over splits; for leave-one-out, the value of all rows together.

        Few measures are defined for one row.
        """
        wanted = self._measure(measure)
        if self._one_by_one:
            whole = repeated_value(self._together(system), wanted)
            if isinstance(whole, Undefined):
                raise MeasureError(f"{wanted} of {system} does not exist: {whole.reason}")
            return whole
        values = self._split_values(self._system(system)["name"], wanted)
        for key, value in values:
            if isinstance(value, Undefined):
                raise MeasureError(_undefined(wanted, system, f"split {key}", value))
        return float(np.mean([value for _, value in values]))

    def interval(
        self, system: str, measure: str | None = None, level: float | None = None
    ) -> Interval | None:
        """Return a corrected t interval over splits; over rows Wilson, DeLong, t or bootstrap."""
        from heldout.infer.intervals import corrected_t, inside  # SciPy
        from heldout.infer.scored_inputs import system_interval
        from heldout.measure.prediction.evaluate import evaluate_predictions

        level, wanted = self.level if level is None else level, self._measure(measure)
        if self.unit == "instance":
            evaluated = evaluate_predictions([self._together(system)], [str(wanted)])
            return system_interval(evaluated, system, wanted, level=level)
        notes: list[Note] = []
        values = np.array(list(self._by_split(wanted, system, notes).values()))
        if notes or len(values) < 2:
            return None
        share = self.manifest["settings"]["test_share"]
        return inside(corrected_t(values, share, level), wanted.range)

    # Comparisons

    def _scores(self, measure: Measure, systems: Sequence[str], *, by_unit: bool) -> Scores:
        """Return scores per split, or per row.

        Values of several runs and repeats of one row, or of several runs on one split, are
        averaged.
        """
        notes: list[Note] = []
        if by_unit:
            table = {name: self._by_row(measure, name) for name in systems}
        else:
            table = {name: self._by_split(measure, name, notes) for name in systems}
        for name, values in table.items():
            if not values:
                raise MeasureError(f"{measure} of {name} does not exist on any split")
        first = self._sides[self.systems[0]]
        return Scores.of(
            table,
            str(measure),
            higher_is_better=bool(measure.higher_is_better),
            data=data_fingerprint([fold.predictions for fold in first]),
            notes=(*notes, *self.tuning_notes()),
            range=measure.range,
        )

    def _by_split(self, measure: Measure, system: str, notes: list[Note]) -> dict[str, float]:
        values: dict[str, list[float]] = {}
        lost = set()
        for key, value in self._split_values(system, measure):
            split = str(key._replace(run=None))
            if isinstance(value, Undefined):
                notes.append(Note("undefined-fold", _undefined(measure, system, split, value)))
                lost.add(split)
            else:
                values.setdefault(split, []).append(value)
        return {name: float(np.mean(runs)) for name, runs in values.items() if name not in lost}

    def _by_row(self, measure: Measure, system: str) -> dict[str, float]:
        sides = self.fold_predictions(system)
        scored = [unit_scores([side.predictions], measure) for side in sides]
        units = [unit for scores in scored for unit in scores.units]
        return mean_by_unit(
            units, np.concatenate([scores.values[:, 0] for scores in scored]).tolist()
        )

    def _to_compare(
        self, measure: Measure, systems: Sequence[str], *, by_unit: bool
    ) -> dict[str, Any]:
        """Return scores, or predictions where the test that fits needs more than means of rows.

        Over splits the corrected t test fits, over rows McNemar's for accuracy, DeLong's for an
        AUC, and randomization for F1 and other scores that are not means, and for groups.
        """
        if by_unit:
            several = [self._together(name) for name in systems]
            if measure.aggregate != "mean" or several[0].groups:
                return {"given": several, "measure": str(measure), "by": "unit"}
        share = None if by_unit else self.manifest["settings"]["test_share"]
        return {"given": self._scores(measure, systems, by_unit=by_unit), "test_share": share}


def _undefined(measure: Measure, system: str, where: str, value: Undefined) -> str:
    hint = undefined_hint(measure, value.reason)
    return f"{measure} of {system} does not exist on {where}: {value.reason}{hint}"


def prediction_results(
    prepared: PreparedPredictions,
    outcomes: Sequence[PredictedOutcome],
    manifest: Manifest,
    timings: Timings,
) -> PredictionResults:
    """Turn the outcomes of all systems into results."""
    from heldout.experiment.results.summary import system_summary  # reading does not need them
    from heldout.experiment.results.tables import fold_tables, prediction_tables, split_table

    pairs = zip(prepared.systems, outcomes, strict=True)
    results = PredictionResults(
        **prediction_tables(prepared, outcomes),
        **fold_tables(prepared.systems, outcomes),
        splits=split_table(prepared.splits),
        summary=[system_summary(system, outcome) for system, outcome in pairs],
        manifest=manifest,
        timings=timings,
    )
    for entry in results.summary:
        entry["estimates"] = plain(
            [_estimate(results, entry["name"], str(measure)) for measure in prepared.measures]
        )
    return results


def _estimate(results: PredictionResults, system: str, measure: str) -> EstimateRecord:
    """Return the mean over splits with its interval, or the reason why it does not exist."""
    value = interval = None
    reason = ""
    try:
        value = results.value(system, measure)
        interval = results.interval(system, measure)
    except HeldoutError as error:
        reason = str(error)
    return {
        "measure": measure,
        "value": value,
        "low": None if interval is None else interval.low,
        "high": None if interval is None else interval.high,
        "level": results.level,
        "interval": "none" if interval is None else interval.method,
        "reason": reason,
        "spread": results.spread(system, measure),
        "n_splits": len(results.fold_predictions(system)),
    }
