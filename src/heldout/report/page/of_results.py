"""The results of an experiment as a part of a page."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from heldout.experiment.estimator_results import EstimatorResults
from heldout.notes import Note, distinct
from heldout.report.experiment import comparisons, result_rows, result_sentences
from heldout.report.page.answer import comparison_answer, estimate_answer
from heldout.report.page.citations import comparison_methods, measure_methods, model_methods
from heldout.report.page.claims import claim_parts
from heldout.report.page.directions import more_is_better
from heldout.report.page.document_answers import document_answers, document_tables
from heldout.report.page.drawn import made_charts
from heldout.report.page.explorer import unit_columns, units_of_results
from heldout.report.page.looks import looks_table
from heldout.report.page.parts import PageTable, Part
from heldout.report.page.provenance import command_pairs, measure_signatures, settings_pairs
from heldout.report.page.rankings import lists_of_results, ranking_columns
from heldout.report.page.remembered import remembered
from heldout.report.page.tuned import split_tables, tuning_tables
from heldout.report.tables import Table, tables_text

if TYPE_CHECKING:
    from heldout.data.collection import Collection
    from heldout.experiment.results import Results
    from heldout.infer.compare import Comparison

__all__ = ["part_of_results"]

_NEW: Final = {
    "query": "New queries",
    "document": "New documents",
    "both": "New queries, new documents",
}
_QUICK: Final = Note(
    "quick-page",
    "there are very many pairs: Tukey's test decides, and randomization tests of each pair, which "
    "heldout run shows, were left out of this page",
    "info",
)
_VALUES: Final = (
    "of a query the mean of what it got where it was held out: values.parquet, where measure is "
)


def part_of_results(
    results: Results,
    *,
    heading: str = "",
    collection: Collection | None = None,
    ledger: str | None = None,
) -> Part:
    """All that a page says about an experiment.

    Parameters
    ----------
    results
        Of the experiment.
    heading
        By default what was held out.
    collection
        Where the texts and the judgements are, if it is at hand.
    ledger
        The file of a ledger, for its looks at these data.
    """
    if isinstance(results, EstimatorResults):
        from heldout.report.page.of_estimators import part_of_estimators  # a kind of these

        return part_of_estimators(results, heading=heading, ledger=ledger)
    results = remembered(results)
    compared = comparisons(results)
    settings = results.manifest["settings"]
    charts, left_out = made_charts(lambda: _charts(results, collection))
    units, rankings = _explored(results, collection)
    said = tuple(result_sentences(results))
    quick = [_QUICK] if results.quick else []
    models = [str(one.get("model", "")) for one in settings["systems"]]
    methods = [key for one in compared for key in comparison_methods(one)]
    return Part(
        heading=heading or _NEW[settings["by"]],
        answer=_answer(results, compared),
        about=said,
        tables=(
            *(_estimates(results, one) for one in results.measures),
            *document_tables(results),
            *(
                table
                for one in compared
                for table in claim_parts(one, f"{_VALUES}{one.scores.measure}")
            ),
        ),
        charts=charts,
        units=units,
        rankings=rankings,
        tuning=tuning_tables(results),
        splits=split_tables(results),
        splits_about=(said[0],),
        checks=distinct([*results.notes, *_warnings(compared), *left_out, *quick]),
        looks=None if ledger is None else looks_table(ledger, _data(results)),
        provenance=(
            *command_pairs(results),
            *settings_pairs(results.manifest),
            *measure_signatures(results.measures),
        ),
        record=results.manifest,
        methods=(*methods, *measure_methods(results.measures), *model_methods(models)),
    )


def _charts(results: Results, collection: Collection | None) -> Any:
    from heldout.report.charts.of_results import charts_of

    return charts_of(results, collection=collection)


def _answer(results: Results, compared: list[Comparison]) -> tuple[str, ...]:
    """What was asked comes first: on new documents it is not the test over queries."""
    if not compared:
        return tuple([estimate_answer(results)] if len(results.systems) == 1 else [])
    claim = comparison_answer(compared[0])
    if results.manifest["settings"]["by"] == "query":
        return (claim,)
    other = f"As if other queries were drawn, the documents staying as they are: {claim}"
    return (*document_answers(results, compared[0].scores.measure), other)


def _warnings(compared: list[Comparison]) -> list[Note]:
    return [note for one in compared for note in one.warnings]


def _data(results: Results) -> str:
    return str(results.manifest["fingerprints"]["collection"])


def _estimates(results: Results, measure: str) -> PageTable:
    head, *rows = result_rows(results, measure)
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
    table = Table(head, rows, f"{measure} on what was held out")
    return PageTable(table, sources, latex=tables_text([replace(table, title="")], "latex"))


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
    ranked = lists_of_results(results.lists, results.systems)
    return columns, ranking_columns(ranked, units, results.systems, collection=collection)
