"""Results of estimators: choices, predictions and values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from heldout.as_json import plain
from heldout.errors import HeldoutError
from heldout.experiment.instances import defined_value
from heldout.experiment.result_tables import fold_tables, shown_parameters
from heldout.experiment.results import Results
from heldout.experiment.split_table import split_table
from heldout.experiment.summary import summarise_choices
from heldout.experiment.table_columns import place_columns, prediction_columns, value_columns
from heldout.measure.base import Undefined

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from heldout.experiment.manifest import Manifest, Timings
    from heldout.experiment.settings import PredictionSettings
    from heldout.experiment.summary import EstimateRecord
    from heldout.experiment.systems.estimators import EstimatorSystem
    from heldout.experiment.systems.outcomes import Place, PredictedOutcome

    Pair = tuple[EstimatorSystem, PredictedOutcome]

__all__ = ["prediction_results"]


def prediction_results(
    settings: PredictionSettings,
    outcomes: Sequence[PredictedOutcome],
    manifest: Manifest,
    timings: Timings,
) -> Results:
    """Return the tables and the summary of all estimators."""
    pairs = list(zip(settings.systems, outcomes, strict=True))
    summary = [
        summarise_choices(system, outcome, [], baseline=system.baseline, notes=outcome.notes)
        for system, outcome in pairs
    ]
    results = Results(
        values=_values(settings, pairs),
        held_out=_predicted(settings, pairs),
        splits=split_table(settings.splits),
        **fold_tables(pairs),
        summary=summary,
        manifest=manifest,
        timings=timings,
    )
    for entry in summary:
        entry["estimates"] = plain(
            [_estimate(results, entry["name"], str(measure)) for measure in settings.measures]
        )
    return results


def _estimate(results: Results, system: str, measure: str) -> EstimateRecord:
    """Return the mean over splits with its interval, or the reason why it does not exist."""
    level = results.manifest["settings"]["level"]
    found: EstimateRecord = {
        "measure": measure,
        "value": None,
        "low": None,
        "high": None,
        "level": level,
        "interval": "none",
        "reason": "",
        "spread": results.spread(system, measure),
        "n_splits": len(results.split_values(system, measure)),
    }
    try:
        found["value"] = results.value(system, measure)
        interval = results.interval(system, measure, level)
    except HeldoutError as error:
        return {**found, "reason": str(error)}
    if interval is not None:
        found["low"], found["high"] = interval.low, interval.high
        found["interval"] = interval.method
    return found


def _at(system: str, place: Place) -> dict[str, Any]:
    return {"system": system, **{name: getattr(place, name) for name in place_columns()}}


def _values(settings: PredictionSettings, pairs: Sequence[Pair]) -> pl.DataFrame:
    import polars as pl

    own = value_columns()
    rows: dict[str, list[Any]] = {name: [] for name in ("system", *place_columns(), *own)}
    for system, outcome in pairs:
        for place, number, predictions in outcome.held_out:
            for measure in settings.measures:
                value = defined_value(measure, predictions)
                units: list[str | None] = [None]
                values: list[float | None] = [None if isinstance(value, Undefined) else value]
                if measure.aggregate == "mean" and values[0] is not None:
                    units += predictions.units
                    values += measure.units(predictions).per_unit().tolist()
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


def _predicted(settings: PredictionSettings, pairs: Sequence[Pair]) -> pl.DataFrame:
    import polars as pl

    own = prediction_columns(settings.data.classes, groups=bool(settings.data.groups))
    parts = []
    for system, outcome in pairs:
        for place, _, one in outcome.held_out:
            parts.append(_rows(settings, _at(system.name, place), one, own))
    return pl.concat(parts)


def _rows(
    settings: PredictionSettings, place: dict[str, Any], one: Any, own: dict[str, Any]
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
