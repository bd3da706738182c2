"""The tables of results, each with its schema: made of outcomes, read as runs and predictions."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from heldout.data.run import Run
from heldout.experiment.documents.lists import ABSENT, NONE
from heldout.experiment.outcomes import ALL
from heldout.experiment.systems.references import plain_value
from heldout.measure.base import Undefined
from heldout.resample.split import SplitKey

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from polars._typing import PolarsDataType

    from heldout.data.predictions import ClassPredictions, NumberPredictions
    from heldout.experiment.outcomes import Outcome, PredictedOutcome, RankedOutcome
    from heldout.experiment.prepare import PreparedPredictions, PreparedRankings
    from heldout.resample.split import Splits
    from heldout.tune.space import Point

    Schema = dict[str, PolarsDataType]

PLACE: Final[Schema] = {"repeat": pl.Int32, "fold": pl.Int32, "other": pl.Int32, "run": pl.Int32}
_SOURCE: Final[Schema] = {"system": pl.String, **PLACE}

_UNIT: Final[Schema] = {**_SOURCE, "unit": pl.String}
_POINT: Final[Schema] = {**_SOURCE, "number": pl.Int32, "parameters": pl.String}

VALUES: Final[Schema] = {
    **_UNIT,
    "measure": pl.String,
    "value": pl.Float64,
    "parameters": pl.String,
}
LISTS: Final[Schema] = {**_UNIT, "rank": pl.Int32, "document": pl.String, "score": pl.Float64}
FOLDS: Final[Schema] = {**_POINT, "train": pl.Float64, "held_out": pl.Float64, "edges": pl.String}
SURFACE: Final[Schema] = {**_POINT, "mean": pl.Float64, "held_out": pl.Float64}
SPLITS: Final[Schema] = {
    "repeat": pl.Int32,
    "fold": pl.Int32,
    "kind": pl.String,
    "unit": pl.String,
    "side": pl.String,
    "count": pl.Int32,
}
_ROWS: Final = 1 << 16


def shown_point(point: Point) -> dict[str, Any]:
    """Return a parameter setting as plain values."""
    return {name: plain_value(value) for name, value in point.items()}


def mean_by_unit(units: Iterable[str], values: Iterable[float]) -> dict[str, float]:
    """Return the mean of each unit over its rows, added in their order: no digit depends on it."""
    total, times = dict[str, float](), dict[str, int]()
    for unit, value in zip(units, values, strict=True):
        total[unit] = total.get(unit, 0.0) + value
        times[unit] = times.get(unit, 0) + 1
    return {unit: total[unit] / times[unit] for unit in total}


def key_of(rows: pl.DataFrame) -> SplitKey:
    """Return where some rows were held out."""
    repeat, fold, other, run = rows.select(*PLACE).row(0)
    return SplitKey(repeat, fold, other=other, run=run)


def run_of(rows: pl.DataFrame) -> Run:
    """Return ranked lists as a run; without scores, the rank determines the order."""
    kept = rows.filter(pl.col("document").is_not_null())
    score = -pl.col("rank") if kept["score"].is_null().any() else pl.col("score")
    name = next(iter(rows["system"]), None)
    return Run.of(kept.select(query="unit", doc="document", score=score), name)


def predictions_of(
    rows: pl.DataFrame, classes: Sequence[str], *, folds: bool = False, repeats: bool = False
) -> ClassPredictions | NumberPredictions:
    """Return predictions, with their folds or repeats; without `classes`, of numbers."""
    from heldout.data.predictions import ClassPredictions, NumberPredictions  # not for rankings

    name, units, places = rows["system"][0], tuple(rows["unit"]), rows.select(*PLACE).rows()
    more: Any = {
        "groups": tuple(rows["group"]) if "group" in rows.columns else (),
        "folds": tuple(f"r{repeat}/f{fold}" for repeat, fold, *_ in places) if folds else (),
        "repeats": tuple(f"{repeat}/{run}" for repeat, *_, run in places) if repeats else (),
    }
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
    return ClassPredictions(name, units, tuple(classes), codes, guesses, scores, kind, **more)


def _text(outcome: Outcome, number: int) -> str | None:
    """Return the parameters of a point as JSON; None: several points."""
    if number < 0:
        return None
    return json.dumps(shown_point(outcome.points[number]), ensure_ascii=False)


def _table(schema: Schema, parts: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Return the rows of all parts; a cell that is not a list or array is the same in its rows."""
    # It is one frame of all parts, because each takes a millisecond, and there are thousands.
    cells = {name: [part[name] for part in parts] for name in schema}
    long = [name for name, own in cells.items() if own and isinstance(own[0], list | np.ndarray)]
    kinds = {name: pl.List(kind) if name in long else kind for name, kind in schema.items()}
    table = pl.DataFrame(cells, schema=kinds)
    return table.filter(pl.col(long[0]).list.len() > 0).explode(long) if long else table


