"""Read predicted classes and predicted numbers from tables."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from heldout.data.io.cells import (
    any_filled,
    as_list,
    cell_text,
    cell_types,
    code_labels,
    label_of,
    read_labels,
    read_numbers,
)
from heldout.data.io.source import open_source
from heldout.data.io.table import find_column, read_table
from heldout.data.notes import named_few
from heldout.data.predictions import (
    ClassPredictions,
    NumberPredictions,
    class_order,
    positive_number,
)
from heldout.errors import FormatError, InputError
from heldout.notes import Note

if TYPE_CHECKING:
    from collections.abc import Callable

    from heldout.data.io.cells import Cells, Labels
    from heldout.data.io.table import Places, Table
    from heldout.data.words import Floats, Ints

__all__ = ["read_class_predictions", "read_number_predictions"]

UNITS: Final = ("unit", "unit_id", "id", "instance", "row", "query_id", "qid", "doc_id")
TRUTHS: Final = ("truth", "true", "label", "target", "actual", "gold", "y_true", "y")
GUESSES: Final = ("prediction", "predicted", "pred", "y_pred", "output")
SYSTEMS: Final = ("system", "model", "run", "name")
FOLDS: Final = ("fold", "split")
REPEATS: Final = ("repeat", "repetition")
GROUPS: Final = ("group",)
WEIGHTS: Final = ("weight", "sample_weight")
PROBABILITY: Final = ("probability", "prob", "p", "proba")
SCORE: Final = ("score",)
OF_CLASSES: Final = {"prob_": True, "proba_": True, "p_": True, "score_": False}
"""Prefixes of columns of class scores, and whether they are probabilities."""
SUM_TOLERANCE: Final = 1e-6


class _Scored(NamedTuple):
    """A column with the scores of one class."""

    name: str
    column: int
    probable: bool
    """Whether they are probabilities."""
    values: Floats


class _Rows(NamedTuple):
    """The rows of one system."""

    name: str
    table: Table
    numbers: Ints | None
    """Which rows; None for all."""

    @property
    def places(self) -> Places:
        return self.table.places if self.numbers is None else self.table.places.select(self.numbers)

    def cells(self, column: int) -> Cells:
        cells = self.table.cells(column)
        if self.numbers is None:
            return cells
        if isinstance(cells, list):
            return [cells[row] for row in self.numbers.tolist()]
        return cells.gather(self.numbers)

    def labels(self, column: int, what: str) -> tuple[str, ...]:
        return tuple(read_labels(self.cells(column), self.places.__getitem__, what))

    def coded(self, column: int, what: str) -> Labels:
        return code_labels(self.cells(column), self.places.__getitem__, what)

    def writing(self, column: int) -> Callable[[str], str]:
        """Return a function that spells the class in a column name as the cells spell it.

        Cells of Parquet and JSON may be True or 1.0, which are the classes true and 1, while column
        names that Python has written have the suffixes True and 1.0.
        """
        kinds = set() if self.table.is_text else cell_types(self.cells(column))
        if bool in kinds:
            return lambda name: name.lower() if name in {"True", "False"} else name
        if float in kinds:
            return _whole
        return lambda name: name

    def values(self, column: int) -> Floats:
        return self._numbers(self.cells(column), column)

    def values_if_any(self, column: int) -> Floats | None:
        """Return the numbers of a column; None if all cells are empty (a system without scores)."""
        cells = self.cells(column)
        return self._numbers(cells, column) if any_filled(cells) else None

    def _numbers(self, cells: Cells, column: int) -> Floats:
        return read_numbers(cells, self.places.__getitem__, self.table.names[column])

    def common(self) -> dict[str, Any]:
        """Return the fields that both kinds of predictions have."""
        unit = _needed(self.table, UNITS, "unit ids")
        found: dict[str, Any] = {
            "name": self.name,
            "units": self.labels(unit, "unit"),
            "places": self.places,
        }
        for key, names in (("folds", FOLDS), ("groups", GROUPS), ("repeats", REPEATS)):
            column = find_column(self.table.names, names)
            if column is not None:
                labels = self.coded(column, names[0])
                found[key] = tuple(map(labels.names.__getitem__, labels.codes.tolist()))
        found["repeats"] = self._with_runs(found.get("repeats", ()))
        column = find_column(self.table.names, WEIGHTS)
        if column is not None:
            found["weights"] = self._weights(column)
        return found

    def _with_runs(self, repeats: tuple[str, ...]) -> tuple[str, ...]:
        """Return repeats combined with runs, as in experiments; empty if there is only one."""
        run = find_column(self.table.names, ("run",))
        if run is not None and find_column(self.table.names, SYSTEMS) != run:
            runs = list(map(cell_text, as_list(self.cells(run))))
            if all(runs):
                before = repeats or ("0",) * len(runs)
                repeats = tuple(f"{one}/{two}" for one, two in zip(before, runs, strict=True))
        return repeats if len(set(repeats)) > 1 else ()

    def _weights(self, column: int) -> Floats:
        weights = self.values(column)
        if (weights < 0).any():
            raise FormatError(self.places[int(np.argmax(weights < 0))], "a weight is negative")
        if not weights.any():
            raise InputError(f"{self.table.source}: all weights are 0")
        return weights


def _whole(name: str) -> str:
    try:
        return label_of(float(name)) or name
    except ValueError:
        return name


def _check_written_alike(rows: _Rows, scored: list[str], true: list[str]) -> None:
    """Raise an error if no column of class scores has the name of a true class."""
    if scored and not set(scored) & set(true):
        known = list(dict.fromkeys(scored))
        raise InputError(
            f"{rows.table.source}: the columns of scores are for the classes "
            f"{named_few(known, len(known), 3)}, but the true classes are "
            f"{named_few(true, len(true), 3)}: use the same names"
        )


def _needed(table: Table, names: tuple[str, ...], what: str) -> int:
    column = find_column(table.names, names)
    if column is None:
        shown = named_few(table.names, len(table.names), 8)
        raise InputError(
            f"{table.source}: no column of {what} (found {shown}): name it {names[0]} (or "
            f"{', '.join(names[1:])})"
        )
    return column


def _systems(path: str | os.PathLike[str]) -> list[_Rows]:
    table = read_table(open_source(path))
    table.refuse_empty("predictions")
    column = find_column(table.names, SYSTEMS)
    if column is None:
        name = table.source if table.source.startswith("<") else Path(os.fspath(path)).name
        return [_Rows(name.split(".")[0] or name, table, None)]
    found = code_labels(table.cells(column), table.places.__getitem__, "system")
    order = np.argsort(found.codes, kind="stable")
    ends = np.cumsum(np.bincount(found.codes))
    return [
        _Rows(name, table, rows)
        for name, rows in zip(found.names, np.split(order, ends[:-1]), strict=True)
    ]


def read_number_predictions(path: str | os.PathLike[str]) -> list[NumberPredictions]:
    """Read predicted numbers, of one or more systems.

    Parameters
    ----------
    path
        CSV, TSV, Parquet or JSON lines, compressed or not, with columns ``unit``, ``truth``,
        ``prediction``, and optionally ``system``, ``fold``, ``repeat``, ``group``, ``weight``.
    """
    found = []
    for rows in _systems(path):
        truth = rows.values(_needed(rows.table, TRUTHS, "the truth"))
        guess = rows.values(_needed(rows.table, GUESSES, "predictions"))
        found.append(NumberPredictions(truth=truth, predicted=guess, **rows.common()))
    return found


def read_class_predictions(
    path: str | os.PathLike[str],
    *,
    positive: str | None = None,
    threshold: float | None = None,
) -> list[ClassPredictions]:
    """Read predicted classes, of one or more systems.

    Parameters
    ----------
    path
        CSV, TSV, Parquet or JSON lines, compressed or not, with columns ``unit``, ``truth``, and
        ``prediction`` or scores: ``prob_CLASS`` (probabilities) or ``score_CLASS`` for each class,
        or ``probability`` or ``score`` of the positive one of two classes.
    positive
        The positive class; by default the last of two.
    threshold
        Units with at least this score are predicted as positive; this replaces predictions.
    """
    return [_classes(rows, positive, threshold) for rows in _systems(path)]


def _classes(rows: _Rows, positive: str | None, threshold: float | None) -> ClassPredictions:
    table = rows.table
    truth = rows.coded(_needed(table, TRUTHS, "the truth"), "truth")
    column = find_column(table.names, GUESSES)
    guesses = None if column is None else rows.coded(column, "prediction")
    scored = _score_columns(rows)
    scored_names = [one.name for one in scored]
    _check_written_alike(rows, scored_names, truth.names)
    single = _single(table) if not scored else None
    guessed = [] if guesses is None else guesses.names
    classes = class_order([*truth.names, *guessed, *scored_names])
    if single is not None and positive is not None:
        classes = class_order([*classes, positive])
    notes: list[Note] = []
    scores, probable = None, False
    if scored:
        probable = _all_alike(table, scored)
        scores = _many(rows, scored, classes, truth, probable, notes)
    elif single is not None:
        probable = table.names[single].lower() in PROBABILITY
        scores = _of_positive(rows, single, classes, positive, probable)
    predicted = None if guesses is None else _in_order(guesses, classes)
    if threshold is not None:
        predicted = _from(threshold, scores, classes, positive, rows)
    elif predicted is None and scores is not None and (scored or probable):
        predicted = _most(scores, classes, positive)
    elif predicted is None and scores is not None:
        text = (
            f"{rows.name} has scores but no predictions: give the lowest score of a positive "
            "prediction (threshold=…)"
        )
        notes.append(Note("no-predictions", text))
    if predicted is None and scores is None:
        _needed(table, GUESSES, "predictions, nor of scores (prob_CLASS, score_CLASS, probability)")
    if guesses is not None and not set(guessed) & set(truth.names):
        text = (
            f"{rows.name} predicts none of the true classes (predicted: "
            f"{named_few(sorted(guessed), 9, 3)}; true: {named_few(sorted(truth.names), 9, 3)}): "
            "use the same names"
        )
        notes.append(Note("wrong-classes", text))
    return ClassPredictions(
        classes=classes,
        truth=_in_order(truth, classes),
        predicted=predicted,
        scores=scores,
        probabilities=probable,
        notes=tuple(notes),
        **rows.common(),
    )


def _in_order(labels: Labels, classes: tuple[str, ...]) -> Ints:
    """Return the class number of each label."""
    number = {name: at for at, name in enumerate(classes)}
    return np.array([number[name] for name in labels.names], np.int64)[labels.codes]


def _score_columns(rows: _Rows) -> list[_Scored]:
    """Return the columns of scores of classes that hold any."""
    found = []
    written = rows.writing(_needed(rows.table, TRUTHS, "the truth"))
    for at, name in enumerate(rows.table.names):
        start = next((one for one in OF_CLASSES if name.lower().startswith(one)), "")
        if not start or name.lower() == start:
            continue
        values = rows.values_if_any(at)
        if values is not None:
            found.append(_Scored(written(name[len(start) :]), at, OF_CLASSES[start], values))
    return found


def _all_alike(table: Table, scored: list[_Scored]) -> bool:
    kinds = {one.probable for one in scored}
    names = [one.name for one in scored]
    if len(kinds) > 1 or len(set(names)) < len(names):
        raise InputError(
            f"{table.source}: columns {', '.join(table.names[one.column] for one in scored)} mix "
            "scores and probabilities: keep one kind, with one column per class"
        )
    return kinds.pop()


def _single(table: Table) -> int | None:
    probability = find_column(table.names, PROBABILITY)
    return probability if probability is not None else find_column(table.names, SCORE)


def _many(
    rows: _Rows,
    scored: list[_Scored],
    classes: tuple[str, ...],
    truth: Labels,
    probable: bool,
    notes: list[Note],
) -> Floats:
    """Return the scores of all classes; 0 for a class without a column (unseen in training)."""
    scores = np.zeros((len(truth.codes), len(classes)))
    known = [one.name for one in scored]
    for one in scored:
        scores[:, classes.index(one.name)] = one.values
    unknown = np.array([name not in known for name in truth.names])
    strange = np.flatnonzero(unknown[truth.codes])
    if len(strange) and not probable:
        name = truth.names[truth.codes[strange[0]]]
        raise FormatError(
            rows.places[strange[0]],
            f"class {name} has no column of scores (found {named_few(known, len(known), 10)})",
        )
    if len(strange):
        units = "unit is" if len(strange) == 1 else "units are"
        unseen = sorted(name for name in truth.names if name not in known)
        text = (
            f"{rows.name}: {len(strange)} {units} of a class without a column of probabilities "
            f"({named_few(unseen, len(unseen))}), which therefore counts as probability 0"
        )
        notes.append(Note("no-column", text))
    if probable:
        _check_probabilities(rows, scores)
    return scores


def _check_probabilities(rows: _Rows, scores: Floats) -> None:
    _refuse_improbable(rows, scores)
    sums = scores.sum(axis=1)
    off = np.flatnonzero(np.abs(sums - 1) > SUM_TOLERANCE)
    if len(off):
        raise FormatError(
            rows.places[off[0]],
            f"the probabilities add up to {sums[off[0]]:.7g}, not 1: give one per class with "
            "enough digits, or name the columns score_CLASS",
        )


def _refuse_improbable(rows: _Rows, scores: Floats) -> None:
    wrong = ~((scores >= 0) & (scores <= 1))
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise FormatError(
            rows.places[row],
            f"{scores[row, column]:g} is not a probability (0 to 1): if the column has other "
            "scores, name it score_CLASS or score",
        )


def _of_positive(
    rows: _Rows, column: int, classes: tuple[str, ...], positive: str | None, probable: bool
) -> Floats:
    name = rows.table.names[column]
    if len(classes) != 2:
        raise InputError(
            f"{rows.table.source}: column {name} is for two classes, but there "
            f"{'is' if len(classes) == 1 else 'are'} {len(classes)} "
            f"({named_few(classes, len(classes))}): give prob_CLASS or score_CLASS for each class"
            + (", or name the positive class (positive=…)" if len(classes) == 1 else "")
        )
    values = rows.values(column)
    scores = np.empty((len(values), 2))
    at = positive_number(classes, positive)
    scores[:, at] = values
    if probable:  # check what the file has before the other class is filled in
        scores[:, 1 - at] = 0.0
        _refuse_improbable(rows, scores)
    scores[:, 1 - at] = 1 - values if probable else -values
    return scores


def _most(scores: Floats, classes: tuple[str, ...], positive: str | None) -> Ints:
    """Return the class with the highest score; ties go to the first, or to the positive of two."""
    if len(classes) != 2:
        most: Ints = np.argmax(scores, axis=1)
        return most
    at = positive_number(classes, positive)
    return np.where(scores[:, at] >= scores[:, 1 - at], at, 1 - at)


def _from(
    threshold: float,
    scores: Floats | None,
    classes: tuple[str, ...],
    positive: str | None,
    rows: _Rows,
) -> Ints:
    if scores is None or len(classes) != 2:
        raise InputError(
            f"{rows.table.source}: threshold={threshold:g} needs scores of two classes, found "
            f"{len(classes)} classes {'without' if scores is None else 'with'} scores"
        )
    if math.isnan(threshold):
        raise InputError("threshold=nan: expected a number")
    at = positive_number(classes, positive)
    return np.where(scores[:, at] >= threshold, at, 1 - at).astype(np.int64)
