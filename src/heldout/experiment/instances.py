"""Instances: rows with their true values, as estimators and measures need them."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import numpy as np

from heldout.data.files import open_source
from heldout.data.ids import as_id
from heldout.data.predictions import ClassPredictions, NumberPredictions, class_order
from heldout.data.tables import read_table
from heldout.errors import HeldoutError, InputError
from heldout.experiment.schema import ArrayData, FileData, checked
from heldout.experiment.systems.fits import take_rows
from heldout.measure.base import Undefined
from heldout.resample.plan import ResamplingWarning
from heldout.resample.plans import KFold

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike, NDArray

    from heldout.data.tables import Table
    from heldout.data.words import Floats, Ints
    from heldout.experiment.problems import Problems
    from heldout.experiment.systems.fits import Fitted
    from heldout.measure.base import Measure, Number
    from heldout.resample.plan import Plan
    from heldout.resample.split import Split, Splits


__all__ = ["Instances", "Predicted", "PredictionTask", "defined_value", "instances_from"]

PredictionTask = Literal["classification", "regression"]
SUM_TOLERANCE = 1e-6


class Predicted(NamedTuple):
    """The predictions for some rows, in the order of all classes.

    Parameters
    ----------
    predicted
        The number of the class, or the predicted number, of each row.
    scores
        Rows × classes; None: no scores.
    probabilities
        Whether the scores are probabilities.
    """

    predicted: NDArray[Any]
    scores: Floats | None = None
    probabilities: bool = False


def defined_value(measure: Measure, predictions: ClassPredictions | NumberPredictions) -> Number:
    """Return the value of a measure; undefined, with the reason, where it does not exist."""
    try:
        return measure.compute(predictions)
    except HeldoutError as error:
        return Undefined(str(error))


@dataclass(frozen=True, slots=True, eq=False)
class Instances:
    """The rows, and the true values to predict; `Instances.of` checks them.

    Parameters
    ----------
    name
        The name of the data.
    task
        ``classification`` or ``regression``.
    table
        One row per unit: an array, a sparse matrix, a frame or a list of texts.
    y
        The true values, as estimators get them.
    ids
        The ids of the rows.
    groups
        The group of each row; empty: no groups.
    classes, codes
        The names of the classes in order, and the class number of each row; empty for numbers.
    """

    name: str
    task: PredictionTask
    table: Any
    y: NDArray[Any]
    ids: tuple[str, ...]
    groups: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    codes: Ints = field(default_factory=lambda: np.zeros(0, np.int64))

    @classmethod
    def of(
        cls,
        table: Any,
        y: ArrayLike,
        task: PredictionTask,
        *,
        ids: Iterable[Any] | None = None,
        groups: Iterable[Any] | None = None,
        name: str = "data",
    ) -> Instances:
        """Make instances from X and y; see the class."""
        truth = np.asarray(y)
        rows = int(table.shape[0]) if hasattr(table, "shape") else len(table)
        if truth.ndim != 1 or len(truth) != rows:
            raise InputError(f"y has shape {truth.shape}, expected one value for {rows} rows")
        units = tuple(map(as_id, range(rows) if ids is None else ids))
        if len(units) != rows:
            raise InputError(f"{len(units)} ids for {rows} rows")
        grouped = () if groups is None else tuple(map(str, groups))
        if groups is not None and len(grouped) != rows:
            raise InputError(f"{len(grouped)} groups for {rows} rows")
        if task == "regression":
            if truth.dtype.kind not in "iuf" or not np.isfinite(truth).all():
                raise InputError("y: expected finite numbers for regression")
            return cls(name, task, table, truth, units, grouped)
        labels = [str(one) for one in truth.tolist()]
        missing = [at for at, one in enumerate(labels) if one in {"None", "nan", "NaT", "<NA>"}]
        if missing:
            raise InputError(f"y: row {units[missing[0]]} has no class")
        classes = class_order(labels)
        if len(classes) < 2:
            raise InputError(f"all rows are of one class, {classes[0]}")
        number = {one: at for at, one in enumerate(classes)}
        codes = np.array([number[label] for label in labels], np.int64)
        return cls(name, task, table, truth, units, grouped, classes, codes)

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def labels(self) -> list[str] | None:
        """Return the class of each row, for stratified plans; None for numbers."""
        return [self.classes[at] for at in self.codes.tolist()] if self.classes else None

    def divided(self, plan: Plan) -> Splits:
        """Return the splits of the rows by a plan."""
        return plan.splits(self.ids, "instance", labels=self.labels, groups=self.groups or None)

    def inner_folds(self, split: Split | None, folds: int, seed: int) -> Splits:
        """Return the inner folds of a training side; None: of all data."""
        plan = KFold(folds, stratify="labels" if self.classes else None, seed=seed)
        with warnings.catch_warnings():
            # Notes of the outer folds already mention rare classes.
            warnings.simplefilter("ignore", ResamplingWarning)
            return self.divided(plan) if split is None else split.inner(plan)

    def sides(self, train: Ints, test: Ints) -> tuple[tuple[Any, Any], Any]:
        """Return X and y of the training rows, and X of the held-out rows."""
        return (take_rows(self.table, train), self.y[train]), take_rows(self.table, test)

    def predicted(self, name: str, found: Fitted) -> Predicted:
        """Return the output of an estimator in the order of all classes, checked.

        Parameters
        ----------
        name
            The system, for messages.
        """
        if self.task == "regression":
            guess = np.asarray(found.predicted, np.float64).ravel()
            if not np.isfinite(guess).all():
                raise InputError(f"{name} predicted {guess[~np.isfinite(guess)][0]}")
            return Predicted(guess)
        predicted = self._codes(name, found.predicted)
        if found.scores is None:
            return Predicted(predicted)
        if found.probabilities:
            _check_probabilities(name, found.scores)
        places = self._codes(name, np.array(found.classes))
        if len(places) < len(self.classes) and not found.probabilities:
            # A class that is not in the training data has probability 0, but no known score.
            return Predicted(predicted)
        scores = np.zeros((len(predicted), len(self.classes)))
        scores[:, places] = found.scores
        return Predicted(predicted, scores, found.probabilities)

    def _codes(self, name: str, labels: Any) -> Ints:
        number = {one: at for at, one in enumerate(self.classes)}
        listed = [str(one) for one in np.asarray(labels).tolist()]
        strange = [one for one in listed if one not in number]
        if strange:
            raise InputError(f"{name} predicted {strange[0]!r}, which is not a class of the data")
        return np.array([number[one] for one in listed], np.int64)

    def predictions(
        self, name: str, rows: Ints, found: Predicted
    ) -> ClassPredictions | NumberPredictions:
        """Return the predictions for some rows, with the true values."""
        units = tuple(self.ids[at] for at in rows.tolist())
        groups = tuple(self.groups[at] for at in rows.tolist()) if self.groups else ()
        if self.task == "regression":
            truth = self.y[rows].astype(np.float64)
            return NumberPredictions(name, units, truth, found.predicted, groups=groups)
        return ClassPredictions(
            name,
            units,
            self.classes,
            self.codes[rows],
            found.predicted,
            found.scores,
            found.probabilities,
            groups=groups,
        )

    def fingerprint(self) -> str:
        """Return the SHA-256 of the content."""
        digest = hashlib.sha256(self.task.encode())
        for one in (self.table, self.y, list(self.ids), list(self.groups)):
            digest.update(_hash(one))
        return digest.hexdigest()


def _check_probabilities(name: str, scores: NDArray[np.float64]) -> None:
    wrong = ~((scores >= -SUM_TOLERANCE) & (scores <= 1 + SUM_TOLERANCE))
    if wrong.any():
        raise InputError(f"{name} returned {scores[wrong][0]:g} as a probability (0 to 1)")
    sums = scores.sum(axis=1)
    off = np.abs(sums - 1) > SUM_TOLERANCE
    if off.any():
        raise InputError(f"{name} returned probabilities with the sum {sums[off][0]:.7g}, not 1")


def _hash(table: Any) -> bytes:
    """Add the content of an array, a sparse matrix, a frame or a list to a hash."""
    digest = hashlib.sha256()
    if hasattr(table, "tocsr"):
        rows = table.tocsr()
        parts = [np.array(rows.shape), rows.indptr, rows.indices, rows.data]
    elif hasattr(table, "columns"):
        parts = [one for name in table.columns for one in ([str(name)], np.asarray(table[name]))]
    elif hasattr(table, "dtype") and table.dtype.kind not in "OU":
        array = np.asarray(table)
        digest.update(f"{array.dtype.newbyteorder('<').str} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
        return digest.digest()
    else:
        for one in table.ravel().tolist() if hasattr(table, "ravel") else table:
            text = one if isinstance(one, str) else repr(one)
            digest.update(f"{type(one).__name__} {len(text)} ".encode())
            digest.update(text.encode("utf-8", "surrogatepass"))
        return digest.digest()
    for part in parts:
        digest.update(_hash(part))
    return digest.digest()


_FORMS: Final = (
    'a table such as {file = "data.csv", target = "label", text = "text"}; from Python also '
    "(X, y) or {'X': X, 'y': y}"
)


def instances_from(
    given: Any, task: PredictionTask, problems: Problems, folder: Path | None = None
) -> Instances | None:
    """Make instances; mistakes are added to `problems`, and None is returned.

    Parameters
    ----------
    given
        `Instances`, ``(X, y)``, or a table with the keys of `ArrayData` or `FileData`.
    folder
        Where a relative path starts.
    """
    if isinstance(given, Instances):
        return given
    if given is None:
        problems.add("data", f"missing: give {_FORMS}")
        return None
    table = {"X": given[0], "y": given[1]} if _is_pair(given) else given
    if not isinstance(table, Mapping):
        problems.add("data", f"{type(given).__name__}: expected {_FORMS}")
        return None
    made: Instances | None = None
    before = len(problems.found)
    if "X" in table or "y" in table:
        arrays = checked(ArrayData, table, problems, "data.")
        with problems.at("data"):
            if arrays is not None and len(problems.found) == before:
                rest = {"ids": arrays.ids, "groups": arrays.groups, "name": arrays.name}
                made = Instances.of(arrays.X, arrays.y, task, **rest)
        return made
    described = checked(FileData, table, problems, "data.")
    with problems.at("data"):
        if described is not None and len(problems.found) == before:
            made = _of_file(described, task, folder)
    return made


def _is_pair(given: Any) -> bool:
    return isinstance(given, tuple | list) and len(given) == 2


def _of_file(given: FileData, task: PredictionTask, folder: Path | None) -> Instances:
    path = (folder or Path()) / given.file
    table = read_table(open_source(path))
    if not len(table):
        raise InputError(f"{table.source}: no instances below the header")
    target = _column(table, given.target)
    truth: Any = (
        _labels(table, target)
        if task == "classification"
        else _numbers(table, target)
    )  # fmt: skip
    given = _with_ids(given, table)
    rows: Any = _features(table, given) if given.text is None else _texts(table, given, given.text)
    return Instances.of(
        rows,
        truth,
        task,
        ids=None if given.id is None else _labels(table, _column(table, given.id)),
        groups=None if given.groups is None else _labels(table, _column(table, given.groups)),
        name=given.name or path.name.split(".")[0],
    )


def _column(table: Table, name: Any) -> str:
    if name not in table.names:
        raise InputError(f"{table.source}: no column {name!r}; there are {', '.join(table.names)}")
    return str(name)


def _labels(table: Table, column: str) -> list[str]:
    return table.labels(column, column)


def _numbers(table: Table, column: str) -> Floats:
    return table.numbers(column, column)


def _texts(table: Table, given: FileData, text: str) -> list[str]:
    if given.features is not None:
        raise InputError("text and features: give only one of them")
    cells = table.columns[_column(table, text)]
    return ["" if cell is None else str(cell).strip() for cell in cells]


def _with_ids(given: FileData, table: Table) -> FileData:
    """Take a column ``id`` with different values for the ids of the rows: as a feature it leaks."""
    used = {given.target, given.text, given.groups, *(given.features or ())}
    if given.id is not None or "id" not in table.names or "id" in used:
        return given
    labels = _labels(table, _column(table, "id"))
    return given.model_copy(update={"id": "id"}) if len(set(labels)) == len(labels) else given


def _features(table: Table, given: FileData) -> Any:
    """Return the named columns as numbers; by default all that have no other purpose."""
    taken = {given.target, given.id, given.groups}
    names = given.features or [name for name in table.names if name not in taken]
    if not names:
        raise InputError(f"{table.source}: no column is left for the features")
    if given.target in names:
        raise InputError(f"the target {given.target!r} is among the features")
    return np.column_stack([_numbers(table, _column(table, name)) for name in names])
