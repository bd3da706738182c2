"""The parts of a page that only predictions have: scores, rows with their true values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from heldout.notes import count_of
from heldout.report.page.answer import board_answer
from heldout.report.page.board import board_of_results
from heldout.report.page.board_tables import (
    comparison_tables,
    decision_line,
    gap_source,
    p_source,
    systems_table,
)
from heldout.report.page.directions import more_is_better
from heldout.report.page.explorer import unit_columns, units_of_results
from heldout.report.page.parts import TaskParts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from heldout.experiment.results.results import Results
    from heldout.infer.comparison import Comparison
    from heldout.report.page.parts import PageTable

__all__ = ["parts_of_predictions", "prediction_answer", "prediction_tables"]

SHOWN: Final = 3
"""Different predictions for one row that are shown, if it was held out several times."""
_WHERE: Final = "on rows not used for training"


def parts_of_predictions(results: Results, compared: list[Comparison]) -> TaskParts:
    """The parts of a page that only predictions have.

    Parameters
    ----------
    results
        Of an experiment with estimators.
    compared
        The systems, in each measure.
    """
    known = {one.scores.measure: one for one in compared}
    return TaskParts(
        heading="New rows",
        answer=tuple(prediction_answer(results, known.get(results.measures[0]))),
        tables=tuple(
            table
            for measure in results.measures
            for table in prediction_tables(results, measure, known.get(measure))
        ),
        units=_explored(results),
        # As the comparisons of these results name their data.
        data=results.scores(systems=results.systems[:1], by_unit=False).data,
    )


def prediction_answer(results: Results, comparison: Comparison | None) -> Iterator[str]:
    """The headline and further sentences, for the first measure."""
    yield from board_answer(board_of_results(results, results.measures[0], comparison), _WHERE)
    if comparison is not None:
        yield decision_line(comparison, _noun(results))


def _noun(results: Results) -> tuple[str, str]:
    return ("fold", "folds") if results.unit == "split" else ("row", "rows")


def prediction_tables(
    results: Results, measure: str, comparison: Comparison | None
) -> Iterator[PageTable]:
    """The tables of one measure."""
    found = results.estimate(results.systems[0], measure)
    sources = {
        "score": "mean over folds of the value on held-out rows: values.parquet, unit null",
        "interval": f"{100 * found['level']:g}% confidence interval ({found['interval']}): "
        "summary.json",
        "gap": "" if comparison is None else gap_source(comparison),
        "p": "" if comparison is None else p_source(comparison),
        "counts": _noun(results)[1],
    }
    board = board_of_results(results, measure, comparison)
    table = systems_table(board, f"{measure} {_WHERE}", sources)
    if comparison is None:
        yield table
    else:
        yield from comparison_tables(comparison, _noun(results), systems=table)


def _explored(results: Results) -> dict[str, Any] | None:
    """Rows with their true values and predictions, in the measures that are means over rows."""
    import polars as pl

    per_unit = results.values.filter(pl.col("unit").is_not_null())["measure"].unique().to_list()
    names = [name for name in results.measures if name in per_unit]
    if names:
        measures = [(name, more_is_better(results, name)) for name in names]
        units, values = units_of_results(results, measures)
        source = "values.parquet: mean over the folds in which the row was held out"
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
    """Correct or absolute error, if no measure has a value for single rows."""
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
    """The true value of each row, and all predictions for it."""
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
