"""User-defined measures: the decorator for all tasks, and measures of rankings."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, overload

import numpy as np

from heldout.errors import HeldoutError, MeasureError, failure
from heldout.measure.base import TASKS
from heldout.measure.custom_predictions import (
    checked_name,
    find_function,
    function_measure,
    function_names,
    keep_function,
    keyword_defaults,
)
from heldout.measure.names import find_definition
from heldout.measure.ranking.names import JUDGED_ONLY, Family, add_family, families, find_family

if TYPE_CHECKING:
    from collections.abc import Callable

    from heldout.data.words import Floats, Ints
    from heldout.measure.base import Task
    from heldout.measure.ranking.judged import Judged
    from heldout.measure.ranking.names import Value

    Own = Callable[..., float]

__all__ = ["RankedList", "define_measure", "own_function", "registered_name"]


@dataclass(frozen=True, slots=True)
class RankedList:
    """The data that a user-defined measure gets for one query.

    Parameters
    ----------
    query
        Id of the query.
    grades
        The grades of the retrieved documents in rank order, down to the cutoff; -1 where a
        document is not in the qrels, -2 where its grade is negative.
    judged
        The grades of all judged documents, in descending order.
    """

    query: str
    grades: Ints
    judged: Ints


@overload
def define_measure(function: Own) -> Own: ...


@overload
def define_measure(
    *,
    name: str | None = None,
    task: Task = "ranking",
    bounds: tuple[float, float] = (-math.inf, math.inf),
    higher_is_better: bool = True,
) -> Callable[[Own], Own]: ...


def define_measure(
    function: Own | None = None,
    *,
    name: str | None = None,
    task: Task = "ranking",
    bounds: tuple[float, float] = (-math.inf, math.inf),
    higher_is_better: bool = True,
) -> Own | Callable[[Own], Own]:
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
        called = checked_name(name, own)
        if task != "ranking":
            _keep(own, called, task, bounds, higher_is_better)
            return own
        families()
        known = find_family(called)
        if known is not None and not hasattr(known.compute, "own"):
            raise MeasureError(f"{called} is already a measure ({known.name}): choose another name")
        defaults = keyword_defaults(called, own)
        if any(key == JUDGED_ONLY for key, _ in defaults):
            raise MeasureError(f"{called}: the parameter {JUDGED_ONLY} is reserved: rename it")
        compute = _over_queries(own, called)
        add_family(
            Family(
                called,
                compute,
                (*defaults, (JUDGED_ONLY, False)),
                bounds=bounds,
                higher_is_better=higher_is_better,
            )
        )
        return own

    return register(function) if function is not None else register


def _keep(
    own: Own, called: str, task: Task, bounds: tuple[float, float], higher_is_better: bool
) -> None:
    if task in {"classification", "regression", "text"}:
        found = find_definition(task, called)
        known = None if found is None else found[0].name
    else:
        raise MeasureError(f"task={task!r}: expected one of {', '.join(TASKS)}")
    if known is not None:
        raise MeasureError(f"{called} is already a measure ({known}): choose another name")
    keep_function(
        function_measure(own, task, name=called, bounds=bounds, higher_is_better=higher_is_better)
    )


def _over_queries(own: Own, called: str) -> Callable[..., Floats]:
    def compute(judged: Judged, k: int | None, **params: Value) -> Floats:
        lists = _lists(judged, k)
        try:
            return np.array([float(own(ranked, **params)) for ranked in lists], np.float64)
        except (HeldoutError, KeyboardInterrupt):
            raise
        except BaseException as error:
            raise MeasureError(failure(f"the measure {called}", error)) from error

    compute.__doc__ = own.__doc__
    compute.own = own  # type: ignore[attr-defined]
    return compute


def own_function(task: str, name: str) -> Own | None:
    """Return the function of a user-defined measure; None if it is not one."""
    if task == "ranking":
        known = find_family(name)
        return None if known is None else getattr(known.compute, "own", None)
    found = find_function(task, name)
    return None if found is None else found.function


def registered_name(task: str, function: Own) -> str | None:
    """Return the name under which a function is a measure of a task; None if it is not one."""
    names = families() if task == "ranking" else function_names(task)
    return next((name for name in names if own_function(task, name) is function), None)


def _lists(judged: Judged, k: int | None) -> list[RankedList]:
    lengths = judged.retrieved if k is None else np.minimum(judged.retrieved, k)
    grades = [np.full(int(length), -1, np.int64) for length in lengths]
    keep = judged.rank <= lengths[judged.query]
    rows = zip(judged.query[keep], judged.rank[keep], judged.grade[keep], strict=True)
    for query, rank, grade in rows:
        grades[query][rank - 1] = max(int(grade), -2) if grade >= 0 else -2
    starts = np.searchsorted(judged.all_query, np.arange(len(judged) + 1))
    return [
        RankedList(
            query, grades[row], np.sort(judged.all_grade[starts[row] : starts[row + 1]])[::-1]
        )
        for row, query in enumerate(judged.queries)
    ]
