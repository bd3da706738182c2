"""Predicted classes and numbers, from files and from Python; both become a table first."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from heldout.data.files import file_stem, open_source
from heldout.data.frames import find_column
from heldout.data.ids import as_id, is_missing
from heldout.data.predictions import (
    ClassPredictions,
    NumberPredictions,
    class_order,
    positive_number,
    refuse_repeated,
)
from heldout.data.tables import Labels, Table, cell_text, read_names, read_table
from heldout.data.words import number_of
from heldout.errors import Argument, HeldoutError, InputError
from heldout.notes import Note, named_few

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from heldout.data.words import Floats, Ints

OF_CLASSES: Final = {"prob_": True, "proba_": True, "p_": True, "score_": False}
"""Prefixes of columns of class scores, and whether they are probabilities."""
POSITIVE: Final = ""  # the positive class, whatever its name
SUM_TOLERANCE: Final = 1e-6  # rows that add up to 1 within it are probabilities


def read_number_predictions(path: str | os.PathLike[str]) -> list[NumberPredictions]:
    """Read predicted numbers, of one or more systems.

    Parameters
    ----------
    path
        CSV, TSV, Parquet or JSON lines, compressed or not, with columns ``unit``, ``truth``,
        ``prediction``, and optionally ``system``, ``fold``, ``repeat``, ``group``, ``weight``.
    """
    return [_numbers(name, table) for name, table in _systems(path)]


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
    return [_classes(name, table, positive, threshold) for name, table in _systems(path)]


def _read(path: str | os.PathLike[str]) -> Table:
    table = read_table(open_source(path))
    if not len(table):
        raise InputError(f"{table.source}: no predictions below the header")
    return table


def _systems(path: str | os.PathLike[str]) -> list[tuple[str, Table]]:
    """Return the name and the rows of each system in a file."""
    table = _read(path)
    column = table.find("predictor")
    if column is None:
        return [(file_stem(table.source), table)]
    return list(table.parts(column, "system").items())


# A table -> predictions


def _numbers(name: str, table: Table) -> NumberPredictions:
    truth = table.need("truth", "the truth")
    guess = table.need("prediction", "predictions")
    return NumberPredictions(
        truth=table.numbers(truth, truth),
        predicted=table.numbers(guess, guess),
        **_common(name, table),
    )


def _common(name: str, table: Table) -> dict[str, Any]:
    """Return the fields that both kinds of predictions have."""
    units = tuple(table.labels(table.need("unit", "unit ids"), "unit"))
    fields: dict[str, Any] = {"name": name, "units": units, "repeats": ()}
    for role, key in (("fold", "folds"), ("group", "groups"), ("repeat", "repeats")):
        column = table.find(role)
        if column is not None:
            fields[key] = tuple(table.labels(column, role))
    run = next((name for name in table.names if name.lower() == "run"), None)
    if run not in {None, table.find("predictor")} and all(map(cell_text, table.columns[str(run)])):
        # An experiment may have repeated its splits, its runs, or both.
        repeats = fields["repeats"] or ("0",) * len(units)
        runs = table.labels(str(run), "run")
        fields["repeats"] = tuple(map("/".join, zip(repeats, runs, strict=True)))
    if len(set(fields["repeats"])) <= 1:
        fields["repeats"] = ()
    column = table.find("weight")
    if column is not None:
        fields["weights"] = table.numbers(column, column)
        table.refuse(fields["weights"] < 0, lambda _: "a weight is negative")
        if not fields["weights"].any():
            raise InputError(f"{table.source}: all weights are 0")
    refuse_repeated(name, units, fields["repeats"], table.place)
    return fields


def _classes(
    name: str, table: Table, positive: str | None, threshold: float | None
) -> ClassPredictions:
    true = table.need("truth", "the truth")
    truth = table.codes(true, "truth")
    columns, probable = _score_columns(table, true)
    if not columns:
        table.need("prediction", "predictions, or scores (prob_CLASS, score_CLASS, probability)")
    column = table.find("prediction")
    guesses = Labels([], truth.codes) if column is None else table.codes(column, "prediction")
    named = [positive if label == POSITIVE else label for label in columns]
    classes = class_order(filter(None, [*truth.names, *guesses.names, *named]))
    # A class that was unseen in training has probability 0.
    unseen = sorted(set(truth.names) - set(columns)) if set(columns) - {POSITIVE} else []
    if unseen and (not probable or len(unseen) == len(truth.names)):
        raise InputError(
            f"{table.source}: the columns of scores are for the classes "
            f"{named_few(columns, len(columns), 3)}, but the true classes are "
            f"{named_few(truth.names, len(truth.names), 3)}: use the same names, and one column "
            "per class"
        )
    number = positive_number(classes, positive) if columns and len(classes) == 2 else None
    scores = _score_matrix(table, columns, classes, number, probable) if columns else None
    predicted = None if column is None else _in_order(guesses, classes)
    if threshold is not None or (column is None and (probable or POSITIVE not in columns)):
        if scores is None or (threshold is not None and (number is None or math.isnan(threshold))):
            raise InputError(
                f"{table.source}: ",
                Argument("threshold", f"{threshold:g}"),
                " needs scores of two classes (found "
                f"{len(classes)} classes {'without' if scores is None else 'with'} scores), and "
                "has to be a number",
            )
        predicted = _decided(scores, number, threshold)
    return ClassPredictions(
        classes=classes,
        truth=_in_order(truth, classes),
        predicted=predicted,
        scores=scores,
        probabilities=probable,
        positive=positive,
        notes=tuple(_class_notes(name, truth, guesses, unseen, predicted is not None)),
        **_common(name, table),
    )


def _in_order(labels: Labels, classes: tuple[str, ...]) -> Ints:
    """Return the class number of each label."""
    return np.array([classes.index(name) for name in labels.names], np.int64)[labels.codes]


def _score_columns(table: Table, true: str) -> tuple[dict[str, str], bool]:
    """Return the column of scores of each class, unless empty, and whether probabilities."""
    # Cells of Parquet and JSON may be True or 1.0, which are the classes true and 1, while column
    # names that Python has written end in True and 1.0.
    kinds = set(map(type, table.columns[true]))
    scored = []
    for name, cells in table.columns.items():
        prefix = next((start for start in OF_CLASSES if name.lower().startswith(start)), "")
        if prefix and name.lower() != prefix and any(map(cell_text, cells)):
            label = name[len(prefix) :]
            if bool in kinds and label in {"True", "False"}:
                label = label.lower()
            elif float in kinds:
                label = label.removesuffix(".0")
            scored.append((label, name, OF_CLASSES[prefix]))
    columns = {label: name for label, name, _ in scored}
    if len({probable for *_, probable in scored}) > 1 or len(columns) < len(scored):
        raise InputError(
            f"{table.source}: columns {', '.join(name for _, name, _ in scored)} mix scores and "
            "probabilities: keep one kind, with one column per class"
        )
    single = table.find("probability") or table.find("class score")
    if not columns and single is not None:
        return {POSITIVE: single}, single == table.find("probability")
    return columns, any(probable for *_, probable in scored)


def _score_matrix(
    table: Table,
    columns: Mapping[str, str],
    classes: tuple[str, ...],
    number: int | None,
    probable: bool,
) -> Floats:
    """Return the scores of all classes: 0 without a column, or the opposite of a single one."""
    scores = np.zeros((len(table), len(classes)))
    if POSITIVE in columns:
        column = columns[POSITIVE]
        if number is None:
            raise InputError(
                f"{table.source}: column {column} is for two classes, found {len(classes)} "
                f"({named_few(classes, len(classes))}): give prob_CLASS or score_CLASS for each "
                "class, or name the positive class if it never occurs (",
                Argument("positive", "…"),
                ")",
            )
        values = table.numbers(column, column)
        scores[:, number], scores[:, 1 - number] = values, 1 - values if probable else -values
    else:
        for label, column in columns.items():
            scores[:, classes.index(label)] = table.numbers(column, column)
    sums = scores.sum(axis=1)
    if probable:
        table.refuse(
            ((scores < 0) | (scores > 1)).any(axis=1) | (np.abs(sums - 1) > SUM_TOLERANCE),
            lambda row: (
                f"{named_few(map('{:g}'.format, scores[row]), len(classes))} are no probabilities "
                f"(0 to 1), or they add up to {sums[row]:.7g}, not 1: give one per class with "
                "enough digits, or name the columns score_CLASS (score for a single one)"
            ),
        )
    return scores


def _decided(scores: Floats, number: int | None, threshold: float | None) -> Ints:
    """Return the class with the highest score; ties go to the first, or to the positive of two."""
    if number is None:
        return np.asarray(np.argmax(scores, axis=1), np.int64)
    least = scores[:, 1 - number] if threshold is None else threshold
    return np.where(scores[:, number] >= least, number, 1 - number)


def _class_notes(
    name: str, truth: Labels, guesses: Labels, unseen: list[str], is_decided: bool
) -> Iterator[Note]:
    if unseen:
        count = np.isin(truth.codes, [truth.names.index(label) for label in unseen]).sum()
        yield Note(
            "no-column",
            f"{name}: {count} {'unit is' if count == 1 else 'units are'} of a class without a "
            f"column of probabilities ({named_few(unseen, len(unseen))}), which therefore counts "
            "as probability 0",
        )
    if not is_decided:
        lacking = "give the lowest score of a positive prediction as threshold"
        yield Note("no-predictions", f"{name} has scores but no predictions: {lacking}")
    if guesses.names and not set(guesses.names) & set(truth.names):
        wrong, right = (named_few(sorted(labels.names), 9, 3) for labels in (guesses, truth))
        text = f"{name} predicts none of the true classes (predicted: {wrong}; true: {right})"
        yield Note("wrong-classes", f"{text}: use the same names")


# Python values -> a table


def listed(given: Any) -> list[Any]:
    """Return the systems as a list: one, several, or the values of ``{name: system}``."""
    if isinstance(given, Mapping):
        return list(given.values())
    if is_path(given) or not isinstance(given, Iterable) or hasattr(given, "dtype"):
        return [given]
    return list(given)


def is_path(given: object) -> bool:
    """Return whether this is the path of a file."""
    return isinstance(given, str | os.PathLike)


def as_predictions(
    truth: Any, given: Any, task: str, positive: str | None = None, threshold: float | None = None
) -> list[Any]:
    """Return predictions in any form that `heldout.evaluate` accepts as one object per system."""
    several = listed(given)
    if several and all(isinstance(own, ClassPredictions | NumberPredictions) for own in several):
        return several
    if truth is None:
        if not several or not all(map(is_path, several)):
            raise InputError("the truth is missing: give it, or the paths of predictions")
        tables = [system for path in several for system in _systems(path)]
    else:
        named = given if _is_named(given, truth) else {"system": given}
        own = {str(name): values for name, values in named.items()}
        tables = [(name, _table(name, truth, values, task)) for name, values in own.items()]
    if task == "regression":
        return [_numbers(name, table) for name, table in tables]
    return [_classes(name, table, positive, threshold) for name, table in tables]


def _is_named(given: Any, truth: Any) -> bool:
    """Return whether this is ``{system: values}``; ``{unit: value}`` is of one system."""
    if not isinstance(given, Mapping):
        return False
    if isinstance(truth, Mapping) and set(map(as_id, given)) == set(map(as_id, truth)):
        return False
    values = given.values()
    return not given or any(isinstance(own, Iterable) and not is_path(own) for own in values)


def _table(name: str, truth: Any, given: Any, task: str) -> Table:
    """Return the values of a system as a table of units, truth, and predictions or scores."""
    if is_path(truth) or not isinstance(truth, Iterable):
        raise InputError(f"truth: expected one class or number per unit, got {truth!r}")
    if not isinstance(truth, Mapping):
        truth = dict(enumerate(_cells(truth), 1))
    units, wanted = list(map(as_id, truth)), list(truth.values())
    if not units:
        raise InputError("truth: no values given")
    if isinstance(given, Mapping):
        given = _in_order_of(units, given, name)
    values = np.asarray(given)
    if not values.ndim:
        raise InputError(f"{name}: expected one prediction per unit, got {given!r}")
    if len(values) != len(units):
        raise InputError(f"{name}: {len(values):,} predictions, but {len(units):,} true values")
    columns: dict[str, list[Any]] = {"unit": units, "truth": wanted}
    classes = class_order(_ids(wanted)) if task == "classification" else ()
    if values.ndim == 2 and classes:
        columns |= _of_each_class(name, values, classes)
    elif classes and values.dtype.kind == "f" and {*_ids(values.tolist())} - {*classes}:
        probable = ((values >= 0) & (values <= 1)).all()
        columns["probability" if probable else "score"] = values.tolist()
    else:
        columns["prediction"] = _cells(given)
    return Table.of(columns, name)


def _of_each_class(name: str, values: Any, classes: tuple[str, ...]) -> dict[str, list[Any]]:
    """Return a column of scores per class; they are probabilities if they add up to 1."""
    if values.shape[1] != len(classes):
        raise InputError(
            f"{name}: {values.shape[1]} columns of scores, but there are {len(classes)} classes "
            f"({', '.join(classes[:5])}): expected one column per class, in this order"
        )
    off = np.abs(values.sum(axis=1) - 1)
    prefix = "prob_" if (values >= 0).all() and (off <= SUM_TOLERANCE).all() else "score_"
    pairs = zip(classes, values.T.tolist(), strict=True)
    return {f"{prefix}{label}": column for label, column in pairs}


def _in_order_of(units: list[str], given: Mapping[Any, Any], name: str) -> list[Any]:
    """Return the values of units, by id; all of them must be there, and no others."""
    by_unit = {as_id(unit): value for unit, value in given.items()}
    for lacking, known in (("prediction", by_unit), ("true value", dict.fromkeys(units))):
        missing = next((unit for unit in (*units, *by_unit) if unit not in known), None)
        if missing is not None:
            raise InputError(f"{name}: no {lacking} for unit {missing}")
    return [by_unit[unit] for unit in units]


def _ids(values: list[Any]) -> Iterator[str]:
    return (as_id(value) for value in values if not is_missing(value))


def _cells(given: Any) -> list[Any]:
    """Return values of Python as a list; in an array of texts, NaN would be the text nan."""
    if hasattr(given, "tolist"):
        return given.tolist()  # type: ignore[no-any-return]
    return [value.item() if isinstance(value, np.generic) else value for value in given]


# Which task?


def detect_task(paths: Sequence[str | os.PathLike[str]]) -> str:
    """Return the task of files of predictions; empty if they are something else."""
    try:
        names = read_names(open_source(paths[0]))
    except HeldoutError:
        return ""  # the reader of another format will say what is wrong
    unit, true, guess = (find_column(names, role) for role in ("unit", "truth", "prediction"))
    is_scored = any(find_column(names, role) for role in ("probability", "class score"))
    is_scored |= any(name.lower().startswith(tuple(OF_CLASSES)) for name in names)
    if true is None or (guess is None and (unit is None or not is_scored)):
        return ""
    table = _read(paths[0])
    table.need("unit", "unit ids")
    cells = [cell for name in (true, guess) if name is not None for cell in table.columns[name]]
    numbers = {number_of(str(cell).strip()) for cell in set(cells)}
    if any(math.isnan(number) for number in numbers):
        return "classification"
    if guess is not None and any(not number.is_integer() for number in numbers):
        return "regression"
    if is_scored or len(numbers) <= 2:  # integers may be classes or numbers
        return "classification"
    raise InputError(
        f"{table.source}: truth and predictions are integers, which may be classes or numbers: "
        "choose ",
        Argument("task", "'classification'"),
        " or ",
        Argument("task", "'regression'"),
    )
