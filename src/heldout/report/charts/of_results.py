"""All charts of the results of an experiment."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from heldout.errors import HeldoutError
from heldout.report.charts.named import NamedChart
from heldout.report.charts.of_comparison import charts_of_comparison
from heldout.report.charts.of_predictions import charts_of_predictions
from heldout.report.charts.optimism import draw_optimism, optimism_data
from heldout.report.charts.systems import draw_forest, forest_data_of_results
from heldout.report.charts.tuning import (
    draw_tuning,
    has_held_out_line,
    has_test_curve,
    tuned_axes,
    tuning_data,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

    from heldout.data.collection import Collection
    from heldout.data.predictions import ClassPredictions
    from heldout.experiment.manifest import SettingsRecord
    from heldout.experiment.results.results import Results
    from heldout.infer.comparison import Comparison

__all__ = ["charts_of", "forest_chart"]


def charts_of(
    results: Results,
    *,
    collection: Collection | None = None,
    measure: str | None = None,
    comparison: Comparison | None = None,
) -> tuple[NamedChart, ...]:
    """Return all charts of the results of an experiment.

    Parameters
    ----------
    results
        Of `heldout.Experiment`.
    collection
        Where the texts of the queries are, to show them beside their ids.
    measure
        By default the first.
    comparison
        Of the systems in this measure, if there is one already.

    Returns
    -------
    tuple of NamedChart
        forest, those of a comparison of several systems, tuning (one per tuned system),
        optimism; of classifiers also roc, precision-recall and calibration.
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
    if results.task == "classification":
        yield from charts_of_predictions(_predictions(results))


def forest_chart(
    results: Results, measure: str | None = None, comparison: Comparison | None = None
) -> NamedChart:
    """Return the forest plot.

    Parameters
    ----------
    results
        Of an experiment.
    measure
        By default the first.
    comparison
        Of the systems in this measure, for its letters.
    """
    first = results.estimate(results.systems[0], measure)
    measure = str(first["measure"])
    better = results.higher_is_better(measure)
    letters = {} if comparison is None else {one.name: one.letters for one in comparison.systems}
    if results.manifest["settings"]["by"] == "document":  # the comparison is over queries
        letters = {}
    frame = forest_data_of_results(
        results, measure, higher_is_better=better is not False, letters=letters
    )
    what = first.get("estimand")
    caption = f"Held-out {measure} with its {first['level']:.0%} confidence interval"
    caption += f" ({first['interval']})"
    caption += f", for {what}." if what else "."
    if any(frame["letters"]):
        caption += " Systems that share a letter are not significantly different."
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
    """The comparison, if there are several systems and the measure has a direction."""
    if len(results.systems) < 2 or results.higher_is_better(measure) is None:
        return None
    try:
        return results.compare(measure)
    except HeldoutError:  # such as a measure that is undefined on some split
        return None


def _compared(
    results: Results, comparison: Comparison, texts: dict[str, str] | None
) -> Iterator[NamedChart]:
    """The charts of the comparison without its forest plot: the results have their own."""
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
        except HeldoutError:  # only one setting could be measured
            continue
        number += 1
        axes = tuned_axes(frame)
        caption = _tuning_words(measure, frame, settings)
        yield NamedChart(
            "tuning" if number == 1 else f"tuning-{number}",
            f"{one['name']}: {measure} by {', '.join(axes)}",
            caption,
            frame,
            draw_tuning(frame, measure=measure, higher_is_better=better),
        )


def _tuning_words(measure: str, frame: pl.DataFrame, settings: SettingsRecord) -> str:
    axes = tuned_axes(frame)
    curve = f"{measure} on the training data; the band is the range over the folds."
    if has_test_curve(frame):
        curve = (
            f"Mean {measure} over the folds; the bands are their range. The held-out curve is for "
            "illustration: choosing there would be tuning on test data."
        )
    if has_held_out_line(frame):
        curve += " Horizontal line: held-out score of the system tuned in the folds."
    kind = {
        1: curve,
        2: f"{measure} on the training data for each setting.",
    }.get(len(axes), f"The best {measure} on the training data for each value of a parameter.")
    return (
        f"{kind} Numbers: how many of {settings['splits']} folds selected a setting. Square: "
        "selected on all data."
    )


def _optimism(results: Results, measure: str) -> Iterator[NamedChart]:
    try:
        frame = optimism_data(results, measure)
    except HeldoutError:
        return
    if results.task != "ranking":  # inner folds have only the measure that was tuned for
        measure = str(results.manifest["settings"]["tune_for"])
    small = " Small points: single folds." if frame["split"].count() else ""
    yield NamedChart(
        "optimism",
        "Training and held-out scores",
        f"{measure} on held-out data (circle) and on the data used for tuning (diamond). The "
        f"number is their difference, the optimism of the training score.{small}",
        frame,
        draw_optimism(frame, measure=measure),
    )


def _predictions(results: Results) -> list[ClassPredictions]:
    """The held-out predictions of each system in the first repeat and run, without baselines."""
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
    """The predictions of all folds; only of the first if units were held out several times."""
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
