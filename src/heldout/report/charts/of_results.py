"""Every chart that the results of an experiment allow."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from heldout.errors import HeldoutError
from heldout.report.charts.folds import draw_folds, folds_data, folds_data_of_results
from heldout.report.charts.named import NamedChart
from heldout.report.charts.of_comparison import charts_of_comparison
from heldout.report.charts.of_predictions import charts_of_predictions
from heldout.report.charts.optimism import draw_optimism, optimism_data
from heldout.report.charts.systems import draw_forest, forest_data_of_results
from heldout.report.charts.tuning import draw_tuning, tuned_axes, tuning_data

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

    from heldout.data.collection import Collection
    from heldout.data.predictions import ClassPredictions
    from heldout.experiment.manifest import SettingsRecord
    from heldout.experiment.results import Results
    from heldout.infer.compare import Comparison
    from heldout.resample.describe import Description

__all__ = ["charts_of", "charts_of_splits", "forest_chart"]


def charts_of(
    results: Results,
    *,
    collection: Collection | None = None,
    measure: str | None = None,
    comparison: Comparison | None = None,
) -> tuple[NamedChart, ...]:
    """Every chart that the results of an experiment allow.

    Parameters
    ----------
    results
        Of `heldout.Experiment`.
    collection
        Where the texts of the queries stand, to be shown beside their ids.
    measure
        By default the first.
    comparison
        Of the systems in this measure, if it was made already.

    Returns
    -------
    tuple of NamedChart
        forest, those of a comparison if there are two systems, tuning (one a tuned system),
        optimism, folds; of classifiers also roc, precision-recall and calibration.
    """
    wanted = results.estimate(results.systems[0], measure)["measure"]
    compared = comparison or _comparison(results, wanted)
    return tuple(_charts(results, collection, wanted, compared))


def _charts(
    results: Results,
    collection: Collection | None,
    measure: str,
    comparison: Comparison | None,
) -> Iterator[NamedChart]:
    yield forest_chart(results, measure, comparison)
    texts = None if collection is None else collection.queries.to_dict()
    if comparison is not None:
        yield from _compared(results, comparison, texts)
    yield from _tuning(results)
    yield from _optimism(results, measure)
    yield from _folds(results, collection)
    if results.task == "classification":
        yield from charts_of_predictions(_predictions(results))


def forest_chart(
    results: Results, measure: str | None = None, comparison: Comparison | None = None
) -> NamedChart:
    """The forest plot alone.

    Parameters
    ----------
    results
        Of an experiment.
    measure
        By default the first.
    comparison
        Of the systems in this measure: its letters are shown.
    """
    first = results.estimate(results.systems[0], measure)
    measure = str(first["measure"])
    better = results.higher_is_better(measure)
    letters = {} if comparison is None else {one.name: one.letters for one in comparison.systems}
    frame = forest_data_of_results(
        results, measure, higher_is_better=better is not False, letters=letters
    )
    what = first.get("estimand")
    caption = f"Held-out {measure} with its {first['level']:.0%} interval ({first['interval']})"
    caption += f", for {what}." if what else "."
    if any(frame["letters"]):
        caption += " Systems that share a letter were not told apart, query by query."
    missing = [name for name, mean in frame["system", "mean"].iter_rows() if mean is None]
    if missing:
        caption += f" Undefined for {', '.join(missing)}."
    return NamedChart(
        "forest",
        f"Held-out {measure} of each system",
        caption,
        frame,
        draw_forest(frame, measure=f"held-out {measure}"),
    )


def _comparison(results: Results, measure: str) -> Comparison | None:
    """The systems compared, if there are two and the measure has a better and a worse."""
    if len(results.systems) < 2 or results.higher_is_better(measure) is None:
        return None
    try:
        return results.compare(measure)
    except HeldoutError:  # a measure that does not exist on some split, say
        return None


def _compared(
    results: Results, comparison: Comparison, texts: dict[str, str] | None
) -> Iterator[NamedChart]:
    """The charts of the comparison but for its forest plot: estimates are better known."""
    yield from (
        one
        for one in charts_of_comparison(comparison, texts=texts, unit=results.unit)
        if one.key != "forest"
    )


def _tuning(results: Results) -> Iterator[NamedChart]:
    settings = results.manifest["settings"]
    measure = str(settings["tune_for"])
    better = results.higher_is_better(measure) is not False
    tuned = [one for one in results.summary if one["tuned"]]
    number = 0
    for one in tuned:
        try:
            frame = tuning_data(results, one["name"])
        except HeldoutError:  # one value only was measurable
            continue
        number += 1
        axes = tuned_axes(frame)
        caption = _tuning_words(measure, axes, settings)
        yield NamedChart(
            "tuning" if number == 1 else f"tuning-{number}",
            f"{one['name']}: {measure} by {', '.join(axes)}",
            caption,
            frame,
            draw_tuning(frame, measure=measure, higher_is_better=better),
        )


def _tuning_words(measure: str, axes: list[str], settings: SettingsRecord) -> str:
    kind = {
        1: f"{measure} on what was seen; the band is the range over the splits.",
        2: f"{measure} on what was seen for each pair of values.",
    }.get(len(axes), f"The best {measure} on what was seen that the other parameters allow.")
    return (
        f"{kind} Numbers: in how many of {settings['splits']} splits a value was chosen; the "
        "square is what is shipped, chosen on everything."
    )


def _optimism(results: Results, measure: str) -> Iterator[NamedChart]:
    try:
        frame = optimism_data(results, measure)
    except HeldoutError:
        return
    if results.task != "ranking":  # inner folds know the measure that was tuned for alone
        measure = str(results.manifest["settings"]["tune_for"])
    small = " Small points: the splits." if frame["split"].count() else ""
    yield NamedChart(
        "optimism",
        "Seen against held out",
        f"{measure} on what was held out (circle) and on what the parameters were chosen on "
        f"(diamond). The number is seen minus held out.{small}",
        frame,
        draw_optimism(frame, measure=measure),
    )


def _folds(results: Results, collection: Collection | None) -> Iterator[NamedChart]:
    try:
        frame = folds_data_of_results(results, collection)
    except HeldoutError:
        return
    settings = results.manifest["settings"]
    yield _folds_chart(frame, str(settings["plan"]), str(settings["by"]))


def _folds_chart(frame: pl.DataFrame, plan: str, unit: str) -> NamedChart:
    known = " Beside them: relevant documents of a query." if frame["median"].count() else ""
    return NamedChart(
        "folds",
        "What each split holds out",
        f"{len(frame)} splits by {plan}.{known}",
        frame,
        draw_folds(frame, unit=unit),
    )


def charts_of_splits(description: Description) -> tuple[NamedChart, ...]:
    """What each split holds out.

    Parameters
    ----------
    description
        Of `heldout.resample.describe.describe_splits`.
    """
    frame = folds_data(description)
    return (_folds_chart(frame, description.plan, description.unit),)


def _predictions(results: Results) -> list[ClassPredictions]:
    """The held-out predictions of each system, of one repeat and run; baselines left out."""
    added = {one["name"] for one in results.summary if one["baseline"]}
    return [
        _joined(
            [
                fold.predictions
                for fold in results.fold_predictions(name)
                if fold.key.repeat == 0 and fold.key.run in {None, 0}
            ]
        )
        for name in results.systems
        if name not in added
    ]


def _joined(parts: list[Any]) -> ClassPredictions:
    """The predictions of all folds; of the first alone where units were held out several times."""
    import numpy as np

    units = [unit for one in parts for unit in one.units]
    first: ClassPredictions = parts[0]
    if len(set(units)) < len(units):
        return first
    whole = all(one.scores is not None for one in parts)
    return replace(
        first,
        units=tuple(units),
        truth=np.concatenate([one.truth for one in parts]),
        predicted=np.concatenate([one.predicted for one in parts]),
        scores=np.concatenate([one.scores for one in parts]) if whole else None,
        groups=(),
    )