def _source(system: str, key: SplitKey | None) -> dict[str, Any]:
    """Return where rows come from; None: not from a split."""
    return {"system": system, **{name: getattr(key, name, None) for name in PLACE}}


# All systems


def fold_tables(systems: Sequence[Any], outcomes: Sequence[Outcome]) -> dict[str, pl.DataFrame]:
    """Return `folds`, the choice of each split, and `surface`, the means of all points there."""
    folds, surface = list[list[Any]](), []
    for system, outcome in zip(systems, outcomes, strict=True):
        shown = [_text(outcome, number) for number in range(len(outcome.points))]
        for key, choice, score, _ in outcome.folds:
            edges = ",".join(system.edges(outcome.points[choice.number]))
            chosen = choice.number, shown[choice.number], choice.mean
            folds.append([*_source(system.name, key).values(), *chosen, score, edges])
        if not system.search.tuned:
            continue
        rows = [(fold.key, fold.choice, fold.scores) for fold in outcome.folds]
        unknown = np.full(len(shown), np.nan)
        for source, choice, scores in [*rows, (None, outcome.choices[ALL], None)]:
            surface.append(
                {
                    **_source(system.name, source),
                    "number": np.arange(len(shown)),
                    "parameters": shown,
                    "mean": choice.means,
                    "held_out": unknown if scores is None else scores,
                }
            )
    table = pl.DataFrame(folds, schema=FOLDS, orient="row")
    means = _table(SURFACE, surface).with_columns(_defined("mean"), _defined("held_out"))
    return {
        "folds": table.with_columns(_defined("train"), _defined("held_out")),
        "surface": means.drop_nulls("mean"),  # a search tries other points in each split
    }


def _defined(name: str) -> pl.Expr:
    """Return a column with null instead of NaN and infinity."""
    return pl.when(pl.col(name).is_finite()).then(name)


def split_table(splits: Splits) -> pl.DataFrame:
    """Return one row per split and unit: its side, and how often it was drawn; of folds, tests."""
    # Of queries and documents, these have the fold that other tables call `other`.
    if splits.crossed is not None:
        tables = []
        for own in splits.crossed:
            # A plan with one repeat is used for all repeats.
            numbers = range(splits.repeats if own.repeats < splits.repeats else 1)
            table, kind = split_table(own), SPLITS["repeat"]
            tables += [table.with_columns(pl.col("repeat") + pl.lit(n, kind)) for n in numbers]
        return pl.concat(tables, rechunk=True)
    parts: list[dict[str, Any]] = []
    for repeat in range(splits.repeats if splits.partitions else 0):
        folds = splits.folds(repeat)
        places = np.argsort(folds, kind="stable")[np.count_nonzero(folds < 0) :]
        cells = {"fold": folds[places], "unit": places, "count": np.ones_like(places)}
        parts.append({"repeat": repeat, "side": "test", **cells})
    for split in () if splits.partitions else replace(splits, runs=1):  # runs have the same sides
        for side, weights in split.sides().items():
            places = np.flatnonzero(weights)
            cells = {"fold": split.key.fold, "unit": places, "count": weights[places]}
            parts.append({"repeat": split.key.repeat, "side": side, **cells})
    table = _table({**SPLITS, "unit": pl.Int64}, [{**part, "kind": splits.unit} for part in parts])
    ids = pl.Series(dtype=pl.String)
    for begin in range(0, len(splits.ids), _ROWS):  # a corpus can have millions of ids
        ids.append(pl.Series(list(splits.ids[begin : begin + _ROWS])))
    return table.with_columns(unit=ids.gather(table["unit"]))


