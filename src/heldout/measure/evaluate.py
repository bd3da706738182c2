"""Evaluate predictions of any task against the truth."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, cast

from heldout.data.frames import is_frame, is_nested
from heldout.errors import InputError, MeasureError
from heldout.measure.base import TASKS
from heldout.measure.evaluation import Evaluation
from heldout.measure.names import likely_tasks, listed_measures, parse_measures

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from heldout.data.run import TiePolicy
    from heldout.measure.base import Measure, Task
    from heldout.measure.ranking.evaluate import Missing

__all__ = ["Evaluation", "evaluate", "task_of"]


_DEFAULTS: Final[dict[str, Any]] = {
    "missing": "zero",
    "rel": 1,
    "judged_only": False,
    "ties": "docid-desc",
    "single_precision": False,
    "assume_random": False,
}
"""Settings for rankings whose default is not None."""


def evaluate(  # noqa: PLR0913 - the settings of all tasks
    truth: Any,
    predictions: Any,
    measures: str | Measure | Iterable[str | Measure] | None = None,
    *,
    task: Task | None = None,
    missing: Missing = "zero",
    depth: int | None = None,
    rel: int = 1,
    judged_only: bool = False,
    ties: TiePolicy = "docid-desc",
    single_precision: bool = False,
    machine: Any = None,
    assume_random: bool = False,
    positive: Any = None,
    undefined: float | None = None,
    threshold: float | None = None,
    progress: Callable[..., None] | None = None,
) -> Evaluation:
    """Evaluate predictions of one or more systems against the truth.

    Parameters
    ----------
    truth
        For rankings, judgements: `Qrels`, ``{query: {document: grade}}``, a pandas or Polars frame
        with the column names of PyTerrier, ir_measures or BEIR, or the path of a qrels file. If one
        side writes all its ids as ``10.0`` (pandas) and the other writes ``10``, they match. For
        classes and numbers, one value per unit: a list, an array or ``{unit: value}``; None if the
        predictions include it. For texts, references: one or more texts per segment, or a path.
    predictions
        Runs, predicted classes or numbers, or texts, in the same forms: of one system, of several
        systems as ``{name: predictions}``, or as a list of objects or paths.
    measures
        Names such as ``"nDCG@10"``, ``"F1(macro)"``, ``"BLEU"``, measures of `heldout.measures` or
        ir_measures, or functions; by default the usual ones of the task.
    task
        ``ranking``, ``classification``, ``regression`` or ``text``. By default inferred from the
        data and the measures.
    missing, depth, rel, judged_only, ties, single_precision
        For rankings: see `heldout.measure.ranking.evaluate.evaluate_runs`.
    machine
        For rankings: judgements of a machine (a language model), which are many and may be wrong,
        in any form of `truth`, which then holds human judgements of a random sample of the
        queries. The values of the evaluation are those under human judgements;
        ``estimates(system, measure)`` combines both.
    assume_random
        Confirm that the queries with human judgements are a random sample of all.
    positive, undefined, threshold
        For classes: the positive class of two; the value that undefined precision, recall and F of
        a class count as; the score at or above which the positive class is predicted.
    progress
        For rankings, called with the name of each run; for texts, with the number of measures done
        and the number of all.

    Returns
    -------
    Evaluation
        ``value(system, measure)``, ``per_unit(system, measure)``, ``scores(measure)`` to compare,
        ``to_frame()``, ``notes``.

    Examples
    --------
    >>> qrels = {"q1": {"a": 1, "b": 0}, "q2": {"c": 1}}
    >>> run = {"q1": {"b": 2.0, "a": 1.0}, "q2": {"c": 1.0}}
    >>> evaluate(qrels, run, ["RR", "P@1"]).summary()
    {'run': {'RR': 0.75, 'P@1': 0.5}}
    >>> evaluate(["no", "yes", "yes"], ["no", "yes", "no"], "accuracy").value("accuracy") > 0.6
    True
    >>> evaluate(["the cat sat"], {"A": ["the cat"]}, "ROUGE-1").value("A", "ROUGE-1")
    0.8
    """
    if task is not None and task not in TASKS:
        raise InputError(f"task={task!r}: expected one of {', '.join(TASKS)}")
    wanted = None if measures is None else listed_measures(measures)
    if wanted == []:
        raise MeasureError("no measures given")
    known = task or task_of(truth, predictions, wanted)
    every: dict[str, Any] = {
        "missing": missing,
        "depth": depth,
        "rel": rel,
        "judged_only": judged_only,
        "ties": ties,
        "single_precision": single_precision,
        "machine": machine,
        "assume_random": assume_random,
        "positive": positive,
        "undefined": undefined,
        "threshold": threshold,
        "progress": progress,
    }
    options = {
        name: value
        for name, value in every.items()
        if value is not None and (name == "machine" or value != _DEFAULTS.get(name))
    }
    if known == "ranking":
        from heldout.measure.ranking.evaluate import DEFAULT_MEASURES, evaluate_runs

        _refuse_options(options, {*_DEFAULTS, "depth", "machine", "progress"}, "rankings")
        return evaluate_runs(truth, predictions, wanted or DEFAULT_MEASURES, **options)
    if known == "text":
        return _texts(truth, predictions, wanted, options)
    return _predictions(truth, predictions, wanted, known, options)


def _texts(truth: Any, given: Any, wanted: list[Any] | None, options: dict[str, Any]) -> Evaluation:
    from heldout.data.segments import as_references, as_systems
    from heldout.measure.text.evaluate import DEFAULT_TEXT_MEASURES, evaluate_text

    _refuse_options(options, {"progress"}, "texts")
    found = wanted or DEFAULT_TEXT_MEASURES
    return evaluate_text(as_references(truth), as_systems(given), found, **options)


def _predictions(
    truth: Any, given: Any, wanted: list[Any] | None, task: str, options: dict[str, Any]
) -> Evaluation:
    from heldout.data.prediction_files import as_predictions
    from heldout.measure.prediction.evaluate import evaluate_predictions

    _refuse_options(options, {"positive", "undefined", "threshold"}, "predictions")
    positive = options.get("positive")
    positive = None if positive is None else str(positive)
    several = as_predictions(truth, given, task, positive, options.get("threshold"))
    return evaluate_predictions(
        several, wanted or (), positive=positive, undefined=options.get("undefined")
    )


def _refuse_options(options: dict[str, Any], allowed: set[str], what: str) -> None:
    for name in options:
        if name not in allowed:
            raise InputError(f"{name} does not apply to {what}; use one of {_shown(allowed)}")


def _shown(names: set[str]) -> str:
    return ", ".join(sorted(names))


def task_of(truth: Any, predictions: Any, wanted: list[Any] | None) -> Task:
    """Infer the task from the types of the data, or from the measures if these are ambiguous."""
    kind = type(predictions if _is_object(predictions) else _first(predictions)).__name__
    objects: dict[str, Task] = {
        "ClassPredictions": "classification",
        "NumberPredictions": "regression",
        "Segments": "text",
        "Run": "ranking",
    }
    if kind in objects:
        return objects[kind]
    if truth is None:
        return _task_of_files(predictions, wanted)
    if _are_judgements(truth):
        return "ranking"
    if isinstance(truth, str) or hasattr(truth, "__fspath__"):
        return _task_of_measures(wanted, ("ranking", "text"), "ranking")
    return _task_of_measures(wanted, ("classification", "regression", "text"), None)


def _are_judgements(truth: Any) -> bool:
    """Return whether this is a frame, a dictionary, `Qrels`, or their ir_measures equivalent."""
    if is_frame(truth) or is_nested(truth) or type(truth).__name__ == "Qrels":
        return True
    first = truth[0] if isinstance(truth, list | tuple) and truth else None
    return isinstance(truth, Iterator) or (hasattr(first, "doc_id") and not is_frame(first))


def _is_object(given: Any) -> bool:
    return type(given).__module__.startswith("heldout.")


def _first(given: Any) -> Any:
    """Return one of several systems; None for an iterator, which it must not consume."""
    if isinstance(given, Mapping):
        return next(iter(given.values()), None)
    return given[0] if isinstance(given, list | tuple) and given else None


def _task_of_files(predictions: Any, wanted: list[Any] | None) -> Task:
    from heldout.data.prediction_files import detect_task, is_path, listed

    files = listed(predictions)
    if not files or not all(map(is_path, files)):
        return _task_of_measures(wanted, ("classification", "regression", "text"), None)
    if wanted:
        tasks = likely_tasks(wanted, ("classification", "regression", "text"))
        if len(tasks) == 1:
            return tasks[0]
    return cast("Task", detect_task(files) or "classification")


def _task_of_measures(
    wanted: list[Any] | None, among: tuple[Task, ...], usual: Task | None
) -> Task:
    if usual is not None and (wanted is None or _all_known(wanted, usual)):
        return usual
    tasks = likely_tasks(wanted or [], among)
    if len(tasks) == 1:
        return tasks[0]
    if usual is not None or likely_tasks(wanted or [], ("ranking",)):
        return "ranking"  # its reader reports what it expects
    raise InputError(
        f"cannot infer the task from the data and the measures: pass task= with one of "
        f"{', '.join(among)}"
    )


def _all_known(wanted: list[Any], task: Task) -> bool:
    try:
        parse_measures(wanted, task)
    except MeasureError:
        return False
    return True
