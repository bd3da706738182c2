"""The inputs of `heldout.compare` (scores, evaluations, files, arrays), made ready to compare."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from heldout.data.scores import Scores
from heldout.errors import InputError

if TYPE_CHECKING:
    from heldout.infer.engine import CompareSettings
    from heldout.infer.scored_inputs import By
    from heldout.infer.scoring import Scoring

__all__ = ["PredictionOptions", "scored_of", "scored_systems"]


class PredictionOptions(NamedTuple):
    """Options of one task; the parameters are those of `heldout.compare`."""

    positive: str | None = None
    by: By = "auto"
    undefined: float | None = None
    machine: Any = None
    assume_random: bool = False


def scored_of(
    given: Any, measure: Any, settings: CompareSettings, options: PredictionOptions
) -> Scoring:
    """Return the systems of one object: scores, an evaluation, predictions, a table."""
    from heldout.infer.scored_inputs import PredictionSystems, scored  # of all tasks
    from heldout.measure.evaluation import Evaluation

    if isinstance(given, Evaluation):
        return _evaluated(given, measure, settings, options)
    if isinstance(given, PredictionSystems) or _are_predictions(given):
        return _predictions(given, measure, settings, options)
    if callable(getattr(given, "scores", None)):  # tuned runs
        given = given.scores()
    if not isinstance(given, Scores):
        return scored(Scores.of(given, measure), None, settings)
    if measure is not None and str(measure) != given.measure:
        raise InputError(f"these are scores in {given.measure}, not in {measure}")
    return scored(given, None, settings)


def scored_systems(
    truth: Any, systems: Any, measure: Any, settings: CompareSettings, options: PredictionOptions
) -> Scoring:
    """Evaluate systems (runs, texts, or predictions) and return them ready to compare."""
    from heldout.measure.evaluate import evaluate, task_of

    if measure is None:
        raise InputError("no measure: name one, such as nDCG@10, BLEU or F1(macro)")
    task = task_of(truth, systems, [measure])
    more: dict[str, Any] = {}
    if task in ("classification", "regression"):
        more = {"positive": options.positive, "undefined": options.undefined}
    if options.machine is not None or options.assume_random:
        more |= {"machine": options.machine, "assume_random": options.assume_random}
    measures = [measure, "Judged@10"] if task == "ranking" else [measure]
    evaluation = evaluate(truth, systems, measures, task=task, **more)
    return _evaluated(evaluation, evaluation.measures[0], settings, options)


def _evaluated(
    given: Any, measure: Any, settings: CompareSettings, options: PredictionOptions
) -> Scoring:
    """Return the systems of an evaluation, in the named measure or the only one."""
    available = [each for each in given.measures if str(each) != "Judged@10"]
    if measure is None and len(available) != 1:
        listed = ", ".join(map(str, available))
        raise InputError(
            f"there are {len(available)} measures ({listed}): name one, such as "
            f"compare(evaluation, {str(available[0])!r})"
        )
    wanted = available[0] if measure is None else given.measure(measure)
    if given.task in ("ranking", "text"):
        from heldout.infer.scored_inputs import scored  # of all tasks

        return scored(given, wanted, settings)
    # The predictions know their positive class, and the measure what it counts as undefined.
    options = options._replace(positive=None, undefined=None)
    return _predictions([given.data[name] for name in given.names], wanted, settings, options)


def _are_predictions(given: Any) -> bool:
    return isinstance(given, list | tuple) and bool(given) and hasattr(given[0], "truth")


def _predictions(
    given: Any, measure: Any, settings: CompareSettings, options: PredictionOptions
) -> Scoring:
    from heldout.infer.scored_inputs import PredictionSystems, scored  # of all tasks

    if settings.test_share is not None:
        raise InputError("test_share: predictions with folds have their own; leave it out")
    several = given
    if not isinstance(several, PredictionSystems):
        several = PredictionSystems.of(given, settings.baseline)
    names = [] if measure is None else [measure]
    wanted = several.measures(names, options.undefined)[0]
    return scored(several, wanted, settings, positive=options.positive, by=options.by)
