"""The parts of a page that only rankings have: scores, queries, ranked lists."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from heldout.report.machine import estimate_lines
from heldout.report.page.answer import board_answer
from heldout.report.page.board import board_of_results
from heldout.report.page.board_tables import (
    comparison_tables,
    decision_line,
    gap_source,
    p_source,
    systems_table,
)
from heldout.report.page.citations import measure_methods, model_methods
from heldout.report.page.directions import more_is_better
from heldout.report.page.explorer import unit_columns, units_of_results
from heldout.report.page.parts import TaskParts
from heldout.report.page.provenance import measure_signatures
from heldout.report.page.rankings import lists_of_results, ranking_columns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from heldout.data.collection import Collection
    from heldout.experiment.results.results import Results
    from heldout.infer.comparison import Comparison
    from heldout.report.page.parts import PageTable

__all__ = ["parts_of_rankings", "ranking_answer", "ranking_tables"]

_NEW: Final = {
    "query": "New queries",
    "document": "New documents",
    "both": "New queries, new documents",
}
_NOUN: Final = ("query", "queries")


def parts_of_rankings(
    results: Results, compared: list[Comparison], collection: Collection | None
) -> TaskParts:
    """The parts of a page that only rankings have.

    Parameters
    ----------
    results
        Of an experiment with systems that rank.
    compared
        The systems, in each measure.
    collection
        Where the texts and the judgements are, if it is known.
    """
    settings = results.manifest["settings"]
    units, rankings = _explored(results, collection)
    models = [str(one.get("model", "")) for one in settings["systems"]]
    known = {one.scores.measure: one for one in compared}
    return TaskParts(
        heading=_NEW[settings["by"]],
        answer=tuple(ranking_answer(results, known.get(results.measures[0]))),
        tables=tuple(
            table
            for measure in results.measures
            for table in ranking_tables(results, measure, known.get(measure))
        ),
        units=units,
        rankings=rankings,
        data=str(results.manifest["fingerprints"]["collection"]),
        provenance=measure_signatures(results.measures),
        methods=(*measure_methods(results.measures), *model_methods(models)),
    )


def _where(results: Results) -> str:
    """What the held-out scores are for."""
    by = results.manifest["settings"]["by"]
    if by == "document":
        return "on new documents"
    if by == "both":
        return "on new queries and new documents"
    tuned = any(one["tuned"] for one in results.summary)
    return "on queries not used for tuning" if tuned else "on held-out queries"


def ranking_answer(results: Results, comparison: Comparison | None) -> Iterator[str]:
    """The headline and further sentences, for the first measure.

    For new documents the test over queries does not answer the question.
    """
    board = board_of_results(results, results.measures[0], comparison)
    yield from board_answer(board, _where(results))
    if results.manifest["settings"]["by"] == "document":
        size = results.estimate(results.systems[0])["target_size"]
        on = "" if size is None else f" of {size:,} documents"
        each = " each for itself," if len(board.gaps) > 1 else ""
        yield (
            f"In brackets: {100 * board.level:g}% confidence intervals,{each} for the same queries "
            f"on a new collection{on}."
        )
    elif comparison is not None:
        yield decision_line(comparison, _NOUN)
        yield from estimate_lines(comparison)


def ranking_tables(
    results: Results, measure: str, comparison: Comparison | None
) -> Iterator[PageTable]:
    """The tables of one measure."""
    board = board_of_results(results, measure, comparison)
    documents = results.manifest["settings"]["by"] == "document"
    table = systems_table(
        board,
        f"{measure} {_where(results)}",
        _sources(results, measure, None if documents else comparison),
    )
    if comparison is None:
        yield table
    elif not documents:
        yield from comparison_tables(comparison, _NOUN, systems=table)
    else:
        yield table
        yield from _other_question(comparison)


def _sources(results: Results, measure: str, comparison: Comparison | None) -> dict[str, str]:
    found = results.estimate(results.systems[0], measure)
    level = f"{100 * found['level']:g}% confidence interval"
    judged = "human judgements" if "machine" in found else "a relevant document"
    return {
        "score": f"estimate for {found['estimand']} ({found['estimator']}), "
        f"{found['n_queries']:,} queries with {judged}: summary.json; the values of "
        f"single queries are in values.parquet, where measure is {measure}",
        "interval": f"{level} of the score ({found['interval']}): summary.json",
        "gap": f"{level} of the difference, for the same queries on new documents: summary.json, "
        "differences"
        if comparison is None
        else gap_source(comparison),
        "p": "" if comparison is None else p_source(comparison),
        "counts": "queries",
    }


def _other_question(comparison: Comparison) -> Iterator[PageTable]:
    """The systems compared for new queries on these documents, folded."""
    systems, pairs = comparison_tables(comparison, _NOUN)
    title = f"{comparison.scores.measure} for new queries on these documents"
    fold = "Another question: new queries on these documents"
    yield replace(systems, table=replace(systems.table, title=title), fold=fold)
    yield replace(pairs, fold=f"New queries on these documents: {pairs.fold.lower()}")


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
        source="values.parquet: mean over the folds in which the query was held out",
        first=results.manifest["settings"]["baseline"],
    )
    ranked = lists_of_results(results.held_out, results.systems)
    return columns, ranking_columns(ranked, units, results.systems, collection=collection)
