"""The tables of results, each with its schema: from outcomes to one row per value."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from heldout.experiment.documents.lists import ABSENT, NONE
from heldout.experiment.outcomes import ALL
from heldout.experiment.systems.references import plain_value
from heldout.measure.base import Undefined

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray
    from polars._typing import PolarsDataType

    from heldout.experiment.outcomes import Outcome, PredictedOutcome, RankedOutcome
    from heldout.experiment.prepare import PreparedPredictions, PreparedRankings
    from heldout.resample.split import SplitKey, Splits
    from heldout.tune.space import Point

    Schema = dict[str, PolarsDataType]
    Numbers = NDArray[np.integer]

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


def _text(outcome: Outcome, number: int) -> str | None:
    """Return the parameters of a point as JSON; None: several points."""
    if number < 0:
        return None
    return json.dumps(shown_point(outcome.points[number]), ensure_ascii=False)


def _placed(
    columns: Mapping[str, Any], schema: Schema, system: str, key: SplitKey | None
) -> pl.DataFrame:
    """Return the rows of a system from one place; a column may be a single value for all rows."""
    return pl.DataFrame({**_source(system, key), **columns}, schema={**_SOURCE, **schema})


def _source(system: str, key: SplitKey | None) -> dict[str, Any]:
    """Return where rows come from; None: not from a split."""
    return {"system": system, **{name: getattr(key, name, None) for name in PLACE}}


# All systems


def fold_tables(systems: Sequence[Any], outcomes: Sequence[Outcome]) -> dict[str, pl.DataFrame]:
    """Return `folds`, the choice of each split, and `surface`, the means of all points there."""
    folds, surface = list[list[Any]](), [pl.DataFrame(schema=SURFACE)]
    for system, outcome in zip(systems, outcomes, strict=True):
        shown = [_text(outcome, number) for number in range(len(outcome.points))]
        for key, choice, score, _ in outcome.folds:
            edges = ",".join(system.edges(outcome.points[choice.number]))
            chosen = choice.number, shown[choice.number], choice.mean
            folds.append([*_source(system.name, key).values(), *chosen, score, edges])
        if not system.search.tuned:
            continue
        rows = [(fold.key, fold.choice, fold.scores) for fold in outcome.folds]
        for source, choice, scores in [*rows, (None, outcome.choices[ALL], None)]:
            columns = {
                "number": range(len(shown)),
                "parameters": shown,
                "mean": choice.means,
                "held_out": scores,
            }
            tried = _placed(columns, SURFACE, system.name, source).with_columns(_defined("mean"))
            # A search tries other points in each split.
            surface.append(tried.drop_nulls("mean") if system.search.how == "optuna" else tried)
    table = pl.DataFrame(folds, schema=FOLDS, orient="row")
    return {
        "folds": table.with_columns(_defined("train"), _defined("held_out")),
        "surface": pl.concat(surface).with_columns(_defined("held_out")),
    }


def _defined(name: str) -> pl.Expr:
    """Return a column with null instead of NaN and infinity."""
    return pl.when(pl.col(name).is_finite()).then(name)


def split_table(splits: Splits) -> pl.DataFrame:
    """Return one row per split and unit: its side, and how often it was drawn.

    For folds there are only the test sides: the training side of a fold is all other units of its
    repeat, once. Other plans have all sides. If queries and documents are both held out, rows of
    documents have the fold that other tables call ``other``.
    """
    parts = [pl.DataFrame(schema=SPLITS)]
    for own in splits.crossed or ():
        table = split_table(own)
        # A plan with one repeat is used for all repeats.
        repeats = range(splits.repeats) if own.repeats < splits.repeats else ()
        kind = SPLITS["repeat"]
        parts += [table.with_columns(repeat=pl.lit(n, kind)) for n in repeats] or [table]
    for repeat, folds, places, side, counts in () if splits.crossed else _sides(splits):
        for begin in range(0, len(places), _ROWS):  # a corpus can have millions of ids
            part = slice(begin, begin + _ROWS)
            columns = {
                "repeat": repeat,
                "fold": folds[part],
                "kind": splits.unit,
                "unit": [splits.ids[place] for place in places[part].tolist()],
                "side": side,
                "count": counts[part],
            }
            parts.append(pl.DataFrame(columns, schema=SPLITS))
    return pl.concat(parts, rechunk=True)


def _sides(splits: Splits) -> Iterator[tuple[int, Numbers, Numbers, str, Numbers]]:
    """Yield repeat, folds, numbers, side and counts of the units of folds, or of each split."""
    if splits.partitions:
        for repeat in range(splits.repeats):
            folds = splits.folds(repeat)
            places = np.flatnonzero(folds >= 0)
            places = places[np.argsort(folds[places], kind="stable")]
            yield repeat, folds[places], places, "test", np.ones_like(places)
        return
    for split in replace(splits, runs=1):  # all runs have the same sides
        for side, weights in split.sides().items():
            places = np.flatnonzero(weights)
            folds = np.full(len(places), split.key.fold)
            yield split.key.repeat, folds, places, side, weights[places]


# Rankings


def value_table(prepared: PreparedRankings, outcomes: Sequence[RankedOutcome]) -> pl.DataFrame:
    """Return one row per held-out query and measure, where the value is defined."""
    ids, names = prepared.data.collection.queries.ids, list(map(str, prepared.measures))
    parts = [pl.DataFrame(schema=VALUES)]
    for system, outcome in zip(prepared.systems, outcomes, strict=True):
        for side in outcome.held_out:
            row, query = np.nonzero(np.isfinite(side.values))
            columns = {
                "unit": [ids[number] for number in query.tolist()],
                "measure": [names[number] for number in row.tolist()],
                "value": side.values[row, query],
                "parameters": _text(outcome, side.number),
            }
            parts.append(_placed(columns, VALUES, system.name, side.key))
    return pl.concat(parts)


def list_table(prepared: PreparedRankings, outcomes: Sequence[RankedOutcome]) -> pl.DataFrame:
    """Return one row per ranked document of the held-out rankings that are kept."""
    from heldout.experiment.rankings import listed_splits  # slow to import

    collection, parts = prepared.data.collection, [pl.DataFrame(schema=LISTS)]
    listed = listed_splits(prepared.splits, prepared.experiment.by)
    for system, outcome in zip(prepared.systems, outcomes, strict=True):
        for side in outcome.held_out[:listed]:
            query, place = np.nonzero(side.lists.documents != NONE)
            documents = side.lists.documents[query, place].tolist()
            columns = {
                "unit": [collection.queries.ids[number] for number in query.tolist()],
                "rank": place + 1,
                "document": [
                    None if number == ABSENT else collection.documents.ids[number]
                    for number in documents
                ],
                "score": side.lists.scores[query, place],
            }
            parts.append(_placed(columns, LISTS, system.name, side.key))
    return pl.concat(parts).with_columns(_defined("score"))


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
    # Lists, and no frame for each split: leave-one-out has as many splits as rows.
    values: dict[str, list[Any]] = {name: [] for name in VALUES}
    held_out: dict[str, list[Any]] = {name: [] for name in schema if name != "scores"}
    scores = []
    for system, outcome in zip(prepared.systems, outcomes, strict=True):
        for key, number, predictions in outcome.held_out:
            given: Any = predictions  # of classes or of numbers
            known = getattr(given, "scores", None)
            unknown = pl.Series([None] * len(given.units), dtype=by_class)
            scores.append(unknown if known is None else pl.DataFrame(known, classes).to_struct())
            cells = {
                **_source(system.name, key),
                "unit": given.units,
                "group": given.groups,
                "truth": (names[given.truth] if classes else given.truth).tolist(),
                "prediction": (names[given.predicted] if classes else given.predicted).tolist(),
                "probabilities": getattr(given, "probabilities", False),
                "parameters": _text(outcome, number),
            }
            _append(held_out, cells)
            for measure in prepared.measures:
                value = defined_value(measure, given)
                units: list[str | None] = [None]
                own = [None if isinstance(value, Undefined) else value]
                if measure.aggregate == "mean" and own != [None]:
                    units += given.units
                    own += measure.units(given).per_unit().tolist()
                _append(values, {**cells, "unit": units, "measure": str(measure), "value": own})
    return {
        "values": pl.DataFrame(values, schema=VALUES),
        "held_out": pl.DataFrame({**held_out, "scores": pl.concat(scores)}, schema=schema),
    }


def _append(columns: Mapping[str, list[Any]], cells: Mapping[str, Any]) -> None:
    """Append rows; a cell that is not a sequence is the same in all of them."""
    for name, column in columns.items():
        cell = cells[name]
        is_sequence = isinstance(cell, list | tuple)
        column.extend(cell if is_sequence else [cell] * len(cells["unit"]))
