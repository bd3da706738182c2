"""The results of an experiment as one part of a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from heldout.notes import distinct
from heldout.report.experiment import comparisons, result_sentences
from heldout.report.page.board import board_of_results
from heldout.report.page.citations import comparison_methods
from heldout.report.page.document_charts import document_charts
from heldout.report.page.drawn import made_charts
from heldout.report.page.looks import looks_table
from heldout.report.page.parts import Part
from heldout.report.page.provenance import command_pairs, plan_line, settings_pairs
from heldout.report.page.tuned import split_tables, tuning_tables
from heldout.report.page.worth import worth_showing

if TYPE_CHECKING:
    from heldout.data.collection import Collection
    from heldout.experiment.results.results import Results
    from heldout.infer.comparison import Comparison
    from heldout.report.page.parts import TaskParts

__all__ = ["part_of_results"]


def part_of_results(
    results: Results,
    *,
    heading: str = "",
    collection: Collection | None = None,
    ledger: str | None = None,
) -> Part:
    """One experiment as a part of a page.

    Parameters
    ----------
    results
        Of the experiment.
    heading
        By default what was held out.
    collection
        Where the texts and the judgements are, if it is known.
    ledger
        The file of a ledger, to show its evaluations on these data.
    """
    compared, refused = comparisons(results)
    own = _task_parts(results, compared, collection)
    charts, left_out = made_charts(lambda: _charts(results, collection, compared))
    warnings = [note for one in compared for note in one.warnings]
    said = result_sentences(results, full=True)
    return Part(
        heading=heading or own.heading,
        answer=own.answer,
        about=said,
        tables=own.tables,
        charts=charts,
        units=own.units,
        rankings=own.rankings,
        tuning=tuning_tables(results),
        splits=split_tables(results),
        splits_about=(plan_line(results),),
        checks=distinct([*results.notes, *refused, *warnings, *left_out]),
        looks=None if ledger is None else looks_table(ledger, own.data),
        provenance=(*command_pairs(results), *settings_pairs(results.manifest), *own.provenance),
        record=dict(results.manifest),
        methods=(*(key for one in compared for key in comparison_methods(one)), *own.methods),
    )


def _task_parts(
    results: Results, compared: list[Comparison], collection: Collection | None
) -> TaskParts:
    if results.task == "ranking":
        from heldout.report.page.of_rankings import parts_of_rankings

        return parts_of_rankings(results, compared, collection)
    from heldout.report.page.of_predictions import parts_of_predictions

    return parts_of_predictions(results, compared)


def _charts(results: Results, collection: Collection | None, compared: list[Comparison]) -> Any:
    from heldout.report.charts.of_results import charts_of

    measure = results.measures[0]
    first = {one.scores.measure: one for one in compared}.get(measure)
    made = worth_showing(charts_of(results, collection=collection, comparison=first), first)
    if results.manifest["settings"]["by"] == "document":
        # Tests over queries answer another question than the page.
        others = [one for one in made if one.key not in {"pairs", "null"}]
        return [*document_charts(board_of_results(results, measure, first)), *others]
    return made
