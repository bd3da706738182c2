"""Predicted classes and numbers, from files and from Python; both become a table first."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from heldout.data.files import open_source
from heldout.data.frames import find_column
from heldout.data.ids import as_id
from heldout.data.notes import named_few
from heldout.data.predictions import (
    ClassPredictions,
    NumberPredictions,
    class_order,
    positive_number,
)
from heldout.data.tables import Table, read_names, read_table
from heldout.errors import FormatError, HeldoutError, InputError
from heldout.notes import Note

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from heldout.data.tables import Labels
    from heldout.data.words import Floats, Ints

OF_CLASSES: Final = {"prob_": True, "proba_": True, "p_": True, "score_": False}
"""Prefixes of columns of class scores, and whether they are probabilities."""
SUM_TOLERANCE: Final = 1e-6
"""Rows that add up to 1 within this tolerance are probabilities."""


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


def _systems(path: str | os.PathLike[str]) -> list[tuple[str, Table]]:
    """Return the name and the rows of each system in a file."""
    table = read_table(open_source(path))
    if not len(table):
        raise InputError(f"{table.source}: no predictions below the header")
    column = table.find("predictor")
    if column is None:
        base = table.source if table.source.startswith("<") else os.path.basename(table.source)  # noqa: PTH119
        return [(base.split(".")[0] or base, table)]
    systems = table.codes(column, "system")
    return [
        (name, table.take(np.flatnonzero(systems.codes == code)))
        for code, name in enumerate(systems.names)
    ]


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
    fields: dict[str, Any] = {"name": name}
    fields["units"] = tuple(table.labels(table.need("unit", "unit ids"), "unit"))
    for role, key in (("fold", "folds"), ("group", "groups"), ("repeat", "repeats")):
        column = table.find(role)
        if column is not None:
            fields[key] = tuple(table.labels(column, role))
    fields["repeats"] = _with_runs(table, fields.get("repeats", ()))
    column = table.find("weight")
    if column is not None:
        weights = table.numbers(column, column)
        table.refuse(weights < 0, lambda _: "a weight is negative")
        if not weights.any():
            raise InputError(f"{table.source}: all weights are 0")
        fields["weights"] = weights
    _refuse_repeated(name, table, fields["units"], fields["repeats"])
    return fields


def _with_runs(table: Table, repeats: tuple[str, ...]) -> tuple[str, ...]:
    """Return repeats combined with runs, as in experiments; empty if there is only one."""
    run = next((name for name in table.names if name.lower() == "run"), table.find("predictor"))
    if run != table.find("predictor") and all(map(_is_filled, table.columns[str(run)])):
        runs = table.labels(str(run), "run")
        before = repeats or ("0",) * len(runs)
        repeats = tuple(f"{one}/{two}" for one, two in zip(before, runs, strict=True))
    return repeats if len(set(repeats)) > 1 else ()


def _refuse_repeated(
    name: str, table: Table, units: tuple[str, ...], repeats: tuple[str, ...]
) -> None:
    """Raise an error if a unit appears twice, in the same repeat if there are repeats."""
    keys = list(zip(units, repeats or ("",) * len(units), strict=True))
    if len(set(keys)) == len(keys):
        return
    unit, repeat = next(key for key, count in Counter(keys).items() if count > 1)
    first, second = [row for row, key in enumerate(keys) if key == (unit, repeat)][:2]
    within = f" in repeat {repeat}" if repeats else ""
    hint = "" if repeats else "; number repetitions in a column named repeat"
    raise FormatError(
        table.place(second),
        f"{name} has unit {unit} twice{within} (first in {table.place(first)}){hint}",
    )


class _Scored(NamedTuple):
    """A column with the scores of one class."""

    name: str
    column: str
    probable: bool  # whether they are probabilities
    values: Floats


def _classes(
    name: str, table: Table, positive: str | None, threshold: float | None
) -> ClassPredictions:
    true = table.need("truth", "the truth")
    truth = table.codes(true, "truth")
    column = table.find("prediction")
    guesses = None if column is None else table.codes(column, "prediction")
    guessed = [] if guesses is None else guesses.names
    scored = _score_columns(table, true)
    _check_written_alike(table, [one.name for one in scored], truth.names)
    single = None if scored else table.find("probability") or table.find("class score")
    classes = class_order([*truth.names, *guessed, *(one.name for one in scored)])
    if single is not None and positive is not None:
        classes = class_order([*classes, positive])
    notes: list[Note] = []
    scores, probable = None, False
    if scored:
        probable = _all_alike(table, scored)
        notes += _unseen_classes(name, table, truth, [one.name for one in scored], probable)
        scores = _of_all_classes(table, scored, classes, probable)
    elif single is not None:
        probable = find_column([single], "probability") is not None
        scores = _of_positive(table, single, classes, positive, probable)
    predicted = None if guesses is None else _in_order(guesses, classes)
    if threshold is not None:
        predicted = _from(threshold, scores, classes, positive, table)
    elif predicted is None and scores is not None and (scored or probable):
        predicted = _most(scores, classes, positive)
    elif predicted is None and scores is not None:
        text = (
            f"{name} has scores but no predictions: give the lowest score of a positive "
            "prediction (threshold=…)"
        )
        notes.append(Note("no-predictions", text))
    if predicted is None and scores is None:
        what = "predictions, nor of scores (prob_CLASS, score_CLASS, probability)"
        table.need("prediction", what)
    if guesses is not None and not set(guessed) & set(truth.names):
        text = (
            f"{name} predicts none of the true classes (predicted: "
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
        **_common(name, table),
    )


def _in_order(labels: Labels, classes: tuple[str, ...]) -> Ints:
    """Return the class number of each label."""
    number = {name: at for at, name in enumerate(classes)}
    return np.array([number[name] for name in labels.names], np.int64)[labels.codes]


def _score_columns(table: Table, true: str) -> list[_Scored]:
    """Return the columns of scores of classes that have any: a system may lack scores."""
    found = []
    spell = _spelling(table, true)
    for name, cells in table.columns.items():
        prefix = next((one for one in OF_CLASSES if name.lower().startswith(one)), "")
        if prefix and name.lower() != prefix and any(_is_filled(cell) for cell in cells):
            values = table.numbers(name, name)
            found.append(_Scored(spell(name[len(prefix) :]), name, OF_CLASSES[prefix], values))
    return found


def _is_filled(cell: Any) -> bool:
    return cell is not None and str(cell).strip() != ""


def _spelling(table: Table, true: str) -> Callable[[str], str]:
    """Return a function that spells the class in a column name as the cells spell it.

    Cells of Parquet and JSON may be True or 1.0, which are the classes true and 1, while column
    names that Python has written have the suffixes True and 1.0.
    """
    kinds = set() if table.is_text else set(map(type, table.columns[true]))
    if bool in kinds:
        return lambda name: name.lower() if name in {"True", "False"} else name
    if float in kinds:
        return lambda name: name.removesuffix(".0")
    return lambda name: name


def _check_written_alike(table: Table, scored: list[str], true: list[str]) -> None:
    """Raise an error if no column of class scores has the name of a true class."""
    if scored and not set(scored) & set(true):
        raise InputError(
            f"{table.source}: the columns of scores are for the classes "
            f"{named_few(scored, len(scored), 3)}, but the true classes are "
            f"{named_few(true, len(true), 3)}: use the same names"
        )


def _all_alike(table: Table, scored: list[_Scored]) -> bool:
    """Return whether all scores are probabilities; raise an error if only some are."""
    kinds = {one.probable for one in scored}
    if len(kinds) > 1 or len({one.name for one in scored}) < len(scored):
        raise InputError(
            f"{table.source}: columns {', '.join(one.column for one in scored)} mix scores and "
            "probabilities: keep one kind, with one column per class"
        )
    return kinds.pop()


def _unseen_classes(
    name: str, table: Table, truth: Labels, known: list[str], probable: bool
) -> list[Note]:
    """Note units of a class without a column of scores (unseen in training): they score 0."""
    is_unseen = np.array([true not in known for true in truth.names])[truth.codes]
    if not probable:
        table.refuse(
            is_unseen,
            lambda row: (
                f"class {truth.names[truth.codes[row]]} has no column of scores (found "
                f"{named_few(known, len(known), 10)})"
            ),
        )
    count = np.count_nonzero(is_unseen)
    if not count:
        return []
    units = "unit is" if count == 1 else "units are"
    unseen = sorted(true for true in truth.names if true not in known)
    text = (
        f"{name}: {count} {units} of a class without a column of probabilities "
        f"({named_few(unseen, len(unseen))}), which therefore counts as probability 0"
    )
    return [Note("no-column", text)]


def _of_all_classes(
    table: Table, scored: list[_Scored], classes: tuple[str, ...], probable: bool
) -> Floats:
    """Return the scores of all classes; 0 for a class without a column."""
    scores = np.zeros((len(table), len(classes)))
    for one in scored:
        scores[:, classes.index(one.name)] = one.values
    if probable:
        _refuse_improbable(table, scores)
        sums = scores.sum(axis=1)
        table.refuse(
            np.abs(sums - 1) > SUM_TOLERANCE,
            lambda row: (
                f"the probabilities add up to {sums[row]:.7g}, not 1: give one per class "
                "with enough digits, or name the columns score_CLASS"
            ),
        )
    return scores


def _refuse_improbable(table: Table, scores: Floats) -> None:
    wrong = ~((scores >= 0) & (scores <= 1))

    def reason(row: int) -> str:
        value = scores[row, np.argmax(wrong[row])]
        return (
            f"{value:g} is not a probability (0 to 1): if the column has other scores, name it "
            "score_CLASS or score"
        )

    table.refuse(np.any(wrong, axis=1), reason)


def _of_positive(
    table: Table, column: str, classes: tuple[str, ...], positive: str | None, probable: bool
) -> Floats:
    """Return the scores of two classes from those of the positive one."""
    if len(classes) != 2:
        raise InputError(
            f"{table.source}: column {column} is for two classes, but there "
            f"{'is' if len(classes) == 1 else 'are'} {len(classes)} "
            f"({named_few(classes, len(classes))}): give prob_CLASS or score_CLASS for each class"
            + (", or name the positive class (positive=…)" if len(classes) == 1 else "")
        )
    values = table.numbers(column, column)
    if probable:
        _refuse_improbable(table, values[:, None])
    at = positive_number(classes, positive)
    scores = np.empty((len(values), 2))
    scores[:, at], scores[:, 1 - at] = values, 1 - values if probable else -values
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
    table: Table,
) -> Ints:
    if scores is None or len(classes) != 2:
        raise InputError(
            f"{table.source}: threshold={threshold:g} needs scores of two classes, found "
            f"{len(classes)} classes {'without' if scores is None else 'with'} scores"
        )
    if math.isnan(threshold):
        raise InputError("threshold=nan: expected a number")
    at = positive_number(classes, positive)
    return np.where(scores[:, at] >= threshold, at, 1 - at).astype(np.int64)


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
    """Return predictions as one object per system.

    The truth is one class or number per unit (None if the predictions include it). Predictions are
    objects, paths of files, or values in the form of the truth, of one system or as ``{system:
    values}``. For classes, values may be scores: one column per class in order, or for two classes
    the score of the positive one. Scores from 0 to 1 are taken as probabilities.
    """
    several = listed(given)
    if several and all(isinstance(one, ClassPredictions | NumberPredictions) for one in several):
        return several
    if truth is None:
        if not several or not all(map(is_path, several)):
            raise InputError(
                "the truth is missing: give it, or the paths of files with predictions"
            )
        tables = [system for path in several for system in _systems(path)]
    else:
        named = given if _is_named(truth, given) else {"system": given}
        tables = [(str(name), _table(str(name), truth, one, task)) for name, one in named.items()]
    if task == "regression":
        return [_numbers(name, table) for name, table in tables]
    return [_classes(name, table, positive, threshold) for name, table in tables]


def _is_named(truth: Any, given: Any) -> bool:
    """Return whether predictions are ``{system: values}``; ``{unit: value}`` is of one system."""
    if not isinstance(given, Mapping):
        return False
    return not (isinstance(truth, Mapping) and set(map(as_id, given)) == set(map(as_id, truth)))


def _table(name: str, truth: Any, given: Any, task: str) -> Table:
    """Return the values of a system as a table of units, truth, and predictions or scores."""
    if is_path(truth) or not isinstance(truth, Iterable):
        raise InputError(f"truth: expected one class or number per unit, got {truth!r}")
    if isinstance(truth, Mapping):
        units, wanted = list(map(as_id, truth)), list(truth.values())
    else:
        wanted = np.asarray(truth if hasattr(truth, "dtype") else list(truth)).tolist()
        units = [str(at) for at in range(1, len(wanted) + 1)]
    if isinstance(given, Mapping):
        by_unit = {as_id(unit): value for unit, value in given.items()}
        missing = next((unit for unit in units if unit not in by_unit), None)
        if missing is not None:
            raise InputError(f"{name}: no prediction for unit {missing}")
        given = [by_unit[unit] for unit in units]
    values = np.asarray(given)
    if len(values) != len(units):
        raise InputError(f"{name}: {len(values):,} predictions, but {len(units):,} true values")
    columns: dict[str, list[Any]] = {"unit": units, "truth": wanted}
    classes = class_order(map(as_id, wanted))
    if values.ndim == 2 and task == "classification":
        if values.shape[1] != len(classes):
            raise InputError(
                f"{name}: {values.shape[1]} columns of scores, but there are {len(classes)} "
                f"classes ({', '.join(classes[:5])}): expected one column per class, in this order"
            )
        sums = values.sum(axis=1)
        probable = (values >= 0).all() and (np.abs(sums - 1) <= SUM_TOLERANCE).all()
        prefix = "prob_" if probable else "score_"
        columns |= {
            f"{prefix}{label}": column.tolist()
            for label, column in zip(classes, values.T, strict=True)
        }
    elif task == "classification" and _are_scores(values, classes):
        probable = ((values >= 0) & (values <= 1)).all()
        columns["probability" if probable else "score"] = values.tolist()
    else:
        columns["prediction"] = values.tolist()
    return Table.of(columns, name)


def _are_scores(values: Any, classes: tuple[str, ...]) -> bool:
    return values.dtype.kind == "f" and not set(map(as_id, values.tolist())) <= set(classes)


# Which task?


def detect_task(paths: Sequence[str | os.PathLike[str]]) -> str:
    """Return the task of files of predictions; empty if they are something else.

    They are predictions if the first has columns of units, of the truth, and of predictions or
    scores. Cells that are not numbers mean ``classification``, numbers with decimals
    ``regression``. Integers may be either: with scores, or with at most two distinct values, they
    are classes; otherwise the user has to name the task.
    """
    try:
        names = read_names(open_source(paths[0]))
    except HeldoutError:
        return ""  # the reader of another format will say what is wrong
    unit, true, guess = (find_column(names, role) for role in ("unit", "truth", "prediction"))
    is_scored = any(find_column(names, role) for role in ("probability", "class score"))
    is_scored |= any(name.lower().startswith(tuple(OF_CLASSES)) for name in names)
    if true is None or (guess is None and not (is_scored and unit is not None)):
        return ""
    if unit is None:
        raise InputError(
            f"{paths[0]}: predictions need a column of ids, by which the systems are paired: add "
            f"one named unit or id (found {named_few(names, len(names), 10)})"
        )
    table = read_table(open_source(paths[0]))
    if not len(table):
        raise InputError(f"{table.source}: no predictions below the header")
    cells = [cell for name in (true, guess) if name is not None for cell in table.columns[name]]
    numbers = {_number(cell) for cell in set(cells)}
    if any(math.isnan(one) for one in numbers):
        return "classification"
    if guess is not None and any(not one.is_integer() for one in numbers):
        return "regression"
    if is_scored or len(numbers) <= 2:
        return "classification"
    raise InputError(
        f"{table.source}: truth and predictions are integers, which may be classes or numbers: "
        "choose task='classification' or task='regression'"
    )


def _number(cell: Any) -> float:
    """Return a cell as a number; NaN if it is not a number."""
    try:
        return math.nan if isinstance(cell, bool) else float(cell)
    except (TypeError, ValueError):
        return math.nan
