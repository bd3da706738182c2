"""What a page says of predictions alone: estimates with their sources, rows and their truth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from heldout.infer.results import count_of
from heldout.report.experiment import result_tables
from heldout.report.grid import grids_text
from heldout.report.page.answer import comparison_answer, estimate_answer
from heldout.report.page.directions import more_is_better
from heldout.report.page.explorer import unit_columns, units_of_results
from heldout.report.page.parts import Table, TaskParts

if TYPE_CHECKING:
    from heldout.experiment.results import Results
    from heldout.infer.compare import Comparison

__all__ = ["parts_of_predictions"]

_HELD_OUT: Final = "the value of each split where it was held out: values.parquet"
SHOWN: Final = 3
"""Different predictions for one row that are named, where it was held out several times."""


def parts_of_predictions(results: Results, compared: list[Comparison]) -> TaskParts:
    """What only predictions have.

    Parameters
    ----------
    results
        Of an experiment with estimators.
    compared
        The systems, in each measure.
    """
    return TaskParts(
        heading="New rows",
        answer=(comparison_answer(compared[0]) if compared else estimate_answer(results),),
        estimates=(_estimates(results),),
        sources=dict.fromkeys(results.measures, _HELD_OUT),
        units=_explored(results),
        # As the comparisons of these results name their data.
        data=results.scores(systems=results.systems[:1], by_unit=False).data,
    )


def _estimates(results: Results) -> Table:
    (grid,) = result_tables(results)
    first = results.measures[0]
    sources = [
        (first, "mean over splits of the value on what was held out: values.parquet, unit null"),
        (grid.head[2], "of the first measure: summary.json"),
        *((name, "mean over splits: values.parquet, unit null") for name in results.measures[1:]),
        ("chosen", "parameters, and in how many splits: folds.parquet"),
    ]
    return Table(
        "On what was held out",
        tuple(grid.head),
        tuple(map(tuple, grid.rows)),
        tuple(sources),
        latex=grids_text([grid], "latex"),
    )


def _explored(results: Results) -> dict[str, Any] | None:
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
    results: Results,
) -> tuple[list[str], list[list[list[float | None]]], list[tuple[str, bool]]]:
    """Where no measure has a value for a row: right or wrong, or how far off."""
    import polars as pl

    if results.task == "classification":
        value = (pl.col("truth") == pl.col("prediction")).cast(pl.Float64)
        name = ("correct", True)
    else:
        value = (pl.col("truth") - pl.col("prediction")).abs()
        name = ("absolute error", False)
    means = results.held_out.group_by("system", "unit", maintain_order=True).agg(value.mean())
    units = results.held_out["unit"].unique(maintain_order=True).to_list()
    place = {unit: at for at, unit in enumerate(units)}
    columns: dict[str, list[float | None]] = {one: [None] * len(units) for one in results.systems}
    for system, unit, found in means.iter_rows():
        columns[system][place[unit]] = found
    return units, [[columns[one] for one in results.systems]], [name]


def _predicted(results: Results, units: list[str]) -> dict[str, Any]:
    """Truth of each row, and what each system said, several times if it was held out so often."""
    said: dict[tuple[str, str], list[Any]] = {}
    truth: dict[str, Any] = {}
    rows = results.held_out.select("system", "unit", "truth", "prediction").iter_rows()
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
