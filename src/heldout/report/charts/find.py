"""The charts that there are: of an object, of files, and by name."""

from __future__ import annotations

import json
import os
import re
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from heldout.errors import HeldoutError, InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from heldout.data.predictions import ClassPredictions
    from heldout.experiment.results.results import Results
    from heldout.infer.comparison import Comparison
    from heldout.report.charts.draw import Chart
    from heldout.report.standing import Gap, Standing

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
_TUNED: Final = "a tuned system (results of heldout run -o)"
_CLASSES: Final = "classes with scores (results of classifiers, or a file of predictions)"
_FIGURES: Final = "the folder written by heldout study bias --figures"
_NEEDS: Final = {
    "forest": "results or a table of scores",
    "null": "two systems compared by the randomization test (units, not folds)",
    "critical-difference": "three or more systems",
    **dict.fromkeys(("tuning", "optimism"), _TUNED),
    **dict.fromkeys(("roc", "precision-recall"), _CLASSES),
    "calibration": "class probabilities (results of classifiers, or a file of predictions)",
    "bias": "the output of heldout study bias --json -o FILE",
    **dict.fromkeys(("bias-means", "bias-queries"), _FIGURES),
    "grade-confusion": "the output of heldout agree --json -o FILE",
    "score-agreement": "the output of heldout agree --runs RUN RUN --json -o FILE",
}
_SCORES: Final = "scores of two systems (results, or a table of scores)"  # what the others need
MOST_PAIRS: Final = 3  # pairs whose differences are shown query by query
MOST_CLASSES: Final = 9  # panels that fit a page


def charts(
    of: Any,
    *,
    measure: str | None = None,
    texts: Mapping[str, str] | None = None,
    compared: Comparison | None = None,
) -> list[Chart]:
    """Return all charts of an object.

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

    Returns
    -------
    list of Chart
        Each with key, title, caption, frame (its numbers) and drawing (an Altair chart).

    Examples
    --------
    >>> import heldout
    >>> table = {"A": {"q1": 0.1, "q2": 0.4, "q3": 0.3}, "B": {"q1": 0.3, "q2": 0.4, "q3": 0.5}}
    >>> found = heldout.charts(heldout.compare(heldout.Scores.of(table)))
    >>> [chart.key for chart in found]
    ['forest', 'pairs', 'query-differences', 'heatmap', 'null']
    >>> found[0].frame["mean"].round(2).to_list()
    [0.4, 0.27]
    """
    from heldout.data.predictions import ClassPredictions
    from heldout.experiment.results.results import Results
    from heldout.experiment.studies.bias import BiasStudy
    from heldout.infer.agreement import Agreement
    from heldout.infer.comparison import Comparison

    match of:
        case str() | os.PathLike():
            return charts_of_files([os.fspath(of)], measure=measure)
        case Results():
            return list(_of_results(of, measure or of.measures[0], texts, compared))
        case Comparison():
            return list(_of_comparison(of, texts))
        case [Comparison(), *_]:
            return list(_of_measures(of))
        case BiasStudy():
            return list(_of_study(of, texts or {}))
        case Agreement():
            return list(_of_agreement(of.to_dict()))
        case ClassPredictions():
            return list(_of_predictions([of], None))
        case [ClassPredictions(), *_]:
            return list(_of_predictions(of, None))
    raise InputError(
        f"no charts of {type(of).__name__}; expected results, a comparison, a bias study, an "
        "agreement, predicted classes, or a path"
    )


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
    check_name(name)
    found = charts(of, measure=measure, texts=texts)
    return pick(found, name, f"this {type(of).__name__}").themed(dark=dark)


def check_name(name: str) -> None:
    """Refuse an unknown name; ``tuning-2`` is the second of ``tuning``."""
    if re.sub(r"-\d+$", "", name) not in NAMES:
        from difflib import get_close_matches

        close = get_close_matches(name, NAMES, n=1)
        hint = f"did you mean {close[0]}? " if close else ""
        raise InputError(f"unknown chart {name!r}: {hint}available: {', '.join(NAMES)}")


def pick(found: Sequence[Chart], name: str, what: str) -> Chart:
    """The chart with a name; an error says what it needs."""
    by_key = {chart.key: chart for chart in found}
    if name not in by_key:
        needs = _NEEDS.get(re.sub(r"-\d+$", "", name), _SCORES)
        available = ", ".join(by_key)
        raise InputError(f"{what}: no chart {name}, which needs {needs}; available: {available}")
    return by_key[name]


