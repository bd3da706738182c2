"""The names of all measures: heldout's own and those of other tools.

A name is ``Family(parameter=value, …)@cutoff``, for example ``nDCG(dcg='exp-log2')@10``,
``F1(macro)`` or ``BLEU(order=2)``. The spellings of ir_measures, ranx, trec_eval, scikit-learn and
sacrebleu are also accepted (``MAP``, ``ndcg_cut_10``, ``P.5,10``, ``f1_macro``, ``chrF2++``).
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any, Literal, cast, overload

from heldout.errors import MeasureError
from heldout.measure.base import TASKS, Measure
from heldout.measure.names import definitions, find_definition, parse_defined
from heldout.measure.syntax import (
    is_function,
    listed_measures,
    split_cutoffs,
    split_names,
    written_name,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from heldout.measure.base import Task
    from heldout.measure.parameters import Value
    from heldout.measure.ranking.names import RankingMeasure

    Given = str | Measure
    Several = str | Measure | Iterable[str | Measure]

__all__ = ["family_names", "parse_measure", "parse_measures", "tasks_that_know"]


@overload
def parse_measure(name: Given, task: Literal["ranking"]) -> RankingMeasure: ...


@overload
def parse_measure(name: Given, task: str | None = None) -> Measure: ...


def parse_measure(name: Given, task: str | None = None) -> Measure:
    """Parse the name of one measure.

    Parameters
    ----------
    name
        As for `parse_measures`.
    task
        Task of the measure, if its name is ambiguous.

    Examples
    --------
    >>> parse_measure("ndcg_cut_10"), parse_measure("f1_macro"), parse_measure("chrF2")
    (Measure('nDCG@10'), Measure('F1(macro)'), Measure('chrF'))
    >>> parse_measure("P(rel=2)@5") == parse_measure("P@5")
    False
    """
    if isinstance(name, Measure) and task in (None, name.task):
        return name
    found = parse_measures([name], task)
    if len(found) != 1:
        raise MeasureError(f"{name!r} names {len(found)} measures, expected one")
    return found[0]


@overload
def parse_measures(
    names: Several, task: Literal["ranking"], **defaults: Value
) -> list[RankingMeasure]: ...


@overload
def parse_measures(names: Several, task: str | None = None, **defaults: Value) -> list[Measure]: ...


def parse_measures(names: Several, task: str | None = None, **defaults: Value) -> Any:
    """Parse names, some of which may denote several measures (``P@[5,10]``, ``official``).

    Parameters
    ----------
    names
        One or several; measures of ir_measures (``nDCG @ 10``) are accepted too.
    task
        Task of the measures: ``ranking``, ``classification``, ``regression`` or ``text``. Not
        needed for names that are known in one task only.
    defaults
        Parameters for all names that do not set them, e.g. ``rel=2``. A `Measure` is not changed:
        all its parameters are set.

    Examples
    --------
    >>> parse_measures("P@[1,5] BLEU RMSE")
    [Measure('P@1'), Measure('P@5'), Measure('BLEU'), Measure('RMSE')]
    """
    if task is not None and task not in TASKS:
        raise MeasureError(f"task={task!r}: expected one of {', '.join(TASKS)}")
    found: list[Measure] = []
    for given in listed_measures(names):
        if isinstance(given, Measure):
            found.append(_of_task(given, task))
            continue
        if is_function(given):
            found.append(_function(given, task))
            continue
        for several in split_names(written_name(given)):
            for one in split_cutoffs(several):
                found += _parse(one, task, defaults) if task else _parse_any(one, defaults)
    return list(dict.fromkeys(found))


def _of_task(measure: Measure, task: str | None) -> Measure:
    if task not in (None, measure.task):
        raise MeasureError(f"{measure} is a measure of {measure.task}, not of {task}")
    return measure


def _function(given: Any, task: str | None) -> Measure:
    """Return a user-defined function as a measure of a task."""
    if task is None:
        raise MeasureError(f"{given!r} is a function: give its task with task=…")
    from heldout.measure.custom import define_measure, registered_name  # rarely needed

    known = registered_name(task, given)
    if known is not None:  # with the bounds and the direction that its decorator says
        return parse_measure(known, task)
    if task != "ranking":
        from heldout.measure.custom_predictions import function_measure

        return function_measure(given, cast("Task", task))
    define_measure(given)
    return parse_measure(given.__name__, "ranking")


def _parse(name: str, task: str, defaults: Mapping[str, Value]) -> list[Measure]:
    if task == "ranking":
        from heldout.measure.ranking.parse import parse_ranking

        return list(parse_ranking(name, defaults))
    own = _own_function(name, task)
    if own is not None:
        return [own]
    return [parse_defined(name, cast("Task", task), defaults)]


def _parse_any(name: str, defaults: Mapping[str, Value]) -> list[Measure]:
    """Return the measures of a name in the task that matches it best.

    ``F1`` is a family in classification and an alias in ranking and for texts: classification wins.
    """
    found: dict[Task, list[Measure]] = {}
    refusals: list[MeasureError] = []
    for tasks in tasks_that_know(name):
        for task in tasks:
            try:
                found[task] = _parse(name, task, defaults)
            except MeasureError as error:
                refusals.append(error)
        if found:
            break
    if len(found) > 1:
        raise MeasureError(
            f"{name} is a measure of {' and of '.join(found)}: choose one with task=…"
        )
    if found:
        return next(iter(found.values()))
    if refusals:
        raise refusals[0]
    return _parse(name, "ranking", defaults)


def tasks_that_know(name: str) -> list[list[Task]]:
    """Return tasks with a family of exactly this name, of this name ignoring case, or an alias."""
    match = re.match(r"\s*([\w+²-]+)", name)
    stem = match[1] if match else ""
    ranked: list[list[Task]] = [[], [], []]
    for task in TASKS:
        rank = _rank(task, stem, name)
        if rank is not None:
            ranked[rank].append(task)
    return ranked


def _own_function(name: str, task: str) -> Measure | None:
    """Return a function registered as a measure of a task; None if there is none."""
    functions = sys.modules.get("heldout.measure.custom_predictions")
    return None if functions is None else functions.find_function(task, name)


def _rank(task: Task, stem: str, name: str) -> int | None:
    if task != "ranking" and _own_function(stem, task) is not None:
        return 0
    if task == "ranking":
        family = _ranking_family(stem, name)
    else:
        known = find_definition(task, stem)
        family = None if known is None else known[0].name
    if family is None:
        return None
    if family == stem:
        return 0
    return 1 if family.lower() == stem.lower().replace("_", "-") else 2


def _ranking_family(stem: str, name: str) -> str | None:
    from heldout.measure.ranking.names import canonical
    from heldout.measure.ranking.trec_names import TREC_NAMES, parse_trec_name

    if name in TREC_NAMES:
        return stem
    known = canonical(stem)
    if known is None and parse_trec_name(name):
        return ""
    return known


def family_names() -> list[str]:
    """Return the names of all families of all tasks."""
    from heldout.measure.ranking.names import families

    others: tuple[Task, ...] = ("classification", "regression", "text")
    return [*families(), *(name for task in others for name in definitions(task))]


def likely_tasks(wanted: list[Any], among: tuple[Task, ...]) -> list[Task]:
    """Return the tasks in which all of the measures are known best.

    Parameters
    ----------
    wanted
        Measures or names.
    among
        The possible tasks.
    """
    possible = set(among)
    for given in wanted:
        if isinstance(given, Measure):
            possible &= {given.task}
        elif not is_function(given):
            for name in split_names(written_name(given)):
                ranked = (possible & set(tasks) for tasks in tasks_that_know(name))
                possible = next(filter(None, ranked), set())
    return [task for task in among if task in possible and wanted]
