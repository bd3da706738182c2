"""The charts that there are: of an object, of files, and by name."""

from __future__ import annotations

import json
import os
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from heldout.errors import HeldoutError, InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from heldout.data.predictions import ClassPredictions
    from heldout.experiment.results.results import Results
    from heldout.infer.comparison import Comparison
    from heldout.report.charts.draw import Chart
    from heldout.report.standing import Standing

NAMES: Final = {
    "forest": "mean of each system with its interval and groups",
    "pairs": "differences between pairs of systems with intervals",
    "query-differences": "difference between two systems on each query, sorted",
    "heatmap": "each system on each query, from hard to easy",
    "null": "distribution of the difference under the null hypothesis",
    "critical-difference": "mean ranks and critical difference (Demšar)",
    "tuning": "training score by parameters, with the selected settings",
    "optimism": "training scores and held-out scores",
    "roc": "ROC curves with their convex hull",
    "precision-recall": "precision by recall",
    "calibration": "observed frequency by predicted probability",
    "bias": "bias of each estimator",
    "bias-means": "mean of each estimator in each training set",
    "bias-queries": "estimate minus truth by query, training set and Pro10",
    "grade-confusion": "machine grades by human grade",
    "score-agreement": "scores of systems under two judges, or in two measures",
}
MOST_PAIRS: Final = 3  # pairs whose differences are shown query by query
MOST_CLASSES: Final = 9  # panels that fit a page


def charts(
    of: Any,
    *,
    measure: str | None = None,
    texts: Mapping[str, str] | None = None,
    compared: Comparison | None = None,
) -> list[Chart]:
    """Return all charts of an object, each with key, title, caption, frame and drawing.

    Parameters
    ----------
    of
        Results, a comparison, several comparisons of the same systems (the agreement of their
        measures), a bias study, an agreement of judges, predictions of classes (one or a list), or
        the path of a file or folder written by a command.
    measure
        For results: the measure (default: the first).
    texts
        The text of each query by its id, such as ``collection.queries.to_dict()``.
    compared
        For results: the comparison of their systems in this measure, if there is one already.

    Examples
    --------
    >>> import heldout
    >>> table = {"A": {"q1": 0.1, "q2": 0.4, "q3": 0.3}, "B": {"q1": 0.3, "q2": 0.4, "q3": 0.5}}
    >>> drawn = heldout.charts(heldout.compare(heldout.Scores.of(table)))
    >>> drawn[0].key, drawn[0].title
    ('forest', 'score of each system')
    >>> drawn[0].frame["mean"].round(2).to_list()
    [0.4, 0.27]
    """
    if isinstance(of, str | os.PathLike):
        return charts_of_files([of], measure=measure)
    return _numbered(_charts(of, measure, texts or {}, compared))


def chart(
    of: Any,
    name: str,
    *,
    measure: str | None = None,
    texts: Mapping[str, str] | None = None,
    dark: bool = False,
) -> Any:
    """Return one chart of an object as an Altair chart in the theme of this package.

    Parameters
    ----------
    of, measure, texts
        As for `charts`.
    name
        The name of the chart: ``forest``, ``pairs``, …; see ``heldout list charts``.
        `heldout.save_chart` writes the chart to a file.
    dark
        Use light text on a dark background.
    """
    drawn = charts(of, measure=measure, texts=texts)
    return pick(name, drawn, f"this {type(of).__name__}").themed(dark=dark)


def pick(name: str, drawn: Iterable[Chart], what: str) -> Chart:
    """The chart with a name; ``tuning-2`` is the second of ``tuning``."""
    known = {chart.key: chart for chart in drawn}
    if name not in known:
        raise InputError(f"{what}: no chart {name}; available: {', '.join(known)}")
    return known[name]


def _numbered(drawn: Iterable[Chart]) -> list[Chart]:
    """The second chart of a kind is called ``tuning-2``, and so on."""
    times: Counter[str] = Counter()
    charts = []
    for chart in drawn:
        times[chart.key] += 1
        number = f"-{times[chart.key]}" if times[chart.key] > 1 else ""
        charts.append(chart._replace(key=chart.key + number))
    return charts


def _charts(
    of: Any, measure: str | None, texts: Mapping[str, str], compared: Comparison | None
) -> Iterator[Chart]:
    from heldout.data.predictions import ClassPredictions
    from heldout.experiment.results.results import Results
    from heldout.experiment.studies.bias import BiasStudy
    from heldout.infer.agreement import Agreement
    from heldout.infer.comparison import Comparison
    from heldout.report.charts import agreement, studies
    from heldout.report.standing import standing

    match of:
        case Results():
            yield from _of_results(of, measure, texts, compared)
        case Comparison():
            yield from _of_systems(standing(of), of, texts)
        case [Comparison(), *others]:
            if others and len(of[0].systems) > 2:
                yield agreement.measures([standing(comparison) for comparison in of])
        case BiasStudy():
            yield from studies.charts(of, texts)
        case Agreement():
            yield from agreement.charts(of.to_dict())
        case ClassPredictions():
            yield from _of_predictions([of])
        case [ClassPredictions(), *_]:
            yield from _of_predictions(of)
        case _:
            raise InputError(
                f"no charts of {type(of).__name__}; expected results, a comparison, a bias study, "
                "an agreement, predicted classes, or a path"
            )


