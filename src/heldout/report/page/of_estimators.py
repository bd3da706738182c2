"""The results of an experiment with estimators as a part of a page."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from heldout.infer.results import count_of
from heldout.notes import distinct
from heldout.report.estimators import estimator_comparisons, estimator_grid, estimator_sentences
from heldout.report.page.answer import comparison_answer, estimate_answer
from heldout.report.page.citations import comparison_methods
from heldout.report.page.claims import claim_parts
from heldout.report.page.directions import more_is_better
from heldout.report.page.drawn import made_charts
from heldout.report.page.explorer import unit_columns, units_of_results
from heldout.report.page.looks import looks_table
from heldout.report.page.parts import PageTable, Part
from heldout.report.page.provenance import command_pairs, settings_pairs
from heldout.report.page.tuned import split_tables, tuning_tables
from heldout.report.tables import tables_text

if TYPE_CHECKING:
    from heldout.experiment.estimator_results import EstimatorResults

__all__ = ["part_of_estimators"]

_HELD_OUT: Final = "the value of each split where it was held out: values.parquet"
SHOWN: Final = 3
"""Different predictions for one row that are named, where it was held out several times."""


def part_of_estimators(
    results: EstimatorResults, *, heading: str = "", ledger: str | None = None
) -> Part:
    """All that a page says about an experiment with estimators.

    Parameters
    ----------
    results
        Of the experiment.
    heading
        By default what was held out.
    ledger
        The file of a ledger, for its looks at these data.
    """
    compared, refused = estimator_comparisons(results)
    charts, left_out = made_charts(lambda: _charts(results))
    warnings = [note for one in compared for note in one.warnings]
    said = tuple(estimator_sentences(results))
    return Part(
        heading=heading or "New rows",
        answer=(comparison_answer(compared[0]) if compared else estimate_answer(results),),
        about=said,
        tables=(
            _estimates(results),
            *(table for one in compared for table in claim_parts(one, _HELD_OUT)),
        ),
        charts=charts,
        units=_explored(results),
        tuning=tuning_tables(results),
        splits=split_tables(results),
        splits_about=said[:1],
        checks=distinct([*results.notes, *refused, *warnings, *left_out]),
        looks=None if ledger is None else looks_table(ledger, _data(results)),
        provenance=(*command_pairs(results), *settings_pairs(results.manifest)),
        record=results.manifest,
        methods=tuple(key for one in compared for key in comparison_methods(one)),
    )


def _charts(results: EstimatorResults) -> Any:
    from heldout.report.charts.of_results import charts_of

    return charts_of(results)


def _data(results: EstimatorResults) -> str:
    """As the comparisons of these results name their data."""
    return results.scores(systems=results.systems[:1], by_unit=False).data


def _estimates(results: EstimatorResults) -> PageTable:
    grid = estimator_grid(results)
    first = results.measures[0]
    sources = [
        (first, "mean over splits of the value on what was held out: values.parquet, unit null"),
        (grid.head[2], "of the first measure: summary.json"),
        *((name, "mean over splits: values.parquet, unit null") for name in results.measures[1:]),
        ("chosen", "parameters, and in how many splits: folds.parquet"),
    ]
    table = replace(grid, title="On what was held out")
    return PageTable(table, tuple(sources), latex=tables_text([grid], "latex"))


def _explored(results: EstimatorResults) -> dict[str, Any] | None:
    """Rows with their truth and predictions; values of measures that are means over rows."""
    import polars as pl

    per_unit = results.values.filter(pl.col("unit").is_not_null())["measure"].unique().to_list()
    names = [name for name in results.measures if name in per_unit]
    if names:
        measures = [(name, more_is_better(results, name)) for name in names]
        units, values = units_of_results(results, measures)
        source = "values.parquet: the mean of what the row got where it was held out"
    else:
        units, values, measures = _plain_values(results)
        source = "predictions.parquet, truth and prediction"
    columns = unit_columns(
        ("row", "rows"),
        units,
        results.systems,
        measures,
        values,
        source=source,
        first=results.manifest["settings"]["baseline"],
    )
    return columns | _predicted(results, units)


def _plain_values(
    results: EstimatorResults,
) -> tuple[list[str], list[list[list[float | None]]], list[tuple[str, bool]]]:
    """Where no measure has a value for a row: right or wrong, or how far off."""
    import polars as pl

    if results.task == "classification":
        value = (pl.col("truth") == pl.col("prediction")).cast(pl.Float64)
        name = ("correct", True)
    else:
        value = (pl.col("truth") - pl.col("prediction")).abs()
        name = ("absolute error", False)
    means = results.lists.group_by("system", "unit", maintain_order=True).agg(value.mean())
    units = results.lists["unit"].unique(maintain_order=True).to_list()
    place = {unit: at for at, unit in enumerate(units)}
    columns: dict[str, list[float | None]] = {one: [None] * len(units) for one in results.systems}
    for system, unit, found in means.iter_rows():
        columns[system][place[unit]] = found
    return units, [[columns[one] for one in results.systems]], [name]


def _predicted(results: EstimatorResults, units: list[str]) -> dict[str, Any]:
    """Truth of each row, and what each system said, several times if it was held out so often."""
    said: dict[tuple[str, str], list[Any]] = {}
    truth: dict[str, Any] = {}
    rows = results.lists.select("system", "unit", "truth", "prediction").iter_rows()
    for system, unit, true, prediction in rows:
        said.setdefault((system, unit), []).append(prediction)
        truth[unit] = true
    return {
        "truth": [_show(truth.get(unit)) for unit in units],
        "predicted": [
            [_together(said.get((system, unit), [])) for unit in units]
            for system in results.systems
        ],
    }


def _show(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _together(predictions: list[Any]) -> str:
    shown = [_show(one) for one in predictions]
    different = list(dict.fromkeys(shown))
    if len(different) == 1:
        return different[0]
    few = [f"{one} ×{shown.count(one)}" for one in different[:SHOWN]]
    more = [f"{count_of(len(different) - SHOWN, 'other')}"] if len(different) > SHOWN else []
    return ", ".join([*few, *more])
