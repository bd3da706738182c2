"""What a page says of rankings alone: estimates with their sources, queries, ranked lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from heldout.report.experiment import result_tables
from heldout.report.grid import grids_text
from heldout.report.page.answer import comparison_answer, estimate_answer
from heldout.report.page.citations import measure_methods, model_methods
from heldout.report.page.directions import more_is_better
from heldout.report.page.document_answers import document_answers, document_tables
from heldout.report.page.explorer import unit_columns, units_of_results
from heldout.report.page.parts import Table, TaskParts
from heldout.report.page.provenance import measure_signatures
from heldout.report.page.rankings import lists_of_results, ranking_columns

if TYPE_CHECKING:
    from heldout.data.collection import Collection
    from heldout.experiment.results import Results
    from heldout.infer.compare import Comparison
    from heldout.report.grid import Grid

__all__ = ["parts_of_rankings"]

_NEW: Final = {
    "query": "New queries",
    "document": "New documents",
    "both": "New queries, new documents",
}
_VALUES: Final = (
    "of a query the mean of what it got where it was held out: values.parquet, where measure is "
)


def parts_of_rankings(
    results: Results, compared: list[Comparison], collection: Collection | None
) -> TaskParts:
    """What only rankings have.

    Parameters
    ----------
    results
        Of an experiment with systems that rank.
    compared
        The systems, in each measure.
    collection
        Where the texts and the judgements are, if it is at hand.
    """
    settings = results.manifest["settings"]
    units, rankings = _explored(results, collection)
    models = [str(one.get("model", "")) for one in settings["systems"]]
    grids = zip(results.measures, result_tables(results), strict=True)
    return TaskParts(
        heading=_NEW[settings["by"]],
        answer=_answer(results, compared),
        estimates=(
            *(_estimates(results, measure, grid) for measure, grid in grids),
            *document_tables(results),
        ),
        sources={one: f"{_VALUES}{one}" for one in results.measures},
        units=units,
        rankings=rankings,
        data=str(results.manifest["fingerprints"]["collection"]),
        provenance=measure_signatures(results.measures),
        methods=(*measure_methods(results.measures), *model_methods(models)),
    )


def _answer(results: Results, compared: list[Comparison]) -> tuple[str, ...]:
    """What was asked comes first: on new documents it is not the test over queries."""
    if not compared:
        return tuple([estimate_answer(results)] if len(results.systems) == 1 else [])
    claim = comparison_answer(compared[0])
    if results.manifest["settings"]["by"] == "query":
        return (claim,)
    other = f"As if other queries were drawn, the documents staying as they are: {claim}"
    return (*document_answers(results, compared[0].scores.measure), other)


def _estimates(results: Results, measure: str, grid: Grid) -> Table:
    head = grid.head
    first = results.estimate(results.systems[0], measure)
    mean = f"{_VALUES}{measure}"
    sources = (
        ("values", "points of the grid that were tried: manifest.json"),
        (head[2], f"estimate for {first['estimand']} ({first['estimator']}): summary.json; {mean}"),
        (head[3], f"of the estimate ({first['interval']}): summary.json"),
        ("seen", "score of the value to ship on the data it was chosen on: summary.json"),
        ("optimism", "seen minus held out: what tuning on the test data would have claimed"),
        ("queries", "that were held out and have a relevant document: summary.json"),
    )
    return Table(
        f"{measure} on what was held out",
        tuple(head),
        tuple(map(tuple, grid.rows)),
        sources,
        latex=grids_text([grid], "latex"),
    )


def _explored(
    results: Results, collection: Collection | None
) -> tuple[dict[str, Any], dict[str, Any] | None]:
    measures = [(name, more_is_better(results, name)) for name in results.measures]
    units, values = units_of_results(results, measures)
    texts = None if collection is None else collection.queries.to_dict()
    columns = unit_columns(
        ("query", "queries"),
        units,
        results.systems,
        measures,
        values,
        texts=texts,
        source="values.parquet: the mean of what the query got where it was held out",
        first=results.manifest["settings"]["baseline"],
    )
    ranked = lists_of_results(results.held_out, results.systems)
    return columns, ranking_columns(ranked, units, results.systems, collection=collection)
