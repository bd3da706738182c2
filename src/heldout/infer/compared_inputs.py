"""What `heldout.compare` takes, made ready for the engine: scores, evaluations, files, arrays."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sized
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from heldout.data.columns import is_frame
from heldout.data.scores import Scores
from heldout.errors import InputError, MeasureError
from heldout.infer.scoring import mean_scored

if TYPE_CHECKING:
    from heldout.infer.engine import Asked
    from heldout.infer.scored_predictions import By
    from heldout.infer.scoring import Scored
    from heldout.measure.evaluate import Evaluation

__all__ = ["PredictionOptions", "evaluation_scores", "scored_of", "scored_systems"]


class PredictionOptions(NamedTuple):
    """What there is to say about predictions; the parameters are those of `heldout.compare`."""

    positive: str | None = None
    by: By = "auto"
    undefined: float | None = None


def scored_of(given: Any, measure: Any, asked: Asked, options: PredictionOptions) -> Scored:
    """The systems that an object holds: scores, an evaluation, predictions, a table."""
    kind = type(given).__name__
    if kind == "PredictionSystems" or _are_predictions(given):
        return _predictions(given, measure, asked, options)
    if kind == "PredictionScores":
        options = options._replace(positive=given.positive, undefined=given.undefined)
        return _predictions(given.predictions, _one(given, measure), asked, options)
    if kind == "TextEvaluation":
        from heldout.infer.scored_texts import scored_texts
        from heldout.measure.text_names import parse_text_measure

        return scored_texts(given, parse_text_measure(_one(given, measure)), asked)
    return mean_scored(_scores(given, measure), asked)


def _scores(given: Any, measure: Any) -> Scores:
    """The scores that an object holds, or is."""
    if type(given).__name__ == "Evaluation":
        return evaluation_scores(given, _one(given, measure))
    if callable(getattr(given, "scores", None)):  # tuned runs
        given = given.scores()
    if not isinstance(given, Scores):
        return Scores.of(given, measure)
    if measure is not None and str(measure) != given.measure:
        raise InputError(f"these are scores in {given.measure}, not in {measure}")
    return given


def scored_systems(
    truth: Any, systems: Any, measure: Any, asked: Asked, options: PredictionOptions
) -> Scored:
    """Systems that are evaluated here: runs, texts, or predictions in arrays."""
    if measure is None:
        raise InputError("compare by what? Name a measure, such as nDCG@10, BLEU or F1(macro)")
    task = _task(truth, measure)
    if task == "ranking":
        from heldout.measure.evaluate import evaluate
        from heldout.measure.names import parse_measure

        wanted = parse_measure(measure)
        return scored_of(evaluate(truth, systems, [wanted, "Judged@10"]), wanted, asked, options)
    if task == "text":
        from heldout.measure.text_evaluate import evaluate_text

        found = evaluate_text(_references(truth), _texts(systems), [measure])
        return scored_of(found, None, asked, options)
    from heldout.data.prediction_arrays import class_predictions, number_predictions

    if not isinstance(systems, Mapping):
        raise InputError("systems: expected {name: predictions}")
    if task == "regression":
        several: list[Any] = list(number_predictions(truth, systems))
    else:
        several = list(class_predictions(truth, systems, options.positive))
    return scored_of(several, measure, asked, options)


def evaluation_scores(evaluation: Evaluation, measure: Any) -> Scores:
    """The scores of runs in a measure, with the judged queries that were left out."""
    kept = set(evaluation.queries())
    dropped = tuple(one for one in evaluation.runs[0].queries if one not in kept)
    return replace(evaluation.scores(measure), dropped=dropped)


def _one(evaluation: Any, measure: Any) -> Any:
    """The measure that was named, or the only one that there is."""
    if measure is not None:
        return measure
    there = [str(one) for one in evaluation.measures if str(one) != "Judged@10"]
    if len(there) != 1:
        raise InputError(
            f"there are {len(there)} measures ({', '.join(there)}): name one, such as "
            f"compare(evaluation, {there[0] if there else 'nDCG@10'!r})"
        )
    return there[0]


def _are_predictions(given: Any) -> bool:
    return isinstance(given, list | tuple) and bool(given) and hasattr(given[0], "truth")


def _predictions(given: Any, measure: Any, asked: Asked, options: PredictionOptions) -> Scored:
    from heldout.infer.scored_predictions import PredictionSystems, scored_predictions

    if asked.test_share is not None:
        raise InputError("test_share: predictions that have folds know their own")
    several = given
    if not isinstance(several, PredictionSystems):
        several = PredictionSystems.of(given, asked.baseline)
    names = [] if measure is None else [measure]
    wanted = several.measures(names, options.undefined)[0]
    return scored_predictions(several, wanted, asked, positive=options.positive, by=options.by)


def _task(truth: Any, measure: Any) -> str:
    """What is measured: the truth has the form of some tasks, and the measure is known in some."""
    known = _tasks_that_know(measure)
    for task in _tasks_like(truth):
        if task in known:
            return task
    if not known:
        raise MeasureError(f"unknown measure {str(measure)!r}: heldout measures lists all")
    raise InputError(
        f"{measure} is a measure of {' and '.join(known)}, and the first argument is "
        f"{_KINDS[_tasks_like(truth)[0]]}"
    )


_KINDS = {
    "ranking": "judgements",
    "classification": "one value per unit",
    "text": "lists of texts",
}


def _tasks_like(truth: Any) -> tuple[str, ...]:
    """The tasks whose truth looks so, the most likely one first."""
    if type(truth).__name__ == "Segments":
        return ("text",)
    if isinstance(truth, str | os.PathLike):
        return ("ranking", "text")
    flat = isinstance(truth, Iterable) and isinstance(truth, Sized) and not is_frame(truth)
    if not flat or isinstance(truth, Mapping) or not len(truth):
        return ("ranking",)
    first = next(iter(truth))
    if hasattr(first, "doc_id"):
        return ("ranking",)
    if isinstance(first, list | tuple):
        return ("text",)
    return ("classification", "regression", "text")


def _tasks_that_know(measure: Any) -> list[str]:
    from heldout.measure.names import parse_measures
    from heldout.measure.predicted import parse_prediction_measures
    from heldout.measure.text_names import parse_text_measure

    parsers: dict[str, Callable[[], object]] = {
        "ranking": lambda: parse_measures([measure]),
        "classification": lambda: parse_prediction_measures("classification", [measure]),
        "regression": lambda: parse_prediction_measures("regression", [measure]),
        "text": lambda: parse_text_measure(measure),
    }
    found = []
    for task, parse in parsers.items():
        try:
            parse()
        except MeasureError:
            continue
        found.append(task)
    return found


def _references(given: Any) -> Any:
    from heldout.data.segments import read_references

    return read_references(given) if isinstance(given, str | os.PathLike) else given


def _texts(systems: Any) -> Any:
    from heldout.data.segments import read_hypotheses

    if not isinstance(systems, Mapping):
        return [
            read_hypotheses(one) if isinstance(one, str | os.PathLike) else one for one in systems
        ]
    return {
        name: read_hypotheses(one, name) if isinstance(one, str | os.PathLike) else one
        for name, one in systems.items()
    }