def _of_systems(
    board: Standing, compared: Comparison | None, texts: Mapping[str, str]
) -> Iterator[Chart]:
    from heldout.report.charts import chance, systems
    from heldout.report.standing import standing

    yield systems.forest(board)
    if board.gaps:
        yield systems.pairs(board)
    if compared is None:
        return
    own = standing(compared)  # of results by document, the board has other differences
    gaps = systems.shown_gaps(own)
    if own.baseline is None:  # the best system, its closest rival first
        gaps = [gap for gap in gaps if own.names[0] in {gap.first, gap.second}]
        gaps.sort(key=lambda gap: abs(gap.value))
    for gap in gaps[:MOST_PAIRS]:
        yield systems.query_differences(compared.scores, gap, texts)
    yield systems.heatmap(compared.scores, texts)
    yield from chance.null(compared, gaps[0])
    if compared.friedman is not None:
        yield systems.critical_difference(compared)


def _of_results(
    results: Results, measure: str | None, texts: Mapping[str, str], compared: Comparison | None
) -> Iterator[Chart]:
    from heldout.report.charts import tuning
    from heldout.report.standing import standing

    measure = str(results.estimate(results.systems[0], measure)["measure"])
    if compared is None and len(results.systems) > 1:
        with suppress(HeldoutError):  # such as a measure that is undefined on some split
            compared = results.compare(measure)
    yield from _of_systems(standing(results, measure, compared), compared, texts)
    for entry in results.summary:
        with suppress(HeldoutError):  # it was not tuned, or only one setting could be measured
            yield tuning.tuning(results, entry["name"])
    with suppress(HeldoutError):  # nothing was tuned
        yield tuning.optimism(results, measure)
    if results.task == "classification":
        first = replace(results, held_out=results.held_out.filter(repeat=0))
        several: list[Any] = []
        for system in [entry["name"] for entry in results.summary if not entry["baseline"]]:
            try:
                several.append(first.predictions(system))
            except InputError:  # units were held out several times
                several.append(first.fold_predictions(system)[0].predictions)
        yield from _of_predictions([replace(own, groups=(), folds=()) for own in several])


def _of_predictions(
    several: Sequence[ClassPredictions], positive: str | None = None
) -> Iterator[Chart]:
    from heldout.report.charts import classes

    scored = [system for system in several if system.scores is not None]
    if scored and (positive or len(scored[0].classes) <= MOST_CLASSES):
        with suppress(HeldoutError):  # such as a class without a unit, which has no curve
            yield classes.curve("roc", scored, positive)
            yield classes.curve("precision-recall", scored, positive)
    probable = [system for system in scored if system.probabilities]
    if probable:
        yield classes.calibration(probable, positive)


# ---- files ---------------------------------------------------------------------------------------


def kind_of_files(paths: Sequence[str | os.PathLike[str]]) -> str:
    """Say what files hold: study (or agreement), results, scores or classification."""
    from heldout.data.prediction_files import detect_task

    place, alone = Path(paths[0]), len(paths) == 1
    if alone and (place.suffix.lower() == ".json" or (place / "means.csv").is_file()):
        return "study"
    if alone and place.is_dir():
        return "results"
    kind = detect_task(paths) or ("scores" if alone else "")
    if kind not in {"scores", "classification"}:
        raise InputError(
            f"{place}: expected one folder, one table, or files of predicted classes; of predicted "
            "numbers, make a table of their errors"
        )
    return kind


def charts_of_files(
    paths: Sequence[str | os.PathLike[str]],
    *,
    measure: str | None = None,
    collection: str | None = None,
    higher_is_better: bool = True,
    positive: str | None = None,
    verify: bool = True,
) -> list[Chart]:
    """All charts of results, a table of scores, files of predictions, or the output of a study."""
    from heldout.data.prediction_files import read_class_predictions
    from heldout.data.predictions import one_set_of_classes
    from heldout.data.scores import read_scores
    from heldout.experiment.experiment import stored_collection
    from heldout.experiment.results.results import Results
    from heldout.infer.compare import compare

    place, kind = Path(paths[0]), kind_of_files(paths)
    if kind == "study":
        return _numbered(_of_study_files(place, measure or "score"))
    if kind == "results":
        results = Results.read(place, verify=verify)
        known = stored_collection(place, results, collection)
        texts = {} if known is None else known.queries.to_dict()
        return charts(results, measure=measure, texts=texts)
    if kind == "scores":
        return charts(compare(read_scores(place, measure, higher_is_better=higher_is_better)))
    systems = [own for path in paths for own in read_class_predictions(path, positive=positive)]
    return list(_of_predictions(one_set_of_classes(systems), positive))


def _of_study_files(place: Path, measure: str) -> Iterator[Chart]:
    import polars as pl

    from heldout.report.charts import agreement, studies

    try:
        if place.is_dir():
            yield from studies.charts_of_folder(place, measure)
        elif "judges" in (content := json.loads(place.read_bytes())):
            yield from agreement.charts(content)
        else:
            yield studies.bias(content)
    except (KeyError, TypeError, IndexError, ValueError, pl.exceptions.PolarsError):
        raise InputError(
            f"{place}: not the output of heldout study bias or heldout agree"
        ) from None