def _of_comparison(comparison: Comparison, texts: Mapping[str, str] | None) -> Iterator[Chart]:
    from heldout.report.charts import systems
    from heldout.report.standing import standing

    board = standing(comparison)
    yield systems.forest(board)
    yield systems.pairs(board)
    yield from _by_query(comparison, board, texts)


def _by_query(
    comparison: Comparison, board: Standing, texts: Mapping[str, str] | None
) -> Iterator[Chart]:
    from heldout.report.charts import chance, systems

    shown, scores = _pairs_by_query(board), comparison.scores
    for number, gap in enumerate(shown, 1):
        yield systems.query_differences(scores, gap.first, gap.second, texts, number)
    yield systems.heatmap(scores, texts)
    null = chance.null(comparison, shown[0])
    if null is not None:
        yield null
    if comparison.friedman is not None:
        yield systems.critical_difference(comparison)


def _pairs_by_query(board: Standing) -> list[Gap]:
    """The pairs of the best system, the closest rival first; with a baseline the first pairs."""
    from heldout.report.charts.systems import shown_gaps

    gaps = shown_gaps(board)
    if board.baseline is None:
        gaps = [gap for gap in gaps if board.names[0] in {gap.first, gap.second}]
        gaps.sort(key=lambda gap: abs(gap.value))
    return gaps[:MOST_PAIRS]


def _of_measures(comparisons: Sequence[Comparison]) -> Iterator[Chart]:
    from heldout.report.charts.agreement import measures
    from heldout.report.standing import standing

    if len(comparisons) > 1 and len(comparisons[0].systems) > 2:
        yield measures([standing(comparison) for comparison in comparisons])


def _of_results(
    results: Results,
    measure: str,
    texts: Mapping[str, str] | None,
    compared: Comparison | None,
) -> Iterator[Chart]:
    from heldout.report.charts import systems, tuning
    from heldout.report.standing import standing

    measure = str(results.estimate(results.systems[0], measure)["measure"])
    if (
        compared is None
        and len(results.systems) > 1
        and results.higher_is_better(measure) is not None
    ):
        with suppress(HeldoutError):  # such as a measure that is undefined on some split
            compared = results.compare(measure)
    board = standing(results, measure, compared)
    yield systems.forest(board)
    if board.gaps:
        yield systems.pairs(board)
    if compared is not None:
        yield from _by_query(compared, standing(compared), texts)
    number = 1
    for system in [entry["name"] for entry in results.summary if entry["tuned"]]:
        with suppress(HeldoutError):  # only one setting could be measured
            yield tuning.tuning(results, system, number)
            number += 1
    with suppress(HeldoutError):  # nothing was tuned
        yield tuning.optimism(results, measure)
    if results.task == "classification":
        yield from _of_predictions(_held_out(results), None)


def _held_out(results: Results) -> list[ClassPredictions]:
    """The predictions of each system in the first repeat and run, without baselines."""
    first, found = replace(results, held_out=results.held_out.filter(repeat=0)), []
    for system in [entry["name"] for entry in results.summary if not entry["baseline"]]:
        try:
            predicted = first.predictions(system)
        except InputError:  # units were held out several times
            predicted = first.fold_predictions(system)[0].predictions
        found.append(replace(predicted, groups=(), folds=()))  # type: ignore[type-var]
    return found  # type: ignore[return-value]


def _of_predictions(several: Sequence[ClassPredictions], positive: str | None) -> Iterator[Chart]:
    from heldout.report.charts import classes

    scored = [system for system in several if system.scores is not None]
    if scored and (positive or len(scored[0].classes) <= MOST_CLASSES):
        with suppress(HeldoutError):  # such as a class without a unit, which has no curve
            yield classes.curve("roc", scored, positive)
            yield classes.curve("precision-recall", scored, positive)
    probable = [system for system in scored if system.probabilities]
    if probable:
        yield classes.calibration(probable, positive)


def _of_study(study: Any, texts: Mapping[str, str]) -> Iterator[Chart]:
    from heldout.report.charts import studies

    settings, measure = study.settings, str(study.settings.measure)
    rows = [asdict(row) for row in study.rows]
    sizes = _sizes(study.sample_size, study.target_size, settings.draws)
    yield studies.bias(rows, measure, sizes)
    yield from _of_figures(study.means, study.queries, measure, texts)


def _sizes(sample: int, target: int, draws: int) -> str:
    return f"{sample:,} training documents, {target:,} new ones, {draws} draws"


