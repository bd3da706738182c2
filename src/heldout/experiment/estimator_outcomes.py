"""From records of fits to results: what was chosen, predicted, and what it was worth."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from heldout.errors import HeldoutError
from heldout.experiment.choices import choose_for_calls
from heldout.experiment.estimator_results import EstimatorResults, defined_value
from heldout.experiment.outcomes import FoldRow, Outcome, Place
from heldout.experiment.split_table import split_table
from heldout.experiment.summary import plain, summarise_choices
from heldout.experiment.tables import fold_tables, place_columns, shown_parameters
from heldout.experiment.tasks import EVERYTHING
from heldout.measure.undefined import Undefined
from heldout.notes import Note

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from heldout.data.predictions import ClassPredictions, NumberPredictions
    from heldout.experiment.estimator_settings import EstimatorSettings
    from heldout.experiment.estimator_systems import EstimatorSystem
    from heldout.experiment.journal import Record
    from heldout.experiment.tasks import Task

    Held = list[tuple[Place, int, ClassPredictions | NumberPredictions]]

__all__ = ["estimator_results"]


def estimator_results(
    settings: EstimatorSettings,
    tasks: Sequence[Task],
    records: Mapping[str, Record],
    manifest: dict[str, Any],
    timings: dict[str, Any],
) -> EstimatorResults:
    """Put together what all fits have found."""
    pairs: list[tuple[EstimatorSystem, Outcome]] = []
    held: list[Held] = []
    summary = []
    for number, system in enumerate(settings.systems):
        mine = [task for task in tasks if task.system == number]
        outcome, predicted = _outcome(settings, mine, records, number)
        pairs.append((system, outcome))
        held.append(predicted)
        notes = [note.to_dict() for note in _notes(system, mine, records)]
        more = {"baseline": system.baseline, "estimates": [], "notes": notes}
        summary.append(summarise_choices(system, outcome, more))
    results = EstimatorResults(
        values=_values(settings, held),
        lists=_predicted(settings, held),
        splits=split_table(settings.splits),
        **fold_tables(pairs),
        summary=summary,
        manifest=manifest,
        timings=timings,
    )
    estimated = [
        {**one, "estimates": [_estimate(results, one["name"], str(m)) for m in settings.measures]}
        for one in summary
    ]
    return replace(results, summary=plain(estimated))


def _outcome(
    settings: EstimatorSettings, tasks: Sequence[Task], records: Mapping[str, Record], number: int
) -> tuple[Outcome, Held]:
    chosen = choose_for_calls(settings, tasks, records, number)
    name = settings.systems[number].name
    folds, held = [], []
    for task in tasks:
        if task.kind != "test":
            continue
        split, record = settings.splits[task.split], records[task.key]
        predictions = settings.data.predictions(name, np.flatnonzero(split.test), record)
        value = defined_value(settings.tune_for, predictions)
        worth = np.nan if isinstance(value, Undefined) else value
        place = Place.of(split.key)
        folds.append(FoldRow(place, chosen[task.split], worth))
        held.append((place, record["number"], predictions))
    return Outcome(tuple(folds), (), chosen[EVERYTHING], np.zeros((0, 0))), held


def _notes(
    system: EstimatorSystem, tasks: Sequence[Task], records: Mapping[str, Record]
) -> list[Note]:
    """What failed, and what was warned of, each with how often."""
    failed: dict[int, list[str]] = {}
    warned: Counter[str] = Counter()
    for task in tasks:
        record = records[task.key]
        if "failed" in record:
            failed.setdefault(task.point, []).append(record["failed"])
        warned.update(record["warned"])
    notes = []
    for point, reasons in sorted(failed.items()):
        tried = ", ".join(f"{key}={value}" for key, value in system.points()[point].items())
        times = _times(len(reasons))
        text = f"{tried} failed on {times} and was not chosen there (first {reasons[0]})"
        notes.append(Note("failed-fits", text))
    notes += [
        Note("fit-warning", f"{text} (on {_times(count)})")
        for text, count in sorted(warned.items())
    ]
    return notes


def _times(count: int) -> str:
    return "1 fit" if count == 1 else f"{count:,} fits"


def _estimate(results: EstimatorResults, system: str, measure: str) -> dict[str, Any]:
    """The mean over splits with its interval; a reason where it does not exist."""
    level = 1 - results.manifest["settings"]["alpha"]
    found: dict[str, Any] = {"measure": measure, "value": None, "low": None, "high": None}
    found |= {"level": level, "interval": "none", "reason": ""}
    found |= {"spread": results.spread(system, measure), "n_splits": len(results.of(system))}
    try:
        found["value"] = results.mean(system, measure)
        interval = results.interval(system, measure, level)
    except HeldoutError as error:
        return {**found, "reason": str(error)}
    if interval is not None:
        found |= {"low": interval.low, "high": interval.high, "interval": interval.method}
    return found


def _at(system: str, place: Place) -> dict[str, Any]:
    return {"system": system, **{name: getattr(place, name) for name in place_columns()}}


def _values(settings: EstimatorSettings, held: Sequence[Held]) -> pl.DataFrame:
    import polars as pl

    own = {"unit": pl.String, "measure": pl.String, "value": pl.Float64, "parameters": pl.String}
    rows: dict[str, list[Any]] = {name: [] for name in ("system", *place_columns(), *own)}
    for system, mine in zip(settings.systems, held, strict=True):
        for place, number, predictions in mine:
            for measure in settings.measures:
                value = defined_value(measure, predictions)
                units: list[str | None] = [None]
                values: list[float | None] = [None if isinstance(value, Undefined) else value]
                if measure.per_unit and values[0] is not None:
                    units += predictions.units
                    values += measure.terms(predictions).tolist()
                constant = {
                    **_at(system.name, place),
                    "measure": str(measure),
                    "parameters": shown_parameters(system, number),
                }
                for name, one in constant.items():
                    rows[name] += [one] * len(units)
                rows["unit"] += units
                rows["value"] += values
    return pl.DataFrame(rows, schema={"system": pl.String, **place_columns(), **own})


def _predicted(settings: EstimatorSettings, held: Sequence[Held]) -> pl.DataFrame:
    import polars as pl

    kind: Any = pl.String if settings.data.classes else pl.Float64
    own = {
        "unit": pl.String,
        **({"group": pl.String} if settings.data.groups else {}),
        "truth": kind,
        "prediction": kind,
        "scores": _score_kind(settings.data.classes),
        "probabilities": pl.Boolean,
    }
    parts = []
    for system, mine in zip(settings.systems, held, strict=True):
        for place, _, one in mine:
            parts.append(_rows(settings, _at(system.name, place), one, own))
    return pl.concat(parts)


def _score_kind(classes: Sequence[str]) -> Any:
    """Scores by the name of their class, so that the file can be read without the manifest."""
    import polars as pl

    if not classes:
        return pl.List(pl.Float64)
    return pl.Struct(dict.fromkeys(classes, pl.Float64))


def _rows(
    settings: EstimatorSettings, place: dict[str, Any], one: Any, own: dict[str, Any]
) -> pl.DataFrame:
    import polars as pl

    count = len(one.units)
    names = np.array(settings.data.classes, dtype=object)
    scores = getattr(one, "scores", None)
    columns: dict[str, Any] = {
        "unit": list(one.units),
        **({"group": list(one.groups)} if one.groups else {}),
        "truth": names[one.truth].tolist() if len(names) else one.truth,
        "prediction": names[one.predicted].tolist() if len(names) else one.predicted,
        "scores": pl.Series([None] * count, dtype=own["scores"])
        if scores is None
        else pl.DataFrame(scores, schema=dict(own["scores"])).to_struct(),
        "probabilities": [getattr(one, "probabilities", False)] * count,
    }
    frame = pl.DataFrame(columns, schema=own)
    kinds: dict[str, Any] = {"system": pl.String, **place_columns()}
    constants = [pl.lit(place[name], dtype=kind).alias(name) for name, kind in kinds.items()]
    return frame.select(*constants, pl.all())
