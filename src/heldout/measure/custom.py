"""Functions as measures: those of a user, for all tasks, and any function of `sklearn.metrics`.

A function of rankings gets a `RankedList` per query. One of classes, numbers or texts gets the
truth and the predictions of some units, and is called again for resampled units: they are repeated,
or weighted if it has an argument ``sample_weight``.
"""

from __future__ import annotations

import inspect
import math
import re
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from heldout.data.segments import Texts
from heldout.errors import Argument, HeldoutError, MeasureError, failure
from heldout.measure.base import (
    DEFINITIONS,
    JUDGED_ONLY,
    TASKS,
    Definition,
    LackingError,
    Measure,
    Order,
)
from heldout.measure.names import meant

if TYPE_CHECKING:
    from collections.abc import Callable

    from heldout.data.words import Floats, Ints
    from heldout.measure.base import Task
    from heldout.measure.ranking.judged import Judged

    Own = Callable[..., float]
    Bounds = tuple[float, float]

WEIGHT = "sample_weight"


class RankedList(NamedTuple):
    """The data that a user-defined measure of rankings gets for one query."""

    query: str
    grades: Ints  # of retrieved documents by rank; -1: not in the qrels, -2: a negative grade
    judged: Ints  # the grades of all judged documents, in descending order


def define_measure(
    function: Own | None = None,
    *,
    name: str | None = None,
    task: Task = "ranking",
    bounds: Bounds = (-math.inf, math.inf),
    higher_is_better: bool = True,
) -> Any:
    """Register a function as a measure that can be used by name.

    For rankings the function takes a `RankedList`, a cutoff ``@k`` truncates that list, and the
    measure is the mean over queries. For classes, numbers and texts it takes the truth and the
    predictions of some units, and is called again for resampled units. Its keyword-only parameters,
    which need defaults, become parameters of the measure.

    Parameters
    ----------
    name
        Name of the measure; by default the function's name.
    task
        Kind of predictions: ``ranking``, ``classification``, ``regression`` or ``text``.
    bounds
        The lowest and highest possible value, if there are any: intervals end there.
    higher_is_better
        Whether higher values are better.

    Examples
    --------
    >>> import math
    >>> import heldout
    >>> @heldout.define_measure
    ... def TopGrade(ranked, *, scale=1.0):
    ...     return scale * max(0, *ranked.grades) if len(ranked.grades) else 0.0
    >>> heldout.evaluate({"q": {"a": 3}}, {"q": {"a": 1.0, "b": 2.0}}, "TopGrade@2").summary()
    {'run': {'TopGrade@2': 3.0}}
    >>> @heldout.define_measure(task="regression", bounds=(0, math.inf), higher_is_better=False)
    ... def MaxError(truth, predicted):
    ...     return abs(truth - predicted).max()
    >>> heldout.evaluate([1.0, 2.0], [1.0, 4.0], "MaxError").value()
    2.0
    """

    def register(own: Own) -> Own:
        called = name or str(getattr(own, "__name__", ""))
        if task not in TASKS:
            raise MeasureError(f"expected one of {', '.join(TASKS)}", argument="task", value=task)
        if not isinstance(called, str) or not re.fullmatch(r"[^\W\d]\w*", called):
            raise MeasureError(f"{called!r} cannot name a measure: use letters, digits and _")
        same = meant(called, [task], has_cutoff=False)
        known = [each.name for each in same if each.own is None]
        if known:
            raise MeasureError(f"{called} is already a measure ({known[0]}): choose another name")
        _keep(own, called, task, bounds, higher_is_better)
        return own

    return register(function) if function is not None else register


def _keep(own: Own, name: str, task: Task, bounds: Bounds, higher_is_better: bool) -> Definition:
    """Register a function; the types of its parameters are those of their defaults."""
    arguments = inspect.signature(own).parameters.values()
    keywords = [each for each in arguments if each.kind is each.KEYWORD_ONLY]
    keywords = [argument for argument in keywords if argument.name != WEIGHT]
    for argument in keywords:
        if argument.default is argument.empty:
            raise MeasureError(f"{name}: every keyword-only parameter needs a default")
        if argument.name == JUDGED_ONLY and task == "ranking":
            raise MeasureError(f"{name}: the parameter {JUDGED_ONLY} is reserved: rename it")
    # scikit-learn checks its own parameters, whose defaults say little.
    typed = () if ":" in name else (bool, int, float, str)
    kinds = [
        next((kind for kind in typed if type(each.default) is kind), object) for each in keywords
    ]
    compute: Any = (_over_queries if task == "ranking" else _over_units)(own, name)
    compute.__doc__ = own.__doc__
    compute.__signature__ = inspect.Signature(
        [argument.replace(annotation=kind) for argument, kind in zip(keywords, kinds, strict=True)]
    )
    definition = Definition(
        name,
        task,
        compute,
        cutoff="optional" if task == "ranking" else "none",
        bounds=bounds,
        higher_is_better=higher_is_better,
        own=own,
    )
    DEFINITIONS[task, name] = definition
    return definition