# Rankings


def value_table(prepared: PreparedRankings, outcomes: Sequence[RankedOutcome]) -> pl.DataFrame:
    """Return one row per held-out query and measure, where the value is defined."""
    ids, names = prepared.data.collection.queries.ids, list(map(str, prepared.measures))
    parts = []
    for system, outcome in zip(prepared.systems, outcomes, strict=True):
        for side in outcome.held_out:
            row, query = np.nonzero(np.isfinite(side.values))
            cells = {
                "system": system.name,
                "unit": [ids[number] for number in query.tolist()],
                "measure": [names[number] for number in row.tolist()],
                "value": side.values[row, query],
                "parameters": _text(outcome, side.number),
            }
            parts.append(cells | _source(system.name, side.key))
    return _table(VALUES, parts)


def list_table(prepared: PreparedRankings, outcomes: Sequence[RankedOutcome]) -> pl.DataFrame:
    """Return one row per ranked document of the held-out rankings that are kept."""
    from heldout.experiment.rankings import listed_splits  # slow to import

    collection, parts = prepared.data.collection, []
    listed = listed_splits(prepared.splits, prepared.experiment.by)
    for system, outcome in zip(prepared.systems, outcomes, strict=True):
        for side in outcome.held_out[:listed]:
            query, place = np.nonzero(side.lists.documents != NONE)
            documents = side.lists.documents[query, place].tolist()
            cells = {
                "system": system.name,
                "unit": [collection.queries.ids[number] for number in query.tolist()],
                "rank": place + 1,
                "document": [
                    None if number == ABSENT else collection.documents.ids[number]
                    for number in documents
                ],
                "score": side.lists.scores[query, place],
            }
            parts.append(cells | _source(system.name, side.key))
    return _table(LISTS, parts).with_columns(_defined("score"))


# Predictions


def prediction_tables(
    prepared: PreparedPredictions, outcomes: Sequence[PredictedOutcome]
) -> dict[str, pl.DataFrame]:
    """Return the predictions, and their values: of each side and, if it is a mean, of each unit."""
    from heldout.experiment.instances import defined_value  # scikit-learn

    classes = prepared.data.classes
    names, kind = np.array(classes, dtype=object), pl.String if classes else pl.Float64
    group: Schema = {"group": pl.String} if prepared.data.groups else {}
    # By the names of the classes.
    by_class = pl.Struct(dict.fromkeys(classes, pl.Float64)) if classes else pl.List(pl.Float64)
    schema: Schema = {**_UNIT, **group, "truth": kind, "prediction": kind}
    schema |= {"scores": by_class, "probabilities": pl.Boolean}
    values, held_out, scores = [], [], []
    for system, outcome in zip(prepared.systems, outcomes, strict=True):
        for key, number, predictions in outcome.held_out:
            given: Any = predictions  # of classes or of numbers
            known = getattr(given, "scores", None)
            unknown = pl.Series([None] * len(given.units), dtype=by_class)
            scores.append(unknown if known is None else pl.DataFrame(known, classes).to_struct())
            source = _source(system.name, key)
            cells = {
                "unit": list(given.units),
                "group": list(given.groups),
                "truth": (names[given.truth] if classes else given.truth).tolist(),
                "prediction": (names[given.predicted] if classes else given.predicted).tolist(),
                "probabilities": getattr(given, "probabilities", False),
            }
            held_out.append(source | cells)
            for measure in prepared.measures:
                value = defined_value(measure, given)
                units: list[str | None] = [None]
                own = [None if isinstance(value, Undefined) else value]
                if measure.aggregate == "mean" and own != [None]:
                    units += given.units
                    own += measure.units(given).per_unit().tolist()
                named = {"measure": [str(measure)] * len(own), "parameters": _text(outcome, number)}
                values.append({**source, **named, "unit": units, "value": own})
    most = {name: dtype for name, dtype in schema.items() if name != "scores"}
    table = _table(most, held_out).with_columns(scores=pl.concat(scores))
    return {"values": _table(VALUES, values), "held_out": table.select(*schema)}