def _of_figures(
    means: Sequence[Any], queries: Sequence[Any], measure: str, texts: Mapping[str, str]
) -> Iterator[Chart]:
    from heldout.report.charts import studies

    yield studies.bias_means(means, measure)
    known = {row[2] for row in queries}
    for number, name in enumerate([name for name in studies.FIGURES if name in known], 1):
        yield studies.bias_queries(queries, name, measure, texts, number)


def _of_agreement(record: Mapping[str, Any]) -> Iterator[Chart]:
    from heldout.report.charts import agreement

    yield agreement.grade_confusion(record)
    for number in range(len(record["judges"][0]["orders"])):
        yield agreement.score_agreement(record, number)


# ---- files ---------------------------------------------------------------------------------------


def charts_of_files(
    paths: Sequence[str],
    *,
    measure: str | None = None,
    collection: str | None = None,
    higher_is_better: bool = True,
    positive: str | None = None,
    verify: bool = True,
) -> list[Chart]:
    """All charts of results, a table of scores, files of predictions, or the output of a study."""
    from heldout.data.prediction_files import detect_task
    from heldout.data.scores import read_scores
    from heldout.infer.compare import compare

    for path in paths:
        if not Path(path).exists():
            raise InputError(
                f"{path} does not exist; expected results of heldout run -o, or a file"
            )
    place = Path(paths[0])
    if len(paths) == 1 and place.is_dir():
        if (place / "means.csv").is_file() and (place / "queries.csv").is_file():
            return _of_figure_files(place, measure or "score")
        return _of_results_folder(place, measure, collection, verify=verify)
    if len(paths) == 1 and place.suffix.lower() == ".json":
        return _of_json(place)
    task = detect_task(paths) if all(Path(path).is_file() for path in paths) else ""
    if len(paths) == 1 and not task:
        return charts(compare(read_scores(place, measure, higher_is_better=higher_is_better)))
    return _of_prediction_files(paths, task, positive)


def _of_results_folder(
    place: Path, measure: str | None, collection: str | None, *, verify: bool
) -> list[Chart]:
    from heldout.data.collection_files import read_collection
    from heldout.experiment.experiment import stored_collection
    from heldout.experiment.results.results import Results

    results = Results.read(place, verify=verify)
    found = None
    if results.task == "ranking":
        found = read_collection(collection) if collection else stored_collection(place, results)
        same = results.manifest["fingerprints"]["collection"]
        if collection and found.fingerprint() != same:  # type: ignore[union-attr]
            raise InputError(
                f"{collection}: not the collection that was evaluated (different fingerprint)"
            )
    texts = None if found is None else found.queries.to_dict()
    return charts(results, measure=measure, texts=texts)


def _of_prediction_files(paths: Sequence[str], task: str, positive: str | None) -> list[Chart]:
    from heldout.data.prediction_files import read_class_predictions
    from heldout.data.predictions import one_set_of_classes

    if not task:
        raise InputError(f"{' '.join(paths)}: one folder or table, or several files of predictions")
    if task != "classification":
        raise InputError(
            f"{paths[0]}: there is no chart of predicted numbers; make a table of their errors"
        )
    read = [one for path in paths for one in read_class_predictions(path, positive=positive)]
    return list(_of_predictions(one_set_of_classes(read), positive))


def _of_json(place: Path) -> list[Chart]:
    from heldout.report.charts.studies import bias

    try:
        content = json.loads(place.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{place}: cannot be read as JSON ({error})") from None
    try:
        if "judges" in content:
            return list(_of_agreement(content))
        first = content[0]
        sizes = _sizes(first["sample_size"], first["target_size"], first["draws"])
        return [bias(content, first["measure"], sizes)]
    except (KeyError, TypeError, IndexError, ValueError):
        raise InputError(f"{place}: not the JSON of heldout study bias or heldout agree") from None


def _of_figure_files(place: Path, measure: str) -> list[Chart]:
    import polars as pl

    try:
        means = pl.read_csv(place / "means.csv")
        queries = pl.read_csv(place / "queries.csv", schema_overrides={"query": pl.String})
        ids = queries["query"].unique(maintain_order=True).to_list()
        number = pl.col("query").replace_strict(ids, range(len(ids)))
        by_query = queries.select("set", number, "estimator", "estimate", "truth", "pro10").rows()
        by_set = means.select("draw", "set", "estimator", "estimate", "truth").rows()
    except (OSError, pl.exceptions.PolarsError) as error:
        raise InputError(f"{place}: not the figures of heldout study bias ({error})") from None
    return list(_of_figures(by_set, by_query, measure, dict.fromkeys(ids, "")))