def measure_of(function: Own, task: str | None) -> Measure:
    """Return a function as a measure of a task, with the bounds that its decorator says."""
    if task is None:
        raise MeasureError(
            f"{function!r} is a function: give its task with ", Argument("task", "…")
        )
    for (of, _), definition in DEFINITIONS.items():
        if of == task and definition.own is function:
            return definition.make()
    if str(getattr(function, "__module__", "")).startswith("sklearn.metrics"):
        return sklearn_definition(task, f"sklearn:{function.__name__}").make()
    define_measure(task=cast("Task", task))(function)
    return DEFINITIONS[task, function.__name__].make()


def own_measure(own: Own, bounds: Bounds, higher_is_better: bool, *fields: Any) -> Measure:
    """Return a measure of a function that came from another process."""
    if (fields[0], fields[1]) not in DEFINITIONS:
        _keep(own, fields[1], fields[0], bounds, higher_is_better)
    return Measure(*fields)


def sklearn_definition(task: str, name: str) -> Definition:
    """Return a function of scikit-learn as a measure: ``sklearn:d2_pinball_score``."""
    if (task, name) in DEFINITIONS:
        return DEFINITIONS[task, name]
    from sklearn import metrics  # type: ignore[import-untyped] # large

    function = getattr(metrics, name.partition(":")[2], None)
    if not inspect.isfunction(function) or "y_true" not in inspect.signature(function).parameters:
        raise MeasureError(f"{name}: sklearn.metrics has no such function of truth and predictions")
    is_loss = name.endswith(("_error", "_loss", "_deviance"))
    return _keep(function, name, cast("Task", task), (-math.inf, math.inf), not is_loss)


def _called(own: Own, name: str, *given: Any, **params: Any) -> float:
    try:
        return float(own(*given, **params))
    except (HeldoutError, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise MeasureError(failure(f"the measure {name}", error)) from error


def _over_queries(own: Own, name: str) -> Callable[..., Floats]:
    def compute(judged: Judged, k: int | None, **params: Any) -> Floats:
        lists = _lists(judged, k)
        return np.array([_called(own, name, ranked, **params) for ranked in lists], np.float64)

    return compute


def _over_units(own: Own, name: str) -> Callable[..., Order]:
    arguments = list(inspect.signature(own).parameters)
    weighs = WEIGHT in arguments

    def compute(given: Any, **params: Any) -> Order:
        if given.weights is not None and not weighs:
            raise LackingError(f"functions without {WEIGHT} do not support weighted units")
        needs_scores = arguments[1:2] in (["y_score"], ["y_proba"])
        truth, predicted = _values(given, needs_scores=needs_scores)
        is_binary = params.get("average", "binary") == "binary" and not needs_scores
        if params.get("pos_label") == 1 and is_binary and len(given.classes) == 2:
            params["pos_label"] = given.classes[given.class_number()]

        def score(row: Floats) -> float:
            times = (row > 0 if weighs else row).astype(np.int64)
            drawn = np.repeat(np.arange(len(row)), times)
            if not len(drawn):
                return math.nan
            more = {WEIGHT: row[drawn]} if weighs else {}
            pair = [
                each[drawn] if isinstance(each, np.ndarray) else [each[unit] for unit in drawn]
                for each in (truth, predicted)
            ]
            return _called(own, name, *pair, **params, **more)

        def scores(rows: Floats) -> Floats:
            return np.array([score(row) for row in rows])

        return Order(len(truth), scores, lambda _: "the function returned NaN")

    return compute


def _values(given: Any, *, needs_scores: bool) -> tuple[Any, Any]:
    """Return truth and predictions of all units: arrays, or lists of texts."""
    if isinstance(given, Texts):
        references = given.references.texts
        single = all(len(texts) == 1 for texts in references)
        wanted = [texts[0] if single else texts for texts in references]
        return wanted, [texts[0] for texts in given.system.texts]
    if not hasattr(given, "classes"):
        return given.truth, given.predicted
    names, predicted = np.array(given.classes), given.scores if needs_scores else given.predicted
    if predicted is None:
        lacking = ("predictions", "scores") if needs_scores else ("scores", "predictions")
        raise LackingError(f"there are {lacking[0]} but no {lacking[1]}")
    if needs_scores and len(names) == 2:
        number = given.class_number()
        return (given.truth == number).astype(np.int64), predicted[:, number]
    return names[given.truth], predicted if needs_scores else names[predicted]


def _lists(judged: Judged, k: int | None) -> list[RankedList]:
    lengths = judged.retrieved if k is None else np.minimum(judged.retrieved, k)
    grades = [np.full(int(length), -1, np.int64) for length in lengths]
    keep = judged.rank <= lengths[judged.query]
    rows = zip(judged.query[keep], judged.rank[keep], judged.grade[keep], strict=True)
    for query, rank, grade in rows:
        grades[query][rank - 1] = grade if grade >= 0 else -2
    starts = np.searchsorted(judged.all_query, np.arange(len(judged) + 1))
    return [
        RankedList(
            query, grades[row], np.sort(judged.all_grade[starts[row] : starts[row + 1]])[::-1]
        )
        for row, query in enumerate(judged.queries)
    ]
