"""Instances: rows with their true values, as estimators and measures need them."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import numpy as np
from pydantic import Field

from heldout.data.files import open_source
from heldout.data.ids import as_id
from heldout.data.prediction_files import SUM_TOLERANCE
from heldout.data.predictions import ClassPredictions, NumberPredictions, class_order
from heldout.data.tables import cell_text, read_table
from heldout.errors import HeldoutError, InputError
from heldout.experiment.problems import Table, checked
from heldout.measure.base import Undefined
from heldout.resample.plan import ResamplingWarning
from heldout.resample.plans import KFold

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from heldout.data.words import Floats, Ints
    from heldout.experiment.problems import Problems
    from heldout.experiment.workers import Arrays
    from heldout.measure.base import Measure, Number
    from heldout.resample.plan import Plan
    from heldout.resample.split import Split, Splits

_MISSING: Final = {"None", "nan", "NaT", "<NA>"}  # as NumPy turns values into texts
_FORMS: Final = (
    'a table such as {file = "data.csv", target = "label", text = "text"}; from Python also '
    "(X, y) or {'X': X, 'y': y}"
)


def defined_value(measure: Measure, predictions: ClassPredictions | NumberPredictions) -> Number:
    """Return the value of a measure; undefined, with the reason, where it does not exist."""
    try:
        return measure.compute(predictions)
    except HeldoutError as error:
        return Undefined(str(error))


class ArrayData(Table):
    """Rows in arrays."""

    X: Any
    y: Any
    ids: Any = None
    groups: Any = None
    name: str = "data"


class FileData(Table):
    """Rows in a file, by the names of its columns."""

    file: str
    target: str
    text: str | None = None
    features: Annotated[list[str], Field(min_length=1)] | None = None
    id: str | None = None
    groups: str | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Instances:
    """The rows, and the true values to predict; `Instances.of` checks them."""

    name: str
    task: str  # classification or regression
    table: Any  # one row per unit: an array, a sparse matrix, a frame or a list of texts
    y: NDArray[Any]  # the true values, as estimators get them
    ids: tuple[str, ...]
    groups: tuple[str, ...] = ()  # of each row; empty: no groups
    classes: tuple[str, ...] = ()  # in order; empty for numbers, as are the codes of the rows
    codes: Ints = field(default_factory=lambda: np.zeros(0, np.int64))

    @classmethod
    def of(cls, data: ArrayData, task: str) -> Instances:
        """Make instances from X and y."""
        table, truth, ids, groups = data.X, np.asarray(data.y), data.ids, data.groups
        rows = int(table.shape[0]) if hasattr(table, "shape") else len(table)
        if truth.shape != (rows,):
            raise InputError(f"y has shape {truth.shape}, expected one value for {rows} rows")
        units = tuple(map(as_id, range(rows) if ids is None else ids))
        grouped = () if groups is None else tuple(map(str, groups))
        for what, given, column in (("ids", ids, units), ("groups", groups, grouped)):
            if given is not None and len(column) != rows:
                raise InputError(f"{len(column)} {what} for {rows} rows")
        if task == "regression":
            if truth.dtype.kind not in "iuf" or not np.isfinite(truth).all():
                raise InputError("y: expected finite numbers for regression")
            return cls(data.name, task, table, truth, units, grouped)
        labels = list(map(str, truth.tolist()))
        lacking = [unit for unit, label in zip(units, labels, strict=True) if label in _MISSING]
        if lacking:
            raise InputError(f"y: row {lacking[0]} has no class")
        classes = class_order(labels)
        if len(classes) < 2:
            raise InputError(f"expected several classes, found {', '.join(classes) or 'no rows'}")
        codes = _codes(labels, classes)
        return cls(data.name, task, table, truth, units, grouped, classes, codes)

    def __len__(self) -> int:
        return len(self.ids)

    def divided(self, plan: Plan) -> Splits:
        """Return the splits of the rows by a plan."""
        labels = [self.classes[code] for code in self.codes.tolist()] if self.classes else None
        return plan.splits(self.ids, "instance", labels=labels, groups=self.groups or None)

    def inner_folds(self, split: Split | None, inner: int, seed: int) -> Splits:
        """Return the inner folds of a training side; None: of all data."""
        plan = KFold(inner, stratify="labels" if self.classes else None, seed=seed)
        with warnings.catch_warnings():
            # Notes of the outer folds already mention rare classes.
            warnings.simplefilter("ignore", ResamplingWarning)
            return self.divided(plan) if split is None else split.inner(plan)

    def rows(self, numbers: Ints) -> Any:
        """Return some rows, as estimators get them."""
        if hasattr(self.table, "iloc"):
            return self.table.iloc[numbers]
        if hasattr(self.table, "shape"):
            return self.table[numbers]
        return [self.table[number] for number in numbers.tolist()]

    def predicted(self, model: Any, rows: Ints, *, scored: bool) -> Arrays:
        """Return what a fitted model predicts, checked; `scored`: with scores, if it has them."""
        asked = self.rows(rows)
        guess = np.asarray(model.predict(asked))
        if self.task == "regression":
            numbers = guess.astype(np.float64).ravel()
            if not np.isfinite(numbers).all():
                raise InputError(f"predicted {numbers[~np.isfinite(numbers)][0]}")
            return {"rows": rows, "predicted": numbers}
        codes = {"rows": rows, "predicted": _codes(guess.tolist(), self.classes)}
        for method in ("predict_proba", "decision_function") if scored else ():
            if hasattr(model, method) and hasattr(model, "classes_"):
                scores = np.asarray(getattr(model, method)(asked), np.float64)
                seen = np.asarray(model.classes_).tolist()
                if scores.ndim == 1 and len(seen) == 2:
                    scores = np.column_stack([-scores, scores])
                if scores.shape == (len(guess), len(seen)):
                    places = _codes(seen, self.classes)
                    return codes | self._scores(scores, places, method == "predict_proba")
        return codes

    def _scores(self, given: Floats, places: Ints, probable: bool) -> Arrays:
        """Return scores of some classes as scores of all of them."""
        if probable:
            off = np.abs(given.sum(axis=1) - 1)
            right = (given >= -SUM_TOLERANCE).all(axis=1) & (off <= SUM_TOLERANCE)
            if not right.all():
                row = given[~right][0]
                raise InputError(
                    f"returned probabilities from {row.min():g} to {row.max():g} with the sum "
                    f"{row.sum():.7g}, expected numbers from 0 to 1 with the sum 1"
                )
        elif len(places) < len(self.classes):
            # A class that is not in the training data has probability 0, but no known score.
            return {}
        scores = np.zeros((len(given), len(self.classes)))
        scores[:, places] = given
        return {"scores": scores, "probabilities": np.array(probable)}

    def predictions(self, name: str, arrays: Arrays) -> ClassPredictions | NumberPredictions:
        """Return what was `predicted` for some rows, with the true values."""
        rows = arrays["rows"]
        units = tuple(self.ids[row] for row in rows.tolist())
        groups = tuple(self.groups[row] for row in rows.tolist()) if self.groups else ()
        predicted = arrays["predicted"]
        if self.task == "regression":
            truth = self.y[rows].astype(np.float64)
            return NumberPredictions(name, units, truth, predicted, groups=groups)
        return ClassPredictions(
            name,
            units,
            self.classes,
            self.codes[rows],
            predicted,
            arrays.get("scores"),
            bool(arrays.get("probabilities", False)),
            groups=groups,
        )

    def fingerprint(self) -> str:
        """Return the SHA-256 of the content."""
        digest = hashlib.sha256(self.task.encode())
        for content in (self.table, self.y, list(self.ids), list(self.groups)):
            digest.update(_hash(content))
        return digest.hexdigest()


def _codes(labels: Iterable[Any], classes: Sequence[str]) -> Ints:
    """Return the numbers of classes."""
    numbers = {label: number for number, label in enumerate(classes)}
    try:
        return np.array([numbers[str(label)] for label in labels], np.int64)
    except KeyError as error:
        raise InputError(f"predicted {error}, which is not a class of the data") from None


def _hash(table: Any) -> bytes:
    """Return a hash of an array, a sparse matrix, a frame or a list."""
    digest = hashlib.sha256()
    parts: list[Any] = []
    if hasattr(table, "tocsr"):
        rows = table.tocsr()
        parts = [np.array(rows.shape), rows.indptr, rows.indices, rows.data]
    elif hasattr(table, "columns"):
        parts = [part for name in table.columns for part in ([str(name)], np.asarray(table[name]))]
    elif hasattr(table, "dtype") and table.dtype.kind not in "OU":
        array = np.asarray(table)
        digest.update(f"{array.dtype.newbyteorder('<').str} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    else:
        for value in table.ravel().tolist() if hasattr(table, "ravel") else table:
            text = value if isinstance(value, str) else repr(value)
            digest.update(f"{type(value).__name__} {len(text)} ".encode())
            digest.update(text.encode("utf-8", "surrogatepass"))
    for part in parts:
        digest.update(_hash(part))
    return digest.digest()


def instances_of(given: Any, task: str, problems: Problems, home: Path | None) -> Instances | None:
    """Make instances; mistakes are added to `problems`, and None is returned."""
    if isinstance(given, tuple | list) and len(given) == 2:
        given = dict(zip(("X", "y"), given, strict=True))
    if not isinstance(given, Mapping):
        wrong = "missing: give" if given is None else f"{type(given).__name__}: expected"
        problems.add("data", f"{wrong} {_FORMS}")
        return None
    with problems.at("data"):
        if "X" in given or "y" in given:
            arrays = checked(ArrayData, given, problems, "data.")
        else:
            file = checked(FileData, given, problems, "data.")
            arrays = None if file is None else _read(file, task, home)
        if arrays is not None:
            return Instances.of(arrays, task)
    return None


def _read(given: FileData, task: str, home: Path | None) -> ArrayData:
    if given.text is not None and given.features is not None:
        raise InputError("text and features: give only one of them")
    path = (home or Path()) / given.file
    table = read_table(open_source(path))
    named = [given.target, given.text, given.groups, given.id, *(given.features or ())]
    for name in filter(None, named):
        if name not in table.names:
            known = ", ".join(table.names)
            raise InputError(f"{table.source}: no column {name!r}; there are {known}")
    read = table.labels if task == "classification" else table.numbers
    truth = read(given.target, given.target)
    column = given.id
    if column is None and "id" in table.names and "id" not in named:
        # It would leak if it were a feature.
        column = "id" if len(set(table.labels("id", "id"))) == len(table) else None
    ids = None if column is None else table.labels(column, column)
    groups = None if given.groups is None else table.labels(given.groups, given.groups)
    if given.text is not None:
        rows: Any = [cell_text(cell) for cell in table.columns[given.text]]
    else:
        features = given.features or [x for x in table.names if x not in {*named, column}]
        if not features:
            raise InputError(f"{table.source}: no column is left for the features")
        if given.target in features:
            raise InputError(f"the target {given.target!r} is among the features")
        rows = np.column_stack([table.numbers(feature, feature) for feature in features])
    name = given.name or path.name.split(".")[0]
    return ArrayData(X=rows, y=truth, ids=ids, groups=groups, name=name)
