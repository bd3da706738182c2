"""Evaluate predictions of any task against the truth."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, cast

from heldout.data.frames import is_frame, is_nested
from heldout.data.ids import as_id
from heldout.data.prediction_files import as_predictions, detect_task, is_path, listed
from heldout.data.predictions import ClassPredictions, NumberPredictions
from heldout.data.qrels import Qrels
from heldout.data.run import Run
from heldout.data.segments import Segments, as_references, as_systems
from heldout.errors import InputError, MeasureError
from heldout.measure.base import TASKS
from heldout.measure.names import likely_tasks, listed_measures

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from heldout.data.run import TiePolicy
    from heldout.measure.base import Measure, Task
    from heldout.measure.evaluation import Evaluation
    from heldout.measure.ranking.evaluate import Missing

_KINDS: Final[dict[type, Task]] = {
    Run: "ranking",
    ClassPredictions: "classification",
    NumberPredictions: "regression",
    Segments: "text",
}
_NOT_RANKINGS: Final[tuple[Task, ...]] = ("classification", "regression", "text")


def evaluate(  # noqa: PLR0913 - the settings of all tasks
    truth: Any,
    predictions: Any,
    measures: str | Measure | Iterable[str | Measure] | None = None,
    *,
    task: Task | None = None,
    missing: Missing | None = None,
    depth: int | None = None,
    rel: int | None = None,
    judged_only: bool = False,
    ties: TiePolicy | None = None,
    single_precision: bool = False,
    machine: Any = None,
    assume_random: bool = False,
    positive: Any = None,
    undefined: float | None = None,
    threshold: float | None = None,
    progress: Callable[[int, int], None] | None = None,
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
    missing
        For rankings: how to treat judged queries without a ranked list. ``"zero"`` (default) counts
        them 0, ``"skip"`` averages over the queries that all runs have.
    depth
        For rankings: use only the first `depth` documents of each query.
    rel, judged_only
        For rankings: the lowest grade that counts as relevant (default: 1), and whether to ignore
        documents without a judgement; for measures that do not set it themselves.
    ties, single_precision
        For rankings: how runs are read; see `heldout.read_run`.
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
        Called with the number of runs (for other tasks: of measures) done and the number of all.

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
        raise InputError(f"expected one of {', '.join(TASKS)}", argument="task", value=task)
    wanted = None if measures is None else listed_measures(measures)
    if wanted == []:
        raise MeasureError("no measures given")
    task = task or task_of(truth, predictions, wanted)
    of_runs: dict[str, Any] = {"missing": missing, "depth": depth, "rel": rel, "ties": ties}
    of_runs |= {"judged_only": judged_only, "single_precision": single_precision}
    of_runs |= {"machine": machine, "assume_random": assume_random}
    of_classes = {"positive": positive, "undefined": undefined, "threshold": threshold}
    if task != "ranking":
        _refuse(of_runs, "rankings", task)
    if task in {"ranking", "text"}:
        _refuse(of_classes, "predictions", task)
    if task == "ranking":
        from heldout.measure.ranking.evaluate import evaluate_runs

        return evaluate_runs(truth, predictions, wanted, progress=progress, **of_runs)
    if task == "text":
        from heldout.measure.text.evaluate import evaluate_texts

        return evaluate_texts(as_references(truth), as_systems(predictions), wanted, progress)
    from heldout.measure.prediction.evaluate import evaluate_predictions

    positive = None if positive is None else as_id(positive)
    several = as_predictions(truth, predictions, task, positive, threshold)
    return evaluate_predictions(several, wanted, positive, undefined, progress)


def _refuse(options: Mapping[str, Any], what: str, task: Task) -> None:
    """Refuse options of another task that were given."""
    for name, value in options.items():
        if value is not None and value is not False:
            raise InputError(f"{name} is for {what}; the task is {task}")


def task_of(truth: Any, predictions: Any, wanted: list[Any] | None) -> Task:
    """Infer the task from the types of the data, or from the measures if these are ambiguous."""
    first = predictions
    if isinstance(predictions, Mapping):
        first = next(iter(predictions.values()), None)
    elif isinstance(predictions, list | tuple) and predictions:
        first = predictions[0]
    for kind, task in _KINDS.items():
        if isinstance(first, kind):
            return task
    if _are_judgements(truth):
        return "ranking"
    if is_path(truth):  # of judgements, or of references
        is_text = likely_tasks(wanted or [], ("ranking", "text")) == ["text"]
        return "text" if is_text else "ranking"
    tasks = likely_tasks(wanted or [], _NOT_RANKINGS)
    if len(tasks) == 1:
        return tasks[0]
    if truth is None and (files := listed(predictions)) and all(map(is_path, files)):
        return cast("Task", detect_task(files) or "classification")
    if likely_tasks(wanted or [], ("ranking",)):
        return "ranking"  # its reader reports what it expects
    raise InputError(
        f"cannot infer the task from the data and the measures: pass task= with one of "
        f"{', '.join(_NOT_RANKINGS)}"
    )


def _are_judgements(truth: Any) -> bool:
    """Return whether this is a frame, a dictionary, `Qrels`, or their ir_measures equivalent."""
    if is_frame(truth) or is_nested(truth) or isinstance(truth, Qrels):
        return True
    first = truth[0] if isinstance(truth, list | tuple) and truth else None
    return isinstance(truth, Iterator) or (hasattr(first, "doc_id") and not is_frame(first))
