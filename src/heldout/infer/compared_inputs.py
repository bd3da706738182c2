"""What `heldout.compare` takes, made ready for the engine: scores, evaluations, files, arrays."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from heldout.data.scores import Scores
from heldout.errors import InputError
from heldout.infer.scoring.base import mean_scored

if TYPE_CHECKING:
    from heldout.infer.engine import Asked
    from heldout.infer.scoring.base import Scored
    from heldout.infer.scoring.predictions import By
    from heldout.measure.ranking.evaluate import RankingEvaluation

__all__ = ["PredictionOptions", "evaluation_scores", "scored_of", "scored_systems"]


class PredictionOptions(NamedTuple):
    """What there is to say about predictions; the parameters are those of `heldout.compare`."""

    positive: str | None = None
    by: By = "auto"
    undefined: float | None = None


def scored_of(given: Any, measure: Any, asked: Asked, options: PredictionOptions) -> Scored:
    """The systems that an object holds: scores, an evaluation, predictions, a table."""
    from heldout.measure.evaluation import Evaluation

    if isinstance(given, Evaluation):
        return _evaluated(given, measure, asked, options)
    if type(given).__name__ == "PredictionSystems" or _are_predictions(given):
        return _predictions(given, measure, asked, options)
    if callable(getattr(given, "scores", None)):  # tuned runs
        given = given.scores()
    if not isinstance(given, Scores):
        return mean_scored(Scores.of(given, measure), asked)
    if measure is not None and str(measure) != given.measure:
        raise InputError(f"these are scores in {given.measure}, not in {measure}")
    return mean_scored(given, asked)


def scored_systems(
    truth: Any, systems: Any, measure: Any, asked: Asked, options: PredictionOptions
) -> Scored:
    """Systems that are evaluated here: runs, texts, or predictions."""
    from heldout.measure.evaluate import evaluate, task_of

    if measure is None:
        raise InputError("compare by what? Name a measure, such as nDCG@10, BLEU or F1(macro)")
    task = task_of(truth, systems, [measure])
    more: dict[str, Any] = {}
    if task in ("classification", "regression"):
        more = {"positive": options.positive, "undefined": options.undefined}
    measures = [measure, "Judged@10"] if task == "ranking" else [measure]
    found = evaluate(truth, systems, measures, task=task, **more)
    return _evaluated(found, found.measures[0], asked, options)


def _evaluated(given: Any, measure: Any, asked: Asked, options: PredictionOptions) -> Scored:
    """The systems of an evaluation, in the measure that was named or the only one there is."""
    there = [one for one in given.measures if str(one) != "Judged@10"]
    if measure is None and len(there) != 1:
        listed = ", ".join(map(str, there))
        raise InputError(
            f"there are {len(there)} measures ({listed}): name one, such as "
            f"compare(evaluation, {str(there[0])!r})"
        )
    wanted = there[0] if measure is None else given.measure(measure)
    if given.task == "ranking":
        return mean_scored(evaluation_scores(given, wanted), asked)
    if given.task == "text":
        from heldout.infer.scoring.texts import scored_texts

        return scored_texts(given, wanted, asked)
    options = options._replace(positive=given.positive, undefined=given.undefined)
    return _predictions(given.predictions, wanted, asked, options)


def evaluation_scores(evaluation: RankingEvaluation, measure: Any) -> Scores:
    """The scores of runs in a measure, with the judged queries that were left out."""
    kept = set(evaluation.queries())
    dropped = tuple(one for one in evaluation.runs[0].queries if one not in kept)
    return replace(evaluation.scores(measure), dropped=dropped)


def _are_predictions(given: Any) -> bool:
    return isinstance(given, list | tuple) and bool(given) and hasattr(given[0], "truth")


def _predictions(given: Any, measure: Any, asked: Asked, options: PredictionOptions) -> Scored:
    from heldout.infer.scoring.predictions import PredictionSystems, scored_predictions

    if asked.test_share is not None:
        raise InputError("test_share: predictions that have folds know their own")
    several = given
    if not isinstance(several, PredictionSystems):
        several = PredictionSystems.of(given, asked.baseline)
    names = [] if measure is None else [measure]
    wanted = several.measures(names, options.undefined)[0]
    return scored_predictions(several, wanted, asked, positive=options.positive, by=options.by)
